/**
 * Every text that names something in the table, on the queue or at a destination. All of them are injective: two
 * different things never get one name, whatever characters their ids hold (`a#b` + `c` is not `a` + `b#c`).
 *
 * Two rules give that. In a table key a fixed prefix comes first and at most one free text follows, to the end. Where
 * several free texts stand together, each is written as its length, a colon, itself and a comma.
 *
 * These texts are stored and sent: changing one loses rows, or makes a repeat look new to a destination.
 */
import { hash } from 'node:crypto';
import { type DestinationId, type EventId, parseDestinationId, parseEventId } from './ids.ts';
import { assertInstant, INSTANT_MS_MAX } from './instant.ts';
import type { DeliveryRef } from './model.ts';

// ---- pairs and hashes ---------------------------------------------------------------------------------------------

/** Lengths count UTF-16 code units. */
const joined = (parts: readonly string[]): string => parts.map((part) => `${part.length}:${part},`).join('');

const hashOf = (purpose: string, parts: readonly string[]): string =>
  hash('sha256', joined([purpose, ...parts]), 'base64url');

/** One text for the pair, for logs and hashing: `8:order-17,7:partner,`. */
export const deliveryKeyText = (event: EventId, destination: DestinationId): string => joined([event, destination]);

/** The pair back from its text, or undefined where the text is not one of ours. */
export function parseDeliveryKeyText(text: string): DeliveryRef | undefined {
  const parts: string[] = [];
  for (let at = 0; at < text.length; ) {
    const length = /^(?:0|[1-9]\d{0,3}):/.exec(text.slice(at, at + 5))?.[0];
    if (length === undefined) return undefined;
    const start = at + length.length;
    const end = start + Number.parseInt(length, 10);
    if (text[end] !== ',') return undefined;
    parts.push(text.slice(start, end));
    at = end + 1;
  }
  return parts.length === 2 ? refOf(parts[0], parts[1]) : undefined;
}

function refOf(eventText: unknown, destinationText: unknown): DeliveryRef | undefined {
  const event = parseEventId(eventText);
  const destination = parseDestinationId(destinationText);
  if (event.kind === 'bad' || destination.kind === 'bad') return undefined;
  return { event: event.id, destination: destination.id };
}

/**
 * `Idempotency-Key` and `webhook-id` of every attempt of a delivery: 46 characters of ASCII, the same for ever. A hash,
 * because an id may hold what a header cannot carry unchanged (blanks at its ends, letters beyond ASCII), and because
 * Standard Webhooks signs `id.timestamp.body`, so that the id may hold no dot.
 */
export const outgoingKey = (event: EventId, destination: DestinationId): string =>
  `ow_${hashOf('outgoing', [event, destination])}`;

export interface DeliverPublish extends DeliveryRef {
  /** Version of the row whose write planned the publish. */
  readonly version: number;
  /** Only for a publish by a sweep: its tick. */
  readonly tick?: number;
}

/**
 * Key of the publish of a delivery's reference. The same plan published again has the same key, so that the queue may
 * drop it; any later plan has another row version or another tick, so that the queue's 24 hours of memory cannot swallow it.
 */
export const publishKey = (publish: DeliverPublish): string => {
  const { event, destination, version, tick } = publish;
  return publishKeyOf('deliver', event, destination, version, ...(tick === undefined ? [] : [tick]));
};

/** Key of any other publish (sweep: shard and minute; drain and redrive: what they page through). 46 characters. */
export const publishKeyOf = (kind: string, ...parts: readonly (string | number)[]): string =>
  `op_${hashOf('publish', [kind, ...parts.map((part) => (typeof part === 'number' ? integerText(part) : part))])}`;

/** Spreads names evenly and always alike over `shards` partitions, numbered from 0. */
export function shardOf(name: string, shards: number): number {
  if (!Number.isInteger(shards) || shards < 1) throw new RangeError(`not a number of shards: ${shards}`);
  return hash('sha256', name, 'buffer').readUInt32BE(0) % shards;
}

export const dueShard = (event: EventId, destination: DestinationId, shards: number): number =>
  shardOf(deliveryKeyText(event, destination), shards);

// ---- table: partition and sort keys -------------------------------------------------------------------------------
// DynamoDB takes 2,048 bytes of partition key and 1,024 bytes of sort key; the longest ids stay far below.

/** The prefix keeps an event called `destination#x` away from the destination `x`. */
export const eventPartition = (event: EventId): string => `${EVENT}${event}`;
export const EVENT_SORT = 'event';
export const deliverySort = (destination: DestinationId): string => `${DELIVERY}${destination}`;
export const conflictSort = (n: number): string => `conflict#${integerText(n)}`;

