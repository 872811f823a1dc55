/**
 * What a destination in shadow would have been sent, and how that compares with what somebody else has counted.
 *
 *   rows --> tally: would have been sent, by hour or day of the instant at which it would have left
 *              |     and beside it what would not: held, cancelled, waiting, really sent, unreadable
 *              +-- the counts of an old sender --> the same, or where they differ
 *
 * A row is one delivery however often its event was submitted, pushed or swept, so a duplicate counts once.
 */
import { parseInstant } from './instant.ts';
import type { Delivery } from './model.ts';

export type BucketSize = 'hour' | 'day';

/** A report covers so many days; one answer looks at so many rows and pages of them, and then it goes on. */
export const SHADOW_DAYS_MAX = 31;
export const SHADOW_ROWS_MAX = 2_000;
export const SHADOW_PAGES_MAX = 60;

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SIZE_MS: Readonly<Record<BucketSize, number>> = { hour: HOUR_MS, day: DAY_MS };

/** Whole days in UTC, both included. */
export interface ShadowWindow {
  readonly fromDay: string;
  readonly toDay: string;
  readonly per: BucketSize;
}

export const SHADOW_KINDS = [
  'wouldSend',
  'quarantined',
  'cancelled',
  'delivered',
  'waiting',
  'tests',
  'unreadable',
] as const;

export type ShadowKind = (typeof SHADOW_KINDS)[number];

export interface ShadowTally extends Readonly<Record<ShadowKind, number>> {
  /** Attempts that were really made: none, where the destination was in shadow all the time. */
  readonly requests: number;
  /** By the beginning of each hour or day; one that has nothing is not in it. */
  readonly buckets: ReadonlyMap<number, number>;
}

/** Throws on a text that is no day since 1970. */
export const dayMs = (utcDay: string): number => {
  const begin = parseInstant(`${utcDay}T00:00:00Z`);
  if (begin.kind === 'bad') throw new RangeError(`the day ${utcDay} ${begin.reason}`);
  return begin.atMs;
};

const isWithin = ({ fromDay, toDay }: ShadowWindow, atMs: number): boolean =>
  atMs >= dayMs(fromDay) && atMs < dayMs(toDay) + DAY_MS;

export const NO_TALLY: ShadowTally = {
  ...{ wouldSend: 0, quarantined: 0, cancelled: 0, delivered: 0, waiting: 0, tests: 0, unreadable: 0 },
  requests: 0,
  buckets: new Map(),
};

/** Made by `destination test`, with an id of the product's own: no producer has handed it in. */
const TEST_EVENT = /^test~[A-Za-z0-9_-]{43}$/;

/** What the row is in this report, and the instant that says whether it belongs into its window. */
const placeOf = (row: Delivery): { readonly kind: ShadowKind; readonly atMs: number } => {
  switch (row.status) {
    case 'pending':
      return { kind: 'waiting', atMs: row.dueAtMs };
    case 'claimed':
      return { kind: 'waiting', atMs: row.claim.startedAtMs };
    case 'delivered':
      return { kind: 'delivered', atMs: row.endedAtMs };
    case 'quarantined':
      return { kind: 'quarantined', atMs: row.endedAtMs };
    case 'cancelled':
      return { kind: row.reason === 'shadow' ? 'wouldSend' : 'cancelled', atMs: row.endedAtMs };
  }
};

/** A row that this code cannot read has no instant: it is named, wherever it may belong. */
export const tallyOf = (rows: readonly (Delivery | 'unreadable')[], window: ShadowWindow): ShadowTally => {
  const kinds: Record<ShadowKind, number> = { ...kindsOf(NO_TALLY) };
  const buckets = new Map<number, number>();
  let requests = 0;
  for (const row of rows) {
    if (row === 'unreadable') {
      kinds.unreadable += 1;
      continue;
    }
    const { kind, atMs } = placeOf(row);
    if (!isWithin(window, atMs)) continue;
    requests += row.attempts;
    const counted = TEST_EVENT.test(row.event) ? 'tests' : kind;
    kinds[counted] += 1;
    if (counted !== 'wouldSend') continue;
    const begin = atMs - (atMs % SIZE_MS[window.per]);
    buckets.set(begin, (buckets.get(begin) ?? 0) + 1);
  }
  return { ...kinds, requests, buckets };
};

