/**
 * Everything that stands in the ledger beside deliveries: events, destinations with their gates and secrets, tokens,
 * what is kept of senseless messages, and the records of sweeps, decisions and operations.
 */

import type { ClaimId, DestinationId, EventId, RequestId, WriteId } from './ids.ts';
import type { Carried, Delivery } from './model.ts';
import type { Decided, Operation, OperationMessage } from './operations.ts';

// ---- event --------------------------------------------------------------------------------------------------------

export interface AcceptedEvent {
  readonly item: 'event';
  readonly version: number;
  readonly event: EventId;
  readonly type?: string;
  readonly payload: Uint8Array;
  readonly contentType: string;
  /** SHA-256 of the payload's canonical form: what makes a repeat the same event. */
  readonly fingerprint: string;
  readonly payloadHash: string;
  readonly destinations: readonly DestinationId[];
  readonly acceptedAtMs: number;
  readonly deliverAtMs?: number;
  readonly source: 'api' | 'queue';
  readonly traceparent?: string;
  /** It was made by a person's replay of that event. */
  readonly replayOf?: EventId;
  readonly carried: Carried;
}

/** Somebody sent other content under an id that is taken. Kept as evidence; the first event goes on. */
export interface Conflict {
  readonly item: 'conflict';
  readonly version: number;
  readonly event: EventId;
  /** Its place among the few that are kept, from 0: whoever finds one taken takes the next, so there are never more. */
  readonly n: number;
  readonly fingerprint: string;
  readonly destinations: readonly DestinationId[];
  readonly seenAtMs: number;
  readonly source: 'api' | 'queue';
  readonly carried: Carried;
}

// ---- destination --------------------------------------------------------------------------------------------------

export type DestinationMode = 'live' | 'shadow';

export interface Destination {
  readonly item: 'destination';
  readonly version: number;
  readonly destination: DestinationId;
  readonly url: string;
  /** Is a second identical request with the same key harmless there? No default: the owner has to say. */
  readonly repeatSafe: boolean;
  /** How long the destination remembers a key; `null` for ever. */
  readonly keyLifeHours: number | null;
  readonly scheduleSec: readonly number[];
  readonly timeoutMs: number;
  readonly ratePerSecond?: number;
  readonly concurrency?: number;
  readonly rejectOn: readonly number[];
  readonly headers: Readonly<Record<string, string>>;
  readonly acceptFromQueue: boolean;
  readonly mode: DestinationMode;
  /** It is told what a person should know: see `notice.ts`. */
  readonly notices?: true;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly deletedAtMs?: number;
  readonly carried: Carried;
}

export interface Pause {
  readonly by: string;
  readonly reason: string;
  readonly sinceMs: number;
  /** Only where the breaker paused it: whoever swaps this time forward, once it has come, may try one delivery. */
  readonly probeAtMs?: number;
}

/** Failures in a row, over all workers. A success sets it back. */
export interface Failures {
  readonly count: number;
  readonly sinceMs: number;
}

/** What stands between a due delivery and its destination. Changed by swap only; settings live apart from it. */
export interface Gate {
  readonly item: 'gate';
  readonly version: number;
  readonly destination: DestinationId;
  readonly pause?: Pause;
  /** A 429 or 503 with Retry-After closed the whole destination until then. It only grows. */
  readonly closedUntilMs?: number;
  readonly closedSinceMs?: number;
  readonly failures?: Failures;
  /** Until then, after a time-out, only a few attempts at once: one hanging destination must not take all workers. */
  readonly crowdedUntilMs?: number;
  /** How often a person has resumed it: each time, all slots that were given out before are void. */
  readonly resumes?: number;
  /** Requests of people that have changed it, the latest at the end: one that stands here does not act again. */
  readonly decided?: readonly RequestId[];
  /** The latest writes, the newest at the end: one that finds itself here, after a lost answer, has been done. */
  readonly writes?: readonly WriteId[];
  readonly carried: Carried;
}

/** One place among the attempts that a destination may have at once. Released only by its holder, or by its lease. */
export interface Slot {
  readonly item: 'slot';
  readonly version: number;
  readonly destination: DestinationId;
  /** From 0. */
  readonly n: number;
  /** The claim that has it; undefined: free. */
  readonly holder?: ClaimId;
  readonly leaseEndsAtMs: number;
  readonly carried: Carried;
}

