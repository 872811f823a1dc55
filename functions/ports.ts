/**
 * Every interface between the thinking and the world, on one screen.
 *
 * Adapters fill these; `steps` and the function folders use them; `core` knows none of them. A port that is out of
 * reach throws `PortUnavailable`; every refusal that is part of the plan is a value.
 */
import type { DestinationId, EventId } from './core/ids.ts';
import type { Destination, Gate, Item, ItemKind, ItemOf, QueueSeen, Slot } from './core/items.ts';
import type { CountName, Measures } from './core/metrics.ts';
import type { DeliveryRef } from './core/model.ts';
import type { OperationMessage } from './core/operations.ts';
import type { Answer } from './core/outcome.ts';

/** A broken port: the ledger, the queue. The push is answered 503, the caller of the API is told to repeat. */
export class PortUnavailable extends Error {
  readonly port: 'ledger' | 'queue' | 'secrets';
  constructor(port: 'ledger' | 'queue' | 'secrets', message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'PortUnavailable';
    this.port = port;
  }
}

/**
 * A stored item that our own writer could not have made: a claim without a lease, a hash of the wrong length. Nobody may
 * guess at it: a claimed row without a lease must never look like one that is free. Whoever meets it raises an alarm.
 */
export class LedgerCorrupt extends Error {
  readonly partition: string;
  readonly sort: string;
  constructor(partition: string, sort: string, reason: string, options?: ErrorOptions) {
    super(`the ledger's item "${partition}" / "${sort}" is broken: ${reason}`, options);
    this.name = 'LedgerCorrupt';
    this.partition = partition;
    this.sort = sort;
  }
}

/** A cursor that is not one of ours, or is of another list: the caller's mistake. */
export class BadCursor extends Error {
  constructor() {
    super('the cursor is not one that this list gave out: start the list again without a cursor');
    this.name = 'BadCursor';
  }
}

// ---- ledger -------------------------------------------------------------------------------------------------------

/** Names one item. */
export type Ref =
  | { readonly item: 'event'; readonly event: EventId }
  | ({ readonly item: 'delivery' } & DeliveryRef)
  | { readonly item: 'conflict'; readonly event: EventId; readonly n: number }
  | { readonly item: 'destination'; readonly destination: DestinationId }
  | { readonly item: 'gate'; readonly destination: DestinationId }
  | { readonly item: 'secret'; readonly destination: DestinationId }
  | { readonly item: 'token'; readonly hash: string }
  | { readonly item: 'token-register' }
  | { readonly item: 'notice-register' }
  | { readonly item: 'poison'; readonly id: string }
  | { readonly item: 'poison-minute'; readonly minute: number }
  | { readonly item: 'heartbeat'; readonly shard: number }
  | { readonly item: 'slot'; readonly destination: DestinationId; readonly n: number }
  | { readonly item: 'decision'; readonly cause: string }
  | { readonly item: 'operation'; readonly operation: string }
  | { readonly item: 'operation-message'; readonly operation: string; readonly position: number };

export type RefOf<K extends ItemKind> = Extract<Ref, { item: K }>;

/** `later`: written by newer code; this code neither writes nor publishes it. */
export type Found<T> =
  | { readonly kind: 'found'; readonly item: T }
  | { readonly kind: 'absent' }
  | { readonly kind: 'later'; readonly format: number };

/** A refused write brings back what stands there now, read in the same moment. */
export type Written<T> = { readonly kind: 'written' } | { readonly kind: 'refused'; readonly present: Found<T> };

/**
 * Compare-and-swap over single items, strongly consistent. No logic lives in the store: all thought is in the core.
 */
