/** Repeated measurement: rivals take turns, so that a busy moment of the machine hits all of them alike. */

const ROUNDS = 9;

/** The middle of the values; of an even number, the mean of the middle two. NaN of none. */
export const median = (values: readonly number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const [low = Number.NaN, high = Number.NaN] = [sorted[middle - 1 + (sorted.length % 2)], sorted[middle]];
  return (low + high) / 2;
};

/** Runs each of them once a round, one after another; gives what each measured, round by round. */
export const inTurns = async <N extends string, T>(
  rivals: Readonly<Record<N, () => Promise<T>>>,
  rounds = ROUNDS,
): Promise<Readonly<Record<N, readonly T[]>>> => {
  const names = Object.keys(rivals) as N[];
  const measured = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<N, T[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of names) measured[name].push(await rivals[name]());
  }
  return measured;
};

/** `1.37 x`: how many times the other it is. */
export const ratio = (value: number, other: number): string => `${(value / other).toFixed(2)} x`;
