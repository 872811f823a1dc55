/** Signing of outgoing requests by Standard Webhooks 1.0.0, scheme `v1`: HMAC-SHA256, one signature per live secret. */

import { createHmac, createSecretKey, type KeyObject } from 'node:crypto';
import { WEBHOOK_ID, WEBHOOK_SIGNATURE, WEBHOOK_TIMESTAMP } from './headers.ts';

const PREFIX = 'whsec_';
const KEY_BYTES_MIN = 24;
const KEY_BYTES_MAX = 64;
const REDACTED = '[signing secret]';

/**
 * A secret that can sign and cannot be shown: the key is a private field, which neither JSON, string templates, spread
 * nor the inspector of Node can read. As a key object it signs in a quarter of the time that plain bytes take. Only the type is exported: `parseSecret` is the one place that makes them.
 */
class SigningSecret {
  readonly #key: KeyObject;

  constructor(key: Uint8Array) {
    this.#key = createSecretKey(key);
  }

  /** `v1,<base64>` over `id.timestamp.body`; the body goes in as bytes, never through a string. */
  sign(head: string, body: Uint8Array): string {
    return `v1,${createHmac('sha256', this.#key).update(head, 'utf8').update(body).digest('base64')}`;
  }

  toString(): string {
    return REDACTED;
  }

  toJSON(): string {
    return REDACTED;
  }
}

export type { SigningSecret };

export type SecretRefusal =
  | 'has-whitespace'
  | 'no-whsec-prefix'
  | 'not-base64'
  | 'shorter-than-24-bytes'
  | 'longer-than-64-bytes';

export type ParsedSecret =
  | { readonly kind: 'ok'; readonly secret: SigningSecret }
  /** A fixed word, so that nothing of the secret can be in it. */
  | { readonly kind: 'bad'; readonly reason: SecretRefusal };

/**
 * Reads `whsec_<base64>` of 24 to 64 bytes. Strict, padding included: Node decodes nearly anything by skipping what it
 * does not know, and would sign with a key that the receiver's library does not have.
 */
export const parseSecret = (text: string): ParsedSecret => {
  if (/\s/.test(text)) return { kind: 'bad', reason: 'has-whitespace' };
  if (!text.startsWith(PREFIX)) return { kind: 'bad', reason: 'no-whsec-prefix' };
  const encoded = text.slice(PREFIX.length);
  const key = Buffer.from(encoded, 'base64');
  if (key.toString('base64') !== encoded) return { kind: 'bad', reason: 'not-base64' };
  if (key.length < KEY_BYTES_MIN) return { kind: 'bad', reason: 'shorter-than-24-bytes' };
  if (key.length > KEY_BYTES_MAX) return { kind: 'bad', reason: 'longer-than-64-bytes' };
  return { kind: 'ok', secret: new SigningSecret(key) };
};

export interface SignInput {
  /** The same on every attempt of a delivery. Printable ASCII without a dot: the dot separates what is signed. */
  readonly id: string;
  /** The time of this attempt: receivers refuse what is older than some minutes, and a retry may come a day later. */
  readonly timestampSec: number;
  readonly body: Uint8Array;
  /** The newest first; several while a secret is rotated. */
  readonly secrets: readonly SigningSecret[];
}

export interface SignatureHeaders {
  readonly 'webhook-id': string;
  readonly 'webhook-timestamp': string;
  readonly 'webhook-signature': string;
}

/** The three headers of an attempt. Throws on an id, time or list of secrets that the caller should never have made. */
export const signatureHeaders = ({ id, timestampSec, body, secrets }: SignInput): SignatureHeaders => {
  if (!/^[\x21-\x2d\x2f-\x7e]+$/.test(id)) throw new Error('webhook-id must be printable ASCII without dot or blank');
  if (!Number.isSafeInteger(timestampSec) || timestampSec < 0) {
    throw new Error(`webhook-timestamp must be whole seconds since 1970, not ${timestampSec}`);
  }
  if (secrets.length === 0) throw new Error('a request cannot be signed without a secret');
  const head = `${id}.${timestampSec}.`;
  return {
    [WEBHOOK_ID]: id,
    [WEBHOOK_TIMESTAMP]: String(timestampSec),
    [WEBHOOK_SIGNATURE]: secrets.map((secret) => secret.sign(head, body)).join(' '),
  };
};
