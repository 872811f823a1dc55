/**
 * The push side of Infrai. Its wrapping is not documented: a sample shows `{message_id, payload}`, other receivers read
 * the message bare. Both are accepted, and `body` and `id` as the other spellings that have been seen. The message is
 * given back as the bytes that came: an event inside it must never be serialised again.
 */

import { type JsonDocument, type JsonNode, memberOf, readJson } from '../../../core/json-tree.ts';
import { SIGNATURE_TOLERANCE_MS } from '../../../core/limits.ts';
import { type PushScheme, verifyPush } from '../../../core/push-signature.ts';
import type { Push, Unwrapped } from '../../../ports.ts';

/** How the queue signs its pushes. */
export type InfraiPushSettings = Omit<PushScheme, 'toleranceMs'>;

export const createInfraiPush = (settings: InfraiPushSettings): Push => {
  const scheme: PushScheme = { ...settings, toleranceMs: SIGNATURE_TOLERANCE_MS };
  return {
    verify: (headers, body, nowMs) => verifyPush({ headers, body, scheme, nowMs }),
    unwrap: unwrapPush,
  };
};

/** What a journal can carry as the cause of an entry. */
const MESSAGE_ID = /^[!-~]{1,128}$/;

interface Wrapping {
  readonly messageId?: string;
  readonly deliveryCount?: number;
}

/** The bytes given back lie inside those given. */
const unwrapPush = (body: Uint8Array): Unwrapped => {
  const document = readJson(body);
  if (document.kind === 'bad') {
    return { kind: 'senseless', reason: `the push ${document.field ? `(${document.field}) ` : ''}${document.reason}` };
  }
  const { root } = document;
  if (root.kind !== 'object') return { kind: 'senseless', reason: 'the push is not a JSON object' };
  if (isMessage(root)) return { kind: 'message', body: bytesOf(document, root) };
  const inner = givenOf(root, 'payload') ?? givenOf(root, 'body');
  const wrapping = wrappingOf(root, inner !== undefined);
  if (inner !== undefined) return messageOf(document, inner, wrapping);
  if (wrapping.messageId !== undefined) return senseless('the push holds no message', wrapping);
  return { kind: 'message', body: bytesOf(document, root) };
};

/** Every message of ours bears both, whatever else a later format may put beside them. */
const isMessage = (root: JsonNode): boolean =>
  memberOf(root, 'kind') !== undefined && memberOf(root, 'format') !== undefined;

const givenOf = (root: JsonNode, name: string): JsonNode | undefined => {
  const node = memberOf(root, name);
  return node?.kind === 'literal' && node.value === null ? undefined : node;
};

/** `id` alone is no sign of a wrapping: it could be a member of somebody's bare message. */
const wrappingOf = (root: JsonNode, wrapped: boolean): Wrapping => {
  const id = memberOf(root, 'message_id') ?? (wrapped ? memberOf(root, 'id') : undefined);
  const count = memberOf(root, 'delivery_count');
  return {
    ...(id?.kind === 'string' && MESSAGE_ID.test(id.value) ? { messageId: id.value } : {}),
    ...(count?.kind === 'number' && Number.isSafeInteger(count.value) && count.value >= 1
      ? { deliveryCount: count.value }
      : {}),
  };
};

const messageOf = (document: JsonDocument, inner: JsonNode, wrapping: Wrapping): Unwrapped => {
  if (inner.kind === 'object') return { kind: 'message', body: bytesOf(document, inner), ...wrapping };
  if (inner.kind !== 'string') return senseless('the message in the push is not a JSON object', wrapping);
  if (!inner.value.isWellFormed()) return senseless('the message in the push is not whole Unicode text', wrapping);
  // JSON inside a JSON string, once: some producers hand the queue a text where it wants an object.
  const text = new TextEncoder().encode(inner.value);
  const decoded = readJson(text);
  if (decoded.kind === 'bad') return senseless(`the text in the push ${decoded.reason}`, wrapping);
  if (decoded.root.kind !== 'object') return senseless('the text in the push is not a JSON object', wrapping);
  return { kind: 'message', body: bytesOf(decoded, decoded.root), ...wrapping };
};

const senseless = (reason: string, { messageId }: Wrapping): Unwrapped => ({
  kind: 'senseless',
  reason,
  ...(messageId === undefined ? {} : { messageId }),
});

const bytesOf = (document: JsonDocument, node: JsonNode): Uint8Array =>
  document.bytes.subarray(document.byteOffset(node.start), document.byteOffset(node.end));