export interface Ledger {
  load<K extends ItemKind>(ref: RefOf<K>): Promise<Found<ItemOf<K>>>;
  /** Settings and gate of a destination, by one strongly consistent query. */
  loadDestination(id: DestinationId): Promise<{ config: Found<Destination>; gate: Found<Gate> }>;
  /** The event, its deliveries (at most ten) and its conflicts, by one strongly consistent query. */
  loadEvent(id: EventId): Promise<readonly Item[]>;
  /** The slots of a destination that were ever taken, by number, in one strongly consistent query. */
  loadSlots(id: DestinationId): Promise<readonly Slot[]>;
  /** Messages of an operation from this position on, in their order, at most `limit`. */
  loadOperationMessages(operation: string, from: number, limit: number): Promise<readonly OperationMessage[]>;
  /** Writes the item if nothing stands under its key. */
  create<T extends Item>(item: T): Promise<Written<ItemOf<T['item']>>>;
  /** Writes `next` if the present item still has the version `read.version`; `next.version` is that plus one. */
  replace<T extends Item>(read: T, next: ItemOf<T['item']>): Promise<Written<ItemOf<T['item']>>>;
}

/**
 * The rate of a destination, as slots in time that are handed out once each. A conditional update, not a swap: many
 * workers ask at the same moment, and none of them has anything to decide.
 */
export interface Pace {
  /** Takes the next free slot of the line at or after `fromMs`; the one behind it is free `stepMs` later. */
  take(destination: DestinationId, line: PaceLine, fromMs: number, stepMs: number): Promise<number>;
}

/**
 * Where to stand in line: to be sent, or to ask for a place. A destination has one line of each kind. A higher number
 * begins its line anew at the present, and whoever still comes with a lower one is let into the one that stands.
 */
export interface PaceLine {
  readonly kind: 'rate' | 'places';
  readonly number: number;
}

/** What an index answers. Eventually consistent and possibly wrong: the row decides, always. */
export type DueRow = DeliveryRef & { readonly lookAfterMs: number };

export interface Pages {
  /** Rows of one shard whose look-after time has come, oldest first, behind `after`. Fewer than `limit` is no end. */
  due(shard: number, untilMs: number, limit: number, after?: DueRow): Promise<readonly DueRow[]>;
  list(query: ListQuery): Promise<Page>;
  /** How many rows a list has, counted no further than `cap`. */
  count(query: CountQuery, cap: number): Promise<number>;
}

export type CountQuery =
  | { readonly list: 'open' }
  | { readonly list: 'parked' | 'quarantined'; readonly destination?: DestinationId };

export type ListQuery = { readonly limit: number; readonly cursor?: string } & (
  | { readonly list: 'open' }
  | { readonly list: 'parked' | 'quarantined'; readonly destination?: DestinationId }
  /** `day`: accepted on this UTC day, however long ago; without it, the latest days. */
  | { readonly list: 'recent'; readonly destination: DestinationId; readonly day?: string }
  | { readonly list: 'destinations' | 'operations' | 'decisions' | 'poison' }
);

export interface Page {
  readonly refs: readonly Ref[];
  readonly next?: string;
}

// ---- queue --------------------------------------------------------------------------------------------------------

export interface Publication {
  /** Identity of this publish: a repeat under the same key is harmless, a later plan has another key. */
  readonly key: string;
  readonly body: string;
  /** Whole seconds, 0 to the transport's longest delay. */
  readonly delaySec: number;
}

export type Published =
  | { readonly kind: 'published'; readonly messageId: string }
  | { readonly kind: 'failed'; readonly code: string; readonly detail: string };

export interface QueueLimits {
  readonly delayMsMax: number;
  readonly messageBytesMax: number;
}

export interface Queue {
  readonly limits: QueueLimits;
  /** One try within two seconds. Never throws: a failed publish is repaired by the sweep. */
  publish(publication: Publication): Promise<Published>;
}

/** A dead letter, read as an ordinary message: reading leases it, so it is out of others' sight for a while. */
export interface DeadLetter {
  readonly messageId: string;
  readonly body: Uint8Array;
  readonly deliveryCount?: number;
  /** Settles this reading of it where the transport asks for one. */
  readonly handle?: string;
}

export type QueueStats = QueueSeen;

export type Done =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly code: string; readonly detail: string };

export interface DeadLetterTraits {
  /** A letter can be put back or taken off by its id alone; where not, it has to be read, and settled by that reading. */
  readonly reachesById: boolean;
  /** Its counts are those of this moment; where not, they may be a minute old. */
  readonly countsExactly: boolean;
}

