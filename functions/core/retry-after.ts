/** What a destination asks for in Retry-After (RFC 9110, 10.2.3): seconds, or a moment in one of three date forms. */

import { RETRY_AFTER_HEADERS_MAX } from './limits.ts';

export type RetryAfter =
  | { readonly kind: 'absent' }
  /** `raw` is the first value as it came, at most 64 characters, for the record only. */
  | { readonly kind: 'invalid'; readonly raw: string }
  /** `ms` from now on: 0 for the past, `Number.MAX_SAFE_INTEGER` for anything that is larger. */
  | { readonly kind: 'after'; readonly ms: number };

const RAW_CHARS_MAX = 64;

/**
 * Understands the values of the header as the client handed them over, one per header line.
 *
 * Several lines: the largest valid one counts, looking at no more than the first eight. One line with several values in
 * it ("120, 240") is invalid: the field holds a single value, and whoever reads only its first half retries too early.
 * Invalid means: as if absent, but worth a note.
 */
export const parseRetryAfter = (values: readonly string[], nowMs: number): RetryAfter => {
  const [first] = values;
  if (first === undefined) return { kind: 'absent' };
  const understood = values
    .slice(0, RETRY_AFTER_HEADERS_MAX)
    .map((value) => parseValueMs(trimBlanks(value), nowMs))
    .filter((ms) => ms !== undefined);
  if (understood.length === 0) return { kind: 'invalid', raw: first.slice(0, RAW_CHARS_MAX).toWellFormed() };
  return { kind: 'after', ms: Math.max(...understood) };
};

const parseValueMs = (value: string, nowMs: number): number | undefined => {
  // Not parseInt, Number or Date.parse: they read "1e9", "", "-1" and "5 seconds" as times.
  if (/^[0-9]+$/.test(value)) return Math.min(Number(value) * 1_000, Number.MAX_SAFE_INTEGER);
  const atMs = parseHttpDate(value, nowMs);
  return atMs === undefined ? undefined : Math.max(0, atMs - nowMs);
};

/** Space and tab only: they surround a field value without being part of it (RFC 9110, 5.5). Other blanks are content. */
const trimBlanks = (value: string): string => {
  let start = 0;
  let end = value.length;
  while (start < end && isBlank(value[start])) start += 1;
  while (end > start && isBlank(value[end - 1])) end -= 1;
  return value.slice(start, end);
};

const isBlank = (char: string | undefined): boolean => char === ' ' || char === '\t';

interface Calendar {
  readonly weekday: string;
  readonly year: number;
  readonly month: string;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

// The three forms of RFC 9110, 5.6.7, letter by letter: names are case-sensitive there, digits have a fixed width.
const SHORT = '(?<weekday>Sun|Mon|Tue|Wed|Thu|Fri|Sat)';
const LONG = '(?<weekday>Sunday|Monday|Tuesday|Wednesday|Thursday|Friday|Saturday)';
const MONTH = `(?<month>${MONTHS.join('|')})`;
const DAY = '(?<day>[0-9]{2})';
const CLOCK = '(?<hour>[0-9]{2}):(?<minute>[0-9]{2}):(?<second>[0-9]{2})';
const IMF_FIXDATE = new RegExp(`^${SHORT}, ${DAY} ${MONTH} (?<year>[0-9]{4}) ${CLOCK} GMT$`);
const RFC_850 = new RegExp(`^${LONG}, ${DAY}-${MONTH}-(?<year>[0-9]{2}) ${CLOCK} GMT$`);
const ASCTIME = new RegExp(`^${SHORT} ${MONTH} (?<day>[0-9]{2}| [0-9]) ${CLOCK} (?<year>[0-9]{4})$`);

/** Epoch milliseconds of an HTTP date, or undefined. Never reads the time zone of the process: all three are UTC. */
const parseHttpDate = (text: string, nowMs: number): number | undefined => {
  const full = IMF_FIXDATE.exec(text) ?? ASCTIME.exec(text);
  if (full !== null) return instantMs(calendarOf(full.groups ?? {}));
  const short = RFC_850.exec(text);
  if (short === null) return undefined;
  const calendar = calendarOf(short.groups ?? {});
  return instantMs({ ...calendar, year: fullYear(calendar, nowMs) });
};

const calendarOf = (groups: Readonly<Record<string, string | undefined>>): Calendar => ({
  weekday: groups['weekday'] ?? '',
  year: Number(groups['year']),
  month: groups['month'] ?? '',
  day: Number(groups['day']),
  hour: Number(groups['hour']),
  minute: Number(groups['minute']),
  second: Number(groups['second']),
});

/**
 * Two digits of a year mean the latest such year that is not more than 50 years ahead of now; one further ahead is the
 * one in the past (RFC 9110, 5.6.7).
 */
const fullYear = (calendar: Calendar, nowMs: number): number => {
  const limit = new Date(nowMs);
  limit.setUTCFullYear(limit.getUTCFullYear() + 50);
  const sameCentury = Math.floor(limit.getUTCFullYear() / 100) * 100 + calendar.year;
  return timeMs({ ...calendar, year: sameCentury }) > limit.getTime() ? sameCentury - 100 : sameCentury;
};

/**
 * A date must exist (no 30 February) and carry its right weekday; a wrong one means that one of the two is a mistake,
 * and nobody can say which. Second 60, a leap second, is read as the first second of the next minute.
 */
const instantMs = (calendar: Calendar): number | undefined => {
  if (calendar.hour > 23 || calendar.minute > 59 || calendar.second > 60) return undefined;
  const midnight = new Date(midnightMs(calendar));
  // A day outside of its month moves the date on, never to a day of the same number.
  const exists = midnight.getUTCDate() === calendar.day;
  const weekday = WEEKDAYS[midnight.getUTCDay()] ?? '';
  return exists && weekday.startsWith(calendar.weekday) ? timeMs(calendar) : undefined;
};

/** Not Date.UTC: it takes the years 0 to 99 for 1900 to 1999. */
const midnightMs = ({ year, month, day }: Calendar): number =>
  new Date(0).setUTCFullYear(year, MONTHS.indexOf(month), day);

const timeMs = (calendar: Calendar): number =>
  midnightMs(calendar) + ((calendar.hour * 60 + calendar.minute) * 60 + calendar.second) * 1_000;
