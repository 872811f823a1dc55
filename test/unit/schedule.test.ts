import { describe, expect, it } from 'vitest';
import { DELAY_FLOOR_MS, DELAY_MAX_MS, SCHEDULE_SEC_DEFAULT } from '../../functions/core/limits.ts';
import { dueAfter, nextDelayMs } from '../../functions/core/schedule.ts';

describe('the own delay of a delivery', () => {
  it.each(SCHEDULE_SEC_DEFAULT.map((sec, index) => ({ spent: index + 1, sec })))(
    'after attempt $spent is the entry of $sec s',
    ({ spent, sec }) => {
      expect(nextDelayMs({ scheduleSec: SCHEDULE_SEC_DEFAULT, spent, draw: 0 })).toBe(sec * 1_000);
    },
  );

  it('repeats the last entry beyond the end of the schedule, for attempts that a person granted', () => {
    for (const spent of [3, 4, 50]) expect(nextDelayMs({ scheduleSec: [5, 30], spent, draw: 0 })).toBe(30_000);
  });

  it('adds up to a fifth of itself by chance', () => {
    const delay = (draw: number) => nextDelayMs({ scheduleSec: [300], spent: 1, draw });
    expect(delay(0)).toBe(300_000);
    expect(delay(0.5)).toBe(330_000);
    expect(delay(0.999_999)).toBe(359_999);
    expect(delay(1)).toBe(360_000);
  });

  it('reads the entry 0, and an empty schedule, as the floor', () => {
    expect(nextDelayMs({ scheduleSec: [0, 0], spent: 2, draw: 0 })).toBe(DELAY_FLOOR_MS);
    expect(nextDelayMs({ scheduleSec: [], spent: 1, draw: 0 })).toBe(DELAY_FLOOR_MS);
  });

  it('keeps fractions of seconds, and makes whole milliseconds of them', () => {
    expect(nextDelayMs({ scheduleSec: [1.5], spent: 1, draw: 0.333 })).toBe(1_599);
  });

  it('is capped at the longest delay', () => {
    expect(nextDelayMs({ scheduleSec: [1e12], spent: 1, draw: 0 })).toBe(DELAY_MAX_MS);
    expect(nextDelayMs({ scheduleSec: [Number.POSITIVE_INFINITY], spent: 1, draw: 0 })).toBe(DELAY_MAX_MS);
  });

  it.each([
    { what: 'an attempt count of NaN', spent: Number.NaN, draw: 0, ms: 5_000 },
    { what: 'an attempt count of 0', spent: 0, draw: 0, ms: 5_000 },
    { what: 'a negative attempt count', spent: -7, draw: 0, ms: 5_000 },
    { what: 'a fractional attempt count', spent: 2.9, draw: 0, ms: 30_000 },
    { what: 'an endless attempt count', spent: Number.POSITIVE_INFINITY, draw: 0, ms: 30_000 },
    { what: 'a draw of NaN', spent: 1, draw: Number.NaN, ms: 5_000 },
    { what: 'a draw below 0', spent: 1, draw: -3, ms: 5_000 },
    { what: 'a draw above 1', spent: 1, draw: 40, ms: 6_000 },
  ])('pulls $what into range', ({ spent, draw, ms }) => {
    expect(nextDelayMs({ scheduleSec: [5, 30], spent, draw })).toBe(ms);
  });

  it('reads a schedule entry of NaN as the floor', () => {
    expect(nextDelayMs({ scheduleSec: [Number.NaN], spent: 1, draw: 0.9 })).toBeGreaterThanOrEqual(DELAY_FLOOR_MS);
  });
});

describe('the due time', () => {
  const nowMs = 1_000_000;
  const horizonEndMs = nowMs + 100_000;

  it('is the own delay from now on where nothing was asked', () => {
    expect(dueAfter({ nowMs, delayMs: 30_000, horizonEndMs })).toEqual({ kind: 'due', dueAtMs: nowMs + 30_000 });
    expect(dueAfter({ nowMs, delayMs: 30_000, retryAfterMs: undefined, horizonEndMs })).toEqual({
      kind: 'due',
      dueAtMs: nowMs + 30_000,
    });
  });

  it('is never earlier than asked', () => {
    expect(dueAfter({ nowMs, delayMs: 5_000, retryAfterMs: 60_000, horizonEndMs })).toEqual({
      kind: 'due',
      dueAtMs: nowMs + 60_000,
    });
  });

  it('is never earlier than the own delay, when less was asked', () => {
    expect(dueAfter({ nowMs, delayMs: 5_000, retryAfterMs: 0, horizonEndMs })).toEqual({
      kind: 'due',
      dueAtMs: nowMs + 5_000,
    });
  });

  it('keeps the floor, whatever own delay it is given', () => {
    for (const delayMs of [0, -1, Number.NaN]) {
      expect(dueAfter({ nowMs, delayMs, horizonEndMs })).toEqual({ kind: 'due', dueAtMs: nowMs + DELAY_FLOOR_MS });
    }
  });

  it('may lie on the end of the horizon, and not a millisecond behind it', () => {
    expect(dueAfter({ nowMs, delayMs: 1_000, retryAfterMs: 100_000, horizonEndMs }).kind).toBe('due');
    expect(dueAfter({ nowMs, delayMs: 1_000, retryAfterMs: 100_001, horizonEndMs })).toEqual({ kind: 'horizon' });
    expect(dueAfter({ nowMs, delayMs: 100_001, horizonEndMs })).toEqual({ kind: 'horizon' });
  });

  it('is behind the horizon for a time that no number holds, also where the horizon has no end', () => {
    expect(dueAfter({ nowMs, delayMs: 1_000, retryAfterMs: 'beyond', horizonEndMs })).toEqual({ kind: 'horizon' });
    for (const retryAfterMs of [Number.MAX_SAFE_INTEGER, Number.POSITIVE_INFINITY]) {
      expect(dueAfter({ nowMs, delayMs: 1_000, retryAfterMs, horizonEndMs: Number.POSITIVE_INFINITY })).toEqual({
        kind: 'horizon',
      });
    }
  });

  it('rounds a fraction up, so that it is not a millisecond too early', () => {
    expect(dueAfter({ nowMs, delayMs: 1_000, retryAfterMs: 1_500.2, horizonEndMs })).toEqual({
      kind: 'due',
      dueAtMs: nowMs + 1_501,
    });
  });
});
