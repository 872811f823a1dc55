/** How long a redrive takes at worst, held against the time in which the owner wants to be whole again. */
import type { Destination } from './items.ts';
import type { Operation } from './operations.ts';

/** Attempts at once that are counted on where a destination has no number of its own. */
export const CONCURRENCY_ASSUMED = 10;

export interface Share {
  /** Requests that would be sent there. */
  readonly sends: number;
  readonly config: Pick<Destination, 'timeoutMs' | 'concurrency' | 'ratePerSecond'>;
}

/**
 * Every request takes the whole of its time-out, as many at once as the destination allows and no faster than its rate.
 * One destination after another: a batch may happen to hold those of a single one. In milliseconds.
 */
export const estimateMs = (shares: readonly Share[]): number =>
  shares.reduce((sum, { sends, config }) => {
    const rounds = Math.ceil(sends / (config.concurrency ?? CONCURRENCY_ASSUMED));
    const byRateMs = config.ratePerSecond === undefined ? 0 : Math.ceil((sends * 1_000) / config.ratePerSecond);
    return sum + Math.max(rounds * config.timeoutMs, byRateMs);
  }, 0);

export const recoveryMs = ({ recoveryMinutes }: Pick<Operation, 'recoveryMinutes'>): number => recoveryMinutes * 60_000;

export const isTooSlow = (operation: Pick<Operation, 'estimateMs' | 'recoveryMinutes'>): boolean =>
  operation.estimateMs > recoveryMs(operation);
