/**
 * Redrives over many: planned, looked at, run, stopped. The run itself is the receiver's; here it is only asked for.
 *
 *   plan --> planned --run--> running: a turn is enqueued --> done
 *                                |  \--run again: a new turn, in case the last one was lost
 *                                +--stop--> stopped, for good: what was not acted on needs a new plan
 */
import { createHash } from 'node:crypto';
import { isTooSlow } from '../../core/estimate.ts';
import type { RequestId } from '../../core/ids.ts';
import { awaitsResult, type Progress, progressOf } from '../../core/judge.ts';
import type { Operation, OperationMessage } from '../../core/operations.ts';
import { type Found, PortUnavailable, type World } from '../../ports.ts';
import { judgeMessage } from '../../steps/redrive-judge.ts';
import { makePlan } from '../../steps/redrive-plan.ts';
import { changeOperation, enqueueTurn, loadPlan } from '../../steps/redrive-record.ts';
import { DONE, decideOnce, type Ready } from './decide.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'queue' | 'deadLetters' | 'clock' | 'telemetry'>;

/** The same request is the same operation. Short enough to stand in a journal entry as it is. */
export const operationIdOf = (request: RequestId): string =>
  `rd_${createHash('sha256').update(`onceward operation 1\n${request}`).digest('base64url').slice(0, 22)}`;

// ---- plan ---------------------------------------------------------------------------------------------------------

export type PlanWish = Pick<
  Operation,
  | 'source'
  | 'destination'
  | 'reason'
  | 'limit'
  | 'recoveryMinutes'
  | 'stopAbove'
  | 'acceptSecondEffect'
  | 'actor'
  | 'why'
>;

export type Planned =
  | { readonly kind: 'planned'; readonly operation: Operation; readonly repeated: boolean }
  | { readonly kind: 'reused' }
  | { readonly kind: 'no-destination' }
  | { readonly kind: 'unreadable'; readonly code: string; readonly detail: string }
  | { readonly kind: 'newer' };

export const planRedrive = async (world: Needs, request: RequestId, wish: PlanWish): Promise<Planned> => {
  if (wish.destination !== undefined) {
    const found = await world.ledger.load({ item: 'destination', destination: wish.destination });
    if (found.kind === 'absent') return { kind: 'no-destination' };
  }
  const begun = await begin(world, operationIdOf(request), wish);
  if (begun.kind === 'later') return { kind: 'newer' };
  if (begun.kind === 'absent') throw new PortUnavailable('ledger', 'the plan vanished while it was begun');
  const operation = begun.item;
  if (!isSame(operation, wish)) return { kind: 'reused' };
  if (operation.state !== 'planning') return { kind: 'planned', operation, repeated: true };
  const made = await makePlan(world, operation);
  if (made.kind === 'unreadable') return made;
  const { state, found, messages, estimateMs, deadBefore, shortfall } = made.operation;
  const counts = Object.entries(found).map(([finding, count]) => `${finding} ${count}`);
  world.telemetry.line('redrive.planned', {
    operation: operation.operation,
    actor: wish.actor,
    state,
    messages,
    found: counts.join(', '),
    estimateMs,
    deadBefore,
    shortfall,
  });
  return { kind: 'planned', operation: made.operation, repeated: false };
};

const begin = async (world: Needs, operation: string, wish: PlanWish): Promise<Found<Operation>> => {
  const begun: Operation = {
    item: 'operation',
    version: 1,
    operation,
    ...wish,
    state: 'planning',
    createdAtMs: world.clock.nowMs(),
    estimateMs: 0,
    found: {},
    nextToAct: 0,
    nextToJudge: 0,
    messages: 0,
    turn: 0,
    batch: 0,
    carried: {},
  };
  const created = await world.ledger.create<Operation>(begun);
  return created.kind === 'written' ? { kind: 'found', item: begun } : created.present;
};

const isSame = (operation: Operation, wish: PlanWish): boolean =>
  operation.source === wish.source &&
  operation.destination === wish.destination &&
  operation.reason === wish.reason &&
  operation.limit === wish.limit &&
  operation.recoveryMinutes === wish.recoveryMinutes &&
  operation.stopAbove === wish.stopAbove &&
  operation.acceptSecondEffect === wish.acceptSecondEffect &&
  operation.actor === wish.actor &&
  operation.why === wish.why;

// ---- run, stop ----------------------------------------------------------------------------------------------------

export interface RunAsked {
  readonly request: RequestId;
  readonly actor: string;
  readonly reason: string;
  readonly operation: string;
}

export type RunRefusal = 'not-planned' | 'too-slow' | 'operation-stopped' | 'not-running' | 'operation-done';

type Refused =
  | { readonly kind: 'refused'; readonly code: RunRefusal; readonly operation: Operation }
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer' };

export type RunDecided =
  | { readonly kind: 'done'; readonly operation: Operation }
  | { readonly kind: 'reused' }
  | Refused;

const REFUSALS: Readonly<Record<RunRefusal, true>> = {
  'not-planned': true,
  'too-slow': true,
  'operation-stopped': true,
  'not-running': true,
  'operation-done': true,
};

/** An operation that is done stays so, and nothing is done twice; one that is running is taken up where it is. */
export const runRedrive = (world: Needs, asked: RunAsked): Promise<RunDecided> =>
  decideRun(world, 'run', asked, runRefusal, start);

export const stopRedrive = (world: Needs, asked: RunAsked): Promise<RunDecided> =>
  decideRun(world, 'stop', asked, stopRefusal, stop);

const runRefusal = (operation: Operation): RunRefusal | undefined => {
  switch (operation.state) {
    case 'planning':
      return 'not-planned';
    case 'planned':
      return isTooSlow(operation) ? 'too-slow' : undefined;
    case 'running':
    case 'done':
      return undefined;
    case 'stopped':
      return 'operation-stopped';
  }
};

