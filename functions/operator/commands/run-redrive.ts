/**
 * Runs and stops an operation. The run itself is the receiver's; here it is only asked for.
 *
 *   planned --run--> running: a turn is enqueued --> done
 *                      |  \--run again: a new turn, in case the last one was lost
 *                      +--stop--> stopped, for good: what was not acted on needs a new plan
 */
import { isTooSlow } from '../../core/estimate.ts';
import type { RequestId } from '../../core/ids.ts';
import type { Operation } from '../../core/operations.ts';
import { PortUnavailable, type World } from '../../ports.ts';
import { changeOperation, enqueueTurn } from '../../steps/redrive-record.ts';
import { DONE, decideOnce, type Ready } from './decide.ts';

type Needs = Pick<World, 'ledger' | 'queue' | 'clock' | 'telemetry'>;

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

/**
 * Counted before it is enqueued: a message of the turn before does nothing any more, so there is one chain of turns. Behind
 * turns, two further on: a turn enqueues its next one before it counts it, so the queue may know the key of that one, and
 * would take ours for a repeat and bring nothing.
 */
const start = async (world: Needs, operation: Operation, { actor, reason }: RunAsked): Promise<void> => {
  const nowMs = world.clock.nowMs();
  const because = `${actor}: ${reason}`;
  const started = await changeOperation(world, operation, (read) =>
    runRefusal(read) === undefined && read.state !== 'done'
      ? {
          ...read,
          state: 'running',
          startedAtMs: read.startedAtMs ?? nowMs,
          startedBecause: read.startedBecause ?? because,
          turn: read.turn + (read.state === 'planned' ? 1 : 2),
          turnAtMs: nowMs,
        }
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
