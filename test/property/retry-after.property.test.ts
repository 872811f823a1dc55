import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseRetryAfter } from '../../functions/core/retry-after.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];
const MINUTE_MS = 60_000;
const YEAR_2000_MS = Date.UTC(2000, 0, 1);
const YEAR_9999_MS = Date.UTC(9999, 11, 31, 23, 59, 59);

const two = (n: number): string => String(n).padStart(2, '0');

/** The three ways to write one second, from an independent source of calendar arithmetic. */
const write = (atMs: number): { imf: string; rfc850: string; asctime: string } => {
  const at = new Date(atMs);
  const day = DAYS[at.getUTCDay()] ?? '';
  const month = MONTHS[at.getUTCMonth()] ?? '';
  const clock = at.toISOString().slice(11, 19);
  const year = String(at.getUTCFullYear()).padStart(4, '0');
  return {
    imf: at.toUTCString(),
    rfc850: `${day}, ${two(at.getUTCDate())}-${month}-${year.slice(2)} ${clock} GMT`,
    asctime: `${day.slice(0, 3)} ${month} ${String(at.getUTCDate()).padStart(2, ' ')} ${clock} ${year}`,
  };
};

const second = (minMs: number, maxMs: number) =>
  fc.integer({ min: minMs / 1_000, max: maxMs / 1_000 }).map((sec) => sec * 1_000);

describe('a Retry-After header', () => {
  it('is understood without throwing, as a safe number of milliseconds that is not negative, whatever it holds', () => {
    const dateLike = fc
      .array(fc.constantFrom('Sun', 'Nov', '29', '12:05:00', '2026', ',', ' ', 'GMT', '-', '٣', '\t'), {
        maxLength: 14,
      })
      .map((parts) => parts.join(''));
    const value = fc.oneof(fc.string({ unit: 'binary' }), dateLike, fc.bigInt().map(String));
    fc.assert(
      fc.property(fc.array(value, { maxLength: 10 }), fc.maxSafeNat(), (values, nowMs) => {
        const result = parseRetryAfter(values, nowMs);
        expect(result.kind === 'absent').toBe(values.length === 0);
        if (result.kind === 'invalid') expect(result.raw.length).toBeLessThanOrEqual(64);
        if (result.kind !== 'after') return;
        expect(Number.isSafeInteger(result.ms)).toBe(true);
        expect(result.ms).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: 2_000 },
    );
  });

  it('of digits means that many seconds', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 9_000_000_000_000 }), fc.integer({ min: 0, max: 5 }), (sec, zeros) => {
        const value = `${'0'.repeat(zeros)}${sec}`;
        expect(parseRetryAfter([value], 0)).toEqual({ kind: 'after', ms: sec * 1_000 });
      }),
    );
  });

  it('with a date means the same instant in the long-lived forms, over four digits of years', () => {
    fc.assert(
      fc.property(second(YEAR_2000_MS, YEAR_9999_MS), second(YEAR_2000_MS, YEAR_9999_MS), (atMs, nowMs) => {
        const expected = { kind: 'after', ms: Math.max(0, atMs - nowMs) };
        expect(parseRetryAfter([write(atMs).imf], nowMs)).toEqual(expected);
        expect(parseRetryAfter([write(atMs).asctime], nowMs)).toEqual(expected);
      }),
    );
  });

  it('with a year of two digits means the same instant from 49 years ago to 49 years ahead', () => {
    const span = 49 * 365 * 24 * 60;
    fc.assert(
      fc.property(
        second(YEAR_2000_MS, Date.UTC(2500, 0, 1)),
        fc.integer({ min: -span, max: span }),
        (nowMs, aheadMinutes) => {
          const ms = Math.max(0, aheadMinutes * MINUTE_MS);
          expect(parseRetryAfter([write(nowMs + aheadMinutes * MINUTE_MS).rfc850], nowMs)).toEqual({
            kind: 'after',
            ms,
          });
        },
      ),
    );
  });

  it('with a date of a wrong weekday is invalid', () => {
    fc.assert(
      fc.property(second(YEAR_2000_MS, YEAR_9999_MS), fc.integer({ min: 1, max: 6 }), (atMs, shift) => {
        const wrong = (DAYS[(new Date(atMs).getUTCDay() + shift) % 7] ?? '').slice(0, 3);
        const value = `${wrong}${write(atMs).imf.slice(3)}`;
        expect(parseRetryAfter([value], 0)).toEqual({ kind: 'invalid', raw: value });
      }),
    );
  });

  it('given several times means the largest, in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 8 }), (all) => {
        const expected = { kind: 'after', ms: Math.max(...all) * 1_000 };
        expect(parseRetryAfter(all.map(String), 0)).toEqual(expected);
        expect(parseRetryAfter(all.map(String).reverse(), 0)).toEqual(expected);
      }),
    );
  });
});
