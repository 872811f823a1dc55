/** Is this push from our queue? Verification of its signature over the raw bytes, before anything reads them. */

import { createHmac, timingSafeEqual } from 'node:crypto';

/** How the queue signs. The queue does not document it, so every part is a setting, and every setting is exact. */
export interface PushScheme {
  /** At least one; several while the secret is rotated. An empty one never matches: anybody could sign with it. */
  readonly secrets: readonly string[];
  readonly signatureHeader: string;
  /** What stands before the hex digits, such as `sha256=`; with an empty prefix, nothing may stand there. */
  readonly prefix: string;
  /** When set, this header holds unix seconds, `<seconds>.<body>` is what is signed, and old pushes are refused. */
  readonly timestampHeader?: string | undefined;
  readonly toleranceMs: number;
}

export interface PushToVerify {
  /** The value of a header by its name; repeated ones joined by commas, as every server hands them over. */
  readonly headers: (name: string) => string | undefined;
  readonly body: Uint8Array;
  readonly scheme: PushScheme;
  readonly nowMs: number;
}

export type PushVerdict =
  | { readonly kind: 'authentic' }
  | { readonly kind: 'refused'; readonly code: 'missing' | 'malformed' | 'ambiguous' | 'mismatch' | 'stale' };

/**
 * Verifies one push. Never throws, whatever the headers hold, and says nothing about secrets or digests. `stale` is told
 * only to a sender who holds the secret; a replay inside the tolerance is authentic, and the ledger knows it.
 */
export const verifyPush = ({ headers, body, scheme, nowMs }: PushToVerify): PushVerdict => {
  const signature = readField(headers(scheme.signatureHeader), scheme.prefix, /^[0-9a-f]{64}$/i);
  if (signature.kind === 'refused') return signature;
  const digest = Buffer.from(signature.text, 'hex');
  if (scheme.timestampHeader === undefined) return verdict(matchesAny(scheme.secrets, digest, '', body), 'mismatch');

  const timestamp = readField(headers(scheme.timestampHeader), '', /^[0-9]{1,15}$/);
  if (timestamp.kind === 'refused') return timestamp;
  if (!matchesAny(scheme.secrets, digest, `${timestamp.text}.`, body)) return { kind: 'refused', code: 'mismatch' };
  return verdict(Math.abs(nowMs - Number(timestamp.text) * 1_000) <= scheme.toleranceMs, 'stale');
};

const verdict = (holds: boolean, code: 'mismatch' | 'stale'): PushVerdict =>
  holds ? { kind: 'authentic' } : { kind: 'refused', code };

type Field = { readonly kind: 'read'; readonly text: string } | Extract<PushVerdict, { kind: 'refused' }>;

/** A credential given twice is refused as a whole: which of the two another reader would take, nobody knows. */
const readField = (value: string | undefined, prefix: string, shape: RegExp): Field => {
  if (value === undefined || value.trim() === '') return { kind: 'refused', code: 'missing' };
  const prefixed = value.startsWith(prefix);
  const text = prefixed ? value.slice(prefix.length) : value;
  if (text.includes(',')) return { kind: 'refused', code: 'ambiguous' };
  return prefixed && shape.test(text) ? { kind: 'read', text } : { kind: 'refused', code: 'malformed' };
};

/** Every secret is tried, also after a match, so that the time does not tell which of them is in use. */
const matchesAny = (secrets: readonly string[], digest: Uint8Array, head: string, body: Uint8Array): boolean => {
  let matched = false;
  for (const secret of secrets) {
    if (secret === '') continue;
    const expected = createHmac('sha256', secret).update(head, 'utf8').update(body).digest();
    if (timingSafeEqual(expected, digest)) matched = true;
  }
  return matched;
};