/** Pages of one report add up. */
export const addedUp = (a: ShadowTally, b: ShadowTally): ShadowTally => {
  const [ours, theirs] = [kindsOf(a), kindsOf(b)];
  const kinds = Object.fromEntries(SHADOW_KINDS.map((kind) => [kind, ours[kind] + theirs[kind]]));
  return {
    ...(kinds as Record<ShadowKind, number>),
    requests: a.requests + b.requests,
    buckets: summed([...a.buckets, ...b.buckets]),
  };
};

const kindsOf = (tally: Readonly<Record<ShadowKind, number>>): Readonly<Record<ShadowKind, number>> => {
  const { wouldSend, quarantined, cancelled, delivered, waiting, tests, unreadable } = tally;
  return { wouldSend, quarantined, cancelled, delivered, waiting, tests, unreadable };
};

const summed = (counts: readonly (readonly [number, number])[]): ReadonlyMap<number, number> => {
  const sum = new Map<number, number>();
  for (const [atMs, count] of counts) sum.set(atMs, (sum.get(atMs) ?? 0) + count);
  return new Map([...sum].toSorted(([a], [b]) => a - b));
};

// ---- the counts of somebody else ----------------------------------------------------------------------------------

export type ShadowCounts =
  | { readonly kind: 'total'; readonly sent: number }
  /** By the beginning of each hour or day. One that is not named was none. */
  | { readonly kind: 'buckets'; readonly sent: ReadonlyMap<number, number> };

export type CountsRead =
  | { readonly kind: 'ok'; readonly counts: ShadowCounts }
  | { readonly kind: 'bad'; readonly field: string; readonly reason: string };

export interface GivenCounts {
  readonly sent?: number | undefined;
  readonly counts?: readonly { readonly at: string; readonly sent: number }[] | undefined;
}

/** `2026-11-28`, or an hour of it: `2026-11-28T14`, with or without `:00:00Z` behind it. Always in UTC. */
const BUCKET = /^(\d{4}-\d{2}-\d{2})(?:T([01]\d|2[0-3])(?::00(?::00(?:\.000)?)?)?Z?)?$/;

export const readCounts = ({ sent, counts }: GivenCounts, window: ShadowWindow): CountsRead => {
  if (counts === undefined) return { kind: 'ok', counts: { kind: 'total', sent: sent ?? 0 } };
  const read = new Map<number, number>();
  for (const [index, { at, sent: count }] of counts.entries()) {
    const bad = (reason: string): CountsRead => ({ kind: 'bad', field: `counts[${index}]`, reason });
    const atMs = bucketMs(at);
    if (atMs === undefined) return bad('must begin an hour or a day in UTC, such as 2026-11-28T14 or 2026-11-28');
    if (atMs % SIZE_MS[window.per] !== 0) return bad('is an hour, and this report counts by the day');
    if (!isWithin(window, atMs)) return bad(`lies outside of the report: ${window.fromDay} to ${window.toDay}`);
    if (read.has(atMs)) return bad('is named twice');
    if (window.per === 'hour' && !at.includes('T')) return bad('is a day, and this report counts by the hour');
    read.set(atMs, count);
  }
  return { kind: 'ok', counts: { kind: 'buckets', sent: read } };
};

const bucketMs = (text: string): number | undefined => {
  const [, utcDay, hour = '00'] = BUCKET.exec(text) ?? [];
  if (utcDay === undefined) return undefined;
  const begin = parseInstant(`${utcDay}T${hour}:00:00Z`);
  return begin.kind === 'ok' ? begin.atMs : undefined;
};

export interface ShadowCompared {
  readonly same: boolean;
  readonly given: number;
  /** Ours less theirs. */
  readonly difference: number;
  /** Of both, in their order; without any where only a total was given. */
  readonly buckets: readonly { readonly atMs: number; readonly wouldSend: number; readonly given: number }[];
}

export const compared = (tally: ShadowTally, counts: ShadowCounts): ShadowCompared => {
  if (counts.kind === 'total') {
    const difference = tally.wouldSend - counts.sent;
    return { same: difference === 0, given: counts.sent, difference, buckets: [] };
  }
  const given = [...counts.sent.values()].reduce((sum, one) => sum + one, 0);
  const begins = [...new Set([...tally.buckets.keys(), ...counts.sent.keys()])].toSorted((a, b) => a - b);
  const buckets = begins.map((atMs) => ({
    atMs,
    wouldSend: tally.buckets.get(atMs) ?? 0,
    given: counts.sent.get(atMs) ?? 0,
  }));
  const same = buckets.every((one) => one.wouldSend === one.given);
  return { same, given, difference: tally.wouldSend - given, buckets };
};
