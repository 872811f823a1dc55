/** What a person decides about one delivery: send it again, say what happened to it, or end it. */
import type { Asked } from '../../core/decision.ts';
import type { DestinationId, EventId, RequestId, WriteId } from '../../core/ids.ts';
import type { CancelInput, RedriveInput, RefusalCode, ResolveInput } from '../../core/inputs.ts';
import { causeOf, isActorCause, operationOfCause } from '../../core/journal.ts';
import { decide } from '../../core/machine.ts';
import type { Delivery } from '../../core/model.ts';
import type { Decided, Person } from '../../core/operations.ts';
import { type Found, PortUnavailable, type World } from '../../ports.ts';
import { type Effects, publishDelivery } from '../../steps/effects.ts';
import { transition } from '../../steps/transition.ts';
import { conclude, DONE, decideOnce, type Ready } from './decide.ts';

export type Wish =
  | { readonly command: 'redrive'; readonly grant: number; readonly acceptSecondEffect: boolean }
  | { readonly command: 'resolve'; readonly as: 'delivered' | 'not-delivered'; readonly evidence: string }
  | { readonly command: 'cancel' };

export interface DeliveryAsked {
  readonly request: RequestId;
  readonly actor: string;
  readonly reason: string;
  readonly event: EventId;
  readonly destination: DestinationId;
  readonly wish: Wish;
}

/** Of the machine, and one that it cannot see: there is nothing left to send to. */
export type DeliveryRefusal = RefusalCode | 'no-destination';

type Refused =
  | { readonly kind: 'refused'; readonly code: DeliveryRefusal; readonly row: Delivery }
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer' };

export type DeliveryDecided = { readonly kind: 'done'; readonly row: Delivery } | { readonly kind: 'reused' } | Refused;

const CODES: Readonly<Record<DeliveryRefusal, true>> = {
  'live-claim': true,
  'not-quarantined': true,
  'already-delivered': true,
  'already-cancelled': true,
  'over-budget': true,
  'second-effect': true,
  'life-bound': true,
  'no-destination': true,
};

export const decideDelivery = async (world: Effects, asked: DeliveryAsked): Promise<DeliveryDecided> => {
  const once = await decideOnce<Refused>(world, toAsked(asked), {
    look: () => look(world, asked),
    act: () => act(world, asked),
  });
  return once.kind === 'decided' ? answer(world, asked, once.decision, once.result) : once;
};

/** What would come of it as things stand; nothing is written. */
export const previewDelivery = (world: Effects, asked: DeliveryAsked): Promise<Ready | Refused> => look(world, asked);

const toAsked = ({ wish, ...asked }: DeliveryAsked): Asked => {
  switch (wish.command) {
    case 'redrive':
      return { ...asked, command: 'redrive', more: [wish.grant, wish.acceptSecondEffect] };
    case 'resolve':
      return { ...asked, command: 'resolve', evidence: wish.evidence, more: [wish.as] };
    case 'cancel':
      return { ...asked, command: 'cancel', more: [] };
  }
};

const causeIn = ({ request }: DeliveryAsked): string => causeOf('actor', request);

const inputOf = (world: Pick<World, 'dice'>, asked: DeliveryAsked): RedriveInput | ResolveInput | CancelInput => {
  const recorded = { writeId: world.dice.id() as WriteId, cause: causeIn(asked) };
  const { wish } = asked;
  switch (wish.command) {
    case 'redrive':
      return { kind: 'redrive', ...recorded, grant: wish.grant, acceptSecondEffect: wish.acceptSecondEffect };
    case 'resolve':
      return { kind: 'resolve', ...recorded, as: wish.as };
    case 'cancel':
      return { kind: 'cancel', ...recorded };
  }
};

const loadRow = ({ ledger }: Effects, { event, destination }: DeliveryAsked): Promise<Found<Delivery>> =>
  ledger.load({ item: 'delivery', event, destination });

