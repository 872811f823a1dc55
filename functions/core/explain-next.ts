/** What happens to a delivery next, and when: by itself, or by a person. */
import type { GateView } from './gate.ts';
import type { Pause } from './items.ts';
import type { Claimed, Delivery, QuarantineReason } from './model.ts';
import { claimableFromMs, lapsesAfterMs, phaseOf } from './phase.ts';

export type Next =
  | { readonly kind: 'nothing' }
  /** An attempt, not before then; if its message is lost, a sweep looks at the other time. */
  | { readonly kind: 'attempt'; readonly fromMs: number; readonly lookAfterMs: number; readonly gate: GateSeen }
  | {
      readonly kind: 'parked';
      readonly reason: string;
      readonly sinceMs: number;
      readonly lookAfterMs: number;
      readonly gate: GateSeen;
    }
  | {
      readonly kind: 'under-way';
      readonly leaseEndsAtMs: number;
      readonly lapsesAfterMs: number;
      readonly ifLost: IfLost;
    }
  /** Its worker has not come back: whoever looks next closes the attempt. */
  | {
      readonly kind: 'worker-lost';
      readonly leaseEndedAtMs: number;
      readonly lookAfterMs: number;
      readonly ifLost: IfLost;
    }
  | { readonly kind: 'person'; readonly reason: QuarantineReason };

/**
 * What comes of a claim whose worker never comes back, as things stand. `again`: another attempt, under the same key.
 * `again-unsent`: the same, and it is certain that nothing had left. `held`: it may have arrived, and waits for a person,
 * since a repeat is not safe or its budget is spent.
 */
export type IfLost = 'again' | 'again-unsent' | 'held';

/** What the gate says at this moment. */
export type GateSeen =
  | { readonly kind: 'open' | 'probe' | 'no-destination' | 'newer' }
  | { readonly kind: 'closed'; readonly reason: string; readonly opensAtMs?: number; readonly pause?: Pause };

const gateSeen = (gate: GateView, pause: Pause | undefined): GateSeen => {
  switch (gate.kind) {
    case 'open':
    case 'probe':
    case 'no-destination':
    case 'newer':
      return { kind: gate.kind };
    case 'wait':
      return { kind: 'closed', reason: 'closed', opensAtMs: gate.untilMs };
    case 'park':
      return {
        kind: 'closed',
        reason: gate.reason,
        ...(gate.opensAtMs === undefined ? {} : { opensAtMs: gate.opensAtMs }),
        ...(pause === undefined ? {} : { pause }),
      };
  }
};

/** By the rule of `closeLapsed`: where a repeat is not safe, the mark is written before the socket is touched. */
const ifLost = ({ claim, attempts, refunds, budget }: Claimed): IfLost => {
  if (!claim.repeatSafe) return claim.sendingAtMs === undefined ? 'again-unsent' : 'held';
  return attempts - refunds < budget ? 'again' : 'held';
};

export const nextOf = (row: Delivery, gate: GateView, pause: Pause | undefined, nowMs: number): Next => {
  switch (row.status) {
    case 'delivered':
    case 'cancelled':
      return { kind: 'nothing' };
    case 'quarantined':
      return { kind: 'person', reason: row.reason };
    case 'claimed': {
      const { leaseEndsAtMs } = row.claim;
      if (phaseOf(row, nowMs) === 'lapsed') {
        return {
          kind: 'worker-lost',
          leaseEndedAtMs: leaseEndsAtMs,
          lookAfterMs: row.lookAfterMs,
          ifLost: ifLost(row),
        };
      }
      return { kind: 'under-way', leaseEndsAtMs, lapsesAfterMs: lapsesAfterMs(row), ifLost: ifLost(row) };
    }
    case 'pending': {
      const { lookAfterMs } = row;
      const seen = gateSeen(gate, pause);
      if (row.parking) {
        const { reason, sinceMs } = row.parking;
        return { kind: 'parked', reason, sinceMs, lookAfterMs, gate: seen };
      }
      return { kind: 'attempt', fromMs: Math.max(claimableFromMs(row), row.dueAtMs), lookAfterMs, gate: seen };
    }
  }
};
