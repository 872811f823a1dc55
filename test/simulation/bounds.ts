/**
 * Until when an open row has to go on once nothing goes wrong any more: the bounds that the product states, said again
 * here. A row is at rest when it has ended, or when it waits in sight for somebody else to open its destination.
 */
import type { Gate } from '../../functions/core/items.ts';
import type { Delivery } from '../../functions/core/model.ts';
import type { DestinationPlan } from './plan.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MARGIN_MS = 5_000;
const TICK_MS = MINUTE_MS;
/** A sweep that died has left a lease of this length on its shard. */
const SWEEP_LEASE_MS = 45_000;

/** `gate` as it stands now. */
export const isAtRest = (row: Delivery, gate: Gate | undefined, nowMs: number): boolean => {
  switch (row.status) {
    case 'delivered':
    case 'cancelled':
    case 'quarantined':
      return true;
    case 'claimed':
      return false;
    case 'pending': {
      if (row.parking === undefined) return false;
      const byPerson = gate?.pause !== undefined && gate.pause.probeAtMs === undefined;
      return byPerson || (gate?.closedUntilMs ?? 0) > nowMs + 2 * HOUR_MS;
    }
  }
};

/** When a row that stands like this at `fromMs` has gone on at the latest: to an attempt, to its end, to another wait. */
export const goesOnByMs = (
  row: Delivery,
  {
    gate,
    plan,
    fromMs,
    decided,
  }: {
    readonly gate: Gate | undefined;
    readonly plan: DestinationPlan | undefined;
    readonly fromMs: number;
    /** People have had a hand in this history. */
    readonly decided: boolean;
  },
): number => {
  if (row.status !== 'pending' && row.status !== 'claimed') return Number.POSITIVE_INFINITY;
  const fitsMs =
    row.status === 'pending' ? Math.max(row.dueAtMs, row.deferral?.untilMs ?? 0) : row.claim.leaseEndsAtMs + MARGIN_MS;
  // A look comes with the next tick but one, behind the lease of a dead sweep; then message and claim.
  const seenMs = Math.max(fromMs, fitsMs, row.lookAfterMs) + 2 * TICK_MS + SWEEP_LEASE_MS + 2 * MARGIN_MS;
  const isOpen =
    gate?.pause === undefined && (gate?.closedUntilMs ?? 0) <= fromMs && gate?.crowdedUntilMs === undefined;
  const isLimited = plan?.concurrency !== undefined || plan?.ratePerSecond !== undefined;
  if (isOpen && !isLimited && !decided && !(row.status === 'pending' && row.parking)) return seenMs;
  // Parked rows are looked at once an hour; a closing ends when it says; places and slots are waited for.
  return seenMs + Math.max(0, (gate?.closedUntilMs ?? 0) - fromMs) + HOUR_MS + 20 * MINUTE_MS;
};
