/**
 * The payload of an event as it stands in a request: either the member `payload`, whose bytes are kept exactly as they
 * were sent, or `payloadBase64` with a `contentType`. What is kept here is what every attempt sends; it is never
 * serialised again.
 */
import { fingerprintOfBytes, fingerprintOfJson } from './fingerprint.ts';
import { depthOf, type JsonDocument, type JsonNode, memberOf } from './json-tree.ts';
import { CONTENT_TYPE_CHARS_MAX, JSON_DEPTH_MAX, PAYLOAD_BYTES_MAX } from './limits.ts';

export const JSON_CONTENT_TYPE = 'application/json';

export type PayloadField = 'payload' | 'payloadBase64' | 'contentType';

export type PayloadResult =
  | {
      readonly kind: 'ok';
      /** A copy of its own: the request's buffer may be used again. */
      readonly bytes: Uint8Array;
      readonly contentType: string;
      readonly fingerprint: string;
    }
  /** `too-large` is a code of its own because it has an HTTP status of its own (413). The reason completes "<field> ...". */
  | {
      readonly kind: 'bad';
      readonly code: 'invalid' | 'too-large';
      readonly field: PayloadField;
      readonly reason: string;
    };

/** RFC 9110 sections 5.6.2, 5.6.4 and 8.3: token/token, then parameters whose values are tokens or quoted ASCII. */
const TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";
const QUOTED = '"(?:[\\t !#-\\[\\]-~]|\\\\[\\t -~])*"';
const CONTENT_TYPE = new RegExp(`^${TOKEN}/${TOKEN}(?:[ \\t]*;[ \\t]*${TOKEN}=(?:${TOKEN}|${QUOTED}))*$`);

const BASE64_CHARS_MAX = Math.ceil(PAYLOAD_BYTES_MAX / 3) * 4;

const invalid = (field: PayloadField, reason: string): PayloadResult => ({
  kind: 'bad',
  code: 'invalid',
  field,
  reason,
});
const tooLarge = (field: PayloadField): PayloadResult => ({
  kind: 'bad',
  code: 'too-large',
  field,
  reason: `must not be larger than ${PAYLOAD_BYTES_MAX} bytes`,
});

/** Finds the payload in the node of one event of a document. */
export function payloadOf(document: JsonDocument, event: JsonNode): PayloadResult {
  const json = memberOf(event, 'payload');
  const base64 = memberOf(event, 'payloadBase64');
  const contentType = memberOf(event, 'contentType');
  if (json !== undefined && base64 !== undefined) {
    return invalid('payloadBase64', 'must not stand beside payload: give one of the two');
  }
  if (json !== undefined) {
    if (contentType !== undefined) {
      return invalid('contentType', `belongs to payloadBase64: a payload is always sent as ${JSON_CONTENT_TYPE}`);
    }
    return fromJson(document, json);
  }
  if (base64 !== undefined) return fromBase64(base64, contentType);
  return invalid('payload', 'is missing: give payload, or payloadBase64 with contentType');
}

function fromJson(document: JsonDocument, node: JsonNode): PayloadResult {
  const start = document.byteOffset(node.start);
  const end = document.byteOffset(node.end);
  if (end - start > PAYLOAD_BYTES_MAX) return tooLarge('payload');
  if (depthOf(node) > JSON_DEPTH_MAX) return invalid('payload', `is nested deeper than ${JSON_DEPTH_MAX} levels`);
  return {
    kind: 'ok',
    bytes: new Uint8Array(document.bytes.subarray(start, end)),
    contentType: JSON_CONTENT_TYPE,
    fingerprint: fingerprintOfJson(node, document.text),
  };
}

function fromBase64(node: JsonNode, contentTypeNode: JsonNode | undefined): PayloadResult {
  if (contentTypeNode === undefined) return invalid('contentType', 'is missing: payloadBase64 needs it');
  const contentType = contentTypeNode.kind === 'string' ? contentTypeNode.value : undefined;
  if (contentType === undefined || contentType.length > CONTENT_TYPE_CHARS_MAX || !CONTENT_TYPE.test(contentType)) {
    return invalid('contentType', `must be type/subtype with parameters, at most ${CONTENT_TYPE_CHARS_MAX} characters`);
  }
  if (node.kind !== 'string') return invalid('payloadBase64', 'must be a string');
  if (node.value.length > BASE64_CHARS_MAX) return tooLarge('payloadBase64');
  const bytes = new Uint8Array(Buffer.from(node.value, 'base64'));
  // The platform skips what it does not know; only text that comes back the same was base64 (RFC 4648 sections 3.2, 3.5).
  if (Buffer.from(bytes).toString('base64') !== node.value) {
    return invalid('payloadBase64', 'must be standard base64 (A-Z a-z 0-9 + /) with its padding and no line breaks');
  }
  if (bytes.length > PAYLOAD_BYTES_MAX) return tooLarge('payloadBase64');
  return { kind: 'ok', bytes, contentType, fingerprint: fingerprintOfBytes(contentType, bytes) };
}
