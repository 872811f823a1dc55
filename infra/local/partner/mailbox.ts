/**
 * One mailbox of the partner: what it plays, what it received, which effects that had.
 *
 *   request read ──► noted ──► effect, if this request has one ──► signals ──► (delay) ──► answer or misbehaviour
 *                      └─────────────── in one go ─────────────┘
 *
 * So whoever waits for a request sees its effect too, and an effect stands however badly the answer goes.
 */
import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Budget } from './budget.ts';
import { isAuthentic } from './example-receiver.ts';
import { Kept } from './kept.ts';
import { type Course, HONOURS, KeyMemory, type Personality, UNSIGNED } from './personality.ts';
import { type Play, shown, WELL_BEHAVED } from './play.ts';
import type { QuickPlay, Script } from './script.ts';

export const KEPT_MAX = 1_000;
export const BODY_BYTES_KEPT_MAX = 300 * 1_024;

export interface ReceivedRequest {
  readonly mailbox: string;
  /** Counts from 1; `DELETE` starts it again. */
  readonly number: number;
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  /** The first 300 KB; `bodyBytes` and `sha256` are of the whole. */
  readonly body: Uint8Array;
  readonly bodyBytes: number;
  readonly sha256: string;
  readonly key: string | undefined;
  readonly signature: 'verified' | 'refused' | 'unchecked';
  /** What it was given, such as `status 200` or `hang`, and who decided the reply. */
  readonly played: string;
  readonly from: Course['from'];
  readonly acted: boolean;
}

export interface ReceivedEffect {
  readonly key: string | undefined;
  readonly atMs: number;
  readonly sha256: string;
  /** The number of the request that had it. */
  readonly request: number;
}

export interface Incoming {
  readonly atMs: number;
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
  readonly quick: QuickPlay | undefined;
}

export interface Taken {
  readonly request: ReceivedRequest;
  readonly play: Play;
  readonly over: () => void;
}

interface Waiter {
  readonly count: number;
  readonly resolve: (requests: readonly ReceivedRequest[]) => void;
  readonly reject: (error: Error) => void;
}

/** The parts of memory that all mailboxes of one partner share. */
export interface Budgets {
  readonly records: Budget;
  readonly keys: Budget;
}

export class Mailbox {
  readonly name: string;
  readonly #requests: Kept<ReceivedRequest>;
  readonly #effects: Kept<ReceivedEffect>;
  readonly #keys: KeyMemory;
  readonly #waiters = new Set<Waiter>();
  #plays: readonly Play[] = [WELL_BEHAVED];
  #next = 0;
  #personality: Personality = HONOURS;
  #secret: string | undefined;
  #refuses = false;
  #isScripted = false;

  constructor(name: string, budgets: Budgets) {
    this.name = name;
    this.#requests = new Kept(budgets.records, KEPT_MAX);
    this.#effects = new Kept(budgets.records, KEPT_MAX);
    this.#keys = new KeyMemory(budgets.keys);
  }

  /** The newest 1,000, oldest first. */
  get requests(): readonly ReceivedRequest[] {
    return this.#requests.items;
  }

  /** The newest 1,000, oldest first. */
  get effects(): readonly ReceivedEffect[] {
    return this.#effects.items;
  }

  /** Exact, also beyond what is kept. */
  get requestCount(): number {
    return this.#requests.count;
  }

  /** Exact, also beyond what is kept, as long as `keysDropped` is 0. */
  get effectCount(): number {
    return this.#effects.count;
  }

  get keysDropped(): number {
    return this.#keys.dropped;
  }

  get personality(): Personality {
    return this.#personality;
  }

  /** Nothing is lost when this mailbox makes room for another. */
  get isIdle(): boolean {
    return this.requestCount === 0 && !this.#isScripted && this.#waiters.size === 0;
  }

