/**
 * What the partner does with idempotency keys. Real receivers differ; each row is one that exists.
 *
 *   first request of a key ──► the step's reply, kept or not ──► the same key again: the kept reply, or the next step's
 *                                                                     │
 *                              never a second effect of one key ◄─────┘   (but for `ignores`, and once forgotten)
 */
import type { Budget, Held } from './budget.ts';
import type { Play, Reply } from './play.ts';
import { replyOf } from './play.ts';

export const KEYS = [
  'honours',
  'ignores',
  'replays-all',
  'replays-2xx',
  'stores-no-4xx',
  'busy-409',
  '422-on-other-body',
  'ignores-body',
  'forgets-after',
] as const;
export type Keys = (typeof KEYS)[number];

export interface Personality {
  readonly keys: Keys;
  /** How long a key is known after its first request; `Infinity` for ever. */
  readonly forgetsAfterMs: number;
}

export const HONOURS: Personality = { keys: 'honours', forgetsAfterMs: Infinity };

interface Habits {
  /** Which first replies are kept and given again. What is not kept is done again: the next step answers. */
  readonly keeps: (status: number) => boolean;
  /** The same key while its first request has no answer yet. */
  readonly whileRunning: 'answers' | 'says-409';
  /** The same key with other bytes. */
  readonly otherBody: 'overlooked' | 'says-422';
}

const is2xx = (status: number): boolean => status >= 200 && status <= 299;
const honours: Habits = { keeps: is2xx, whileRunning: 'answers', otherBody: 'overlooked' };

/** `replays-2xx` and `ignores-body` are `honours` by the name of the one habit that a test is about. */
const HABITS: Readonly<Record<Keys, Habits | 'none'>> = {
  honours,
  ignores: 'none',
  'replays-all': { ...honours, keeps: () => true },
  'replays-2xx': honours,
  'stores-no-4xx': { ...honours, keeps: (status) => status < 400 || status > 499 },
  'busy-409': { ...honours, whileRunning: 'says-409' },
  '422-on-other-body': { ...honours, otherBody: 'says-422' },
  'ignores-body': honours,
  'forgets-after': honours,
};

interface KnownKey {
  readonly sha256: string;
  readonly sinceMs: number;
  readonly held: Held;
  kept: Reply | undefined;
  acted: boolean;
  running: number;
}

export interface Course {
  readonly reply: Reply;
  readonly from: 'script' | 'memory' | 'busy' | 'other-body';
  readonly acts: boolean;
  /** To be called when the answer is out or the connection gone. */
  readonly over: () => void;
}

export interface Arrival {
  /** Undefined where the request bears none: then nothing can be told apart. */
  readonly key: string | undefined;
  readonly sha256: string;
  readonly nowMs: number;
}

const nothing = (): void => {};

/** The keys that one mailbox knows. Bounded by a budget that all mailboxes share; `dropped` says what that has cost. */
export class KeyMemory {
  readonly #known = new Map<string, KnownKey>();
  readonly #budget: Budget;
  #dropped = 0;

  constructor(budget: Budget) {
    this.#budget = budget;
  }

  /** Keys forgotten for want of memory: above 0, effects may count double. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Decides what this request gets, and remembers that it was here. */
  meet(arrival: Arrival, play: Play, { keys, forgetsAfterMs }: Personality): Course {
    const habits = HABITS[keys];
    if (habits === 'none' || arrival.key === undefined) {
      return { reply: play.reply, from: 'script', acts: play.acts, over: nothing };
    }
    const known = this.#recall(arrival.key, arrival.nowMs - forgetsAfterMs);
    if (known !== undefined) {
      if (habits.otherBody === 'says-422' && known.sha256 !== arrival.sha256) return refused(422, 'other-body');
      if (habits.whileRunning === 'says-409' && known.running > 0) return refused(409, 'busy');
      if (known.kept !== undefined) return { reply: known.kept, from: 'memory', acts: false, over: nothing };
    }
    return run(known ?? this.#remember(arrival.key, arrival), play, habits);
  }

  clear(): void {
    for (const { held } of this.#known.values()) held.release();
    this.#known.clear();
    this.#dropped = 0;
  }

  #recall(key: string, bornAfterMs: number): KnownKey | undefined {
    const known = this.#known.get(key);
    if (known === undefined || known.sinceMs > bornAfterMs) return known;
    known.held.release();
    this.#known.delete(key);
    return undefined;
  }

  #remember(key: string, { sha256, nowMs }: Arrival): KnownKey {
    const drop = (): void => {
      this.#known.delete(key);
      this.#dropped += 1;
    };
    const held = this.#budget.hold(KEY_BYTES + key.length, drop);
    const known = { sha256, sinceMs: nowMs, held, kept: undefined, acted: false, running: 0 };
    this.#known.set(key, known);
    return known;
  }
}

/** What one known key takes beside its text, roughly. */
const KEY_BYTES = 300;

/** The work behind a key. A fault that comes before the work leaves nothing to give again. */
const run = (known: KnownKey, { reply, manner, acts }: Play, habits: Habits): Course => {
  const answers = manner.kind === 'plain' || manner.kind === 'drip' || manner.kind === 'close-keep-alive';
  if ((answers || acts) && habits.keeps(reply.status)) known.kept = reply;
  const isFirstEffect = acts && !known.acted;
  known.acted ||= acts;
  known.running += 1;
  const over = (): void => {
    known.running -= 1;
  };
  return { reply, from: 'script', acts: isFirstEffect, over };
};

const refused = (status: 409 | 422, from: 'busy' | 'other-body'): Course => ({
  reply: replyOf(status, status === 409 ? 'a request with this key is running' : 'this key came with another body'),
  from,
  acts: false,
  over: nothing,
});
