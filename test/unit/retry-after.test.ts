import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { HORIZON_MS } from '../../functions/core/limits.ts';
import { parseRetryAfter } from '../../functions/core/retry-after.ts';
import { dueAfter } from '../../functions/core/schedule.ts';

const NOW_MS = Date.UTC(2026, 10, 29, 12, 0, 0);
const ZONES = ['UTC', 'America/New_York', 'Asia/Kolkata'];

const rowSchema = z.object({
  id: z.string(),
  input: z.nullable(z.union([z.string(), z.array(z.string())])),
  parsed: z.union([z.number(), z.string()]),
  why: z.string(),
});

const rows = readFileSync(new URL('../cases/corpora.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.includes('"kind": "retry-after"'))
  .map((line) => rowSchema.parse(JSON.parse(line)));

const valuesOf = (input: string | readonly string[] | null): readonly string[] =>
  input === null ? [] : typeof input === 'string' ? [input] : input;

const parse = (...values: string[]) => parseRetryAfter(values, NOW_MS);
const waits = (ms: number) => ({ kind: 'after', ms });
const invalid = (raw: string) => ({ kind: 'invalid', raw });

/** The two rows that leave a choice: a wrong weekday is invalid, a leap second is the next minute's first second. */
const CHOSEN: Readonly<Record<string, number | string>> = { '300-or-invalid': 'invalid', '60-or-invalid': 60 };

let zoneBefore: string | undefined;
beforeEach(() => {
  zoneBefore = process.env['TZ'];
});
afterEach(() => {
  if (zoneBefore === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zoneBefore;
});

describe.each(ZONES)('in a process of zone %s', (zone) => {
  beforeEach(() => {
    process.env['TZ'] = zone;
  });

  it.each(rows)('understands $input as $parsed ($why) [$id]', ({ input, parsed }) => {
    const values = valuesOf(input);
    const result = parseRetryAfter(values, NOW_MS);
    const expected = CHOSEN[parsed] ?? parsed;
    if (expected === 'absent') expect(result).toEqual({ kind: 'absent' });
    else if (expected === 'invalid') expect(result).toEqual(invalid(values[0] ?? ''));
    else if (expected === 'past') expect(result).toEqual(waits(0));
    else if (expected === 'beyond-horizon') expect(dueOf(result)).toEqual({ kind: 'horizon' });
    else expect(result).toEqual(waits(Math.min(Number(expected) * 1_000, Number.MAX_SAFE_INTEGER)));
  });
});

const dueOf = (parsed: ReturnType<typeof parseRetryAfter>) =>
  dueAfter({
    nowMs: NOW_MS,
    delayMs: 1_000,
    retryAfterMs: parsed.kind === 'after' ? parsed.ms : undefined,
    horizonEndMs: NOW_MS + HORIZON_MS,
  });

describe('the corpus and its twin', () => {
  it('has all of its rows', () => {
    expect(rows.length).toBe(39);
    expect(new Set(rows.map((row) => row.id)).size).toBe(39);
  });

  it('would fail with the parsers at hand: the zone of the process, and what they accept', () => {
    const naive = () => (Date.parse('Sun Nov 29 12:05:00 2026') - NOW_MS) / 1_000;
    process.env['TZ'] = 'UTC';
    expect(naive()).toBe(300);
    process.env['TZ'] = 'America/New_York';
    expect(naive()).toBe(300 + 5 * 3_600);
    process.env['TZ'] = 'Asia/Kolkata';
    expect(naive()).toBe(300 - 5.5 * 3_600);
    expect(Date.parse('Mon, 30 Feb 2026 12:00:00 GMT')).not.toBeNaN();
    expect(Date.parse('Mon, 29 Nov 2026 12:05:00 GMT')).not.toBeNaN();
    expect(Date.parse('-1')).not.toBeNaN();
    expect(Number('')).toBe(0);
    expect(Number.parseInt('120, 240', 10)).toBe(120);
  });

  it('asks for a held delivery where the wish lies behind the horizon, and for a due time up to its end', () => {
    expect(dueOf(parse('604800'))).toEqual({ kind: 'due', dueAtMs: NOW_MS + HORIZON_MS });
    for (const wish of ['604801', '10000000', '99999999999', '9007199254740993', '9'.repeat(400)]) {
      expect(dueOf(parse(wish))).toEqual({ kind: 'horizon' });
    }
  });
});

describe('seconds', () => {
  it.each([
    '',
    ' ',
    '+3',
    '-3',
    '1.5',
    '1,5',
    '0x10',
    '1 2',
    '12\n',
    '\u00a012',
    '12\u00a0',
    '１２',
    '١٢',
    '1_000',
    '5s',
  ])('are digits and nothing else: %j is invalid', (value) => {
    expect(parse(value)).toEqual(invalid(value));
  });

  it('may stand between spaces and tabs, which are not part of a field value', () => {
    expect(parse('\t 12 \t')).toEqual(waits(12_000));
  });

  it('saturate instead of losing their meaning', () => {
    expect(parse('9007199254740')).toEqual(waits(9_007_199_254_740_000));
    expect(parse('9007199254741')).toEqual(waits(Number.MAX_SAFE_INTEGER));
    expect(parse('1'.repeat(16_000))).toEqual(waits(Number.MAX_SAFE_INTEGER));
  });

  it('cost no time where somebody sends a long line of blanks', () => {
    const value = `1${' '.repeat(200_000)}1`;
    expect(parse(value).kind).toBe('invalid');
  });
});

describe('several values', () => {
  it('mean the largest valid one, in any order', () => {
    expect(parse('5', '500')).toEqual(waits(500_000));
    expect(parse('500', '5')).toEqual(waits(500_000));
    expect(parse('-1', 'soon', '7')).toEqual(waits(7_000));
  });

  it('in one line are invalid: the field holds one value', () => {
    expect(parse('120, 240')).toEqual(invalid('120, 240'));
    expect(parse('Sun, 29 Nov 2026 12:05:00 GMT, 60')).toEqual(invalid('Sun, 29 Nov 2026 12:05:00 GMT, 60'));
  });

  it('are invalid together where none is valid, and the first one is kept', () => {
    expect(parse('soon', 'later')).toEqual(invalid('soon'));
  });

  it('are looked at up to the eighth', () => {
    const junk = Array.from({ length: 7 }, () => 'x');
    expect(parse(...junk, '9')).toEqual(waits(9_000));
    expect(parse(...junk, 'x', '9')).toEqual(invalid('x'));
  });

  it('keep at most 64 characters of what was not understood, without half a character', () => {
    expect(parse('z'.repeat(10_000))).toEqual(invalid('z'.repeat(64)));
    expect(parse(`${'z'.repeat(63)}\u{1f600}`)).toEqual(invalid(`${'z'.repeat(63)}\ufffd`));
  });
});

describe('dates', () => {
  it.each([
    'Sun, 29 Nov 2026 12:05:00 GMT',
    'Sunday, 29-Nov-26 12:05:00 GMT',
    'Sun Nov 29 12:05:00 2026',
    ' Sun, 29 Nov 2026 12:05:00 GMT\t',
  ])('are read in each of the three forms: %s', (value) => {
    expect(parse(value)).toEqual(waits(300_000));
  });

  it.each([
    ['small letters', 'sun, 29 nov 2026 12:05:00 gmt'],
    ['the long weekday in the short form', 'Sunday, 29 Nov 2026 12:05:00 GMT'],
    ['the short weekday in the long form', 'Sun, 29-Nov-26 12:05:00 GMT'],
    ['one digit of the day', 'Tue, 1 Dec 2026 12:05:00 GMT'],
    ['a day of one digit without its blank', 'Tue Dec 1 12:05:00 2026'],
    ['five digits of the year', 'Sun, 29 Nov 12026 12:05:00 GMT'],
    ['two digits of the year in the short form', 'Sun, 29 Nov 26 12:05:00 GMT'],
    ['four digits of the year in the long form', 'Sunday, 29-Nov-2026 12:05:00 GMT'],
    ['hour 24', 'Sun, 29 Nov 2026 24:00:00 GMT'],
    ['minute 60', 'Sun, 29 Nov 2026 12:60:00 GMT'],
    ['second 61', 'Sun, 29 Nov 2026 12:05:61 GMT'],
    ['day 0', 'Sun, 00 Nov 2026 12:05:00 GMT'],
    ['31 November', 'Tue, 31 Nov 2026 12:05:00 GMT'],
    ['29 February of a common year', 'Mon, 29 Feb 2027 12:05:00 GMT'],
    ['two blanks', 'Sun,  29 Nov 2026 12:05:00 GMT'],
    ['something behind', 'Sun, 29 Nov 2026 12:05:00 GMT;'],
    ['something before', 'x Sun, 29 Nov 2026 12:05:00 GMT'],
    ['a zone behind asctime', 'Sun Nov 29 12:05:00 2026 GMT'],
    ['a wrong weekday in the long form', 'Monday, 29-Nov-26 12:05:00 GMT'],
    ['a wrong weekday in asctime', 'Mon Nov 29 12:05:00 2026'],
    ['a wrong weekday of the past', 'Mon, 29 Nov 2015 12:05:00 GMT'],
  ])('are strict: %s is invalid', (_what, value) => {
    expect(parse(value)).toEqual(invalid(value));
  });

  it('know leap years, also those of centuries', () => {
    expect(parse('Tue, 29 Feb 2028 00:00:00 GMT').kind).toBe('after');
    expect(parse('Tue, 29 Feb 2000 00:00:00 GMT')).toEqual(waits(0));
    expect(parse('Mon, 29 Feb 2100 00:00:00 GMT').kind).toBe('invalid');
    expect(parse('Mon, 01 Mar 2100 00:00:00 GMT').kind).toBe('after');
  });

  it('keep the first century apart from the twentieth', () => {
    expect(new Date(Date.UTC(50, 0, 1)).getUTCFullYear()).toBe(1950);
    expect(parse('Sat, 01 Jan 0050 00:00:00 GMT')).toEqual(waits(0));
    // 1 January 1950 was a Sunday; of the year 50 it is not.
    expect(parse('Sun, 01 Jan 0050 00:00:00 GMT').kind).toBe('invalid');
  });

  it('read a leap second as the second after it', () => {
    expect(parse('Thu, 31 Dec 2026 23:59:60 GMT')).toEqual(waits(Date.UTC(2027, 0, 1) - NOW_MS));
  });

  it('take a year of two digits for the future up to 50 years, and for the past beyond', () => {
    expect(parse('Sunday, 29-Nov-76 12:00:00 GMT')).toEqual(waits(Date.UTC(2076, 10, 29, 12) - NOW_MS));
    // One second more, and it is 1976, when the day was a Monday.
    expect(parse('Sunday, 29-Nov-76 12:00:01 GMT').kind).toBe('invalid');
    expect(parse('Monday, 29-Nov-76 12:00:01 GMT')).toEqual(waits(0));
  });

  it('take a year of two digits across the turn of a century', () => {
    const nowMs = Date.UTC(2099, 11, 31, 23, 59, 0);
    expect(parseRetryAfter(['Friday, 01-Jan-00 00:00:00 GMT'], nowMs)).toEqual(waits(60_000));
    expect(parseRetryAfter(['Thursday, 31-Dec-98 23:59:00 GMT'], nowMs).kind).toBe('invalid');
    expect(parseRetryAfter(['Wednesday, 31-Dec-98 23:59:00 GMT'], nowMs)).toEqual(waits(0));
  });
});
