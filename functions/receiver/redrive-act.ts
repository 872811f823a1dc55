/**
 * Acting on one message of an operation. Each step can be repeated after any crash.
 *
 *   planned --its row looked at again--> chosen: the finding is on record
 *                                          |--acted on by its id------------------> acted: what was done is on record
 *                                          |--out of reach: read again, with body--^
 *                                          +--not there any more------------------> gone
 *
 * A letter keeps the queue's own id all the way, so nothing has to be read to put it back or take it off. Reading is
 * for what cannot be reached by its id, and takes every other letter that is met out of others' sight for a while.
 */
import { type Finding, isShutOut } from '../core/finding.ts';
import type { Delivery } from '../core/model.ts';
import type { Operation, OperationMessage, ResultKind } from '../core/operations.ts';
import { type DeadLetter, type Done, LedgerCorrupt } from '../ports.ts';
import { isAccepted, isFiled, resultOfAccept } from '../steps/redrive-judge.ts';
import { type Looked, lookAtRow } from '../steps/redrive-look.ts';
import { changeMessage, DETAIL_CHARS_MAX } from '../steps/redrive-record.ts';
import { act, type Doing, refOf, resultOfDrop, type Scene } from './redrive-deeds.ts';

export type Acted =
  | { readonly kind: 'acted'; readonly message: OperationMessage }
  /** `trouble`: the queue itself could not be asked. */
  | { readonly kind: 'out-of-reach'; readonly message: OperationMessage; readonly trouble?: string };

export const actOn = async (scene: Scene, planned: OperationMessage, letter?: DeadLetter): Promise<Acted> => {
  const { message, row } = await choose(scene, planned);
  if (message.action !== undefined) {
    logActed(scene, message);
    return { kind: 'acted', message };
  }
  try {
    const done = await act(scene, message, row, letter);
    if (done.kind === 'failed') return outOfReach(message, done);
    return { kind: 'acted', message: await recordDone(scene, message, done.doing) };
  } catch (error) {
    if (!(error instanceof LedgerCorrupt)) throw error;
    const doing = {
      finding: 'unknown',
      detail: 'an item of the ledger is broken',
      action: 'left',
      result: 'held',
    } as const;
    return { kind: 'acted', message: await recordDone(scene, message, doing) };
  }
};

// ---- choosing -----------------------------------------------------------------------------------------------------

interface Chosen {
  readonly message: OperationMessage;
  readonly row?: Delivery;
}

/** The row may have moved on since the plan: what is found now is put on record, and only then acted on. */
const choose = async (scene: Scene, planned: OperationMessage): Promise<Chosen> => {
  if (planned.chosenAtMs !== undefined) return { message: planned };
  const ref = refOf(planned);
  const looked: Looked =
    ref === undefined
      ? { finding: { kind: planned.finding, detail: planned.detail } }
      : await lookAtRow(scene.look, ref);
  const { finding, row } = looked;
  const nowMs = scene.world.clock.nowMs();
  const message = await changeMessage(scene.world, planned, (read) =>
    read.chosenAtMs === undefined
      ? {
          ...read,
          ...found(read, finding),
          ...(row === undefined ? {} : { attemptsBefore: row.attempts }),
          chosenAtMs: nowMs,
          batch: scene.batch,
          ...settledAtOnce(scene.operation, finding, nowMs),
        }
      : undefined,
  );
  return row === undefined ? { message } : { message, row };
};

const found = (
  read: OperationMessage,
  { kind, detail }: Pick<Finding, 'kind' | 'detail'>,
): Partial<OperationMessage> => ({
  finding: kind,
  detail: detail.slice(0, DETAIL_CHARS_MAX),
  ...(kind === read.finding ? {} : { plannedAs: read.plannedAs ?? read.finding }),
});

/** What needs no deed is at its end with its finding. */
const settledAtOnce = ({ source }: Operation, finding: Finding, nowMs: number): Partial<OperationMessage> => {
  const { kind, detail } = finding;
  const left = (result: ResultKind) => ({ action: 'left', actedAtMs: nowMs, result, judgedAtMs: nowMs }) as const;
  switch (kind) {
    case 'in-flight':
    case 'key-expired':
    case 'second-effect':
    case 'foreign':
    case 'unknown':
    case 'paused':
      return left('held');
    case 'over-budget':
      return source === 'quarantine' ? left('held') : {};
    case 'drop':
      return source === 'quarantine' ? left(resultOfDrop(detail)) : {};
    case 'accept':
      return isShutOut(finding) ? left('held') : {};
    case 'redrive':
    case 'poison':
      return {};
  }
};

// ---- recording ----------------------------------------------------------------------------------------------------

const recordDone = async (scene: Scene, message: OperationMessage, doing: Doing): Promise<OperationMessage> => {
  const nowMs = scene.world.clock.nowMs();
  const { finding = message.finding, detail = message.detail, ...rest } = doing;
  const recorded = await changeMessage(scene.world, message, (read) =>
    read.action === undefined
      ? {
          ...read,
          ...found(read, { kind: finding, detail }),
          ...rest,
          actedAtMs: nowMs,
          ...(rest.result === undefined ? {} : { judgedAtMs: nowMs }),
        }
      : undefined,
  );
  logActed(scene, recorded);
  return recorded;
};

/** Which delivery, why it had failed, how long that call took, and which operation chose it. */
const logActed = ({ world }: Scene, message: OperationMessage): void => {
  const { operation, position, messageId, event, destination, finding, detail } = message;
  const { action, result, lastClass, lastStatus, lastDurationMs } = message;
  const named = { operation, position, messageId, event, destination, finding, detail };
  world.telemetry.line('redrive.acted', { ...named, action, result, lastClass, lastStatus, lastDurationMs });
};

/** Not of this letter: the queue as a whole, or a bound of ours that another minute lifts. */
const TROUBLES: ReadonlySet<string> = new Set([
  'unavailable',
  'throttled',
  'unauthorized',
  'no-credit',
  'senseless-answer',
  'poison-overflow',
]);

const outOfReach = (message: OperationMessage, { code, detail }: Extract<Done, { kind: 'failed' }>): Acted => ({
  kind: 'out-of-reach',
  message,
  ...(TROUBLES.has(code) ? { trouble: `${code}: ${detail}` } : {}),
});

/** The letter is not among the dead any more: somebody else was faster, or this run before a crash. */
export const recordGone = async (scene: Scene, message: OperationMessage): Promise<OperationMessage> =>
  recordDone(scene, message, { action: 'gone', ...(await resultWithoutLetter(scene, message)) });

const resultWithoutLetter = async (
  { world }: Scene,
  { finding, detail, event, messageId }: OperationMessage,
): Promise<Doing> => {
  switch (finding) {
    case 'redrive':
      return {};
    case 'drop':
      return { result: resultOfDrop(detail) };
    case 'accept':
      return { result: event !== undefined && (await isAccepted(world, event)) ? resultOfAccept(detail) : 'gone' };
    case 'poison':
      return { result: messageId !== undefined && (await isFiled(world, messageId)) ? 'dropped' : 'gone' };
    default:
      return { result: 'held' };
  }
};
