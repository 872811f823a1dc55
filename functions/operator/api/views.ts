/** How rows look to a person or a program outside: ISO times, the journal in words, never a secret. */
import { attemptsInDoubt } from '../../core/doubt.ts';
import { redactHeaders } from '../../core/headers.ts';
import type { AcceptedEvent, Destination, Gate } from '../../core/items.ts';
import { CROWDED_MS, CROWDED_PLACES } from '../../core/limits.ts';
import type { Delivery, DeliveryRef, Entry } from '../../core/model.ts';
import type { Person } from '../../core/operations.ts';
import type { Found } from '../../ports.ts';
import type { Parked } from '../commands/stats.ts';

export const iso = (ms: number): string => new Date(ms).toISOString();

export const given = <K extends string, V>(key: K, value: V | undefined): Partial<Record<K, V>> =>
  value === undefined ? {} : ({ [key]: value } as Partial<Record<K, V>>);

/** Where a delivery is to be seen. */
export const hrefOf = (event: DeliveryRef['event'], destination: DeliveryRef['destination']): string =>
  `/v1/events/${encodeURIComponent(event)}/deliveries/${encodeURIComponent(destination)}`;

const CAUSES: Readonly<Record<string, string>> = {
  p: 'push',
  s: 'sweep',
  o: 'operation',
  a: 'actor',
  i: 'api',
  q: 'queue',
};

/** `p:qmsg_1` as stored, `push:qmsg_1` for people; a cause that was too long is stored as a hash, after a `#`. */
export const causeText = (cause: string): string => `${CAUSES[cause.slice(0, 1)] ?? 'unknown'}${cause.slice(1)}`;

export const entryView = (entry: Entry, index: number, cause: string | undefined) => ({
  seq: index + 1,
  kind: entry.kind,
  at: iso(entry.atMs),
  ...given('attempt', entry.attempt),
  ...given('cause', cause === undefined ? undefined : causeText(cause)),
  ...given('class', entry.class),
  ...given('status', entry.status),
  ...given('detail', entry.detail),
  ...given('durationMs', entry.durationMs),
  ...given('nextAt', entry.nextAtMs === undefined ? undefined : iso(entry.nextAtMs)),
  requestId: entry.writeId,
  ...given('decision', entry.decision),
  ...given('grant', entry.grant),
  ...given('secondEffect', entry.secondEffect),
  ...given(
    'waited',
    entry.waits && { count: entry.waits.count, since: iso(entry.waits.sinceMs), reason: entry.waits.reason },
  ),
});

/** An outcome that its own worker recorded was caused by what had caused its claim. */
const journalView = (row: Delivery, people: People) => {
  const entries = row.journal.lines.map((line) => line.entry);
  const claimOf = (attempt: number | undefined) =>
    entries.find((entry) => entry.kind === 'claimed' && entry.attempt === attempt);
  return entries.map((entry, index) => ({
    ...entryView(entry, index, entry.cause ?? claimOf(entry.attempt)?.cause),
    ...personView(entry, people),
  }));
};

/** Who stands behind the entries of a journal, by the cause that they carry. */
type People = ReadonlyMap<string, Person>;

const personView = ({ cause }: Entry, people: People) => {
  const person = cause === undefined ? undefined : people.get(cause);
  if (person === undefined) return {};
  return {
    actor: person.actor,
    reason: person.reason,
    ...given('ranBy', person.ranBy),
    ...given('evidence', person.evidence),
  };
};

const dueAtMsOf = (row: Delivery): number | undefined =>
  row.status === 'pending' ? Math.max(row.dueAtMs, row.deferral?.untilMs ?? 0) : undefined;

const reasonOf = (row: Delivery): string | undefined => {
  switch (row.status) {
    case 'quarantined':
    case 'cancelled':
      return row.reason;
    case 'pending':
      return row.parking?.reason;
    case 'claimed':
    case 'delivered':
      return undefined;
  }
};

export const deliverySummary = (row: Delivery) => {
  const dueAtMs = dueAtMsOf(row);
  return {
    event: row.event,
    destination: row.destination,
    status: row.status,
    ...given('reason', reasonOf(row)),
    attempts: row.attempts,
    budget: row.budget,
    redrives: row.redrives,
    ...given('dueAt', dueAtMs === undefined ? undefined : iso(dueAtMs)),
    ...given('leaseEndsAt', row.status === 'claimed' ? iso(row.claim.leaseEndsAtMs) : undefined),
    ...given('deliveredBy', row.status === 'delivered' ? row.by : undefined),
  };
};

