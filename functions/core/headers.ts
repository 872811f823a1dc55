/** The headers of an outgoing request: the names that are ours, and what a destination may add of its own. */

import { CUSTOM_HEADER_CHARS_MAX, CUSTOM_HEADERS_MAX } from './limits.ts';

export const CONTENT_TYPE = 'content-type';
export const USER_AGENT = 'user-agent';
export const TRACEPARENT = 'traceparent';
export const IDEMPOTENCY_KEY = 'idempotency-key';
export const WEBHOOK_ID = 'webhook-id';
export const WEBHOOK_TIMESTAMP = 'webhook-timestamp';
export const WEBHOOK_SIGNATURE = 'webhook-signature';

/** Names that a destination may not set: they frame the message, belong to one connection, or are written by us. */
export const RESERVED: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'content-encoding',
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  CONTENT_TYPE,
  IDEMPOTENCY_KEY,
  TRACEPARENT,
  'tracestate',
  USER_AGENT,
]);

/** The whole family is reserved, so that a receiver's library finds nothing there that we did not sign. */
export const RESERVED_PREFIX = 'webhook-';

export type HeaderRefusal =
  | 'too-many'
  | 'name-too-long'
  | 'name-not-a-token'
  | 'name-reserved'
  | 'name-repeated'
  | 'value-too-long'
  | 'value-not-printable-ascii'
  | 'value-has-outer-blanks';

export type HeaderCheck =
  | { readonly kind: 'ok'; readonly headers: Readonly<Record<string, string>> }
  /** `name` is at most 64 characters of the name as given; the value, which may be a credential, is never repeated. */
  | { readonly kind: 'bad'; readonly name: string; readonly reason: HeaderRefusal };

const NAME_CHARS_MAX = 128;
const SHOWN_CHARS_MAX = 64;

/**
 * Checks the headers a destination wants on its requests (often its own credentials, so `authorization` is allowed) and
 * returns them with names in lower case. Anything that the client would refuse, change or drop at send time is refused
 * here: there it would cost an attempt, here it costs an answer to the person who typed it.
 */
export const checkCustomHeaders = (record: Readonly<Record<string, string>>): HeaderCheck => {
  const entries: [string, string][] = [];
  const seen = new Set<string>();
  for (const [given, value] of Object.entries(record)) {
    const name = given.toLowerCase();
    const reason =
      entries.length >= CUSTOM_HEADERS_MAX ? 'too-many' : (nameRefusal(given, name, seen) ?? valueRefusal(value));
    if (reason !== undefined) return { kind: 'bad', name: given.slice(0, SHOWN_CHARS_MAX).toWellFormed(), reason };
    seen.add(name);
    entries.push([name, value]);
  }
  // Not by assignment: `__proto__` is a valid header name, and assigning to it would lose the header.
  return { kind: 'ok', headers: Object.fromEntries(entries) };
};

const MASK = '***';

/** For every place where a destination is shown: names stay, values do not. */
export const redactHeaders = (headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.keys(headers).map((name) => [name, MASK]));

/**
 * What was shown may come back as it was shown: a mask keeps the present value of its header. Without one there is
 * nothing behind the mask, and the mask itself is never sent in place of a credential.
 */
export const unmasked = (
  given: Readonly<Record<string, string>>,
  present: Readonly<Record<string, string>>,
): Extract<HeaderCheck, { kind: 'ok' }> | { readonly kind: 'bad'; readonly name: string } => {
  const nothing = Object.keys(given).find((name) => given[name] === MASK && !Object.hasOwn(present, name));
  if (nothing !== undefined) return { kind: 'bad', name: nothing };
  const values = Object.entries(given).map(([name, value]) => [name, value === MASK ? (present[name] ?? MASK) : value]);
  return { kind: 'ok', headers: Object.fromEntries(values) };
};

const nameRefusal = (given: string, name: string, seen: ReadonlySet<string>): HeaderRefusal | undefined => {
  if (given.length > NAME_CHARS_MAX) return 'name-too-long';
  // The token of RFC 9110, 5.6.2; tested before lower case is trusted (the Kelvin sign becomes a plain k).
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(given)) return 'name-not-a-token';
  if (RESERVED.has(name) || name.startsWith(RESERVED_PREFIX)) return 'name-reserved';
  return seen.has(name) ? 'name-repeated' : undefined;
};

const valueRefusal = (value: string): HeaderRefusal | undefined => {
  if (value.length > CUSTOM_HEADER_CHARS_MAX) return 'value-too-long';
  if (!/^[\x20-\x7e]*$/.test(value)) return 'value-not-printable-ascii';
  // They would vanish on the wire, so what arrives would not be what was set.
  return value.startsWith(' ') || value.endsWith(' ') ? 'value-has-outer-blanks' : undefined;
};
