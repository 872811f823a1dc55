/**
 * What travels on the queue. A `deliver` message is a reference: it can cause nothing that the ledger does not already
 * allow. An `event` message carries a whole event, from a producer that only has the queue.
 *
 * Three ways to misread, three answers: an unknown kind or a later format may come from newer code and is refused, so
 * that the queue keeps it whole; what is authentic and makes no sense is filed as poison; the rest is a message.
 */
import { type DestinationId, type EventId, isOwnId, parseDestinationId, parseEventId } from './ids.ts';
import { INSTANT_MS_MAX } from './instant.ts';
import { type JsonNode, memberOf, readJson } from './json-tree.ts';
import { DUE_SHARDS } from './limits.ts';
import { FORMAT } from './model.ts';
import type { Notice } from './notice.ts';
import { readSubmission, type Submission } from './submission.ts';

export type Message =
  | { readonly kind: 'deliver'; readonly event: EventId; readonly destination: DestinationId }
  | { readonly kind: 'event'; readonly submission: Submission }
  | { readonly kind: 'sweep'; readonly shard: number; readonly tick: number; readonly page: number }
  | DrainMessage
  /** Somebody should hear of something: what of it is true, the ledger says. */
  | { readonly kind: 'notice'; readonly notice: Notice }
  /** Act on the messages of an operation from this position on. `turn` tells apart the publishes of one position. */
  | { readonly kind: 'redrive'; readonly operation: string; readonly position: number; readonly turn: number };

/** Publish what is parked at a destination, page by page, at a rate. */
export interface DrainMessage {
  readonly kind: 'drain';
  readonly destination: DestinationId;
  /** Names the drain: the same in all its pages, so that a repeated page publishes under the same keys. */
  readonly drain: number;
  readonly page: number;
  /** When the first of its deliveries was to go out; page and row follow from it by the rate. */
  readonly fromMs: number;
  /** Deliveries that the pages before have published. */
  readonly sent: number;
  readonly cursor?: string;
}

export type MessageResult =
  | { readonly kind: 'message'; readonly message: Message }
  | { readonly kind: 'newer'; readonly reason: string }
  | { readonly kind: 'senseless'; readonly reason: string };

/** Kinds that have a meaning in this format but no consumer in this version are `newer`, like any unknown one. */
export const readMessage = (body: Uint8Array, nowMs: number): MessageResult => {
  const document = readJson(body);
  if (document.kind === 'bad') return senseless(document.field, document.reason);
  const { root } = document;
  if (root.kind !== 'object') return { kind: 'senseless', reason: 'the message is not a JSON object' };
  const format = memberOf(root, 'format');
  if (format?.kind !== 'number' || !Number.isSafeInteger(format.value) || format.value < 1) {
    return senseless('format', 'must be a whole number from 1');
  }
  if (format.value > FORMAT) return { kind: 'newer', reason: `message format ${format.value} is newer than ${FORMAT}` };
  const kind = memberOf(root, 'kind');
  if (kind?.kind !== 'string') return senseless('kind', 'must be a string');
  switch (kind.value) {
    case 'deliver':
      return deliverOf(root);
    case 'sweep':
      return sweepOf(root);
    case 'drain':
      return drainOf(root);
    case 'redrive':
      return redriveOf(root);
    case 'notice':
      return noticeOf(root);
    case 'event': {
      const inner = memberOf(root, 'event');
      if (inner === undefined) return senseless('event', 'is missing');
      const read = readSubmission(document, inner, nowMs);
      if (read.kind === 'bad') return senseless(`event.${read.field}`, read.reason);
      return { kind: 'message', message: { kind: 'event', submission: read.submission } };
    }
    default:
      return { kind: 'newer', reason: `message kind ${JSON.stringify(kind.value.slice(0, 32))} is not known here` };
  }
};

const senseless = (field: string | undefined, reason: string): MessageResult => ({
  kind: 'senseless',
  reason: field ? `${field} ${reason}` : reason,
});

const textOf = (root: JsonNode, name: string): unknown => {
  const node = memberOf(root, name);
  return node?.kind === 'string' || node?.kind === 'number' ? node.value : undefined;
};

const deliverOf = (root: JsonNode): MessageResult => {
  const event = parseEventId(textOf(root, 'event'));
  if (event.kind === 'bad') return senseless('event', event.reason);
  const destination = parseDestinationId(textOf(root, 'destination'));
  if (destination.kind === 'bad') return senseless('destination', destination.reason);
  return { kind: 'message', message: { kind: 'deliver', event: event.id, destination: destination.id } };
};

