/** Redrives over many: planned (a dry run that is kept), shown, listed. `run-redrive.ts` acts on a plan. */
import { createHash } from 'node:crypto';
import type { RequestId } from '../../core/ids.ts';
import { awaitsResult, countedOnce, type Progress, progressOf } from '../../core/judge.ts';
import type { Operation, OperationMessage } from '../../core/operations.ts';
import { type Found, PortUnavailable, type World } from '../../ports.ts';
import { brokenItem } from '../../steps/broken-item.ts';
import { judgeMessage } from '../../steps/redrive-judge.ts';
import { makePlan } from '../../steps/redrive-plan.ts';
import { loadPlan } from '../../steps/redrive-record.ts';
import { readable, type Unread } from './readable.ts';

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
  const messages = countedOnce(stored.map((message) => filled.get(message.position) ?? message));
  return { kind: 'found', operation, progress: progressOf(messages), messages };
};

/** While it runs, the first outcomes are the run's own to write: it judges a batch by them. */
const isMissing = ({ state }: Operation, message: OperationMessage): boolean =>
  message.result === 'open' || (state !== 'running' && awaitsResult(message));

export interface OperationUnreadable {
  readonly operation: string;
  readonly reason: Unread;
}

export interface OperationPage {
  readonly items: readonly Operation[];
  /** There, but not for this code to read. */
  readonly unreadable: readonly OperationUnreadable[];
  readonly next?: string;
}

type Listing = Pick<World, 'ledger' | 'pages' | 'telemetry'>;

/** Newest first. One that cannot be read takes no other with it. */
export const listRedrives = async (
  world: Listing,
  limit: number,
  cursor: string | undefined,
): Promise<OperationPage> => {
  const page = await world.pages.list({ list: 'operations', limit, ...(cursor === undefined ? {} : { cursor }) });
  const names = page.refs.flatMap((ref) => (ref.item === 'operation' ? [ref.operation] : []));
  const found = (await Promise.all(names.map((name) => loadListed(world, name)))).flat();
  return {
    items: found.flatMap((one) => ('item' in one ? [one] : [])),
    unreadable: found.flatMap((one) => ('item' in one ? [] : [one])),
    ...(page.next === undefined ? {} : { next: page.next }),
  };
};

const loadListed = async (
  { ledger, telemetry }: Listing,
  operation: string,
): Promise<readonly (Operation | OperationUnreadable)[]> => {
  const load = () => ledger.load({ item: 'operation', operation });
  const found = await readable<Operation>(load, (error) => brokenItem(telemetry, { operation }, error));
  if (found.kind === 'unreadable') return [{ operation, reason: found.reason }];
  return found.kind === 'found' ? [found.item] : [];
};
