/** What the dead-letter side of every transport has to do, whatever queue it is. */

import { describe, expect, it, onTestFinished } from 'vitest';
import type { DeadLetter, DeadLetters } from '../../functions/ports.ts';

/** One queue with its dead letters and a receiver of its pushes, fresh for each test. */
export interface DeadLetterWorld {
  readonly deadLetters: DeadLetters;
  /** Publishes these messages and has each of them die as messages do in life: refused until the queue gives up. */
  letDie(...bodies: readonly string[]): Promise<void>;
  /** The messages of all pushes since the last of them died, as texts, in order. The receiver answers 200 by now. */
  pushed(): readonly string[];
  /** The pushes to come are refused until the queue gives up. */
  refusePushes(): void;
  /** Lets that much time of the transport pass, and everything that it sets off. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface DeadLettersHarness {
  /** How long a reading keeps a letter out of others' sight. */
  readonly leaseMs: number;
  /** After this much time, a message whose pushes are refused is dead. */
  readonly dyingMs: number;
  open(): Promise<DeadLetterWorld>;
  /** A port whose transport is not there, or takes the call and never answers; all its tries end within `totalMs`. */
  openBroken(
    how: 'gone' | 'hanging',
    totalMs: number,
  ): Promise<{ readonly deadLetters: DeadLetters; close(): Promise<void> }>;
}

/** Not as a parser would write it again: blanks, escapes, a number with a tail and one beyond 2^53. */
const bodyOf = (name: string): string =>
  `{ "kind":"deliver","format":1, "event":"${name}-\\u00e9-é-🚚", "destination":"partner", "n":1.00e2, "big":12345678901234567890 }`;
const ALPHA = bodyOf('alpha');
const BETA = bodyOf('beta');
const GAMMA = bodyOf('gamma');

const UNKNOWN: DeadLetter = { messageId: 'nobody-0', handle: 'nobody-0', body: new TextEncoder().encode(ALPHA) };

/** One promise of the contract, by its name; each is checked in a world of its own, and rejects where it is broken. */
type Check = (world: DeadLetterWorld, harness: DeadLettersHarness) => Promise<void>;
export type Checks = Readonly<Record<string, Check>>;

const textOf = ({ body }: DeadLetter): string => Buffer.from(body).toString('utf8');

const lettersOf = async ({ deadLetters }: DeadLetterWorld, limit = 100): Promise<readonly DeadLetter[]> => {
  const read = await deadLetters.read(limit);
  if (read.kind === 'failed') throw new Error(read.detail);
  return read.letters;
};

/** The letter with this body; others that were read with it stay leased. */
const letterOf = async (world: DeadLetterWorld, body: string): Promise<DeadLetter> => {
  const found = (await lettersOf(world)).find((letter) => textOf(letter) === body);
  if (found === undefined) throw new Error(`no dead letter ${body}`);
  return found;
};

const bodiesOf = async (world: DeadLetterWorld, limit?: number): Promise<readonly string[]> =>
  (await lettersOf(world, limit)).map(textOf).toSorted();

const deadOf = async ({ deadLetters }: DeadLetterWorld): Promise<number | string> => {
  const stats = await deadLetters.stats();
  return stats.kind === 'stats' ? stats.dead : stats.detail;
};

export const READING: Checks = {
  'gives nothing where nothing is dead': async (world) => {
    expect(await lettersOf(world)).toEqual([]);
    expect(await deadOf(world)).toBe(0);
  },

  'gives what has died, byte for byte, each with an id of its own': async (world) => {
    await world.letDie(ALPHA, BETA, GAMMA);
    const letters = await lettersOf(world);
    expect(letters.map(textOf).toSorted()).toEqual([ALPHA, BETA, GAMMA]);
    expect(new Set(letters.map(({ messageId }) => messageId)).size).toBe(3);
    for (const { messageId } of letters) expect(messageId).toMatch(/^[!-~]{1,256}$/);
  },

  'goes beyond what one request to the queue may give': async (world) => {
    const bodies = Array.from({ length: 23 }, (_, n) => bodyOf(`many-${n}`));
    await world.letDie(...bodies);
    expect(await bodiesOf(world, 100)).toEqual(bodies.toSorted());
  },

  'gives no more than its limit, and then the others': async (world) => {
    await world.letDie(ALPHA, BETA, GAMMA);
    const first = await bodiesOf(world, 2);
    expect(first).toHaveLength(2);
    const second = await bodiesOf(world, 2);
    expect([...first, ...second].toSorted()).toEqual([ALPHA, BETA, GAMMA]);
  },

  'leases what it gives: nobody else sees it until the lease ends, and then it is there again': async (
    world,
    harness,
  ) => {
    await world.letDie(ALPHA, BETA);
    expect(await bodiesOf(world)).toEqual([ALPHA, BETA]);
    expect(await bodiesOf(world)).toEqual([]);
    await world.pass(harness.leaseMs - 1);
    expect(await bodiesOf(world)).toEqual([]);
    await world.pass(1);
    expect(await bodiesOf(world)).toEqual([ALPHA, BETA]);
  },

  'loses nothing, however often it is done, and the count goes on counting what is leased': async (world, harness) => {
    await world.letDie(ALPHA, BETA);
    for (let nth = 0; nth < 6; nth += 1) {
      expect(await bodiesOf(world)).toEqual([ALPHA, BETA]);
      expect(await deadOf(world)).toBe(2);
      await world.pass(harness.leaseMs);
    }
    expect(await deadOf(world)).toBe(2);
    expect(world.pushed()).toEqual([]);
  },
};

