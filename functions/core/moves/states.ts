/** The only constructors of a delivery's next state. Each carries the life along and adds one to the version. */
import { append } from '../journal.ts';
import { lookAfterParked, lookAfterPlanned } from '../look-after.ts';
import type {
  Cancelled,
  CancelReason,
  Claim,
  Claimed,
  Deferral,
  Delivered,
  Delivery,
  Entry,
  Life,
  ParkReason,
  Pending,
  Quarantined,
  QuarantineReason,
  WaitReason,
  Waits,
} from '../model.ts';

/** The life of a row without what belongs to its status, one version on. */
export const lifeOf = (row: Delivery): Life => ({
  item: 'delivery',
  event: row.event,
  destination: row.destination,
  version: row.version + 1,
  acceptedAtMs: row.acceptedAtMs,
  horizonFromMs: row.horizonFromMs,
  payloadHash: row.payloadHash,
  budget: row.budget,
  attempts: row.attempts,
  refunds: row.refunds,
  redrives: row.redrives,
  decisions: row.decisions,
  ...(row.keyFromMs === undefined ? {} : { keyFromMs: row.keyFromMs }),
  doubt: row.doubt,
  graceMs: row.graceMs,
  sweeps: row.sweeps,
  ...(row.firstExcerpt === undefined ? {} : { firstExcerpt: row.firstExcerpt }),
  ...(row.latestExcerpt === undefined ? {} : { latestExcerpt: row.latestExcerpt }),
  journal: row.journal,
  carried: row.carried,
});

export const journaled = (life: Life, ...entries: readonly Entry[]): Life => ({
  ...life,
  journal: append(life.journal, ...entries),
});

export const waited = (waits: Waits | undefined, reason: WaitReason, nowMs: number): Waits => ({
  count: (waits?.count ?? 0) + 1,
  sinceMs: waits?.sinceMs ?? nowMs,
  reason,
});

export const pendingAt = (life: Life, dueAtMs: number, nowMs: number): Pending => ({
  ...life,
  status: 'pending',
  sweeps: 0,
  dueAtMs,
  lookAfterMs: lookAfterPlanned(dueAtMs, life.graceMs, nowMs),
});

/** Takes the deferral out of whatever asked for it. */
export const deferred = (row: Pending, { untilMs, reason, line }: Deferral, nowMs: number): Pending => {
  const { parking: _left, ...rest } = row;
  const deferral: Deferral = { untilMs, reason, ...(line === undefined ? {} : { line }) };
  const fromMs = Math.max(row.dueAtMs, untilMs);
  return {
    ...rest,
    sweeps: 0,
    deferral,
    waits: waited(row.waits, deferral.reason, nowMs),
    lookAfterMs: lookAfterPlanned(fromMs, row.graceMs, nowMs),
  };
};

export const parked = (row: Pending, reason: ParkReason, nowMs: number, opensAtMs: number | undefined): Pending => {
  const { deferral: _gone, ...rest } = row;
  return {
    ...rest,
    sweeps: 0,
    parking: { reason, sinceMs: nowMs },
    waits: waited(row.waits, reason, nowMs),
    lookAfterMs: lookAfterParked(nowMs, opensAtMs),
  };
};

export const claimed = (life: Life, claim: Claim, lookAfterMs: number): Claimed => ({
  ...life,
  status: 'claimed',
  claim,
  lookAfterMs,
});

/** What the last failure had said is not what stands now. */
export const delivered = (life: Life, endedAtMs: number, by: Delivered['by']): Delivered => {
  const { latestExcerpt: _past, ...rest } = life;
  return { ...rest, status: 'delivered', endedAtMs, by };
};

export const cancelled = (life: Life, endedAtMs: number, reason: CancelReason): Cancelled => ({
  ...life,
  status: 'cancelled',
  endedAtMs,
  reason,
});

export const quarantined = (life: Life, endedAtMs: number, reason: QuarantineReason): Quarantined => ({
  ...life,
  status: 'quarantined',
  endedAtMs,
  reason,
});

/** Attempts that count against the budget. */
export const spentOf = (life: Life): number => life.attempts - life.refunds;

export const budgetLeft = (life: Life): boolean => spentOf(life) < life.budget;