const CURSOR_CHARS_MAX = 8_192;

const wholeOf = (root: JsonNode, name: string): number | undefined => {
  const value = textOf(root, name);
  // No count of ours is larger than a time, and the next one is still a whole number.
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= INSTANT_MS_MAX
    ? value
    : undefined;
};

const notWhole = (name: string): MessageResult => senseless(name, 'must be a whole number from 0');

const sweepOf = (root: JsonNode): MessageResult => {
  const shard = wholeOf(root, 'shard');
  if (shard === undefined) return notWhole('shard');
  if (shard >= DUE_SHARDS) return senseless('shard', `must be below ${DUE_SHARDS}`);
  const tick = wholeOf(root, 'tick');
  if (tick === undefined) return notWhole('tick');
  const page = memberOf(root, 'page') === undefined ? 0 : wholeOf(root, 'page');
  if (page === undefined) return notWhole('page');
  return { kind: 'message', message: { kind: 'sweep', shard, tick, page } };
};

const drainOf = (root: JsonNode): MessageResult => {
  const destination = parseDestinationId(textOf(root, 'destination'));
  if (destination.kind === 'bad') return senseless('destination', destination.reason);
  const drain = wholeOf(root, 'drain');
  if (drain === undefined) return notWhole('drain');
  const page = wholeOf(root, 'page');
  if (page === undefined) return notWhole('page');
  const fromMs = wholeOf(root, 'fromMs');
  if (fromMs === undefined) return notWhole('fromMs');
  const sent = wholeOf(root, 'sent');
  if (sent === undefined) return notWhole('sent');
  const node = memberOf(root, 'cursor');
  const cursor = node?.kind === 'string' && node.value.length <= CURSOR_CHARS_MAX ? node.value : undefined;
  if (node !== undefined && cursor === undefined) return senseless('cursor', 'must be a cursor of a list');
  const message: DrainMessage = { kind: 'drain', destination: destination.id, drain, page, fromMs, sent };
  return { kind: 'message', message: cursor === undefined ? message : { ...message, cursor } };
};

const noticeOf = (root: JsonNode): MessageResult => {
  const kind = textOf(root, 'notice');
  const message = (notice: Notice): MessageResult => ({ kind: 'message', message: { kind: 'notice', notice } });
  switch (kind) {
    case 'sweep-silent':
      return message({ kind });
    case 'redrive-finished': {
      const operation = textOf(root, 'operation');
      if (typeof operation !== 'string' || !isOwnId(operation)) return senseless('operation', 'must be an id');
      return message({ kind, operation });
    }
    case 'destination-paused':
    case 'destination-failing': {
      const destination = parseDestinationId(textOf(root, 'destination'));
      if (destination.kind === 'bad') return senseless('destination', destination.reason);
      return message({ kind, destination: destination.id });
    }
    case 'delivery-quarantined': {
      const read = deliverOf(root);
      if (read.kind !== 'message' || read.message.kind !== 'deliver') return read;
      return message({ kind, event: read.message.event, destination: read.message.destination });
    }
    default:
      if (typeof kind !== 'string') return senseless('notice', 'must be a string');
      return { kind: 'newer', reason: `notice ${JSON.stringify(kind.slice(0, 32))} is not known here` };
  }
};

const redriveOf = (root: JsonNode): MessageResult => {
  const operation = textOf(root, 'operation');
  if (typeof operation !== 'string' || !isOwnId(operation)) return senseless('operation', 'must be an id');
  const position = wholeOf(root, 'position');
  if (position === undefined) return notWhole('position');
  const turn = wholeOf(root, 'turn');
  if (turn === undefined) return notWhole('turn');
  return { kind: 'message', message: { kind: 'redrive', operation, position, turn } };
};

export const deliverBody = (event: EventId, destination: DestinationId): string =>
  JSON.stringify({ kind: 'deliver', format: FORMAT, event, destination });

export const sweepBody = (shard: number, tick: number, page: number): string =>
  JSON.stringify({ kind: 'sweep', format: FORMAT, shard, tick, page });

export const drainBody = ({ kind, ...message }: DrainMessage): string =>
  JSON.stringify({ kind, format: FORMAT, ...message });

export const noticeBody = ({ kind, ...of }: Notice): string =>
  JSON.stringify({ kind: 'notice', format: FORMAT, notice: kind, ...of });

export const redriveBody = (operation: string, position: number, turn: number): string =>
  JSON.stringify({ kind: 'redrive', format: FORMAT, operation, position, turn });
