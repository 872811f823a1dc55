/**
 * Transport retries of our own calls: for operations only, where a person or an operation waits for the answer.
 *
 *   try --answered or finally refused--------------------------------------> result
 *    ^ \--no answer, 408, 429, 5xx--> tries or time used up ---------------> result of the last try
 *    |                                    |
 *    +---- wait: full jitter, and at least what Retry-After asks for -------+
 *
 * They never touch the budget of a delivery, and a publish on the way of a delivery has none: one try, the sweep is its
 * retry. Mixing the two counters is how a short fault of a network becomes an endless retry of the business.
 */
import type { Clock, Dice } from '../../ports.ts';

export interface RetryBounds {
  readonly triesMax: number;
  /** For one try, over look-up, connect, request and answer. */
  readonly tryMs: number;
  /** Over all tries and the waits between them. */
  readonly totalMs: number;
}

/** For whoever has to answer a request, or to end a pass, while the queue is away. */
export const REQUEST_RETRIES: RetryBounds = { triesMax: 3, tryMs: 3_000, totalMs: 8_000 };

export const OPERATION_RETRIES: RetryBounds = { triesMax: 5, tryMs: 15_000, totalMs: 45_000 };

/** What one try came to. `again` carries what is to be said if there is no other try. */
export type Tried<T> =
  | { readonly kind: 'final'; readonly result: T }
  | { readonly kind: 'again'; readonly result: T; readonly retryAfterMs?: number };

const WAIT_MS_FIRST = 1_000;
const WAIT_MS_MAX = 8_000;

/** The wait after so many tries, from 1: anything from 0 to 1, 2, 4, 8 s, and never less than Retry-After asks for. */
export const waitAfter = (tries: number, draw: number, retryAfterMs = 0): number => {
  const longestMs = Math.min(WAIT_MS_FIRST * 2 ** Math.min(tries - 1, 10), WAIT_MS_MAX);
  return Math.max(retryAfterMs, Math.floor(draw * longestMs));
};

export interface RetryWorld {
  readonly clock: Clock;
  readonly dice: Pick<Dice, 'draw'>;
}

/**
 * Tries until there is a final answer, the tries are used up, or the next one could only begin after `endsAtMs`: then
 * nobody waits for it, and the last failure is told at once. `once` gets the time it has and must not throw.
 */
export const withRetries = async <T>(
  { clock, dice }: RetryWorld,
  { triesMax, tryMs }: RetryBounds,
  endsAtMs: number,
  once: (tryMs: number) => Promise<Tried<T>>,
): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    const leftMs = Math.max(1, endsAtMs - clock.nowMs());
    const tried = await once(Math.min(tryMs, leftMs));
    if (tried.kind === 'final' || tries >= triesMax) return tried.result;
    const waitMs = waitAfter(tries, dice.draw(), tried.retryAfterMs);
    if (clock.nowMs() + waitMs >= endsAtMs) return tried.result;
    await clock.sleep(waitMs);
  }
};
