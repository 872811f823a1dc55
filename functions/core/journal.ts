/**
 * The journal: an append-only list of short lines inside the delivery's own item, chained by SHA-256.
 *
 *   head(0) = H(label, event, destination, payload hash)          binds the chain to this delivery
 *   head(n) = H(head(n-1), text of line n)                        binds each line to all before it
 *
 * A line is kept as the exact text that was stored. What newer code adds to a line is therefore carried along and
 * stays under the hash, and nothing is ever serialised twice.
 */
import { createHash, hash as digestOf } from 'node:crypto';
import * as z from 'zod/mini';
import type { WriteId } from './ids.ts';
import { JOURNAL_ENTRIES_MAX, JOURNAL_ENTRY_BYTES_MAX } from './limits.ts';
import type { DecisionKind, DeliveryRef, Entry, EntryKind, Journal, JournalLine, WaitReason } from './model.ts';
import type { OutcomeClass } from './outcome.ts';

const KIND_CODES: Readonly<Record<EntryKind, string>> = {
  accepted: 'a',
  claimed: 'c',
  outcome: 'o',
  'late-outcome': 'l',
  redriven: 'r',
  decision: 'd',
};
const CLASS_CODES: Readonly<Record<OutcomeClass, string>> = {
  delivered: 'ok',
  throttled: 'th',
  failed: 'fa',
  rejected: 're',
  gone: 'go',
  'not-sent': 'ns',
  'in-doubt': 'id',
  withheld: 'wi',
  abandoned: 'ab',
};
const DECISION_CODES: Readonly<Record<DecisionKind, string>> = {
  cancel: 'c',
  'resolve-delivered': 'd',
  'resolve-not-delivered': 'n',
  refuse: 'r',
};
const WAIT_CODES: Readonly<Record<WaitReason, string>> = { rate: 'r', closed: 'c', concurrency: 'n', paused: 'p' };

const invert = <K extends string>(codes: Readonly<Record<K, string>>): ReadonlyMap<string, K> =>
  new Map((Object.keys(codes) as K[]).map((name) => [codes[name], name]));

const KINDS = invert(KIND_CODES);
const CLASSES = invert(CLASS_CODES);
const DECISIONS = invert(DECISION_CODES);
const WAITS = invert(WAIT_CODES);

const DETAIL_CHARS_MAX = 16;
const CAUSE_CHARS_MAX = 40;

const whole = z.number().check(z.int(), z.nonnegative());
/** Stored names are one letter: sixty entries must stay small. Members that newer code added are let through. */
const stored = z.looseObject({
  k: z.string(),
  t: whole,
  w: z.string(),
  c: z.optional(z.string()),
  a: z.optional(whole),
  o: z.optional(z.string()),
  x: z.optional(z.string()),
  s: z.optional(whole),
  d: z.optional(whole),
  n: z.optional(whole),
  v: z.optional(z.string()),
  g: z.optional(whole),
  e: z.optional(z.literal(1)),
  q: z.optional(z.tuple([whole, whole, z.string()])),
});

