/**
 * The phase of a row at an instant: what the machine works on.
 *
 *   pending    parked?               -> parked
 *              now < due or deferral -> early
 *              otherwise             -> due
 *   claimed    now <= lease + margin -> live
 *              otherwise             -> lapsed
 *   delivered, cancelled, quarantined are phases of their own
 */
import { SKEW_MARGIN_MS } from './limits.ts';
import type { Cancelled, Claimed, Delivered, Delivery, Pending, Quarantined } from './model.ts';

export type Phase = 'early' | 'due' | 'live' | 'lapsed' | 'parked' | 'delivered' | 'cancelled' | 'quarantined';

export const PHASES = [
  'early',
  'due',
  'parked',
  'live',
  'lapsed',
  'delivered',
  'cancelled',
  'quarantined',
] as const satisfies readonly Phase[];

export interface RowOf {
  early: Pending;
  due: Pending;
  parked: Pending;
  live: Claimed;
  lapsed: Claimed;
  delivered: Delivered;
  cancelled: Cancelled;
  quarantined: Quarantined;
}

/**
 * The instant from which a pending row may be claimed. Without a wish for later, a delivery is never early before its
 * first attempt: the clock of the intake that accepted it may run ahead of the receiver's.
 */
export const claimableFromMs = (row: Pending): number => {
  const asked = row.attempts === 0 && row.dueAtMs <= row.acceptedAtMs ? 0 : row.dueAtMs;
  return Math.max(asked, row.deferral?.untilMs ?? 0);
};

/** A live lease is not taken over before the clocks, however wrong within the margin, agree that it has ended. */
export const lapsesAfterMs = (row: Claimed): number => row.claim.leaseEndsAtMs + SKEW_MARGIN_MS;

export const phaseOf = (row: Delivery, nowMs: number): Phase => {
  switch (row.status) {
    case 'pending':
      if (row.parking) return 'parked';
      return nowMs < claimableFromMs(row) ? 'early' : 'due';
    case 'claimed':
      return nowMs > lapsesAfterMs(row) ? 'lapsed' : 'live';
    case 'delivered':
    case 'cancelled':
    case 'quarantined':
      return row.status;
  }
};
