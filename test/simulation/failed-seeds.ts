/** Histories that have failed once, each with what it was. They run first. */

export interface FailedSeed {
  readonly seed: string;
  readonly history: number;
  readonly was: string;
}

export const FAILED_SEEDS: readonly FailedSeed[] = [
  {
    seed: 's',
    history: 147,
    was: 'a whole event died on the queue in a long outage; the simulator did not wait for its rescue',
  },
  {
    seed: 's',
    history: 657,
    was: 'a late write of a dead planner put a message into an operation that was done; it is nobody’s, and does no harm',
  },
];
