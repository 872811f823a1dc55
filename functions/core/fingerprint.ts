/**
 * What makes two payloads the same. The fingerprint says "the same content" (and decides whether an id that comes again
 * is a repeat or a conflict); the payload hash says "the same bytes" (and guards what is stored and sent).
 *
 * Canonical form of a JSON payload: no whitespace; members sorted by the UTF-16 code units of their decoded keys; arrays
 * in their order; strings by their decoded value; numbers by their text, so that `1`, `1.0` and `1e0` are three numbers
 * and no digit beyond 2^53 is lost. It is JSON again, so a string "1" and a number 1 stay different.
 */
import { createHash, hash } from 'node:crypto';
import type { JsonNode } from './json-tree.ts';

/** The tag keeps kinds apart and leaves room for another rule: a stored fingerprint must never change its meaning. */
const JSON_TAG = 'onceward payload 1 json\n';
const BYTES_TAG = 'onceward payload 1 bytes\n';

/** Fingerprint of a JSON payload (content type `application/json`): SHA-256 in base64url, 43 characters. */
export const fingerprintOfJson = (node: JsonNode, text: string): string =>
  createHash('sha256').update(JSON_TAG).update(canonicalOf(node, text), 'utf8').digest('base64url');

/**
 * Fingerprint of a payload given as bytes: SHA-256 over its content type, as written, and its bytes. Bytes are not read
 * as JSON even where the content type says so: who sends bytes means these bytes.
 */
export const fingerprintOfBytes = (contentType: string, bytes: Uint8Array): string =>
  createHash('sha256')
    .update(BYTES_TAG)
    .update(`${Buffer.byteLength(contentType, 'utf8')}:${contentType}\n`, 'utf8')
    .update(bytes)
    .digest('base64url');

/** SHA-256 of exactly these bytes, in base64url. */
export const payloadHash = (bytes: Uint8Array): string => hash('sha256', bytes, 'base64url');

/** The canonical form of a node of a document with this text. Its recursion is bounded: the reader bounds the depth. */
export function canonicalOf(node: JsonNode, text: string): string {
  switch (node.kind) {
    case 'string':
      // Escapes half surrogates, so that no two strings meet in U+FFFD when the text becomes UTF-8.
      return JSON.stringify(node.value);
    case 'number':
    case 'literal':
      return text.slice(node.start, node.end);
    case 'array': {
      let out = '[';
      for (const [at, item] of node.items.entries()) out += (at === 0 ? '' : ',') + canonicalOf(item, text);
      return `${out}]`;
    }
    case 'object': {
      const sorted = node.members.size < 2 ? node.members : [...node.members].sort(byKey);
      let out = '{';
      for (const [key, value] of sorted) {
        out += `${out === '{' ? '' : ','}${JSON.stringify(key)}:${canonicalOf(value, text)}`;
      }
      return `${out}}`;
    }
  }
}

/** The platform compares strings by UTF-16 code units. Keys of one object are never equal. */
const byKey = ([a]: readonly [string, JsonNode], [b]: readonly [string, JsonNode]): number => (a < b ? -1 : 1);
