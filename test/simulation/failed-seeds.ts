/** Histories that have failed once, each with what it was. They run first. */

export interface FailedSeed {
  readonly seed: string;
  readonly history: number;
  readonly was: string;
}

export const FAILED_SEEDS: readonly FailedSeed[] = [
  {
    seed: 'explore5',
    history: 1477,
    was: 'a whole event died on the queue when it stood for one of its destinations only; the simulator did not wait for its rescue',
  },
];
