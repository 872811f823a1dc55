/**
 * Accepting an event once: the event, then all its deliveries, then the publishes.
 *
 * Nothing is promised before the last delivery stands. Whoever got no answer repeats, and a repeat completes what is
 * missing. A publish that fails is repaired by the sweep, so it does not undo the acceptance.
 */
import { deliveryOf, eventOf, sameSubmission } from '../core/acceptance.ts';
import type { DestinationId, WriteId } from '../core/ids.ts';
import type { AcceptedEvent, Conflict, Destination } from '../core/items.ts';
import { carriesWrite } from '../core/journal.ts';
import { CONFLICTS_PER_EVENT_MAX } from '../core/limits.ts';
import type { Delivery } from '../core/model.ts';
import type { Submission } from '../core/submission.ts';
import { type Found, PortUnavailable, type World, type Written } from '../ports.ts';
import { type Effects, publishDelivery } from './effects.ts';

export interface Source {
  readonly kind: AcceptedEvent['source'];
  readonly cause: string;
  readonly traceparent?: string;
  /**
   * An event of our own: its id alone says what it is, so the first content stands; and it needs no leave of its destination
   * to come from the queue.
   */
  readonly own?: true;
  /** Behind this time the first messages are left to the sweep: whoever waits for a 202 must get it. */
  readonly publishUntilMs?: number;
}

export type Accepted =
  | { readonly kind: 'accepted'; readonly event: AcceptedEvent; readonly repeated: boolean }
  | { readonly kind: 'conflict'; readonly event: AcceptedEvent }
  | { readonly kind: 'unknown-destination'; readonly destination: DestinationId; readonly index: number }
  /** An `event` message for a destination that does not take events from the queue. */
  | { readonly kind: 'not-from-queue'; readonly destination: DestinationId; readonly index: number };

export const accept = async (world: Effects, submission: Submission, source: Source): Promise<Accepted> => {
  const configs = await Promise.all(submission.destinations.map((id) => loadConfig(world, id)));
  const obstacle = obstacleIn(submission, configs, source);
  if (obstacle !== undefined) return acceptedBefore(world, submission, source, configs, obstacle);
  const usable = configs.filter((config) => config !== undefined);
  const mine = eventOf(submission, source.kind, world.clock.nowMs(), source.traceparent);
  const created = await world.ledger.create<AcceptedEvent>(mine);
  if (created.kind === 'written') {
    await createDeliveries(world, mine, usable, source, mine.acceptedAtMs);
    return { kind: 'accepted', event: mine, repeated: false };
  }
  const present = presentOf(created.present, submission);
  if (!source.own && !sameSubmission(present, submission)) return conflict(world, present, submission, source);
  await createDeliveries(world, present, usable, source, world.clock.nowMs());
  return { kind: 'accepted', event: present, repeated: true };
};

type Obstacle = Extract<Accepted, { kind: 'unknown-destination' | 'not-from-queue' }>;

const obstacleIn = (
  submission: Submission,
  configs: readonly (Destination | undefined)[],
  source: Source,
): Obstacle | undefined => {
  for (const [index, destination] of submission.destinations.entries()) {
    const config = configs[index];
    if (config === undefined) return { kind: 'unknown-destination', destination, index };
    const needsLeave = source.kind === 'queue' && !source.own;
    if (needsLeave && !config.acceptFromQueue) return { kind: 'not-from-queue', destination, index };
  }
  return undefined;
};

/**
 * What was accepted before keeps its answer, whatever has become of a destination since: but only if its delivery
 * stands. Without it nothing was promised, and nothing can be now.
 */
const acceptedBefore = async (
  world: Effects,
  submission: Submission,
  source: Source,
  configs: readonly (Destination | undefined)[],
  obstacle: Obstacle,
): Promise<Accepted> => {
  const known = await world.ledger.load({ item: 'event', event: submission.event });
  if (known.kind !== 'found') return obstacle;
  if (!source.own && !sameSubmission(known.item, submission)) return conflict(world, known.item, submission, source);
  for (const [index, destination] of submission.destinations.entries()) {
    if (configs[index] !== undefined) continue;
    const row = await world.ledger.load({ item: 'delivery', event: submission.event, destination });
    if (row.kind === 'absent') return { kind: 'unknown-destination', destination, index };
  }
  const usable = configs.filter((config) => config !== undefined);
  await createDeliveries(world, known.item, usable, source, world.clock.nowMs());
  return { kind: 'accepted', event: known.item, repeated: true };
};

