/** What can happen to a delivery, and what a decision about it looks like. All of it data; nothing here acts. */
import type { ClaimId, WriteId } from './ids.ts';
import type { Destination } from './items.ts';
import type { Deferral, Delivery, ParkReason, QuarantineReason } from './model.ts';
import type { OutcomeClass } from './outcome.ts';

/** The settings of the destination that the machine looks at, as they are at this moment. */
export type Rules = Pick<Destination, 'repeatSafe' | 'keyLifeHours' | 'scheduleSec' | 'timeoutMs' | 'mode'>;

/** Every input that adds a journal entry names the write that will carry it, and why it happens. */
interface Recorded {
  readonly writeId: WriteId;
  readonly cause: string;
}

/** Somebody asks for the right to make the next attempt. The gate was found open. */
export interface ClaimInput extends Recorded {
  readonly kind: 'claim';
  readonly claimId: ClaimId;
  readonly holder: string;
  readonly rules: Rules;
  /** The gate is closed: what must not be attempted ends, or is held, and an attempt is not begun. */
  readonly mayAttempt?: false;
}

/** The gate was found closed for long: wait visibly, off the queue. */
export interface ParkInput extends Recorded {
  readonly kind: 'park';
  readonly reason: ParkReason;
  readonly rules: Rules;
  readonly opensAtMs?: number;
}

/** The gate asks for a short wait with a known end. */
export interface DeferInput extends Recorded, Deferral {
  readonly kind: 'defer';
  readonly rules: Rules;
}

/** Just before the socket, where a repeat is not safe: from here on the attempt may have arrived. */
export interface MarkInput {
  readonly kind: 'mark';
  readonly claimId: ClaimId;
}

export interface Outcome {
  readonly class: OutcomeClass;
  /** Short stable code, such as `status-500`, `dns`, `timeout`. */
  readonly detail: string;
  readonly status?: number;
  readonly durationMs?: number;
  /** What the destination asked for, from now; only on answers that may be repeated. */
  readonly retryAfterMs?: number;
  readonly mayHaveArrived: boolean;
  readonly excerpt?: string;
}

/** What a withheld attempt waits for. */
export type Withheld =
  | { readonly kind: 'again' }
  | { readonly kind: 'park'; readonly reason: ParkReason; readonly opensAtMs?: number }
  | ({ readonly kind: 'defer' } & Deferral);

/** An attempt has come to something; recorded under its claim. */
export interface SettleInput extends Recorded {
  readonly kind: 'settle';
  readonly claimId: ClaimId;
  readonly attempt: number;
  readonly outcome: Outcome;
  readonly rules: Rules;
  readonly withheld?: Withheld;
}

/** A sweep looks after a row. `gate` is read for parked rows only. */
export interface SweepInput {
  readonly kind: 'sweep';
  /** The number of the tick: part of the key under which a sweep publishes. */
  readonly tick: number;
  readonly gate?: 'open' | 'closed';
  /** For a parked row at a gate that opens: its slot, so that what was parked together does not go out together. */
  readonly slotAtMs?: number;
  /** The line of that slot. */
  readonly line?: number;
  /** For a parked row at a closed gate: when it may open by itself. */
  readonly opensAtMs?: number;
}

/** The delivery cannot go on for a reason that lies outside it. */
export interface RefuseInput extends Recorded {
  readonly kind: 'refuse';
  readonly reason: Extract<QuarantineReason, 'no-destination' | 'payload-changed'>;
}

export interface RedriveInput extends Recorded {
  readonly kind: 'redrive';
  readonly grant: number;
  readonly acceptSecondEffect: boolean;
}

export interface ResolveInput extends Recorded {
  readonly kind: 'resolve';
  readonly as: 'delivered' | 'not-delivered';
}

export interface CancelInput extends Recorded {
  readonly kind: 'cancel';
}

export type Input =
  | ClaimInput
  | ParkInput
  | DeferInput
  | MarkInput
  | SettleInput
  | SweepInput
  | RefuseInput
  | RedriveInput
  | ResolveInput
  | CancelInput;

export type InputKind = Input['kind'];
export type InputOf<K extends InputKind> = Extract<Input, { kind: K }>;

export const INPUTS = [
  'claim',
  'park',
  'defer',
  'mark',
  'settle',
  'sweep',
  'refuse',
  'redrive',
  'resolve',
  'cancel',
] as const satisfies readonly InputKind[];

/** The instant and the throw of the dice with which an input is decided. */
export interface At {
  readonly nowMs: number;
  readonly draw: number;
}

// ---- decisions ----------------------------------------------------------------------------------------------------

export type Effect =
  /** Publish a reference to this delivery, due then. The key names the row version that planned it. */
  | { readonly kind: 'publish'; readonly version: number; readonly dueAtMs: number; readonly tick?: number }
  /** Close the whole destination until then; it only grows. */
  | { readonly kind: 'close'; readonly untilMs: number }
  /** Pause the whole destination, on record. */
  | { readonly kind: 'pause'; readonly reason: 'gone' }
  /** Look at the gate once more, now that the parking stands; if it has opened, publish. */
  | { readonly kind: 'reread-gate'; readonly version: number };

/** What a decision came to, for answers, logs and metrics. */
export type Note =
  | 'claimed'
  | 'parked'
  | 'deferred'
  | 'marked'
  | 'settled'
  | 'late'
  | 'looked-after'
  | 'refused'
  | 'redriven'
  | 'resolved'
  | 'cancelled'
  | 'quarantined'
  | 'shadowed'
  | 'early'
  | 'busy'
  | 'waiting'
  | 'done'
  | 'held'
  | 'lost'
  | 'repeated'
  | 'not-due'
  | 'unpublished';

export type RefusalCode =
  | 'live-claim'
  | 'not-quarantined'
  | 'already-delivered'
  | 'already-cancelled'
  | 'over-budget'
  | 'second-effect'
  | 'life-bound';

export type Decision =
  /** `before` happens ahead of the write and `after` behind it; a failed effect is repaired by the look-after time. */
  | {
      readonly kind: 'write';
      readonly next: Delivery;
      readonly note: Note;
      readonly before: readonly Effect[];
      readonly after: readonly Effect[];
    }
  | { readonly kind: 'keep'; readonly note: Note }
  /** A person's request does not fit the state; nothing changes. */
  | { readonly kind: 'refused'; readonly code: RefusalCode; readonly leaseEndsAtMs?: number };

export const keep = (note: Note): Decision => ({ kind: 'keep', note });

export const write = (next: Delivery, note: Note, after: readonly Effect[] = []): Decision => ({
  kind: 'write',
  next,
  note,
  before: [],
  after,
});
