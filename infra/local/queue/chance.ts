/**
 * Chance from a seed, by name. What happens to the third push of message 17 depends on the seed and on that name, not on
 * how many other things were drawn before: two runs whose requests overlap differently still draw alike.
 */

/** A number from 0 (included) to 1 (excluded), the same for the same seed and name. */
export const drawOf = (seed: number, ...name: readonly (string | number)[]): number =>
  mulberry32(hashOf(name.join('/')) ^ Math.imul(seed | 0, 0x9e37_79b1));

/** FNV-1a over UTF-16 code units, 32 bits. */
const hashOf = (text: string): number => {
  let hash = 0x811c_9dc5;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x0100_0193);
  return hash;
};

/** One step of mulberry32: spreads the bits of a state over a number. */
const mulberry32 = (state: number): number => {
  const step = (state + 0x6d2b_79f5) | 0;
  const mixed = Math.imul(step ^ (step >>> 15), step | 1);
  const spread = mixed ^ (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61));
  return ((spread ^ (spread >>> 14)) >>> 0) / 0x1_0000_0000;
};