/** The dead-letter side of a transport: for operations, with retries of its own that never touch a business budget. */
export interface DeadLetters {
  readonly traits: DeadLetterTraits;
  stats(): Promise<({ readonly kind: 'stats' } & QueueStats) | Extract<Done, { kind: 'failed' }>>;
  /**
   * Up to `limit` dead letters, by reading the dead-letter queue as an ordinary one: its listing has been seen lying.
   * They are out of others' sight for `leaseSec`; without it, for as long as a plan and its run may take.
   */
  read(
    limit: number,
    leaseSec?: number,
  ): Promise<{ readonly kind: 'read'; readonly letters: readonly DeadLetter[] } | Extract<Done, { kind: 'failed' }>>;
  /**
   * Puts one back on the main queue, alone: bulk redrive has been seen doing nothing. At least once: it may arrive twice,
   * and is never lost.
   */
  redrive(letter: Pick<DeadLetter, 'messageId' | 'handle' | 'body'>): Promise<Done>;
  /** Removes one for good. */
  discard(letter: Pick<DeadLetter, 'messageId' | 'handle'>): Promise<Done>;
  /** Ends the lease of what was read and is left as it is, where the transport can; else the lease ends by itself. */
  release(letters: readonly Pick<DeadLetter, 'handle'>[]): Promise<void>;
}

export type HeaderGetter = (name: string) => string | undefined;

export type Verified = { readonly kind: 'authentic' } | { readonly kind: 'refused'; readonly code: string };

/** A push without its wrapping: who sent it and the message itself, still as text or value to be parsed. */
export type Unwrapped =
  | {
      readonly kind: 'message';
      readonly messageId?: string;
      readonly deliveryCount?: number;
      readonly body: Uint8Array;
    }
  | { readonly kind: 'senseless'; readonly reason: string; readonly messageId?: string };

/** The push side of a transport. `header` also gives what stands beside the body where it does not come by HTTP. */
export interface Push {
  verify(header: HeaderGetter, body: Uint8Array, nowMs: number): Verified;
  unwrap(body: Uint8Array, header: HeaderGetter): Unwrapped;
}

// ---- destination, secrets, telemetry, system ------------------------------------------------------------------------------

export interface OutgoingRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** One deadline over look-up, connect, headers and body. */
  readonly deadlineMs: number;
  readonly connectMs: number;
  readonly excerptBytes: number;
}

export interface Sender {
  /** Where a send would first have to load something: done before the re-check, after which nothing may take time. */
  ready?(): Promise<void>;
  send(request: OutgoingRequest): Promise<Answer>;
  close(): Promise<void>;
}

/** Signing secrets as `whsec_` texts, newest first; none is a misconfiguration that stops the attempt. */
export interface Secrets {
  signing(destination: DestinationId): Promise<readonly string[]>;
}

/** Who is marked to be told what a person should know (of half a minute ago), and what this process has raised already. */
export interface Notices {
  marked(): Promise<readonly DestinationId[]>;
  wasRaised(key: string): boolean;
  raised(key: string): void;
}

export type Fields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Telemetry {
  /** One wide line: identities first, then what was decided and why, and the numbers that it is kept as. */
  line(name: string, fields: Fields, measures?: Measures): void;
  count(name: CountName, by?: number): void;
}

export interface Clock {
  nowMs(): number;
  sleep(ms: number): Promise<void>;
}

export interface Dice {
  /** A number from 0 (included) to 1 (excluded). */
  draw(): number;
  /** A fresh id: 66 random bits as 11 characters of base64url. */
  id(): string;
  bytes(count: number): Uint8Array;
}

/** A full set of filled ports. A step names the few that it uses. */
export interface World {
  readonly ledger: Ledger;
  readonly pages: Pages;
  readonly pace: Pace;
  readonly queue: Queue;
  readonly deadLetters: DeadLetters;
  readonly push: Push;
  readonly sender: Sender;
  readonly secrets: Secrets;
  readonly notices?: Notices;
  readonly telemetry: Telemetry;
  readonly clock: Clock;
  readonly dice: Dice;
}
