/** How an operation looks from outside: what was found, how far the run is, and whether the counts agree. */
import { isTooSlow } from '../../core/estimate.ts';
import type { Progress } from '../../core/judge.ts';
import type { Operation, OperationMessage, Shortfall } from '../../core/operations.ts';

const iso = (ms: number): string => new Date(ms).toISOString();

const maybe = <K extends string, V>(key: K, value: V | undefined): { readonly [name in K]?: V } =>
  value === undefined ? {} : ({ [key]: value } as { readonly [name in K]?: V });

const isoOf = (ms: number | undefined): string | undefined => (ms === undefined ? undefined : iso(ms));

/** A run that has had no turn for so long has lost the message of its next one. */
const STALLED_MS = 120_000;

const SHORTFALLS: Readonly<Record<Shortfall, string>> = {
  time: 'the time for one plan was over; plan again for the rest',
  queue: 'the queue gave no answer any more; plan again for the rest',
  contradiction:
    'the queue counts more dead letters than it gives out: others may hold them on lease; plan again later',
};

export const operationSummary = (operation: Operation, nowMs: number) => ({
  operation: operation.operation,
  source: operation.source,
  ...maybe('destination', operation.destination),
  ...maybe('reason', operation.reason),
  limit: operation.limit,
  recoveryMinutes: operation.recoveryMinutes,
  stopAbove: operation.stopAbove,
  acceptSecondEffect: operation.acceptSecondEffect,
  actor: operation.actor,
  why: operation.why,
  state: operation.state,
  ...maybe('startedBecause', operation.startedBecause),
  ...maybe('stoppedBecause', operation.stoppedBecause),
  ...(isStalled(operation, nowMs) ? { stalled: 'no turn for two minutes; run it again to take it up' } : {}),
  createdAt: iso(operation.createdAtMs),
  ...maybe('startedAt', isoOf(operation.startedAtMs)),
  ...maybe('endedAt', isoOf(operation.endedAtMs)),
  found: operation.found,
  complete: operation.state !== 'planning' && operation.shortfall === undefined,
  ...(operation.shortfall === undefined || operation.shortfall === 'contradiction'
    ? {}
    : { incomplete: SHORTFALLS[operation.shortfall] }),
  ...(operation.shortfall === 'contradiction' ? { contradiction: SHORTFALLS.contradiction } : {}),
  estimateMs: operation.estimateMs,
  tooSlow: isTooSlow(operation),
  ...maybe('deadBefore', operation.deadBefore),
  ...maybe('deadAfter', operation.deadAfter),
});

const isStalled = ({ state, turnAtMs }: Operation, nowMs: number): boolean =>
  state === 'running' && turnAtMs !== undefined && nowMs - turnAtMs > STALLED_MS;

export const progressView = ({ requested, requeued, removed, waiting, results }: Progress) => {
  const { 'in-doubt': inDoubt, ...others } = results;
  return { requested, requeued, ...others, inDoubt, removed, waiting };
};

const ROUGHLY = '; this queue counts roughly, and up to a minute late: make another plan before you conclude anything';

/** What the run took away, held against the queue's own count. A queue has said done before and has done nothing. */
const mismatchOf = (
  { source, deadBefore, deadAfter }: Operation,
  { removed }: Progress,
  countsExactly: boolean,
): { readonly expected: number; readonly counted: number; readonly says: string } | undefined => {
  if (source !== 'dead-letters' || deadBefore === undefined || deadAfter === undefined) return undefined;
  const expected = Math.max(0, deadBefore - removed);
  if (deadAfter === expected) return undefined;
  const says =
    deadAfter > expected
      ? 'more dead letters than the run has left: new ones have died since, or some did not leave'
      : 'fewer dead letters than the run has left: somebody else has taken some, or the queue has let them go';
  return { expected, counted: deadAfter, says: countsExactly ? says : `${says}${ROUGHLY}` };
};

export const messageView = (message: OperationMessage) => ({
  position: message.position,
  ...maybe('messageId', message.messageId),
  ...maybe('event', message.event),
  ...maybe('destination', message.destination),
  finding: message.finding,
  detail: message.detail,
  ...maybe('plannedAs', message.plannedAs),
  ...(message.lastClass === undefined
    ? {}
    : {
        last: {
          class: message.lastClass,
          ...maybe('status', message.lastStatus),
          ...maybe('durationMs', message.lastDurationMs),
        },
      }),
  ...maybe('chosenAt', isoOf(message.chosenAtMs)),
  ...maybe('action', message.action),
  ...maybe('actedAt', isoOf(message.actedAtMs)),
  ...maybe('result', message.result),
  ...maybe('attempt', message.attempt),
  ...maybe('judgedAt', isoOf(message.judgedAtMs)),
});

export interface Window {
  readonly from: number;
  readonly limit: number;
}

/** The messages of one page, by their place in the plan. */
export const operationView = (
  operation: Operation,
  progress: Progress,
  messages: readonly OperationMessage[],
  { from, limit }: Window,
  { nowMs, countsExactly }: { readonly nowMs: number; readonly countsExactly: boolean },
) => {
  const behind = messages.filter(({ position }) => position >= from);
  const next = behind[limit]?.position;
  return {
    ...operationSummary(operation, nowMs),
    planned: messages.length,
    progress: progressView(progress),
    ...maybe('mismatch', mismatchOf(operation, progress, countsExactly)),
    messages: behind.slice(0, limit).map(messageView),
    ...maybe('next', next === undefined ? undefined : String(next)),
  };
};