  /** Resolves when the n-th request has been read and its effect, if any, has happened. Rejects when the partner closes. */
  received(count: number): Promise<readonly ReceivedRequest[]> {
    if (this.requestCount >= count) return Promise.resolve(this.requests);
    const { promise, resolve, reject } = Promise.withResolvers<readonly ReceivedRequest[]>();
    this.#waiters.add({ count, resolve, reject });
    // Whoever has stopped waiting must not end the process by it.
    promise.catch(() => {});
    return promise;
  }

  /** New steps begin with the next request. What the script leaves out stays. */
  use(script: Script): void {
    this.#isScripted = true;
    if (script.plays !== undefined) {
      this.#plays = script.plays;
      this.#next = 0;
    }
    this.#personality = script.personality ?? this.#personality;
    this.#secret = script.secret ?? this.#secret;
    this.#refuses = script.refuses ?? this.#refuses;
  }

  take(incoming: Incoming): Taken {
    const { atMs, headers, quick, body, method, path } = incoming;
    const sha256 = createHash('sha256').update(body).digest('hex');
    const key = keyOf(headers);
    const play = quick?.play ?? this.#nextPlay();
    const signature = this.#check(incoming);
    const arrival = { key, sha256, nowMs: atMs, madeSec: Number(headers['webhook-timestamp'] ?? 0) };
    const course =
      this.#refuses && signature === 'refused'
        ? UNSIGNED
        : this.#keys.meet(arrival, play, quick?.personality ?? this.#personality);
    const request: ReceivedRequest = {
      mailbox: this.name,
      number: this.requestCount + 1,
      atMs,
      method,
      path,
      headers,
      body: headOf(body),
      bodyBytes: body.length,
      sha256,
      key,
      signature,
      played: shown(course.reply, play.manner),
      from: course.from,
      acted: course.acts,
    };
    this.#requests.add(request, RECORD_BYTES + request.body.length + sizeOf(headers) + path.length);
    if (course.acts)
      this.#effects.add({ key, atMs, sha256, request: request.number }, RECORD_BYTES + (key?.length ?? 0));
    this.#signal();
    return { request, play: { ...play, reply: course.reply }, over: course.over };
  }

  /** Back to an empty mailbox without a script. Who waits for requests goes on waiting, from 0. */
  clear(): void {
    this.#requests.clear();
    this.#effects.clear();
    this.#keys.clear();
    this.#plays = [WELL_BEHAVED];
    this.#next = 0;
    this.#personality = HONOURS;
    this.#secret = undefined;
    this.#refuses = false;
    this.#isScripted = false;
  }

  close(): void {
    for (const { count, reject } of this.#waiters) {
      reject(
        new Error(`the partner closed: "${this.name}" had ${this.requestCount} of the ${count} requests waited for`),
      );
    }
    this.#waiters.clear();
  }

  #nextPlay(): Play {
    const play = this.#plays[Math.min(this.#next, this.#plays.length - 1)];
    this.#next += 1;
    return play ?? WELL_BEHAVED;
  }

  #check({ headers, body, atMs }: Incoming): ReceivedRequest['signature'] {
    if (this.#secret === undefined) return 'unchecked';
    return isAuthentic(this.#secret, headers, body, atMs) ? 'verified' : 'refused';
  }

  #signal(): void {
    for (const waiter of this.#waiters) {
      if (waiter.count > this.requestCount) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(this.requests);
    }
  }
}

/** What one record takes beside its body and its texts, roughly. */
const RECORD_BYTES = 500;

const keyOf = (headers: IncomingHttpHeaders): string | undefined => {
  const key = headers['webhook-id'] ?? headers['idempotency-key'];
  return typeof key === 'string' && key !== '' ? key : undefined;
};

const sizeOf = (headers: IncomingHttpHeaders): number =>
  Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + String(value).length, 0);

/** A copy where it is cut, so that the rest does not stay in memory with it. */
const headOf = (body: Uint8Array): Uint8Array =>
  body.length <= BODY_BYTES_KEPT_MAX ? body : Uint8Array.from(body.subarray(0, BODY_BYTES_KEPT_MAX));
