/**
 * The words of the ledger as types.
 *
 * A delivery is a union by status: a field that makes no sense in a status does not exist in it. Everything that is
 * true in every status (identity, budget, journal) stands in `Life`.
 *
 *        accept
 *          |
 *          v         claim                settle
 *       pending ------------> claimed -----------------> delivered
 *        ^  ^  |                |  |                     cancelled
 *        |  |  +-- park, defer  |  |
 *        |  +-------------------+  +-------------------> quarantined
 *        |     settle: try again                            |
 *        +--------------------------------------------------+
 *                   redrive, resolve (a person decides)
 */
import type { ClaimId, DestinationId, EventId, WriteId } from './ids.ts';
import type { OutcomeClass } from './outcome.ts';

/** The number of this code's row and message layout. A later one is carried by newer code only. */
export const FORMAT = 1;

export type Status = 'pending' | 'claimed' | 'delivered' | 'cancelled' | 'quarantined';

export const QUARANTINE_REASONS = [
  'budget',
  'rejected',
  'gone',
  'in-doubt',
  'key-expired',
  'horizon',
  'blocked',
  'payload-changed',
  'no-destination',
] as const;

export type QuarantineReason = (typeof QUARANTINE_REASONS)[number];

export type CancelReason = 'operator' | 'shadow';

export type ParkReason = 'paused' | 'closed';

export type WaitReason = 'rate' | 'closed' | 'concurrency' | 'paused';

/** Attributes that this code does not know, kept as they were read. Opaque outside the ledger adapter. */
export type Carried = Readonly<Record<string, unknown>>;

// ---- journal ------------------------------------------------------------------------------------------------------

export type EntryKind = 'accepted' | 'claimed' | 'outcome' | 'late-outcome' | 'redriven' | 'decision';

export type DecisionKind = 'cancel' | 'resolve-delivered' | 'resolve-not-delivered' | 'refuse';

/** Deferrals and parkings write no entry of their own; they are counted and folded into the next claim's entry. */
export interface Waits {
  readonly count: number;
  readonly sinceMs: number;
  readonly reason: WaitReason;
}

export interface Entry {
  readonly kind: EntryKind;
  readonly atMs: number;
  /** The write that made this entry; by it a refused write finds out that it had been applied all the same. */
  readonly writeId: WriteId;
  /**
   * Why, as `causeOf` makes it: a push, an operation, a person's request. An outcome that its own worker recorded has
   * none: it is that of its claim.
   */
  readonly cause?: string;
  readonly attempt?: number;
  readonly class?: OutcomeClass;
  readonly detail?: string;
  /** HTTP status of the destination's answer. */
  readonly status?: number;
  readonly durationMs?: number;
  readonly nextAtMs?: number;
  readonly decision?: DecisionKind;
  /** Attempts that were added to the budget; of the acceptance: with how many it begins. */
  readonly grant?: number;
  /** A person accepted that another attempt may have a second effect. */
  readonly secondEffect?: true;
  readonly waits?: Waits;
}

/** One line of the journal: the stored text, byte for byte (the chain is taken over it), and what it says. */
export interface JournalLine {
  readonly text: string;
  readonly entry: Entry;
}

export interface Journal {
  readonly lines: readonly JournalLine[];
  /** SHA-256 chain over all lines, bound to event, destination and payload hash; 32 bytes as base64url. */
  readonly head: string;
}

/** A bounded, cleaned piece of an answer that was not a success. */
export interface Excerpt {
  readonly attempt: number;
  readonly text: string;
}

// ---- delivery -----------------------------------------------------------------------------------------------------

/**
 * Whether an attempt went out whose effect nobody knows: `safe` where it was made under `repeatSafe`, `unsafe` where
 * not. A person who accepts the second effect, or says what happened, sets it back to `none`.
 */
export type Doubt = 'none' | 'safe' | 'unsafe';

export interface DeliveryRef {
  readonly event: EventId;
  readonly destination: DestinationId;
}

export interface Life extends DeliveryRef {
  readonly item: 'delivery';
  /** Grows by one with every write; a write names the version it has read. */
  readonly version: number;
  readonly acceptedAtMs: number;
  /** The horizon is counted from here: first due time or latest redrive. */
  readonly horizonFromMs: number;
  /** SHA-256 of the payload's bytes, base64url: what an attempt sends must match it. */
  readonly payloadHash: string;
  /** Attempts allowed in the whole life; only a grant on record adds to it. */
  readonly budget: number;
  /** Attempts made so far, numbered 1..n over the whole life. */
  readonly attempts: number;
  /** Withheld and abandoned attempts that gave their unit of the budget back. */
  readonly refunds: number;
  readonly redrives: number;
  readonly decisions: number;
  /** Start of the destination's key life: the first attempt that may have arrived. */
  readonly keyFromMs?: number;
  readonly doubt: Doubt;
  /** How long past due the row is left to its message, from the destination's time-out at accept or latest claim. */
  readonly graceMs: number;
  /** Publishes made by sweeps since the last step forward; the next look is put off by it. */
  readonly sweeps: number;
  readonly firstExcerpt?: Excerpt;
  readonly latestExcerpt?: Excerpt;
  readonly journal: Journal;
  readonly carried: Carried;
}

export interface Deferral {
  readonly untilMs: number;
  readonly reason: Exclude<WaitReason, 'paused'>;
  /** The number of the line in which its time is a slot, and good for as long as that line stands; else a plain wait. */
  readonly line?: number;
}

export interface Parking {
  readonly reason: ParkReason;
  readonly sinceMs: number;
}

export interface Pending extends Life {
  readonly status: 'pending';
  readonly dueAtMs: number;
  readonly lookAfterMs: number;
  /** Its own slot at the destination, or a short wait: not before then, in addition to `dueAtMs`. */
  readonly deferral?: Deferral;
  readonly parking?: Parking;
  readonly waits?: Waits;
}

export interface Claim {
  readonly id: ClaimId;
  /** The invocation that has it; for people and logs. */
  readonly holder: string;
  readonly attempt: number;
  readonly startedAtMs: number;
  readonly leaseEndsAtMs: number;
  /** As the destination's setting was when the claim was made. */
  readonly repeatSafe: boolean;
  /** Written just before the socket where a repeat is not safe: without it, nothing has left. */
  readonly sendingAtMs?: number;
}

export interface Claimed extends Life {
  readonly status: 'claimed';
  readonly claim: Claim;
  readonly lookAfterMs: number;
}

export interface Delivered extends Life {
  readonly status: 'delivered';
  readonly endedAtMs: number;
  readonly by: 'attempt' | 'late-outcome' | 'decision';
}

export interface Cancelled extends Life {
  readonly status: 'cancelled';
  readonly endedAtMs: number;
  readonly reason: CancelReason;
}

export interface Quarantined extends Life {
  readonly status: 'quarantined';
  readonly endedAtMs: number;
  readonly reason: QuarantineReason;
}

export type Delivery = Pending | Claimed | Delivered | Cancelled | Quarantined;
