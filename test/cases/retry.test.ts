import { afterEach, describe, expect, it } from 'vitest';
import { DELAY_FLOOR_MS, DELAY_MAX_MS, HORIZON_MS, JITTER_SHARE } from '../../functions/core/limits.ts';
import { classify } from '../../functions/core/outcome.ts';
import { dueAfter, nextDelayMs } from '../../functions/core/schedule.ts';

const NOW_MS = Date.UTC(2026, 10, 29, 12, 0, 0);

/** From the header's lines to the due time, the way that an attempt's outcome takes. */
const dueFor = (lines: readonly string[], delayMs = 5_000, status = 503) => {
  const outcome = classify(
    { kind: 'answered', status, retryAfter: lines, excerpt: '', durationMs: 1 },
    { repeatSafe: true, rejectOn: [] },
    NOW_MS,
  );
  return dueAfter({
    nowMs: NOW_MS,
    delayMs,
    retryAfterMs: outcome.retryAfterMs,
    horizonEndMs: NOW_MS + HORIZON_MS,
  });
};

const dueIn = (ms: number) => ({ kind: 'due', dueAtMs: NOW_MS + ms });

const zoneBefore = process.env['TZ'];
afterEach(() => {
  if (zoneBefore === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zoneBefore;
});

describe('a Retry-After that is no number of seconds and no HTTP date', () => {
  it.each(['-3', '+3', '1.5', '-1', '', ' ', '5 seconds', '120, 240'])(
    '%j leads to the normal delay [C080]',
    (value) => {
      expect(dueFor([value])).toEqual(dueIn(5_000));
    },
  );

  it('counts its outer blanks as no part of it [C080]', () => {
    expect(dueFor(['12 '])).toEqual(dueIn(12_000));
  });

  it('would have given an absurd date with the parser at hand', () => {
    for (const value of ['-3', '+3', '1.5', '12 '])
      expect(new Date(Date.parse(value)).getUTCFullYear()).toBeLessThan(2_005);
  });
});

describe('the delay after very many attempts', () => {
  const schedules = [[], [0], [5, 30, 300], [2_592_000], [1e300]];
  const draws = [0, 0.25, 0.5, 0.999_999_999, 1, Number.NaN];

  it('is finite and inside its bounds for attempts 0 to 10,000 [C082]', () => {
    const outside: string[] = [];
    for (const scheduleSec of schedules) {
      for (const draw of draws) {
        for (let spent = 0; spent <= 10_000; spent += 1) {
          const ms = nextDelayMs({ scheduleSec, spent, draw });
          if (!(ms >= DELAY_FLOOR_MS && ms <= DELAY_MAX_MS * (1 + JITTER_SHARE))) outside.push(`${spent}: ${ms}`);
        }
      }
    }
    expect(outside).toEqual([]);
  });

  it('would not be with a power of the attempt count and a jitter around it', () => {
    const naive = (attempt: number) => 2 ** attempt - 2 ** attempt * 0.5;
    expect(naive(10)).toBe(512);
    expect(naive(1_100)).toBeNaN();
  });

  it.each([31, 32, 53, 63, 64, 1_024])('is the last entry of the schedule at attempt %d, never 0 [C083]', (spent) => {
    expect(nextDelayMs({ scheduleSec: [5, 36_000], spent, draw: 0 })).toBe(36_000_000);
  });

  it('would be 0 or as short as at first with a shift by the attempt count', () => {
    expect([31, 32, 63, 64].map((attempt) => 5_000 << attempt)).toEqual([0, 5_000, 0, 5_000]);
  });
});

describe('Retry-After given twice', () => {
  it('means the larger one, in either order [C168]', () => {
    expect(dueFor(['5', '500'])).toEqual(dueIn(500_000));
    expect(dueFor(['500', '5'])).toEqual(dueIn(500_000));
    expect(dueFor(['soon', '500'])).toEqual(dueIn(500_000));
  });
});

describe('Retry-After as a date or a very large number', () => {
  it('is honoured as a date, and held behind the horizon instead of being cut [C182]', () => {
    expect(dueFor(['Sun, 29 Nov 2026 13:00:00 GMT'])).toEqual(dueIn(3_600_000));
    expect(dueFor(['10000000'])).toEqual({ kind: 'horizon' });
    expect(dueFor(['604800'])).toEqual(dueIn(604_800_000));
  });

  const forms = ['Sun, 29 Nov 2026 12:05:00 GMT', 'Sunday, 29-Nov-26 12:05:00 GMT', 'Sun Nov 29 12:05:00 2026'];

  it.each(['UTC', 'America/New_York', 'Asia/Kolkata'])(
    'is the same instant in its three forms, in zone %s [C077]',
    (zone) => {
      process.env['TZ'] = zone;
      for (const form of forms) {
        expect(dueFor([form])).toEqual(dueIn(300_000));
        // Never before the own delay.
        expect(dueFor([form], 400_000)).toEqual(dueIn(400_000));
      }
    },
  );

  it('would differ between zones if the process read it', () => {
    const read = (zone: string): number => {
      process.env['TZ'] = zone;
      return Date.parse('Sun Nov 29 12:05:00 2026');
    };
    expect(new Set(['UTC', 'America/New_York', 'Asia/Kolkata'].map(read)).size).toBe(3);
  });
});