export const REDRIVING: Checks = {
  'puts exactly that one back, where it is pushed again with its bytes': async (world) => {
    await world.letDie(ALPHA, BETA, GAMMA);
    expect(await world.deadLetters.redrive(await letterOf(world, BETA))).toEqual({ kind: 'done' });
    await world.pass(0);
    expect(world.pushed()).toEqual([BETA]);
    expect(await deadOf(world)).toBe(2);
  },

  'takes it out of the dead letters for good, also when the lease of its reading ends': async (world, harness) => {
    await world.letDie(ALPHA, BETA);
    await world.deadLetters.redrive(await letterOf(world, BETA));
    await world.pass(2 * harness.leaseMs);
    expect(await bodiesOf(world)).toEqual([ALPHA]);
    expect(world.pushed()).toEqual([BETA]);
  },

  'of all, one by one, leaves no dead letter and pushes each once': async (world, harness) => {
    await world.letDie(ALPHA, BETA, GAMMA);
    for (const letter of await lettersOf(world)) {
      expect(await world.deadLetters.redrive(letter)).toEqual({ kind: 'done' });
    }
    await world.pass(2 * harness.leaseMs);
    expect(world.pushed().toSorted()).toEqual([ALPHA, BETA, GAMMA]);
    expect(await deadOf(world)).toBe(0);
    expect(await lettersOf(world)).toEqual([]);
  },

  'begins the deliveries of a message anew: it may die again, and be redriven again': async (world, harness) => {
    await world.letDie(ALPHA);
    for (let nth = 0; nth < 3; nth += 1) {
      world.refusePushes();
      expect(await world.deadLetters.redrive(await letterOf(world, ALPHA))).toEqual({ kind: 'done' });
      await world.pass(harness.dyingMs);
      expect(await deadOf(world)).toBe(1);
    }
  },

  'of an id that is not dead is a failed value, and changes nothing': async (world) => {
    await world.letDie(ALPHA);
    expect(await world.deadLetters.redrive(UNKNOWN)).toMatchObject({ kind: 'failed', detail: expect.any(String) });
    await world.pass(0);
    expect(world.pushed()).toEqual([]);
    expect(await deadOf(world)).toBe(1);
  },

  'of one that has been redriven already is a failed value': async (world) => {
    await world.letDie(ALPHA);
    const letter = await letterOf(world, ALPHA);
    await world.deadLetters.redrive(letter);
    await world.pass(0);
    expect(await world.deadLetters.redrive(letter)).toMatchObject({ kind: 'failed' });
    await world.pass(0);
    expect(world.pushed()).toEqual([ALPHA]);
  },
};

export const DISCARDING: Checks = {
  'removes exactly that one for good, and nothing is pushed': async (world, harness) => {
    await world.letDie(ALPHA, BETA);
    expect(await world.deadLetters.discard(await letterOf(world, ALPHA))).toEqual({ kind: 'done' });
    expect(await deadOf(world)).toBe(1);
    await world.pass(2 * harness.leaseMs);
    expect(await bodiesOf(world)).toEqual([BETA]);
    expect(world.pushed()).toEqual([]);
  },

  'of an unknown id is a failed value, and changes nothing': async (world) => {
    await world.letDie(ALPHA);
    expect(await world.deadLetters.discard(UNKNOWN)).toMatchObject({ kind: 'failed', detail: expect.any(String) });
    expect(await deadOf(world)).toBe(1);
  },

  'of one that has been redriven is a failed value: it cannot be taken away from under its worker': async (world) => {
    await world.letDie(ALPHA);
    const letter = await letterOf(world, ALPHA);
    await world.deadLetters.redrive(letter);
    await world.pass(0);
    expect(await world.deadLetters.discard(letter)).toMatchObject({ kind: 'failed' });
    expect(world.pushed()).toEqual([ALPHA]);
  },
};

const broken = (harness: DeadLettersHarness): void => {
  const calls: readonly [string, (desk: DeadLetters) => Promise<unknown>][] = [
    ['the statistics', (desk) => desk.stats()],
    ['a reading', (desk) => desk.read(100)],
    ['a redrive', (desk) => desk.redrive(UNKNOWN)],
    ['a discard', (desk) => desk.discard(UNKNOWN)],
  ];
  it.each(calls.flatMap(([what, call]) => (['gone', 'hanging'] as const).map((how) => ({ what, how, call }))))(
    '($how) fails $what as a value, within the bound of all its tries',
    async ({ how, call }) => {
      const { deadLetters, close } = await harness.openBroken(how, 300);
      onTestFinished(close);
      const startedMs = performance.now();
      expect(await call(deadLetters)).toMatchObject({ kind: 'failed', code: 'unavailable' });
      expect(performance.now() - startedMs).toBeLessThan(1_500);
    },
  );
};

/** Runs one check in a fresh world. */
export const checkIn = async (harness: DeadLettersHarness, check: Check | undefined): Promise<void> => {
  if (check === undefined) throw new TypeError('there is no such check');
  const world = await harness.open();
  try {
    await check(world, harness);
  } finally {
    await world.close();
  }
};

export const deadLettersContract = (name: string, harness: DeadLettersHarness): void => {
  const each = (checks: Checks): void => {
    it.each(Object.keys(checks))('%s', (promise) => checkIn(harness, checks[promise]));
  };
  describe(`reading the dead letters of ${name}`, () => each(READING));
  describe(`redriving over ${name}`, () => each(REDRIVING));
  describe(`discarding over ${name}`, () => each(DISCARDING));
  describe(`dead letters of a broken ${name}`, () => broken(harness));
};
