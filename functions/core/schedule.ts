/** When the next attempt of a delivery is due: its own schedule, a little chance, and what the destination asked for. */

import { DELAY_FLOOR_MS, DELAY_MAX_MS, JITTER_SHARE } from './limits.ts';

export interface DelayInput {
  /** The destination's schedule in seconds; the entry after the first attempt comes first. */
  readonly scheduleSec: readonly number[];
  /** Attempts of the budget used so far, at least 1. Beyond the schedule its last entry is repeated. */
  readonly spent: number;
  /** One throw of the dice, in [0, 1). */
  readonly draw: number;
}

/**
 * The delivery's own delay in whole milliseconds, always within [floor, longest delay x 1.2].
 *
 * Looks an entry up instead of raising a base to a power: powers and shifts of the attempt count overflow to NaN or 0
 * after some dozens of attempts, and a delay of NaN is a tight loop. Numbers that make no sense are pulled into range.
 */
export const nextDelayMs = (input: DelayInput): number => {
  const base = baseDelayMs(input.scheduleSec, input.spent);
  return Math.floor(base * (1 + JITTER_SHARE * clamp(input.draw, 0, 1)));
};

export interface DueInput {
  readonly nowMs: number;
  /** The delivery's own delay, from `nextDelayMs`. */
  readonly delayMs: number;
  /** What the destination asked for in Retry-After, from now; `beyond` is a time that no number here can hold. */
  readonly retryAfterMs?: number | 'beyond' | undefined;
  /** The last moment at which an attempt of this delivery may still become due. */
  readonly horizonEndMs: number;
}

export type Due = { readonly kind: 'due'; readonly dueAtMs: number } | { readonly kind: 'horizon' };

/**
 * The due time: the longer of own delay and asked delay, so never earlier than the destination asked. What would fall
 * behind the horizon is not shortened to fit it: that would break the wish, so it ends as `horizon`.
 */
export const dueAfter = (input: DueInput): Due => {
  const { nowMs, delayMs, retryAfterMs, horizonEndMs } = input;
  if (retryAfterMs === 'beyond') return { kind: 'horizon' };
  const waitMs = Math.max(atLeast(delayMs, DELAY_FLOOR_MS), atLeast(retryAfterMs ?? 0, 0));
  const dueAtMs = nowMs + Math.ceil(waitMs);
  const fits = Number.isSafeInteger(dueAtMs) && dueAtMs <= horizonEndMs;
  return fits ? { kind: 'due', dueAtMs } : { kind: 'horizon' };
};

const baseDelayMs = (scheduleSec: readonly number[], spent: number): number => {
  const last = scheduleSec.length - 1;
  const index = Math.floor(clamp(spent, 1, Math.max(1, last + 1))) - 1;
  return clamp((scheduleSec[index] ?? 0) * 1_000, DELAY_FLOOR_MS, DELAY_MAX_MS);
};

/** Not a number counts as the low end: Math.max alone would pass it on. */
const atLeast = (value: number, low: number): number => (Number.isNaN(value) ? low : Math.max(value, low));

const clamp = (value: number, low: number, high: number): number => Math.min(atLeast(value, low), high);
