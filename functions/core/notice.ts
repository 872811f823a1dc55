/**
 * What a person should hear of, as an event of our own to the destinations that are marked for it.
 *
 *   something is committed --> notice: a reference --queue--> fact: what of it stands in the ledger --> event, once
 *                                                                                                        for each of them
 *
 * A notice is told once for each thing that it is about, its kind and a quarter of an hour: all three are in the id of the
 * event, and the ledger takes an id once. What is heard of a second time, repeated after a crash, or pushed twice is
 * therefore told once. Nothing is ever told about the delivery of a notice.
 */
import { createHash } from 'node:crypto';
import { commandLine } from './command-line.ts';
import { fingerprintOfBytes } from './fingerprint.ts';
import { withHiddenShown } from './hidden.ts';
import { type DestinationId, type EventId, parseEventId } from './ids.ts';
import { formatInstant } from './instant.ts';
import type { Gate, Heartbeat } from './items.ts';
import { publishKeyOf } from './keys.ts';
import type { Delivery, DeliveryRef } from './model.ts';
import type { Operation } from './operations.ts';
import type { Submission } from './submission.ts';

const MINUTE_MS = 60_000;

export const NOTICE_WINDOW_MS = 15 * MINUTE_MS;
export const NOTICE_DESTINATIONS_MAX = 10;
/** A destination is said to fail after so many failures in a row, once they have lasted so long. */
export const FAILING_COUNT = 10;
export const FAILING_MS = 2 * MINUTE_MS;
/** Five ticks: a sweep that is so late has missed several. */
export const SWEEP_SILENT_MS = 5 * MINUTE_MS;

/** What may have happened, by reference: it can cause nothing that the ledger does not say. */
export type Notice =
  | ({ readonly kind: 'delivery-quarantined' } & DeliveryRef)
  | { readonly kind: 'destination-paused' | 'destination-failing'; readonly destination: DestinationId }
  | { readonly kind: 'redrive-finished'; readonly operation: string }
  | { readonly kind: 'sweep-silent' };

export type NoticeKind = Notice['kind'];

/** Reason to tell: of what, and since when that stands. */
export interface Occasion {
  readonly notice: Notice;
  readonly sinceMs: number;
}

/** What stands in the ledger of it, and since when. */
export interface Fact {
  readonly kind: NoticeKind;
  readonly atMs: number;
  /** The destination, the operation, or nothing: notices of one kind about one of these are told once in a window. */
  readonly about: string;
  /** A destination is not told about itself. */
  readonly destination?: DestinationId;
  readonly says: string;
  /** References and words of ours; never anything of a payload, an answer or a setting. */
  readonly details: Readonly<Record<string, string | number>>;
  /** The command that shows it, and the page. */
  readonly look: string;
  readonly page: string;
}

// ---- when there is something to say -------------------------------------------------------------------------------

const NOTICE_EVENT = /^notice~[a-z-]+~\d{8}T\d{4}Z~[A-Za-z0-9_-]{22}$/;

export const isNoticeEvent = (event: EventId): boolean => NOTICE_EVENT.test(event);

/** What the write of a delivery gives reason to say. */
export const noticesOfChange = (before: Delivery, after: Delivery): readonly Occasion[] =>
  before.status === 'quarantined' ? [] : noticesOfRow(after);

/** The same from a row that is met again: whoever has written it may have died before it could speak. */
export const noticesOfRow = (row: Delivery): readonly Occasion[] => {
  if (row.status !== 'quarantined' || isNoticeEvent(row.event)) return [];
  const { event, destination, endedAtMs: sinceMs } = row;
  const gone: readonly Occasion[] =
    row.reason === 'gone' ? [{ notice: { kind: 'destination-paused', destination }, sinceMs }] : [];
  return [{ notice: { kind: 'delivery-quarantined', event, destination }, sinceMs }, ...gone];
};

/** Later than this, whoever meets a thing again has not interrupted anybody who was about to speak. */
export const isRecent = (atMs: number, nowMs: number): boolean => nowMs - atMs < NOTICE_WINDOW_MS;

/** What a failed attempt has made of the gate. Each further failure says it again, so that no crash can hide it. */
export const noticesOfGate = (gate: Gate, nowMs: number): readonly Occasion[] => {
  const { destination, pause, failures } = gate;
  if (pause !== undefined && isPausedBySystem(gate)) {
    return [{ notice: { kind: 'destination-paused', destination }, sinceMs: pause.sinceMs }];
  }
  return failures !== undefined && isFailing(gate, nowMs)
    ? [{ notice: { kind: 'destination-failing', destination }, sinceMs: failures.sinceMs }]
    : [];
};

const isPausedBySystem = ({ pause }: Gate): boolean => pause?.by === SYSTEM;

const isFailing = ({ failures }: Gate, nowMs: number): boolean =>
  failures !== undefined && failures.count >= FAILING_COUNT && nowMs - failures.sinceMs >= FAILING_MS;

const SYSTEM = 'system';

// ---- what of it is true -------------------------------------------------------------------------------------------

export const quarantinedFact = (row: Delivery): Fact | undefined => {
  if (row.status !== 'quarantined' || isNoticeEvent(row.event)) return undefined;
  const { event, destination, reason } = row;
  return {
    ...aboutDestination('delivery-quarantined', destination, row.endedAtMs),
    says: `A delivery to ${destination} is quarantined: ${reason}. Others may have followed since.`,
    details: { event, reason, attempts: row.attempts },
    look: commandLine('delivery explain', [event, destination]),
    page: `/console/events/${encodeURIComponent(event)}/deliveries/${encodeURIComponent(destination)}`,
  };
};

