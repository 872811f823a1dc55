/** What people decided, and what operations over many deliveries found and did: the records of both. */
import type { DestinationId, EventId, RequestId } from './ids.ts';
import type { Carried } from './model.ts';

export const FINDINGS = [
  /** Nothing to do: delivered, cancelled, held by its own reason, or an internal message that the next tick repeats. */
  'drop',
  'redrive',
  /** Somebody is at it right now. */
  'in-flight',
  /** The budget of its life is spent; only a grant on record could add to it. */
  'over-budget',
  /** The destination has forgotten the key: a repeat may have a second effect. */
  'key-expired',
  /** An attempt may have arrived where a repeat is not safe. */
  'second-effect',
  /** A whole event, perhaps the only copy: to be accepted as intake would. */
  'accept',
  'poison',
  /** Not a message of ours at all. */
  'foreign',
  /** Of a kind or format that this code does not know. */
  'unknown',
  'paused',
] as const;

export type FindingKind = (typeof FINDINGS)[number];

export type Command =
  | 'set'
  | 'pause'
  | 'resume'
  | 'test'
  | 'prove'
  | 'delete'
  | 'rotate-secret'
  | 'redrive'
  | 'resolve'
  | 'cancel'
  | 'replay'
  | 'run'
  | 'stop'
  | 'create-token'
  | 'revoke-token';

/**
 * What a person decided, written before it acts. Gate or row then names the request, and the same request again
 * completes what is missing instead of deciding twice.
 */
export interface Decided {
  readonly item: 'decision';
  readonly version: number;
  readonly request: RequestId;
  readonly command: Command;
  /** SHA-256 of what was asked for: the same request id with other content is refused. */
  readonly fingerprint: string;
  readonly actor: string;
  /** Empty only for `set`, which does not ask for one. */
  readonly reason: string;
  /** What it was about to change, in a few words, such as `quarantined / budget`. */
  readonly before: string;
  /** The settings that it was about to change, one line each: no secret is in them. */
  readonly changes?: readonly string[];
  readonly event?: EventId;
  readonly destination?: DestinationId;
  readonly operation?: string;
  /** The name of the token that it is about. */
  readonly token?: string;
  readonly evidence?: string;
  readonly decidedAtMs: number;
  /** How it ended, once it has: `done`, or the code by which it was refused. */
  readonly result?: string;
  readonly carried: Carried;
}

/** Who stands behind an entry of a journal, and why: by a decision of its own, or by the operation that it belongs to. */
export type Person = Pick<Decided, 'actor' | 'reason' | 'evidence'> &
  Partial<Pick<Decided, 'request'>> & {
    /** Of an operation, which the other members say who has planned: who ran it, and why. */
    readonly ranBy?: string;
  };

/**
 * planning --read, stored--> planned --run--> running --nothing left--> done
 *                                                +--a person, or too many failures--> stopped, for good
 */
export type OperationState = 'planning' | 'planned' | 'running' | 'stopped' | 'done';

/** What came of a message of an operation. */
export type ResultKind =
  /** By its first outcome behind the redrive. */
  | 'delivered'
  /** It had been delivered before; nothing was sent again. */
  | 'deduplicated'
  | 'failed'
  | 'in-doubt'
  /** No outcome within the time in which a batch is judged. Filled in later, once there is one. */
  | 'open'
  | 'dropped'
  /** Left where it is, or held for a person. */
  | 'held'
  | 'accepted'
  /** The dead letter was no longer there when the run came to it. */
  | 'gone';

/** What the run did with a message: put back on the queue (a row: made pending), taken off it, left, or not found. */
export type ActionKind = 'requeued' | 'discarded' | 'left' | 'gone';

/** Why a plan does not hold all that was asked for: no time left, no answer any more, or fewer than the queue counts. */
export type Shortfall = 'time' | 'queue' | 'contradiction';

/** A redrive: what was asked, what the plan found, how far the run has come. */
export interface Operation {
  readonly item: 'operation';
  readonly version: number;
  readonly operation: string;
  readonly source: 'dead-letters' | 'quarantine';
  readonly destination?: DestinationId;
  readonly reason?: string;
  readonly limit: number;
  readonly recoveryMinutes: number;
  /** The run stops itself above this share of failures among the first outcomes of a batch. */
  readonly stopAbove: number;
  readonly acceptSecondEffect: boolean;
  readonly actor: string;
  readonly why: string;
  readonly state: OperationState;
  /** Who ran it first, and why; who or what stopped it, and why. */
  readonly startedBecause?: string;
  readonly stoppedBecause?: string;
  readonly createdAtMs: number;
  readonly startedAtMs?: number;
  readonly endedAtMs?: number;
  /** Batch x time-out / concurrency, for all that would be sent. */
  readonly estimateMs: number;
  readonly found: Readonly<Partial<Record<FindingKind, number>>>;
  /** The next message to act on, and the next to judge. */
  readonly nextToAct: number;
  readonly nextToJudge: number;
  readonly messages: number;
  /** Undefined: all that was there, up to the limit. */
  readonly shortfall?: Shortfall;
  /** Turns of the run so far: a message that names an earlier one is stale. */
  readonly turn: number;
  readonly turnAtMs?: number;
  /** When a turn last got on with it. */
  readonly progressAtMs?: number;
  /** Counts what is sent before it is judged. */
  readonly batch: number;
  /** Dead letters by the queue's own statistics, when the plan was made and after the run. */
  readonly deadBefore?: number;
  readonly deadAfter?: number;
  readonly carried: Carried;
}

/** One message (or quarantined row) of an operation: what was found, what was done, what came of it. */
export interface OperationMessage {
  readonly item: 'operation-message';
  readonly version: number;
  readonly operation: string;
  /** Its place in the plan, from 0. */
  readonly position: number;
  readonly messageId?: string;
  readonly finding: FindingKind;
  readonly detail: string;
  /** What the plan had found, where the run found something else. */
  readonly plannedAs?: FindingKind;
  readonly event?: EventId;
  readonly destination?: DestinationId;
  /** Why it had failed when the plan looked, and how long that call took. */
  readonly lastClass?: string;
  readonly lastStatus?: number;
  readonly lastDurationMs?: number;
  /** Attempts of the row when it was acted on: the first outcome behind them judges the redrive. */
  readonly attemptsBefore?: number;
  /** When the run recorded its finding, before it acted on it, and in which batch. */
  readonly chosenAtMs?: number;
  readonly batch?: number;
  readonly action?: ActionKind;
  readonly actedAtMs?: number;
  readonly result?: ResultKind;
  /** The attempt whose outcome is the result. */
  readonly attempt?: number;
  readonly judgedAtMs?: number;
  readonly carried: Carried;
}