const loadConfig = async (
  world: Pick<World, 'ledger'>,
  destination: DestinationId,
): Promise<Destination | undefined> => {
  const found = await world.ledger.load({ item: 'destination', destination });
  if (found.kind === 'later') throw newer(`destination ${destination}`, found.format);
  return found.kind === 'found' && found.item.deletedAtMs === undefined ? found.item : undefined;
};

const presentOf = (present: Found<AcceptedEvent>, submission: Submission): AcceptedEvent => {
  if (present.kind === 'found') return present.item;
  if (present.kind === 'later') throw newer(`event ${submission.event}`, present.format);
  throw new PortUnavailable('ledger', `event ${submission.event} vanished while it was being accepted`);
};

const newer = (what: string, format: number): PortUnavailable =>
  new PortUnavailable(
    'ledger',
    `${what} was written in format ${format} by newer code; repeat when the deploy is done`,
  );

const createDeliveries = async (
  world: Effects,
  event: AcceptedEvent,
  configs: readonly Destination[],
  source: Source,
  nowMs: number,
): Promise<void> => {
  const writeId = world.dice.id() as WriteId;
  const rows = configs.map((config) => deliveryOf(event, config, writeId, source.cause, nowMs));
  const results = await Promise.all(rows.map((row) => world.ledger.create<Delivery>(row)));
  const fresh = rows.filter((_row, index) => isMine(results[index], writeId));
  const inTime = world.clock.nowMs() < (source.publishUntilMs ?? Number.POSITIVE_INFINITY);
  await Promise.all(
    (inTime ? fresh : []).map((row) =>
      publishDelivery(world, row, {
        kind: 'publish',
        version: row.version,
        dueAtMs: row.dueAtMs > nowMs ? row.dueAtMs : 0,
      }),
    ),
  );
  for (const row of fresh) {
    world.telemetry.line(
      'delivery.accepted',
      {
        event: row.event,
        destination: row.destination,
        source: source.kind,
        cause: source.cause,
        dueAtMs: row.dueAtMs,
        head: row.journal.head,
      },
      { accepted: 1 },
    );
  }
};

/** Written now, or by a try before whose answer was lost. */
const isMine = (result: Written<Delivery> | undefined, writeId: WriteId): boolean => {
  if (result?.kind !== 'refused') return result !== undefined;
  return result.present.kind === 'found' && carriesWrite(result.present.item.journal, writeId);
};

const conflict = async (
  world: Effects,
  event: AcceptedEvent,
  submission: Submission,
  source: Source,
): Promise<Accepted> => {
  await keepConflict(world, event, submission, source);
  world.telemetry.count('event-conflict');
  world.telemetry.line('event.conflict', { event: event.event, source: source.kind, cause: source.cause });
  return { kind: 'conflict', event };
};

/** One item for each other content, and never more than a few: a place that is taken meanwhile leads to the next one. */
const keepConflict = async (
  { ledger, clock }: Effects,
  { event }: AcceptedEvent,
  { fingerprint, destinations }: Submission,
  { kind }: Source,
): Promise<void> => {
  const kept = (await ledger.loadEvent(event)).filter((item) => item.item === 'conflict');
  if (kept.some((item) => item.fingerprint === fingerprint)) return;
  const mine = { fingerprint, destinations, seenAtMs: clock.nowMs(), source: kind, carried: {} };
  for (let n = kept.length; n < CONFLICTS_PER_EVENT_MAX; n += 1) {
    const created = await ledger.create<Conflict>({ item: 'conflict', version: 1, event, n, ...mine });
    if (created.kind === 'written') return;
    if (created.present.kind === 'found' && created.present.item.fingerprint === fingerprint) return;
  }
};
