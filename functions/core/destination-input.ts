/** The one validator of a destination's settings: every path on which they are written goes through it. */
import * as z from 'zod/mini';
import { checkCustomHeaders } from './headers.ts';
import type { DestinationId } from './ids.ts';
import type { Destination } from './items.ts';
import {
  ATTEMPTS_MAX,
  DELAY_MAX_MS,
  HORIZON_MS,
  KEY_END_MARGIN_MS,
  KEY_LIFE_HOURS_DEFAULT,
  longestMsOf,
  REJECT_ON_MAX,
  SCHEDULE_LENGTH_MAX,
  SCHEDULE_SEC_DEFAULT,
  TIMEOUT_MS_DEFAULT,
  TIMEOUT_MS_MAX,
  TIMEOUT_MS_MIN,
  URL_CHARS_MAX,
} from './limits.ts';
import { parseSecret } from './signature.ts';
import { parseTarget, type TargetPolicy } from './target.ts';

/** From one in a thousand seconds, so that a slot is a time that can be stored. */
const RATE_MIN = 0.001;
const RATE_MAX = 10_000;

const whole = (low: number, high: number) => z.number().check(z.int(), z.minimum(low), z.maximum(high));

/** The shape of the body. What needs more than one member, or a policy, is checked behind it. */
export const destinationBody = z.strictObject({
  url: z.string().check(z.minLength(1), z.maxLength(URL_CHARS_MAX)),
  repeatSafe: z.boolean(),
  keyLifeHours: z._default(
    z.nullable(z.number().check(z.positive(), z.maximum(10 * 365 * 24))),
    KEY_LIFE_HOURS_DEFAULT,
  ),
  schedule: z._default(
    z
      .array(z.number().check(z.int(), z.nonnegative(), z.maximum(DELAY_MAX_MS / 1_000)))
      .check(z.maxLength(SCHEDULE_LENGTH_MAX)),
    [...SCHEDULE_SEC_DEFAULT],
  ),
  timeoutMs: z._default(whole(TIMEOUT_MS_MIN, TIMEOUT_MS_MAX), TIMEOUT_MS_DEFAULT),
  ratePerSecond: z.optional(z.number().check(z.minimum(RATE_MIN), z.maximum(RATE_MAX))),
  concurrency: z.optional(whole(1, 1_000)),
  rejectOn: z._default(z.array(whole(300, 599)).check(z.maxLength(REJECT_ON_MAX)), []),
  headers: z._default(z.record(z.string(), z.string()), {}),
  acceptFromQueue: z._default(z.boolean(), false),
  mode: z._default(z.enum(['live', 'shadow']), 'live'),
  notices: z._default(z.boolean(), false),
  signingSecret: z.optional(z.string()),
});

export type DestinationSettings = Omit<
  Destination,
  'item' | 'version' | 'createdAtMs' | 'updatedAtMs' | 'deletedAtMs' | 'carried'
>;

export type DestinationResult =
  | { readonly kind: 'ok'; readonly settings: DestinationSettings; readonly signingSecret?: string }
  | { readonly kind: 'bad'; readonly field: string; readonly reason: string };

const HOUR_MS = 3_600_000;

const bad = (field: string, reason: string): DestinationResult => ({ kind: 'bad', field, reason });

