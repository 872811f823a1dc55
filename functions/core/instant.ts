/**
 * Points in time as text and as epoch milliseconds. Read by an own strict rule: the platform's parser accepts dozens of
 * forms, takes some of them as local time and turns "-3" into a year.
 */

export type InstantResult =
  | { readonly kind: 'ok'; readonly atMs: number }
  | { readonly kind: 'bad'; readonly reason: string };

/** 9999-12-31T23:59:59.999Z: the last instant that RFC 3339 can write, and the last that we take. */
export const INSTANT_MS_MAX = 253_402_300_799_999;

/** Below this (March 1973 in milliseconds) a number can only be meant as seconds. */
const SECONDS_BELOW = 100_000_000_000;

const RFC_3339 = /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:([Zz])|([+-])(\d{2}):(\d{2}))$/;
const WITHOUT_ZONE = /^\d{4}-\d{2}-\d{2}(?:[Tt ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?)?$/;

const bad = (reason: string): InstantResult => ({ kind: 'bad', reason });

/**
 * An instant between 1970 and 9999, as RFC 3339 text with an offset or as whole epoch milliseconds. The reason of a
 * refusal completes "the time ...".
 *
 * - A fraction may have any number of digits and is cut to milliseconds, never rounded up.
 * - A leap second (`:60`) is refused: epoch time has no number for it.
 * - `-00:00` (offset unknown, RFC 3339 section 4.3) still names a UTC instant and is taken.
 * - Nothing without a zone: it would mean another instant on another machine.
 */
export function parseInstant(value: unknown): InstantResult {
  if (typeof value === 'number') return fromNumber(value);
  if (typeof value === 'string') return fromText(value);
  return bad('must be RFC 3339 text with an offset, or epoch milliseconds as a number');
}

function fromNumber(value: number): InstantResult {
  if (!Number.isInteger(value)) return bad('must be a whole number of epoch milliseconds');
  if (value < 0) return bad('must not lie before 1970');
  if (value < SECONDS_BELOW) return bad('looks like seconds: give epoch milliseconds (seconds x 1000)');
  if (value > INSTANT_MS_MAX)
    return bad('lies beyond the year 9999: give epoch milliseconds, not micro- or nanoseconds');
  return { kind: 'ok', atMs: value };
}

function fromText(text: string): InstantResult {
  const match = RFC_3339.exec(text);
  if (match === null) {
    if (WITHOUT_ZONE.test(text)) return bad('must name its zone: end with Z or an offset such as +02:00');
    return bad('must be RFC 3339 with an offset, such as 2026-11-29T12:00:00Z or 2026-11-29T14:00:00+02:00');
  }
  const part = (index: number): number => Number(match[index] ?? '0');
  const [year, month, day, hour, minute, second] = [part(1), part(2), part(3), part(4), part(5), part(6)];
  if (second === 60) return bad('must not be a leap second: epoch time has no number for :60');
  if (hour > 23 || minute > 59 || second > 59) return bad('names a time of day that does not exist');
  if (part(10) > 23 || part(11) > 59) return bad('names an offset that does not exist');

  const milli = Number((match[7] ?? '').slice(0, 3).padEnd(3, '0'));
  const localMs = Date.UTC(year, month - 1, day, hour, minute, second, milli);
  // The platform rolls 30 February over into March and reads the years 0 to 99 as 1900 to 1999; month or year shows it.
  const back = new Date(localMs);
  if (back.getUTCFullYear() !== year || back.getUTCMonth() !== month - 1) {
    return bad('names a day that is not in the calendar, or a year before 100');
  }
  const offsetMs = (part(10) * 60 + part(11)) * 60_000;
  const atMs = match[9] === '-' ? localMs + offsetMs : localMs - offsetMs;
  if (atMs < 0) return bad('must not lie before 1970');
  if (atMs > INSTANT_MS_MAX) return bad('must not lie beyond the year 9999');
  return { kind: 'ok', atMs };
}

/** ISO 8601 in UTC with milliseconds, always 24 characters. Throws on a number that is no instant: that is a bug. */
export function formatInstant(atMs: number): string {
  assertInstant(atMs);
  return new Date(atMs).toISOString();
}

/** The UTC day of an instant, `2026-11-29`. */
export const utcDayOf = (atMs: number): string => formatInstant(atMs).slice(0, 10);

/** Throws unless the number is an instant between 1970 and 9999 in whole milliseconds. */
export function assertInstant(atMs: number): void {
  if (!Number.isInteger(atMs) || atMs < 0 || atMs > INSTANT_MS_MAX) {
    throw new RangeError(`not an instant in epoch milliseconds: ${atMs}`);
  }
}
