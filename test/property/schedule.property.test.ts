import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DELAY_FLOOR_MS, DELAY_MAX_MS, JITTER_SHARE } from '../../functions/core/limits.ts';
import { dueAfter, nextDelayMs } from '../../functions/core/schedule.ts';

const schedule = fc.array(fc.oneof(fc.integer({ min: 0, max: 10_000_000 }), fc.double()), { maxLength: 49 });
const draw = fc.oneof(fc.double({ min: 0, max: 1, maxExcluded: true }), fc.double());

describe('the own delay', () => {
  it('is whole, finite and inside its bounds for every schedule, attempt count and draw', () => {
    fc.assert(
      fc.property(
        schedule,
        fc.oneof(fc.integer({ min: 0, max: 10_000 }), fc.double()),
        draw,
        (scheduleSec, spent, d) => {
          const delayMs = nextDelayMs({ scheduleSec, spent, draw: d });
          expect(Number.isSafeInteger(delayMs)).toBe(true);
          expect(delayMs).toBeGreaterThanOrEqual(DELAY_FLOOR_MS);
          expect(delayMs).toBeLessThanOrEqual(DELAY_MAX_MS * (1 + JITTER_SHARE));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it('grows with the draw and never shrinks under the entry of the schedule', () => {
    const unit = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2_000_000 }), unit, unit, (sec, a, b) => {
        const delay = (d: number) => nextDelayMs({ scheduleSec: [sec], spent: 1, draw: d });
        expect(delay(Math.min(a, b))).toBeLessThanOrEqual(delay(Math.max(a, b)));
        expect(delay(a)).toBeGreaterThanOrEqual(sec * 1_000);
      }),
    );
  });
});

describe('the due time', () => {
  const asked = fc.oneof(
    fc.constantFrom('beyond' as const, undefined),
    fc.integer({ min: 0, max: 3_000_000_000 }),
    fc.maxSafeNat(),
    fc.double(),
  );

  it('is never before the floor, the own delay or the asked one, and never behind the horizon', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 4_102_444_800_000 }),
        fc.integer({ min: DELAY_FLOOR_MS, max: DELAY_MAX_MS }),
        asked,
        fc.integer({ min: -1_000, max: 1_000_000_000 }),
        (nowMs, delayMs, retryAfterMs, horizonMs) => {
          const horizonEndMs = nowMs + horizonMs;
          const due = dueAfter({ nowMs, delayMs, retryAfterMs, horizonEndMs });
          const wishMs = typeof retryAfterMs === 'number' && !Number.isNaN(retryAfterMs) ? retryAfterMs : 0;
          if (due.kind === 'horizon') {
            expect(retryAfterMs === 'beyond' || nowMs + Math.max(delayMs, wishMs) > horizonEndMs - 1).toBe(true);
            return;
          }
          expect(Number.isSafeInteger(due.dueAtMs)).toBe(true);
          expect(due.dueAtMs).toBeGreaterThanOrEqual(nowMs + Math.max(delayMs, wishMs));
          expect(due.dueAtMs).toBeLessThanOrEqual(horizonEndMs);
        },
      ),
      { numRuns: 1_000 },
    );
  });
});
