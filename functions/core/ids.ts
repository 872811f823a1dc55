/**
 * Ids as they come in from outside, checked once and then carried as types of their own.
 *
 * An id is compared byte for byte: no case folding, no trimming and no Unicode normalisation, here or anywhere later.
 * The composed and the decomposed form of one letter are therefore two ids, and so are `a` and ` a`.
 */
import { ID_BYTES_MAX } from './limits.ts';

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

/** Names something that happened. Chosen by the producer; the same id again means the same event. */
export type EventId = Branded<'event'>;
/** Names where events go. Also one segment of a path, decoded exactly once by `decodeSegment`. */
export type DestinationId = Branded<'destination'>;
/** Names one claim of one delivery. Fresh for every claim, so that an old holder can be told from the present one. */
export type ClaimId = Branded<'claim'>;
/** Names one write of a row, so that a write with a lost answer can be found again in the journal. */
export type WriteId = Branded<'write'>;
/** Names one decision of a person or a program; the same id again is the same decision. */
export type RequestId = Branded<'request'>;

export type IdResult<Id> = { readonly kind: 'ok'; readonly id: Id } | { readonly kind: 'bad'; readonly reason: string };

/** Claim and write ids are our own: base64url, so that they fit in a journal entry and in a log line as they are. */
const OWN_ID = /^[A-Za-z0-9_-]{1,64}$/;
/** A request id comes in a header, so only what a header carries unchanged: visible ASCII, no blanks. */
const REQUEST_ID = /^[!-~]{1,128}$/;
/** Unicode category Cc: C0, DEL and C1. Line and paragraph separators (U+2028, U+2029) are not in it and may stand. */
const CONTROL = /\p{Cc}/u;

/** 1 to 256 bytes of UTF-8 without control characters. The reason of a refusal completes "the id ...". */
export const parseEventId = (value: unknown): IdResult<EventId> => parse(value, outsideIdProblem);

/** The rule of an event id; the id is one path segment, so `/` inside it travels as `%2F`. */
export const parseDestinationId = (value: unknown): IdResult<DestinationId> => parse(value, outsideIdProblem);

export const parseClaimId = (value: unknown): IdResult<ClaimId> => parse(value, ownIdProblem);
export const parseWriteId = (value: unknown): IdResult<WriteId> => parse(value, ownIdProblem);
export const parseRequestId = (value: unknown): IdResult<RequestId> => parse(value, requestIdProblem);

function parse<Id extends string>(value: unknown, problemOf: (text: string) => string | undefined): IdResult<Id> {
  if (typeof value === 'number' || typeof value === 'bigint') {
    return { kind: 'bad', reason: 'must be a string: two numbers above 2^53 can become one when they are read' };
  }
  if (typeof value !== 'string') return { kind: 'bad', reason: 'must be a string' };
  const reason = problemOf(value);
  // The one place where text turns into an id: right after it has been checked.
  return reason === undefined ? { kind: 'ok', id: value as Id } : { kind: 'bad', reason };
}

function outsideIdProblem(text: string): string | undefined {
  if (text === '') return 'must not be empty';
  if (!text.isWellFormed()) return 'must be whole Unicode text: it holds half of a surrogate pair';
  if (CONTROL.test(text)) return 'must not hold control characters';
  if (Buffer.byteLength(text, 'utf8') > ID_BYTES_MAX) return `must not be longer than ${ID_BYTES_MAX} bytes of UTF-8`;
  // Every URL parser removes these two from a path, also as %2e: such an id could be accepted but never be looked up.
  if (text === '.' || text === '..') return 'must not be "." or "..": a URL cannot carry them as a path segment';
  return undefined;
}

/** An id that we made ourselves: also that of an operation, which is looked for as plain text. */
export const isOwnId = (text: string): boolean => OWN_ID.test(text);

const ownIdProblem = (text: string): string | undefined =>
  isOwnId(text) ? undefined : 'must be 1 to 64 characters of base64url';

const requestIdProblem = (text: string): string | undefined =>
  REQUEST_ID.test(text) ? undefined : 'must be 1 to 128 visible ASCII characters without blanks';

/** Visible ASCII without `/ \ ? #`: these end a segment (a URL parser reads a backslash as a slash). */
const RAW_SEGMENT = /^[!"$-.0->@-[\]-~]+$/;

/**
 * Decodes one raw path segment exactly once. `%2F` becomes a slash inside the id, `%252F` becomes the text `%2F`, and
 * `+` stays a plus. Broken escapes and escapes that are not UTF-8 are refused, never repaired: a repaired id could be
 * the id of something else.
 */
export function decodeSegment(
  rawSegment: string,
): { readonly kind: 'ok'; readonly text: string } | { readonly kind: 'bad'; readonly reason: string } {
  if (rawSegment === '') return { kind: 'bad', reason: 'must not be empty' };
  if (!RAW_SEGMENT.test(rawSegment)) {
    return { kind: 'bad', reason: 'must be one path segment in percent-encoding: write other characters as %XX' };
  }
  try {
    return { kind: 'ok', text: decodeURIComponent(rawSegment) };
  } catch {
    return { kind: 'bad', reason: 'holds a broken percent escape, or escapes that are not UTF-8' };
  }
}
