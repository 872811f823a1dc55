/** An event as somebody hands it in: by the API, or whole inside a message of the queue. One reader for both. */
import { type DestinationId, type EventId, parseDestinationId, parseEventId } from './ids.ts';
import { parseInstant } from './instant.ts';
import { type JsonDocument, type JsonNode, memberOf } from './json-tree.ts';
import { AHEAD_MS_MAX, DESTINATIONS_PER_EVENT_MAX, TYPE_CHARS_MAX } from './limits.ts';
import { payloadOf } from './payload.ts';

export interface Submission {
  readonly event: EventId;
  readonly type?: string;
  readonly payload: Uint8Array;
  readonly contentType: string;
  readonly fingerprint: string;
  readonly destinations: readonly DestinationId[];
  readonly deliverAtMs?: number;
}

export type SubmissionResult =
  | { readonly kind: 'ok'; readonly submission: Submission }
  | { readonly kind: 'bad'; readonly code: 'invalid' | 'too-large'; readonly field: string; readonly reason: string };

const MEMBERS = new Set(['id', 'type', 'payload', 'payloadBase64', 'contentType', 'destinations', 'deliverAt']);

/** Events of the product itself, made by it alone: their ids say what they are, and nobody else's may. */
const OWN_EVENT = /^(?:notice|test)~/;

const bad = (field: string, reason: string): SubmissionResult => ({ kind: 'bad', code: 'invalid', field, reason });

export const readSubmission = (document: JsonDocument, node: JsonNode, nowMs: number): SubmissionResult => {
  if (node.kind !== 'object') return bad('', 'must be a JSON object');
  const stranger = [...node.members.keys()].find((name) => !MEMBERS.has(name));
  if (stranger !== undefined) return bad(stranger.slice(0, 64), 'is not a member of an event');

  const id = parseEventId(scalar(memberOf(node, 'id')));
  if (id.kind === 'bad') return bad('id', id.reason);
  if (OWN_EVENT.test(id.id)) return bad('id', 'must not begin with "notice~" or "test~": these are our own events');
  const type = typeOf(memberOf(node, 'type'));
  if (type.kind === 'bad') return bad('type', type.reason);
  const destinations = destinationsOf(memberOf(node, 'destinations'));
  if (destinations.kind === 'bad') return bad(destinations.field, destinations.reason);
  const deliverAt = deliverAtOf(memberOf(node, 'deliverAt'), nowMs);
  if (deliverAt.kind === 'bad') return bad('deliverAt', deliverAt.reason);
  const payload = payloadOf(document, node);
  if (payload.kind === 'bad') return payload;

  return {
    kind: 'ok',
    submission: {
      event: id.id,
      ...(type.type === undefined ? {} : { type: type.type }),
      payload: payload.bytes,
      contentType: payload.contentType,
      fingerprint: payload.fingerprint,
      destinations: destinations.ids,
      ...(deliverAt.atMs === undefined ? {} : { deliverAtMs: deliverAt.atMs }),
    },
  };
};

const scalar = (node: JsonNode | undefined): unknown =>
  node?.kind === 'string' || node?.kind === 'number' ? node.value : undefined;

const isNull = (node: JsonNode): boolean => node.kind === 'literal' && node.value === null;

type Bad = { readonly kind: 'bad'; readonly reason: string };

const typeOf = (node: JsonNode | undefined): { kind: 'ok'; type?: string } | Bad => {
  if (node === undefined || isNull(node)) return { kind: 'ok' };
  const fits = node.kind === 'string' && node.value.length > 0 && node.value.length <= TYPE_CHARS_MAX;
  if (!fits || /\p{Cc}/u.test(node.value) || !node.value.isWellFormed()) {
    return { kind: 'bad', reason: `must be a string of 1 to ${TYPE_CHARS_MAX} characters without control characters` };
  }
  return { kind: 'ok', type: node.value };
};

const destinationsOf = (
  node: JsonNode | undefined,
): { kind: 'ok'; ids: readonly DestinationId[] } | (Bad & { field: string }) => {
  const count = node?.kind === 'array' ? node.items.length : 0;
  if (node?.kind !== 'array' || count < 1 || count > DESTINATIONS_PER_EVENT_MAX) {
    const reason = `must be a list of 1 to ${DESTINATIONS_PER_EVENT_MAX} destination ids`;
    return { kind: 'bad', field: 'destinations', reason };
  }
  const ids: DestinationId[] = [];
  for (const [index, item] of node.items.entries()) {
    const field = `destinations[${index}]`;
    const id = parseDestinationId(scalar(item));
    if (id.kind === 'bad') return { kind: 'bad', field, reason: id.reason };
    if (ids.includes(id.id)) return { kind: 'bad', field, reason: 'names a destination twice' };
    ids.push(id.id);
  }
  return { kind: 'ok', ids };
};

const deliverAtOf = (node: JsonNode | undefined, nowMs: number): { kind: 'ok'; atMs?: number } | Bad => {
  if (node === undefined || isNull(node)) return { kind: 'ok' };
  const instant = parseInstant(scalar(node));
  if (instant.kind === 'bad') return instant;
  if (instant.atMs > nowMs + AHEAD_MS_MAX) return { kind: 'bad', reason: 'lies more than 400 days ahead' };
  return { kind: 'ok', atMs: instant.atMs };
};
