/**
 * Chance from a seed, by name. What happens at the third load of a row depends on the seed and on that name, not on how
 * much else was drawn before: a new step in the product does not shift the histories that have been recorded.
 */

const hashes = new Map<string, number>();

/** FNV-1a over UTF-16 code units, 32 bits; names are few, so each is hashed once. */
const hashOf = (text: string): number => {
  const known = hashes.get(text);
  if (known !== undefined) return known;
  let hash = 0x811c_9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  if (hashes.size < 10_000) hashes.set(text, hash);
  return hash;
};

/** Spreads the bits of a number over all of it (the finisher of MurmurHash3). */
const mixed = (value: number): number => {
  const a = Math.imul(value ^ (value >>> 16), 0x85eb_ca6b);
  const b = Math.imul(a ^ (a >>> 13), 0xc2b2_ae35);
  return b ^ (b >>> 16);
};

/** Two numbers of 32 bits: with one, a million histories would hold a hundred pairs of twins. */
export interface HistorySeed {
  readonly high: number;
  readonly low: number;
}

/** The seed of a run may be any text, such as the hash of a commit. */
export const historySeedOf = (seed: string, history: number): HistorySeed => {
  const text = hashOf(seed);
  const high = mixed(text ^ Math.imul(history + 1, 0x9e37_79b1));
  return { high, low: mixed(high ^ Math.imul(text, 0x85eb_ca6b) ^ history) };
};

export class Draws {
  readonly #seed: HistorySeed;
  readonly #counts = new Map<string, number>();

  constructor(seed: HistorySeed) {
    this.#seed = seed;
  }

  /** How often this step has been met before. */
  nth(step: string): number {
    const n = this.#counts.get(step) ?? 0;
    this.#counts.set(step, n + 1);
    return n;
  }

  /** From 0 (included) to 1 (excluded), always the same for the same seed, step, number and use. */
  at(step: string, n: number, use = 0): number {
    const first = mixed(hashOf(step) ^ Math.imul(n + 1, 0x9e37_79b1) ^ this.#seed.low);
    return (mixed(first ^ Math.imul(use + 1, 0x27d4_eb2f) ^ this.#seed.high) >>> 0) / 0x1_0000_0000;
  }

  /** The next one of this name. */
  next(name: string): number {
    return this.at(name, this.nth(name));
  }

  whole(name: string, from: number, to: number): number {
    return from + Math.floor(this.next(name) * (to - from + 1));
  }

  happens(name: string, share: number): boolean {
    return this.next(name) < share;
  }

  oneOf<T>(name: string, list: readonly T[]): T {
    const one = list[Math.floor(this.next(name) * list.length)];
    if (one === undefined) throw new RangeError(`nothing to choose from for ${name}`);
    return one;
  }
}