export const pausedFact = (gate: Gate): Fact | undefined => {
  const { destination, pause } = gate;
  if (pause === undefined || !isPausedBySystem(gate)) return undefined;
  const tries = pause.probeAtMs === undefined ? 'A person has to resume it.' : 'It is tried again by itself.';
  return {
    ...aboutDestination('destination-paused', destination, pause.sinceMs),
    says: `Destination ${destination} is paused: ${pause.reason}. ${tries}`,
    details: { reason: pause.reason },
  };
};

export const failingFact = (gate: Gate, nowMs: number): Fact | undefined => {
  const { destination, failures } = gate;
  if (failures === undefined || gate.pause !== undefined || !isFailing(gate, nowMs)) return undefined;
  const since = formatInstant(failures.sinceMs);
  return {
    ...aboutDestination('destination-failing', destination, failures.sinceMs),
    says: `Destination ${destination} fails: ${failures.count} attempts in a row since ${since}.`,
    details: { failures: failures.count },
  };
};

export const finishedFact = (operation: Operation): Fact | undefined => {
  const { operation: id, state, endedAtMs, stoppedBecause } = operation;
  if ((state !== 'done' && state !== 'stopped') || endedAtMs === undefined) return undefined;
  const because = stoppedBecause === undefined ? '' : `: ${stoppedBecause}`;
  return {
    kind: 'redrive-finished',
    atMs: endedAtMs,
    about: id,
    says: `Redrive ${id} is ${state}${because}.`,
    details: { operation: id, state, messages: operation.messages },
    look: commandLine('redrive show', [id]),
    page: `/console/redrives/${encodeURIComponent(id)}`,
  };
};

/** Of the shard that was passed longest ago. A shard that was never passed is a deployment that has not begun. */
export const silentFact = (beats: readonly Heartbeat[], nowMs: number): Fact | undefined => {
  const oldest = beats.toSorted((a, b) => a.passAtMs - b.passAtMs)[0];
  if (oldest === undefined || nowMs - oldest.passAtMs <= SWEEP_SILENT_MS) return undefined;
  const since = formatInstant(oldest.passAtMs);
  return {
    kind: 'sweep-silent',
    atMs: oldest.passAtMs,
    about: '',
    says: `No sweep has passed over shard ${oldest.shard} since ${since}: what gets lost there is not found again.`,
    details: { shard: oldest.shard },
    look: commandLine('queue stats'),
    page: '/console',
  };
};

const aboutDestination = (kind: NoticeKind, destination: DestinationId, atMs: number) => ({
  kind,
  atMs,
  about: destination,
  destination,
  look: commandLine('destination show', [destination]),
  page: `/console/destinations/${encodeURIComponent(destination)}`,
});

// ---- the event ----------------------------------------------------------------------------------------------------

export const windowOf = (atMs: number): number => atMs - (atMs % NOTICE_WINDOW_MS);

/**
 * Names the publish of a reference, and what one process need not say twice. By the window of what has happened, so that
 * an old thing which is met again takes no place of a new one; and by that of now, so that what got lost is said again.
 */
export const noticeKey = ({ notice, sinceMs }: Occasion, nowMs: number): string =>
  publishKeyOf('notice', notice.kind, thingOf(notice), windowOf(sinceMs), windowOf(nowMs));

const thingOf = (notice: Notice): string => {
  switch (notice.kind) {
    case 'delivery-quarantined':
    case 'destination-paused':
    case 'destination-failing':
      return notice.destination;
    case 'redrive-finished':
      return notice.operation;
    case 'sweep-silent':
      return '';
  }
};

/** `notice~destination-paused~20261129T1215Z~...`; the rest is a hash of whom it is about and whom it is told. */
export const noticeEventId = ({ kind, about, atMs }: Fact, to: DestinationId): EventId => {
  const minute = formatInstant(windowOf(atMs)).slice(0, 16).replaceAll(/[-:]/g, '');
  const hash = createHash('sha256').update(`${about.length}:${about},${to}`).digest('base64url').slice(0, 22);
  const parsed = parseEventId(`notice~${kind}~${minute}Z~${hash}`);
  if (parsed.kind === 'bad') throw new TypeError(`the id of a notice ${parsed.reason}`);
  return parsed.id;
};

const CONTENT_TYPE = 'application/json';

export const noticeSubmission = (fact: Fact, to: DestinationId): Submission => {
  const { kind, atMs, destination, says, details, look, page } = fact;
  const payload = Buffer.from(
    JSON.stringify({
      notice: kind,
      at: formatInstant(atMs),
      ...(destination === undefined ? {} : { destination }),
      ...details,
      // It is read by people, in whatever shows it: an id or a reason may not turn the direction of what stands behind it.
      says: withHiddenShown(says),
      look,
      page,
    }),
  );
  return {
    event: noticeEventId(fact, to),
    type: 'onceward.notice',
    payload,
    contentType: CONTENT_TYPE,
    fingerprint: fingerprintOfBytes(CONTENT_TYPE, payload),
    destinations: [to],
  };
};