/** The machine is asked what it would say, so that a refusal leaves nothing behind. */
const look = async (world: Effects, asked: DeliveryAsked): Promise<Ready | Refused> => {
  const found = await loadRow(world, asked);
  if (found.kind === 'absent') return { kind: 'absent' };
  if (found.kind === 'later') return { kind: 'newer' };
  const row = found.item;
  const would = decide(row, inputOf(world, asked), world.clock.nowMs(), 0);
  if (would.kind === 'refused') return { kind: 'refused', code: would.code, row };
  if (asked.wish.command === 'redrive') {
    const { config } = await world.ledger.loadDestination(asked.destination);
    if (config.kind === 'later') return { kind: 'newer' };
    const gone = config.kind === 'absent' || config.item.deletedAtMs !== undefined;
    if (gone) return { kind: 'refused', code: 'no-destination', row };
  }
  return { kind: 'ready', before: stateOf(row) };
};

/** `quarantined / budget`: the state in the words of the API. */
export const stateOf = (row: Delivery): string => {
  switch (row.status) {
    case 'pending':
      return row.parking ? `pending / ${row.parking.reason}` : 'pending';
    case 'claimed':
    case 'delivered':
      return row.status;
    case 'cancelled':
    case 'quarantined':
      return `${row.status} / ${row.reason}`;
  }
};

const act = async (world: Effects, asked: DeliveryAsked): Promise<string> => {
  const found = await loadRow(world, asked);
  if (found.kind !== 'found') throw vanished(asked, found.kind);
  const result = await transition(world, found.item, inputOf(world, asked));
  switch (result.kind) {
    case 'applied':
      return DONE;
    case 'kept':
      await publishAgain(world, result.row, causeIn(asked));
      return DONE;
    case 'refused':
      return result.code;
    case 'absent':
    case 'newer':
      throw vanished(asked, result.kind);
  }
};

const vanished = ({ event, destination }: DeliveryAsked, what: string): PortUnavailable =>
  new PortUnavailable('ledger', `delivery of ${event} to ${destination} became ${what} while it was decided about`);

/** The request had come through before, but perhaps not its message: the same plan again, under the same key. */
const publishAgain = async (world: Effects, row: Delivery, cause: string): Promise<void> => {
  const untouched = row.journal.lines.at(-1)?.entry.cause === cause;
  if (row.status !== 'pending' || !untouched || row.parking || row.deferral || row.sweeps > 0) return;
  await publishDelivery(world, row, { kind: 'publish', version: row.version, dueAtMs: row.dueAtMs });
};

/** The row is right: where it names the request, the decision has acted, whatever was written down about it. */
const answer = async (
  world: Effects,
  asked: DeliveryAsked,
  decision: Decided,
  result: string,
): Promise<DeliveryDecided> => {
  const found = await loadRow(world, asked);
  if (found.kind !== 'found') throw vanished(asked, found.kind);
  const row = found.item;
  if (isRefusal(result) && !names(row, causeIn(asked))) return { kind: 'refused', code: result, row };
  await conclude(world, { ...decision, result }, DONE);
  return { kind: 'done', row };
};

const isRefusal = (result: string): result is DeliveryRefusal => Object.hasOwn(CODES, result);

const names = (row: Delivery, cause: string): boolean =>
  row.journal.lines.some(({ entry }) => entry.cause === cause && isDecision(entry.kind));

const isDecision = (kind: string): boolean => kind === 'redriven' || kind === 'decision';

/** The people behind the entries of a row, by the causes that stand there: of a decision, or of an operation. */
export const peopleIn = async (world: Pick<World, 'ledger'>, row: Delivery): Promise<ReadonlyMap<string, Person>> => {
  const causes = new Set(row.journal.lines.flatMap(({ entry }) => entry.cause ?? []));
  const found = await Promise.all(
    [...causes].map(async (cause) => {
      const person = await personBehind(world, cause);
      return person === undefined ? [] : [[cause, person] as const];
    }),
  );
  return new Map(found.flat());
};

const personBehind = async ({ ledger }: Pick<World, 'ledger'>, cause: string): Promise<Person | undefined> => {
  if (isActorCause(cause)) {
    const decision = await ledger.load({ item: 'decision', cause });
    return decision.kind === 'found' ? decision.item : undefined;
  }
  const id = operationOfCause(cause);
  if (id === undefined) return undefined;
  const operation = await ledger.load({ item: 'operation', operation: id });
  if (operation.kind !== 'found') return undefined;
  const { actor, why, startedBecause } = operation.item;
  return { actor, reason: why, ...(startedBecause === undefined ? {} : { ranBy: startedBecause }) };
};
