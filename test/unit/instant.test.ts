import { describe, expect, it } from 'vitest';
import { assertInstant, formatInstant, INSTANT_MS_MAX, parseInstant, utcDayOf } from '../../functions/core/instant.ts';

const NOON = Date.UTC(2026, 10, 29, 12);

const reasonOf = (value: unknown): string => {
  const result = parseInstant(value);
  return result.kind === 'bad' ? result.reason : `taken: ${result.atMs}`;
};

describe('an instant as text', () => {
  it.each([
    ['2026-11-29T12:00:00Z', NOON],
    ['2026-11-29t12:00:00z', NOON],
    ['2026-11-29T12:00:00+00:00', NOON],
    ['2026-11-29T12:00:00-00:00', NOON],
    ['2026-11-29T14:00:00+02:00', NOON],
    ['2026-11-29T17:30:00+05:30', NOON],
    ['2026-11-29T07:00:00-05:00', NOON],
    ['2026-11-30T11:59:00+23:59', NOON],
    ['2026-11-28T12:01:00-23:59', NOON],
    ['2026-11-29T12:00:00.5Z', NOON + 500],
    ['2026-11-29T12:00:00.05Z', NOON + 50],
    ['2026-11-29T12:00:00.007Z', NOON + 7],
    ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
    ['2000-02-29T00:00:00Z', Date.UTC(2000, 1, 29)],
    ['1970-01-01T00:00:00Z', 0],
    ['1969-12-31T23:30:00-01:00', 1_800_000],
    ['9999-12-31T23:59:59.999Z', INSTANT_MS_MAX],
  ])('%s is understood', (text, atMs) => {
    expect(parseInstant(text)).toEqual({ kind: 'ok', atMs });
  });

  it('a fraction of any length is cut to milliseconds and never rounded up into the next second', () => {
    expect(parseInstant('2026-11-29T12:00:00.9999999999999999Z')).toEqual({ kind: 'ok', atMs: NOON + 999 });
    expect(parseInstant(`2026-11-29T12:00:00.0${'9'.repeat(5000)}Z`)).toEqual({ kind: 'ok', atMs: NOON + 99 });
  });

  it.each(['2026-11-29', '2026-11-29T12:00', '2026-11-29T12:00:00', '2026-11-29T12:00:00.123', '2026-11-29 12:00:00'])(
    '%s is refused because it has no zone',
    (text) => {
      expect(reasonOf(text)).toContain('zone');
    },
  );

  it.each([
    '2026-02-29T00:00:00Z',
    '2026-02-30T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '1900-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-01T00:00:00Z',
    '2026-01-00T00:00:00Z',
    '2026-01-32T00:00:00Z',
    '0026-01-01T00:00:00Z',
    '0000-01-01T00:00:00Z',
  ])('%s is refused: no such day', (text) => {
    expect(reasonOf(text)).toContain('calendar');
  });

  it.each(['2026-11-29T24:00:00Z', '2026-11-29T12:60:00Z', '2026-11-29T12:00:61Z', '2026-11-29T99:99:99Z'])(
    '%s is refused: no such time of day',
    (text) => {
      expect(reasonOf(text)).toContain('time of day');
    },
  );

  it('a leap second is refused and named', () => {
    expect(reasonOf('2016-12-31T23:59:60Z')).toContain('leap second');
  });

  it.each(['2026-11-29T12:00:00+24:00', '2026-11-29T12:00:00+02:60'])('%s is refused: no such offset', (text) => {
    expect(reasonOf(text)).toContain('offset that does not exist');
  });

  it.each([
    '',
    'now',
    'tomorrow',
    '-3',
    '12',
    '1764417600000',
    '2026-11-29T12:00Z',
    '2026-11-29 12:00:00Z',
    '2026-11-29T12:00:00 Z',
    ' 2026-11-29T12:00:00Z',
    '2026-11-29T12:00:00Z ',
    '2026-11-29T12:00:00Z\n',
    '2026-11-29T12:00:00.Z',
    '2026-11-29T12:00:00,5Z',
    '2026-11-29T12:00:00+0200',
    '2026-11-29T12:00:00+02',
    '2026-11-29T12:00:00+2:00',
    '2026-11-29T12:00:00\u221202:00',
    '20261129T120000Z',
    '+002026-11-29T12:00:00Z',
    '26-11-29T12:00:00Z',
    'Sun, 29 Nov 2026 12:00:00 GMT',
    '2026-W48-7T12:00:00Z',
    '\u0662026-11-29T12:00:00Z',
    '2026-11-29T12:00:00[Europe/Berlin]',
    '2026-11-29T12:00:00Z[UTC]',
  ])('%j is refused: not RFC 3339', (text) => {
    expect(reasonOf(text)).toContain('RFC 3339');
  });

  it('counts the years 1970 to 9999 on the instant, not on its text', () => {
    expect(reasonOf('1970-01-01T00:30:00+01:00')).toContain('before 1970');
    expect(reasonOf('1969-12-31T23:59:59.999Z')).toContain('before 1970');
    expect(reasonOf('9999-12-31T23:59:59-00:01')).toContain('9999');
  });

  it('does not depend on the zone of the machine', () => {
    const before = process.env['TZ'];
    try {
      for (const zone of ['UTC', 'America/New_York', 'Asia/Kolkata']) {
        process.env['TZ'] = zone;
        expect(parseInstant('2026-03-29T02:30:00Z')).toEqual({ kind: 'ok', atMs: 1_774_751_400_000 });
        expect(formatInstant(1_774_751_400_000)).toBe('2026-03-29T02:30:00.000Z');
      }
      // The twin: the same text without its zone, read by the platform, does move with the machine.
      expect(Date.parse('2026-03-29T02:30:00')).not.toBe(1_774_751_400_000);
    } finally {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    }
  });
});