/** Signing secrets of one destination, newest first, as `whsec_` texts. In a partition of their own. */
export interface SecretItem {
  readonly item: 'secret';
  readonly version: number;
  readonly destination: DestinationId;
  readonly secrets: readonly string[];
  /** When each but the newest stops to sign; without it, they all go on. */
  readonly olderEndAtMs?: readonly number[];
  /** The latest request of a person that has rotated them: it does not do so twice. */
  readonly rotatedBy?: RequestId;
  readonly updatedAtMs: number;
  readonly carried: Carried;
}

// ---- the rest -----------------------------------------------------------------------------------------------------

export type Right = 'view' | 'send' | 'pause' | 'resend' | 'decide' | 'admin';

/** A bearer token: only its hash is stored. Its name is the actor of what is done with it. */
export interface Token {
  readonly item: 'token';
  readonly version: number;
  readonly hash: string;
  readonly name: string;
  readonly rights: readonly Right[];
  readonly createdAtMs: number;
  readonly revokedAtMs?: number;
  readonly carried: Carried;
}

/**
 * The names of the tokens that are in use. It makes a name unique and lists them; a token lets somebody in by its own
 * item alone, so an entry here may name one that is revoked or was never made.
 */
export interface TokenRegister {
  readonly item: 'token-register';
  readonly version: number;
  readonly tokens: readonly RegisteredToken[];
  readonly carried: Carried;
}

export interface RegisteredToken {
  readonly name: string;
  readonly hash: string;
  /** The request of a person that has made it. */
  readonly request: RequestId;
}

/** Which destinations are marked for notices: where to look, for the settings of each say whether it still is. */
export interface NoticeRegister {
  readonly item: 'notice-register';
  readonly version: number;
  readonly destinations: readonly DestinationId[];
  readonly carried: Carried;
}

/** An authentic message that makes no sense: kept for a person, bounded, never retried. */
export interface Poison {
  readonly item: 'poison';
  readonly version: number;
  readonly id: string;
  readonly reason: string;
  readonly excerpt: Uint8Array;
  readonly hash: string;
  readonly bytes: number;
  readonly messageId?: string;
  readonly seenAtMs: number;
  /** For the table's time to live, in epoch seconds: it only removes garbage. */
  readonly expiresAtSec: number;
  readonly carried: Carried;
}

/** How many messages were filed as poison in one minute: beyond the bound, the queue's own dead letters hold them. */
export interface PoisonMinute {
  readonly item: 'poison-minute';
  readonly version: number;
  readonly minute: number;
  readonly count: number;
  readonly expiresAtSec: number;
  readonly carried: Carried;
}

/** The last pass of a sweep over one shard, and the lease that keeps it to one chain. */
export interface Heartbeat {
  readonly item: 'heartbeat';
  readonly version: number;
  readonly shard: number;
  readonly holder: string;
  readonly leaseEndsAtMs: number;
  readonly passAtMs: number;
  /** The tick that the numbers belong to: its pages and repeats add up. */
  readonly tick?: number;
  readonly largestOverdueMs: number;
  readonly looked: number;
  readonly published: number;
  readonly moved: number;
  /** The queue's own statistics, as the pass found them; one shard asks for all. */
  readonly queue?: QueueSeen;
  readonly carried: Carried;
}

export interface QueueSeen {
  readonly available: number;
  readonly delayed: number;
  readonly inFlight: number;
  readonly dead: number;
  /** Absent where the transport does not say. */
  readonly oldestAgeMs?: number;
}

// ---- all of them ------------------------------------------------------------------------------------------------

export type Item =
  | AcceptedEvent
  | Delivery
  | Conflict
  | Destination
  | Gate
  | SecretItem
  | Token
  | TokenRegister
  | NoticeRegister
  | Poison
  | PoisonMinute
  | Slot
  | Decided
  | Operation
  | OperationMessage
  | Heartbeat;

export type ItemKind = Item['item'];
export type ItemOf<K extends ItemKind> = Extract<Item, { item: K }>;