const EVENT = 'event#';
const DELIVERY = 'delivery#';

/** The delivery whose item has these keys (an index gives nothing else), or undefined for an item of another kind. */
export const deliveryOfKeys = (partition: string, sort: string): DeliveryRef | undefined =>
  partition.startsWith(EVENT) && sort.startsWith(DELIVERY)
    ? refOf(partition.slice(EVENT.length), sort.slice(DELIVERY.length))
    : undefined;

export const destinationPartition = (destination: DestinationId): string => `destination#${destination}`;
/** No destination has an empty id. */
export const NOTICE_REGISTER_PARTITION = 'destination#';
export const NOTICE_REGISTER_SORT = 'notices';
export const CONFIG_SORT = 'config';
export const GATE_SORT = 'gate';
export const PACE_SORT = 'pace';
export const slotSort = (slot: number): string => `slot#${integerText(slot)}`;
/** All slots of a destination lie between these two, and nothing else: a colon is the character behind the digits. */
export const SLOT_SORTS = ['slot#0', 'slot#:'] as const;

export const operationPartition = (operation: string): string => `operation#${operation}`;
export const PLAN_SORT = 'plan';

const POSITION_DIGITS = 9;
export const POSITION_MAX = 10 ** POSITION_DIGITS - 1;

/** Nine digits, so that the order of the texts is the order of the places in the plan. */
export function messageSort(position: number): string {
  if (position > POSITION_MAX) throw new RangeError(`no operation has that many messages: ${position}`);
  return `message#${integerText(position).padStart(POSITION_DIGITS, '0')}`;
}

// The others are alone in their partitions, each under its kind.

export const secretPartition = (destination: DestinationId): string => `secret#${destination}`;
export const SECRET_SORT = 'secret';
/** By its cause and not by its request id, which may be too long for a journal entry: what stands there finds it. */
export const decisionPartition = (cause: string): string => `decision#${cause}`;
export const DECISION_SORT = 'decision';
export const heartbeatPartition = (shard: number): string => `heartbeat#${integerText(shard)}`;
export const HEARTBEAT_SORT = 'heartbeat';
/** A token is only ever known by the hash of its text. */
export const tokenPartition = (tokenHash: string): string => `token#${tokenHash}`;
export const TOKEN_SORT = 'token';
/** No hash is so short. */
export const TOKEN_REGISTER_PARTITION = 'token#register';
export const TOKEN_REGISTER_SORT = 'register';

/** What a senseless message is filed under: its id on the queue where that is usable as one, else the hash of its body. */
export const poisonName = (messageId: unknown, bodyHash: string): string =>
  parseEventId(messageId).kind === 'ok' ? `message:${messageId}` : `body:${bodyHash}`;
export const poisonPartition = (name: string): string => `poison#${name}`;
export const POISON_SORT = 'poison';
/** The minute is counted from 1970. */
export const poisonMinutePartition = (minute: number): string => `poison-minute#${integerText(minute)}`;
export const POISON_MINUTE_SORT = 'poison-minute';

// ---- indexes ------------------------------------------------------------------------------------------------------

export type AttentionKind = 'quarantined' | 'parked' | 'poison';
export type RecentList = 'destinations' | 'operations' | 'decisions';

export const duePartition = (shard: number): string => `due#${integerText(shard)}`;
export const attentionPartition = (kind: AttentionKind, shard: number): string =>
  `attention#${kind}#${integerText(shard)}`;
/** The day is a UTC day such as `2026-11-29`. */
export function recentPartition(destination: DestinationId, utcDay: string, shard: number): string {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(utcDay)) throw new RangeError(`not a UTC day: ${utcDay}`);
  return `recent#${utcDay}#${integerText(shard)}#${destination}`;
}
export const recentListPartition = (list: RecentList): string => `recent#${list}`;

const TIME_DIGITS = String(INSTANT_MS_MAX).length;

/** Sort text of `due` and `recent`: fifteen digits, so that the order of the texts is the order of the times. */
export function timeSort(atMs: number): string {
  assertInstant(atMs);
  return String(atMs).padStart(TIME_DIGITS, '0');
}

/** What every sort text of one destination in `attention` begins with, and of no other destination. */
export const attentionPrefix = (destination: DestinationId): string => joined([destination]);
/** Sort text of `attention`: by destination, then in order of time. */
export const attentionSort = (destination: DestinationId, atMs: number): string =>
  `${attentionPrefix(destination)}${timeSort(atMs)}`;

function integerText(value: number): string {
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError(`not a whole number from 0: ${value}`);
  return String(value);
}
