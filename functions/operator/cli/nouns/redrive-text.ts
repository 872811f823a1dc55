/** An operation for people: what a run would do, and what it did. */
import type * as z from 'zod/mini';
import { commandLine } from '../../../core/command-line.ts';
import type { FindingKind } from '../../../core/operations.ts';
import type { operationAnswer } from '../../contract/redrives.ts';
import { heading, note, pairs, shortTime, span, table } from '../print.ts';
import type { Shell } from '../shell.ts';
import { lines, type Safe, said } from '../visible.ts';

export type Operation = z.output<typeof operationAnswer>;

const DOES: Readonly<Record<FindingKind, string>> = {
  redrive: 'sent again, with its key and within its budget',
  accept: 'a whole event, accepted as intake would',
  drop: 'over already: the dead letter is removed, nothing is sent',
  'in-flight': 'left: somebody is at it',
  'over-budget': 'held for a person: its budget is spent, and a redrive never adds to it',
  'key-expired': 'held, unless a second effect is accepted: its key is forgotten there',
  'second-effect': 'held, unless a second effect is accepted: an attempt may have arrived',
  poison: 'filed as poison: it makes no sense',
  foreign: 'left: not a message of ours',
  unknown: 'left: of a kind or format that this version does not know',
  paused: 'left: its destination is paused',
};

/** Where a run does something about it; what it only leaves or holds needs no run. */
const ACTS: Readonly<Record<FindingKind, readonly Operation['source'][]>> = {
  redrive: ['dead-letters', 'quarantine'],
  accept: ['dead-letters'],
  drop: ['dead-letters'],
  'over-budget': ['dead-letters'],
  poison: ['dead-letters'],
  'in-flight': [],
  'key-expired': [],
  'second-effect': [],
  foreign: [],
  unknown: [],
  paused: [],
};

const nextText = (shell: Shell, { operation, source, found, tooSlow }: Operation): Safe | undefined => {
  // The line above has said that a run is refused, and what to do.
  if (tooSlow) return undefined;
  const kinds = Object.entries(found) as [FindingKind, number][];
  return kinds.some(([kind, count]) => count > 0 && ACTS[kind].includes(source))
    ? note(shell, `Nothing was changed. To do it: ${commandLine('redrive run', [operation], ['--reason "..."'])}`)
    : note(shell, 'Nothing was changed, and a run would change nothing.');
};

export const planText = (shell: Shell, operation: Operation): Safe => {
  const found = Object.entries(operation.found) as [keyof typeof DOES, number][];
  return lines(
    heading(shell, `plan ${operation.operation}: ${operation.source}`),
    operation.planned === 0
      ? said`Nothing was found.`
      : table(shell, found, [
          { title: 'FINDING', of: ([finding]) => finding },
          { title: 'COUNT', of: ([, count]) => count, right: true },
          { title: 'A RUN', of: ([finding]) => DOES[finding], whole: true },
        ]),
    operation.planned === 0
      ? undefined
      : said`It may take ${span(operation.estimateMs)}; it has to be over within ${operation.recoveryMinutes} min${operation.tooSlow ? ' and is refused: plan fewer, or more --recovery-minutes' : ''}.`,
    operation.incomplete === undefined ? undefined : said`Not complete: ${operation.incomplete}.`,
    operation.contradiction === undefined ? undefined : said`Beware: ${operation.contradiction}.`,
    operation.state === 'planned' && operation.planned > 0 ? nextText(shell, operation) : undefined,
  );
};

export const operationText = (shell: Shell, operation: Operation): Safe => {
  const { progress } = operation;
  const acted = operation.messages.filter(({ action }) => action !== undefined);
  return lines(
    heading(shell, `operation ${operation.operation}`),
    pairs(shell, {
      state: operation.state,
      'run by': operation.startedBecause,
      'stopped because': operation.stoppedBecause,
      stalled: operation.stalled,
      source: operation.source,
      by: `${operation.actor}: ${operation.why}`,
      started: shortTime(operation.startedAt),
      ended: shortTime(operation.endedAt),
      planned: operation.planned,
      requested: progress.requested,
      're-queued': progress.requeued,
      delivered: progress.delivered,
      deduplicated: progress.deduplicated,
      failed: progress.failed,
      'in doubt': progress.inDoubt,
      open: progress.open,
      'dead letters': deadText(operation),
    }),
    operation.mismatch === undefined
      ? undefined
      : said`The counts do not agree: ${operation.mismatch.expected} dead letters expected, ${operation.mismatch.counted} counted (${operation.mismatch.says}).`,
    acted.length === 0 ? undefined : '',
    acted.length === 0
      ? undefined
      : table(shell, acted, [
          { title: '#', of: ({ position }) => position, right: true },
          { title: 'EVENT', of: ({ event }) => event },
          { title: 'DESTINATION', of: ({ destination }) => destination },
          { title: 'FINDING', of: ({ finding }) => finding },
          { title: 'DONE', of: ({ action }) => action },
          { title: 'RESULT', of: ({ result }) => result, state: true },
          { title: 'DETAIL', of: ({ detail }) => detail },
        ]),
  );
};

const deadText = ({ deadBefore, deadAfter }: Operation): string | undefined => {
  if (deadBefore === undefined) return undefined;
  return deadAfter === undefined ? `${deadBefore} before` : `${deadBefore} before, ${deadAfter} after`;
};