/** A cause that fits a line: printable ASCII, at most 40 characters; a longer one keeps its kind and becomes a hash. */
export const causeOf = (kind: 'push' | 'sweep' | 'operation' | 'actor' | 'api' | 'queue', id: string): string => {
  const short = { push: 'p', sweep: 's', operation: 'o', actor: 'a', api: 'i', queue: 'q' }[kind];
  const plain = `${short}:${id}`;
  if (plain.length <= CAUSE_CHARS_MAX && /^[\x21-\x7e]*$/.test(plain) && !/["\\]/.test(plain)) return plain;
  return `${short}#${createHash('sha256').update(id).digest('base64url').slice(0, 22)}`;
};

/** Whether a decision of a person stands behind it: `a:` and a request id, or `a#` and the hash of one. */
export const isActorCause = (cause: string): boolean => /^a(?::[!-~]+|#[\w-]{22})$/.test(cause);

/** The operation behind it, if one is: its id is one of ours, and short. */
export const operationOfCause = (cause: string): string | undefined => /^o:(.+)$/.exec(cause)?.[1];

const textOf = (entry: Entry): string =>
  JSON.stringify({
    k: KIND_CODES[entry.kind],
    t: entry.atMs,
    w: entry.writeId,
    c: entry.cause,
    a: entry.attempt,
    o: entry.class === undefined ? undefined : CLASS_CODES[entry.class],
    x: entry.detail?.slice(0, DETAIL_CHARS_MAX),
    s: entry.status,
    d: entry.durationMs,
    n: entry.nextAtMs,
    v: entry.decision === undefined ? undefined : DECISION_CODES[entry.decision],
    g: entry.grant,
    e: entry.secondEffect === true ? 1 : undefined,
    q: entry.waits && [entry.waits.count, entry.waits.sinceMs, WAIT_CODES[entry.waits.reason]],
  });

const known = <K>(map: ReadonlyMap<string, K>, code: string, what: string): K => {
  const name = map.get(code);
  if (name === undefined) throw new TypeError(`journal line has an unknown ${what}: ${JSON.stringify(code)}`);
  return name;
};

/** Reads one stored line; throws on anything that this code's own writer could not have made. */
export const readLine = (text: string): JournalLine => {
  const raw = stored.parse(JSON.parse(text));
  const entry: Entry = {
    kind: known(KINDS, raw.k, 'kind'),
    atMs: raw.t,
    writeId: raw.w as WriteId,
    ...(raw.c === undefined ? {} : { cause: raw.c }),
    ...(raw.a === undefined ? {} : { attempt: raw.a }),
    ...(raw.o === undefined ? {} : { class: known(CLASSES, raw.o, 'class') }),
    ...(raw.x === undefined ? {} : { detail: raw.x }),
    ...(raw.s === undefined ? {} : { status: raw.s }),
    ...(raw.d === undefined ? {} : { durationMs: raw.d }),
    ...(raw.n === undefined ? {} : { nextAtMs: raw.n }),
    ...(raw.v === undefined ? {} : { decision: known(DECISIONS, raw.v, 'decision') }),
    ...(raw.g === undefined ? {} : { grant: raw.g }),
    ...(raw.e === undefined ? {} : { secondEffect: true }),
    ...(raw.q === undefined
      ? {}
      : { waits: { count: raw.q[0], sinceMs: raw.q[1], reason: known(WAITS, raw.q[2], 'wait') } }),
  };
  return { text, entry };
};

/** Lengths count bytes of UTF-8. */
const hash = (...parts: readonly string[]): string =>
  digestOf('sha256', parts.map((part) => `${Buffer.byteLength(part, 'utf8')}:${part}`).join(''), 'base64url');

/** An auditor has ids as texts. */
type Named = { readonly [name in keyof DeliveryRef]: string };

const rootOf = (ref: Named, payloadHash: string): string =>
  hash('onceward journal 1', ref.event, ref.destination, payloadHash);

export const emptyJournal = (ref: DeliveryRef, payloadHash: string): Journal => ({
  lines: [],
  head: rootOf(ref, payloadHash),
});

/** A new journal with these entries at its end. An entry or a journal over its bound is a bug, and throws. */
export const append = (journal: Journal, ...entries: readonly Entry[]): Journal => {
  const lines = [...journal.lines];
  let head = journal.head;
  for (const entry of entries) {
    const text = textOf(entry);
    const bytes = Buffer.byteLength(text, 'utf8');
    if (bytes > JOURNAL_ENTRY_BYTES_MAX) {
      throw new RangeError(`journal entry of ${bytes} bytes is over ${JOURNAL_ENTRY_BYTES_MAX}: ${text}`);
    }
    lines.push(readLine(text));
    head = hash(head, text);
  }
  if (lines.length > JOURNAL_ENTRIES_MAX) {
    throw new RangeError(`journal of ${lines.length} entries is over ${JOURNAL_ENTRIES_MAX}`);
  }
  return { lines, head };
};

/** The heads of a chain over these lines: behind none of them, behind the first, and so on to the last. */
export const headsOf = (ref: Named, payloadHash: string, lines: readonly string[]): readonly string[] => {
  const heads = [rootOf(ref, payloadHash)];
  for (const text of lines) heads.push(hash(heads.at(-1) ?? '', text));
  return heads;
};

/** Whether the lines lead to the stored head: false after any line was altered, removed, added or moved. */
export const verifyChain = (ref: DeliveryRef, payloadHash: string, journal: Journal): boolean => {
  const texts = journal.lines.map(({ text }) => text);
  return headsOf(ref, payloadHash, texts).at(-1) === journal.head;
};

/** True if some line was made by this write: a refused write that finds itself here had been applied. */
export const carriesWrite = (journal: Journal, writeId: WriteId): boolean =>
  journal.lines.some((line) => line.entry.writeId === writeId);
