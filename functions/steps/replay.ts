/**
 * A new event with the content of an old one, linked to it.
 *
 *   destinations there? --> event, linked --> its deliveries, their publishes (as for any event) --> all there?
 */
import type { DestinationId, EventId } from '../core/ids.ts';
import type { AcceptedEvent } from '../core/items.ts';
import type { Submission } from '../core/submission.ts';
import { type Found, PortUnavailable, type World } from '../ports.ts';
import { accept } from './accept.ts';
import type { Effects } from './effects.ts';

export type Replayed =
  | { readonly kind: 'replayed'; readonly event: AcceptedEvent }
  /** The new id is taken by an event that is no replay of this one. */
  | { readonly kind: 'event-conflict' }
  | { readonly kind: 'unknown-destination'; readonly destination: DestinationId };

/** Safe to repeat: what stands under the new id is completed, with the destinations that it was made for. */
export const replay = async (
  world: Effects,
  original: AcceptedEvent,
  id: EventId,
  destinations: readonly DestinationId[],
  cause: string,
): Promise<Replayed> => {
  const made = await ensureEvent(world, original, id, destinations);
  if (made.kind !== 'replayed') return made;
  const { event } = made;
  const accepted = await accept(world, submissionOf(event), { kind: 'api', cause });
  if (accepted.kind !== 'accepted') return { kind: 'event-conflict' };
  const missing = await firstWithoutDelivery(world, event);
  // A destination was deleted in the moment between: there is no delivery to it, and nobody may be told that there is.
  return missing === undefined ? { kind: 'replayed', event } : { kind: 'unknown-destination', destination: missing };
};

const ensureEvent = async (
  world: Pick<World, 'ledger' | 'clock'>,
  original: AcceptedEvent,
  id: EventId,
  destinations: readonly DestinationId[],
): Promise<Replayed> => {
  const found = await world.ledger.load({ item: 'event', event: id });
  if (found.kind !== 'absent') return linkedTo(original, presentOf(found, id));
  const gone = await firstGone(world, destinations);
  if (gone !== undefined) return { kind: 'unknown-destination', destination: gone };
  const mine = replayOf(original, id, destinations, world.clock.nowMs());
  const created = await world.ledger.create<AcceptedEvent>(mine);
  return linkedTo(original, created.kind === 'written' ? mine : presentOf(created.present, id));
};

const linkedTo = (original: AcceptedEvent, event: AcceptedEvent): Replayed =>
  event.replayOf === original.event ? { kind: 'replayed', event } : { kind: 'event-conflict' };

const firstGone = async (
  { ledger }: Pick<World, 'ledger'>,
  destinations: readonly DestinationId[],
): Promise<DestinationId | undefined> => {
  const found = await Promise.all(destinations.map((destination) => ledger.load({ item: 'destination', destination })));
  return destinations[
    found.findIndex((one) => one.kind === 'absent' || (one.kind === 'found' && one.item.deletedAtMs !== undefined))
  ];
};

/** The payload's hash is the original's: bytes that have changed in the table since are found at the attempt. */
const replayOf = (
  { type, payload, contentType, fingerprint, payloadHash, event }: AcceptedEvent,
  id: EventId,
  destinations: readonly DestinationId[],
  nowMs: number,
): AcceptedEvent => ({
  item: 'event',
  version: 1,
  event: id,
  ...(type === undefined ? {} : { type }),
  payload,
  contentType,
  fingerprint,
  payloadHash,
  destinations,
  acceptedAtMs: nowMs,
  source: 'api',
  replayOf: event,
  carried: {},
});

const presentOf = (present: Found<AcceptedEvent>, id: EventId): AcceptedEvent => {
  if (present.kind === 'found') return present.item;
  throw new PortUnavailable('ledger', `event ${id} became ${present.kind} while it was being made`);
};

const submissionOf = ({ event, type, payload, contentType, fingerprint, destinations }: AcceptedEvent): Submission => ({
  event,
  ...(type === undefined ? {} : { type }),
  payload,
  contentType,
  fingerprint,
  destinations,
});

const firstWithoutDelivery = async (
  { ledger }: Pick<World, 'ledger'>,
  { event, destinations }: AcceptedEvent,
): Promise<DestinationId | undefined> => {
  const items = await ledger.loadEvent(event);
  const there = new Set(items.flatMap((item) => (item.item === 'delivery' ? [item.destination] : [])));
  return destinations.find((destination) => !there.has(destination));
};