describe('an instant as a number', () => {
  it('is epoch milliseconds', () => {
    expect(parseInstant(NOON)).toEqual({ kind: 'ok', atMs: NOON });
    expect(parseInstant(100_000_000_000)).toEqual({ kind: 'ok', atMs: 100_000_000_000 });
    expect(parseInstant(INSTANT_MS_MAX)).toEqual({ kind: 'ok', atMs: INSTANT_MS_MAX });
  });

  it('that looks like seconds is refused with the hint', () => {
    for (const value of [0, 1, NOON / 1000, 99_999_999_999]) expect(reasonOf(value)).toContain('seconds x 1000');
  });

  it('that looks like micro- or nanoseconds is refused with the hint', () => {
    for (const value of [NOON * 1000, NOON * 1_000_000, INSTANT_MS_MAX + 1]) expect(reasonOf(value)).toContain('9999');
  });

  it('that is not whole, or before 1970, is refused', () => {
    for (const value of [NOON + 0.5, Number.NaN, Number.POSITIVE_INFINITY]) expect(reasonOf(value)).toContain('whole');
    expect(reasonOf(-NOON)).toContain('1970');
  });

  it.each([[undefined], [null], [true], [{}], [[NOON]], [12n], [new Date(NOON)]])(
    'of another kind is refused',
    (value) => {
      expect(reasonOf(value)).toContain('epoch milliseconds');
    },
  );
});

describe('an instant written out', () => {
  it('is ISO 8601 in UTC, always 24 characters, and reads back', () => {
    for (const atMs of [0, 1, NOON, NOON + 7, INSTANT_MS_MAX]) {
      const text = formatInstant(atMs);
      expect(text).toHaveLength(24);
      expect(parseInstant(text)).toEqual({ kind: 'ok', atMs });
    }
    expect(formatInstant(NOON)).toBe('2026-11-29T12:00:00.000Z');
  });

  it('names its UTC day', () => {
    expect(utcDayOf(NOON)).toBe('2026-11-29');
    expect(utcDayOf(Date.UTC(2026, 10, 29) - 1)).toBe('2026-11-28');
    expect(utcDayOf(0)).toBe('1970-01-01');
  });

  it('is a bug for anything that is no instant', () => {
    for (const atMs of [-1, 0.5, Number.NaN, INSTANT_MS_MAX + 1, Number.POSITIVE_INFINITY]) {
      expect(() => assertInstant(atMs)).toThrow(RangeError);
      expect(() => formatInstant(atMs)).toThrow(RangeError);
    }
  });
});
