/**
 * What the partner does with idempotency keys. Real receivers differ; each row is one that exists.
 *
 *   first request of a key ──► the step's reply, kept or not ──► the same key again: the kept reply, or the next step's
 *                                                                     │
 *                              never a second effect of one key ◄─────┘   (but for `ignores`, `races`, `acts-on-older`,
 *                                                                          and once forgotten)
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
  'conflict-409',
  'races',
  'acts-on-older',
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
  readonly whileRunning: 'answers' | 'says-409' | 'acts';
  /** The same key behind a success. */
  readonly repeated: 'given-again' | 'says-409';
  /** A request that was made before the first one of its key. */
  readonly older: 'is-a-repeat' | 'acts';
  /** The same key with other bytes. */
  readonly otherBody: 'overlooked' | 'says-422';
}

const is2xx = (status: number): boolean => status >= 200 && status <= 299;
const honours: Habits = {
  keeps: is2xx,
  whileRunning: 'answers',
  repeated: 'given-again',
  older: 'is-a-repeat',
  otherBody: 'overlooked',
};

/** `replays-2xx` and `ignores-body` are `honours` by the name of the one habit that a test is about. */
const HABITS: Readonly<Record<Keys, Habits | 'none'>> = {
  honours,
  ignores: 'none',
  'replays-all': { ...honours, keeps: () => true },
  'replays-2xx': honours,
  'stores-no-4xx': { ...honours, keeps: (status) => status < 400 || status > 499 },
  'busy-409': { ...honours, whileRunning: 'says-409' },
  'conflict-409': { ...honours, repeated: 'says-409' },
  // It looks first and remembers when it has acted.
  races: { ...honours, whileRunning: 'acts' },
  'acts-on-older': { ...honours, older: 'acts' },
  '422-on-other-body': { ...honours, otherBody: 'says-422' },
  'ignores-body': honours,
  'forgets-after': honours,
};

interface KnownKey {
  readonly sha256: string;
  readonly sinceMs: number;
  readonly madeSec: number;
  readonly held: Held;
  kept: Reply | undefined;
  acted: boolean;
  running: number;
}

export interface Course {
  readonly reply: Reply;
  readonly from: 'script' | 'memory' | 'busy' | 'repeated' | 'other-body' | 'signature';
  readonly acts: boolean;
  /** To be called when the answer is out or the connection gone. */
  readonly over: () => void;
}

export interface Arrival {
  /** Undefined where the request bears none: then nothing can be told apart. */
  readonly key: string | undefined;
  readonly sha256: string;
  readonly nowMs: number;
  /** When it was made, by its own account. */
  readonly madeSec?: number;
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
    if (habits === 'none' || arrival.key === undefined) return unknown(play);
    const known = this.#recall(arrival.key, arrival.nowMs - forgetsAfterMs);
    if (known !== undefined) {
      if (habits.otherBody === 'says-422' && known.sha256 !== arrival.sha256) return refused(422, 'other-body');
      if (habits.older === 'acts' && (arrival.madeSec ?? known.madeSec) < known.madeSec) return unknown(play);
      if (habits.whileRunning === 'says-409' && known.running > 0) return refused(409, 'busy');
      if (habits.whileRunning === 'acts' && known.running > 0) return unknown(play);
      if (known.kept !== undefined && habits.repeated === 'says-409') return refused(409, 'repeated');
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

  #remember(key: string, { sha256, nowMs, madeSec = 0 }: Arrival): KnownKey {
    const drop = (): void => {
      this.#known.delete(key);
      this.#dropped += 1;
    };
    const held = this.#budget.hold(KEY_BYTES + key.length, drop);
    const known = { sha256, sinceMs: nowMs, madeSec, held, kept: undefined, acted: false, running: 0 };
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

/** As if its key had never been met. */
const unknown = ({ reply, acts }: Play): Course => ({ reply, from: 'script', acts, over: nothing });

const REFUSALS = {
  busy: 'a request with this key is running',
  repeated: 'a request with this key was done before',
  'other-body': 'this key came with another body',
  signature: 'the signature is not one of this secret, or too old',
} as const;

const refused = (status: 409 | 422 | 401, from: keyof typeof REFUSALS): Course => ({
  reply: replyOf(status, REFUSALS[from]),
  from,
  acts: false,
  over: nothing,
});

/** For a receiver that looks at signatures before anything else. */
export const UNSIGNED: Course = refused(401, 'signature');