const stopRefusal = ({ state }: Operation): RunRefusal | undefined => {
  switch (state) {
    case 'planning':
    case 'planned':
      return 'not-running';
    case 'done':
      return 'operation-done';
    case 'running':
    case 'stopped':
      return undefined;
  }
};

const decideRun = async (
  world: Needs,
  command: 'run' | 'stop',
  asked: RunAsked,
  refusalOf: (operation: Operation) => RunRefusal | undefined,
  act: (world: Needs, operation: Operation, asked: RunAsked) => Promise<void>,
): Promise<RunDecided> => {
  let acted = false;
  const actOnce = async (): Promise<string> => {
    const operation = await present(world, asked);
    const code = refusalOf(operation);
    if (code !== undefined) return code;
    await act(world, operation, asked);
    acted = true;
    return DONE;
  };
  const once = await decideOnce<Refused>(
    world,
    { ...asked, command, more: [] },
    { look: () => look(world, asked, refusalOf), act: actOnce },
  );
  if (once.kind !== 'decided') return once;
  if (isRefusal(once.result)) return { kind: 'refused', code: once.result, operation: await present(world, asked) };
  // The same request again: if the run goes on, it may be because the message of its next turn was lost.
  const operation = await present(world, asked);
  if (!acted && command === 'run' && operation.state === 'running') await act(world, operation, asked);
  return { kind: 'done', operation: await present(world, asked) };
};

const isRefusal = (result: string): result is RunRefusal => Object.hasOwn(REFUSALS, result);

const look = async (
  world: Needs,
  asked: RunAsked,
  refusalOf: (operation: Operation) => RunRefusal | undefined,
): Promise<Ready | Refused> => {
  const found = await world.ledger.load({ item: 'operation', operation: asked.operation });
  if (found.kind === 'absent') return { kind: 'absent' };
  if (found.kind === 'later') return { kind: 'newer' };
  const code = refusalOf(found.item);
  if (code !== undefined) return { kind: 'refused', code, operation: found.item };
  return { kind: 'ready', before: found.item.state };
};

const present = async (
  world: Pick<World, 'ledger'>,
  { operation }: Pick<RunAsked, 'operation'>,
): Promise<Operation> => {
  const found = await world.ledger.load({ item: 'operation', operation });
  if (found.kind === 'found') return found.item;
  throw new PortUnavailable('ledger', `operation ${operation} became ${found.kind} while it was decided about`);
};

/** Counted before it is enqueued: a message of the turn before does nothing any more, so there is one chain of turns. */
const start = async (world: Needs, operation: Operation): Promise<void> => {
  const nowMs = world.clock.nowMs();
  const started = await changeOperation(world, operation, (read) =>
    runRefusal(read) === undefined && read.state !== 'done'
      ? { ...read, state: 'running', startedAtMs: read.startedAtMs ?? nowMs, turn: read.turn + 1, turnAtMs: nowMs }
      : undefined,
  );
  if (started.state === 'running') await enqueueTurn(world, started, started.turn, 0);
};

const stop = async (world: Needs, operation: Operation, { actor, reason }: RunAsked): Promise<void> => {
  const nowMs = world.clock.nowMs();
  await changeOperation(world, operation, (read) =>
    read.state === 'running'
      ? { ...read, state: 'stopped', stoppedBecause: `${actor}: ${reason}`, endedAtMs: nowMs }
      : undefined,
  );
};

// ---- show ---------------------------------------------------------------------------------------------------------

/** Results that are still missing are looked for, so many at a time. */
const FILLED_IN_MAX = 100;

export type Shown =
  | {
      readonly kind: 'found';
      readonly operation: Operation;
      readonly progress: Progress;
      readonly messages: readonly OperationMessage[];
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer' };

/** All messages of the plan, in their order; what has come to an outcome since is filled in. */
export const showRedrive = async (world: Pick<World, 'ledger' | 'clock'>, id: string): Promise<Shown> => {
  const found = await world.ledger.load({ item: 'operation', operation: id });
  if (found.kind === 'absent') return { kind: 'absent' };
  if (found.kind === 'later') return { kind: 'newer' };
  const operation = found.item;
  const stored = await loadPlan(world, operation);
  const missing = stored.filter((message) => isMissing(operation, message)).slice(0, FILLED_IN_MAX);
  const filled = new Map(
    await Promise.all(missing.map(async (message) => [message.position, await judgeMessage(world, message)] as const)),
  );
  const messages = stored.map((message) => filled.get(message.position) ?? message);
  return { kind: 'found', operation, progress: progressOf(messages), messages };
};

/** While it runs, the first outcomes are the run's own to write: it judges a batch by them. */
const isMissing = ({ state }: Operation, message: OperationMessage): boolean =>
  message.result === 'open' || (state !== 'running' && awaitsResult(message));

export interface OperationPage {
  readonly items: readonly Operation[];
  readonly next?: string;
}

/** Newest first. */
export const listRedrives = async (
  world: Pick<World, 'ledger' | 'pages'>,
  limit: number,
  cursor: string | undefined,
): Promise<OperationPage> => {
  const page = await world.pages.list({ list: 'operations', limit, ...(cursor === undefined ? {} : { cursor }) });
  const found = await Promise.all(
    page.refs.map((ref) => (ref.item === 'operation' ? world.ledger.load(ref) : ({ kind: 'absent' } as const))),
  );
  const items = found.flatMap((one) => (one.kind === 'found' ? [one.item] : []));
  return { items, ...(page.next === undefined ? {} : { next: page.next }) };
};