export const readDestination = (id: DestinationId, body: unknown, policy: TargetPolicy): DestinationResult => {
  // The schema's record drops this name without a word.
  if (hasProtoHeader(body)) return bad('headers.__proto__', 'is refused: not a header name');
  const parsed = destinationBody.safeParse(body, { reportInput: true });
  if (!parsed.success) {
    const [issue, ...others] = parsed.error.issues;
    return bad(fieldOf(issue), `${reasonOf(issue)}${mistypedIn(issue, others)}`);
  }
  const input = parsed.data;
  const target = parseTarget(input.url, policy);
  if (target.kind === 'denied') return bad('url', `is refused: ${target.reason}`);
  const headers = checkCustomHeaders(input.headers);
  if (headers.kind === 'bad')
    return bad(`headers.${headers.name}`, `is refused: ${headers.reason.replaceAll('-', ' ')}`);
  if (input.signingSecret !== undefined) {
    const secret = parseSecret(input.signingSecret);
    if (secret.kind === 'bad') {
      const why = secret.reason.replaceAll('-', ' ');
      return bad('signingSecret', `must be whsec_ and base64 of 24 to 64 bytes (this one: ${why})`);
    }
  }
  const tooLong = scheduleFault(input);
  if (tooLong !== undefined) return bad('schedule', tooLong);
  if (input.schedule.length + 1 > ATTEMPTS_MAX) return bad('schedule', `allows more than ${ATTEMPTS_MAX} attempts`);
  return {
    kind: 'ok',
    ...(input.signingSecret === undefined ? {} : { signingSecret: input.signingSecret }),
    settings: {
      destination: id,
      url: target.url,
      repeatSafe: input.repeatSafe,
      keyLifeHours: input.keyLifeHours,
      scheduleSec: input.schedule,
      timeoutMs: input.timeoutMs,
      ...(input.ratePerSecond === undefined ? {} : { ratePerSecond: input.ratePerSecond }),
      ...(input.concurrency === undefined ? {} : { concurrency: input.concurrency }),
      rejectOn: input.rejectOn,
      headers: headers.headers,
      acceptFromQueue: input.acceptFromQueue,
      mode: input.mode,
      ...(input.notices ? { notices: true } : {}),
    },
  };
};

/** The last attempt must still be allowed to begin, however long all those before it took. */
const scheduleFault = (input: z.output<typeof destinationBody>): string | undefined => {
  const longestMs = longestMsOf(input.schedule, input.timeoutMs);
  const included = 'its jitter of 20 % and the time-outs of its attempts included';
  if (longestMs > HORIZON_MS) return `must end within 7 days, ${included}`;
  if (!input.repeatSafe || input.keyLifeHours === null || input.schedule.length === 0) return undefined;
  if (longestMs + KEY_END_MARGIN_MS <= input.keyLifeHours * HOUR_MS) return undefined;
  return `must end ${KEY_END_MARGIN_MS / 1_000} s before keyLifeHours are over, ${included}: a later repeat would have no key`;
};

const hasProtoHeader = (body: unknown): boolean => {
  if (typeof body !== 'object' || body === null || !('headers' in body)) return false;
  const { headers } = body;
  return typeof headers === 'object' && headers !== null && Object.hasOwn(headers, '__proto__');
};

const fieldOf = (issue: z.core.$ZodIssue | undefined): string => {
  if (issue?.code === 'unrecognized_keys') return issue.keys[0] ?? '';
  return (issue?.path ?? []).reduce<string>(
    (field, part) =>
      typeof part === 'number' ? `${field}[${part}]` : field === '' ? String(part) : `${field}.${String(part)}`,
    '',
  );
};

/** A name that is missing and one that is unknown are often one name, mistyped. */
const mistypedIn = (issue: z.core.$ZodIssue | undefined, others: readonly z.core.$ZodIssue[]): string => {
  const unknown = others.find(({ code }) => code === 'unrecognized_keys');
  return issue?.code === 'invalid_type' && issue.input === undefined && unknown !== undefined
    ? `, and ${JSON.stringify(fieldOf(unknown).slice(0, 64))} ${reasonOf(unknown)}`
    : '';
};

const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' entries' };

const reasonOf = (issue: z.core.$ZodIssue | undefined): string => {
  switch (issue?.code) {
    case 'unrecognized_keys':
      return 'is not a setting of a destination';
    case 'invalid_type':
      if (issue.input === undefined) return 'is missing';
      return `must be ${issue.expected === 'boolean' ? 'true or false' : `of type ${issue.expected}`}`;
    case 'too_small':
      return issue.origin === 'string' ? 'must not be empty' : `must be at least ${issue.minimum}`;
    case 'too_big':
      return `must ${UNITS[issue.origin] === undefined ? 'be' : 'have'} at most ${issue.maximum}${UNITS[issue.origin] ?? ''}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    default:
      return 'is not valid';
  }
};
