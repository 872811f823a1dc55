/**
 * What travels on the queue. A `deliver` message is a reference: it can cause nothing that the ledger does not already
 * allow. An `event` message carries a whole event, from a producer that only has the queue.
 *
 * Three ways to misread, three answers: an unknown kind or a later format may come from newer code and is refused, so
 * that the queue keeps it whole; what is authentic and makes no sense is filed as poison; the rest is a message.
 */
import { type DestinationId, type EventId, parseDestinationId, parseEventId } from './ids.ts';
import { type JsonNode, memberOf, readJson } from './json-tree.ts';
import { FORMAT } from './model.ts';
import { readSubmission, type Submission } from './submission.ts';

export type Message =
  | { readonly kind: 'deliver'; readonly event: EventId; readonly destination: DestinationId }
  | { readonly kind: 'event'; readonly submission: Submission }
  | { readonly kind: 'sweep'; readonly shard: number; readonly tick: number };

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
  const kind = memberOf(root, 'kind');
  if (kind?.kind !== 'string') return senseless('kind', 'must be a string');
  const format = memberOf(root, 'format');
  if (format?.kind !== 'number' || !Number.isSafeInteger(format.value) || format.value < 1) {
    return senseless('format', 'must be a whole number from 1');
  }
  if (format.value > FORMAT) return { kind: 'newer', reason: `message format ${format.value} is newer than ${FORMAT}` };
  switch (kind.value) {
    case 'deliver':
      return deliverOf(root);
    case 'sweep':
      return sweepOf(root);
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

const sweepOf = (root: JsonNode): MessageResult => {
  const shard = textOf(root, 'shard');
  const tick = textOf(root, 'tick');
  const fits = (value: unknown): value is number =>
    typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
  if (!fits(shard)) return senseless('shard', 'must be a whole number from 0');
  if (!fits(tick)) return senseless('tick', 'must be a whole number from 0');
  return { kind: 'message', message: { kind: 'sweep', shard, tick } };
};

export const deliverBody = (event: EventId, destination: DestinationId): string =>
  JSON.stringify({ kind: 'deliver', format: FORMAT, event, destination });

export const sweepBody = (shard: number, tick: number): string =>
  JSON.stringify({ kind: 'sweep', format: FORMAT, shard, tick });