export const deliveryView = (row: Delivery, people: People = new Map()) => ({
  ...deliverySummary(row),
  acceptedAt: iso(row.acceptedAtMs),
  attemptsInDoubt: attemptsInDoubt(row.journal.lines.map(({ entry }) => entry)),
  payloadHash: row.payloadHash,
  ...given('firstExcerpt', row.firstExcerpt),
  ...given('latestExcerpt', row.latestExcerpt),
  ...given(
    'waits',
    row.status === 'pending' && row.waits
      ? { count: row.waits.count, since: iso(row.waits.sinceMs), reason: row.waits.reason }
      : undefined,
  ),
  journal: journalView(row, people),
  journalHead: row.journal.head,
});

export const eventView = (event: AcceptedEvent, deliveries: readonly Delivery[], conflicts: number) => ({
  event: event.event,
  ...given('type', event.type),
  acceptedAt: iso(event.acceptedAtMs),
  ...given('deliverAt', event.deliverAtMs === undefined ? undefined : iso(event.deliverAtMs)),
  source: event.source,
  ...given('replayOf', event.replayOf),
  contentType: event.contentType,
  payloadBytes: event.payload.byteLength,
  payloadHash: event.payloadHash,
  fingerprint: event.fingerprint,
  conflicts,
  deliveries: deliveries.map(deliverySummary),
});

const stateOf = (gate: Found<Gate>, nowMs: number) => {
  if (gate.kind !== 'found') return { state: 'active' };
  const { pause, closedUntilMs, closedSinceMs, crowdedUntilMs } = gate.item;
  if (pause) {
    const { by, reason, probeAtMs } = pause;
    const probeAt = given('probeAt', probeAtMs === undefined ? undefined : iso(probeAtMs));
    return { state: 'paused', since: iso(pause.sinceMs), by, reason, ...probeAt };
  }
  if (closedUntilMs !== undefined && closedUntilMs > nowMs) {
    return {
      state: 'closed',
      since: iso(closedSinceMs ?? nowMs),
      by: 'destination',
      reason: 'it answered with Retry-After',
      closedUntil: iso(closedUntilMs),
    };
  }
  if (crowdedUntilMs !== undefined && crowdedUntilMs > nowMs) {
    return {
      state: 'crowded',
      since: iso(crowdedUntilMs - CROWDED_MS),
      by: 'system',
      reason: `a request to it timed out: at most ${CROWDED_PLACES} at once`,
      crowdedUntil: iso(crowdedUntilMs),
    };
  }
  return { state: 'active' };
};

/** In a row, over all workers; a success sets it back. */
const failuresOf = (gate: Found<Gate>) => {
  const failures = gate.kind === 'found' ? gate.item.failures : undefined;
  return failures && { count: failures.count, since: iso(failures.sinceMs) };
};

const parkedView = ({ count, capped, oldest }: Parked, nowMs: number) => ({
  count,
  ...(capped ? { capped } : {}),
  ...(oldest === undefined
    ? {}
    : {
        oldestAt: iso(oldest.sinceMs),
        oldestLeftMs: Math.max(0, oldest.endsAtMs - nowMs),
        oldestEndsBy: oldest.endsBy,
      }),
});

export const destinationView = (config: Destination, gate: Found<Gate>, nowMs: number, parked?: Parked) => ({
  destination: config.destination,
  url: config.url,
  repeatSafe: config.repeatSafe,
  keyLifeHours: config.keyLifeHours,
  schedule: config.scheduleSec,
  timeoutMs: config.timeoutMs,
  ...given('ratePerSecond', config.ratePerSecond),
  ...given('concurrency', config.concurrency),
  rejectOn: config.rejectOn,
  headers: redactHeaders(config.headers),
  acceptFromQueue: config.acceptFromQueue,
  mode: config.mode,
  notices: config.notices === true,
  createdAt: iso(config.createdAtMs),
  updatedAt: iso(config.updatedAtMs),
  ...given('deletedAt', config.deletedAtMs === undefined ? undefined : iso(config.deletedAtMs)),
  ...stateOf(gate, nowMs),
  ...given('failures', failuresOf(gate)),
  ...given('parked', parked && parkedView(parked, nowMs)),
});
