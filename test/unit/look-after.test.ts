import { describe, expect, it } from 'vitest';
import {
  graceMsOf,
  LOOK_AHEAD_MS,
  PARKED_LOOK_MS,
  SWEEP_STEP_MS,
  SWEEP_STEP_MS_MAX,
  TICK_MS,
} from '../../functions/core/limits.ts';
import { lookAfterParked, lookAfterPlanned, lookAfterSwept } from '../../functions/core/look-after.ts';

const NOW_MS = Date.UTC(2026, 10, 29, 12);
const GRACE_MS = graceMsOf(20_000);

describe('the look after a plan', () => {
  it.each([
    ['now', 0, GRACE_MS],
    ['long ago', -86_400_000, -86_400_000 + GRACE_MS],
    ['in exactly ten minutes', LOOK_AHEAD_MS, LOOK_AHEAD_MS + GRACE_MS],
    ['in ten minutes and a millisecond', LOOK_AHEAD_MS + 1, 1],
    ['in three days', 3 * 86_400_000, 3 * 86_400_000 - LOOK_AHEAD_MS],
  ])('comes at due + grace when due soon, and ten minutes ahead when far off: due %s', (_name, dueInMs, lookInMs) => {
    expect(lookAfterPlanned(NOW_MS + dueInMs, GRACE_MS, NOW_MS) - NOW_MS).toBe(lookInMs);
  });

  it('leaves room between look and due for a tick, and the delay that is left fits every transport', () => {
    expect(LOOK_AHEAD_MS).toBeGreaterThan(TICK_MS);
    // The shortest longest delay of a transport is 900 seconds.
    expect(LOOK_AHEAD_MS).toBeLessThanOrEqual(900_000);
  });
});

describe('the look after a sweep has published', () => {
  it('comes after 15 minutes, doubling to two hours, and stays there for any count', () => {
    const steps = [0, 1, 2, 3, 4, 8, 9, 31, 32, 64, 1_100].map((sweeps) => lookAfterSwept(sweeps, NOW_MS) - NOW_MS);
    expect(steps.slice(0, 4)).toEqual([SWEEP_STEP_MS, 2 * SWEEP_STEP_MS, 4 * SWEEP_STEP_MS, SWEEP_STEP_MS_MAX]);
    expect(new Set(steps.slice(3))).toEqual(new Set([SWEEP_STEP_MS_MAX]));
  });

  it('would be lost with a shift by the count', () => {
    expect([29, 32, 64].map((sweeps) => SWEEP_STEP_MS << sweeps)).not.toContain(SWEEP_STEP_MS_MAX);
  });
});

describe('the look after a parking', () => {
  it('comes in an hour, or at the probe if that is earlier, and never in the past', () => {
    const inMs = (probeInMs?: number) =>
      lookAfterParked(NOW_MS, probeInMs === undefined ? undefined : NOW_MS + probeInMs) - NOW_MS;
    expect(inMs()).toBe(PARKED_LOOK_MS);
    expect(inMs(60_000)).toBe(60_000);
    expect(inMs(PARKED_LOOK_MS + 1)).toBe(PARKED_LOOK_MS);
    expect(inMs(-60_000)).toBe(0);
  });
});
