/** What the routes take: one schema for each body and query, and the pieces that they share. */
import * as z from 'zod/mini';
import { destinationBody } from '../../core/destination-input.ts';
import { DRILL_PARTS } from '../../core/drill.ts';
import { DRILL_BURST_MAX, DRILL_BURST_MIN } from '../../core/drill-limits.ts';
import { parseDestinationId } from '../../core/ids.ts';
import {
  ACTOR_CHARS_MAX,
  DESTINATIONS_PER_EVENT_MAX,
  GRANT_MAX,
  ID_BYTES_MAX,
  LIST_PAGE_MAX,
  REASON_CHARS_MAX,
  SECRET_OVERLAP_HOURS_DEFAULT,
  SECRET_OVERLAP_HOURS_MAX,
} from '../../core/limits.ts';
import { QUARANTINE_REASONS } from '../../core/model.ts';
import { SHADOW_DAYS_MAX } from '../../core/shadow.ts';
import { PLAN_MESSAGES_MAX } from '../../steps/redrive-plan.ts';

// ---- pieces -------------------------------------------------------------------------------------------------------

/** The id of a destination in a body or a query. */
export const destinationId = z.pipe(
  z.string().check(
    z.meta({
      minLength: 1,
      maxLength: ID_BYTES_MAX,
      description: `1 to ${ID_BYTES_MAX} bytes of UTF-8 without control characters, byte for byte as it was given`,
    }),
  ),
  z.transform((text, context) => {
    const parsed = parseDestinationId(text);
    if (parsed.kind === 'ok') return parsed.id;
    context.issues.push({ code: 'custom', message: parsed.reason, input: text });
    return z.NEVER;
  }),
);

/** Anything but blanks, and but what is shown as a blank or as nothing. U+2800 is braille without a dot. */
const VISIBLE = /[^\p{White_Space}\p{Default_Ignorable_Code_Point}\p{C}\u2800]/u;

/** A sentence for other people: on one line, and not only blanks. */
export const sentence = z.string().check(
  z.maxLength(REASON_CHARS_MAX),
  z.refine((text) => VISIBLE.test(text), 'must say something'),
  z.refine((text) => !/\p{Cc}/u.test(text), 'must not hold control characters, line ends included'),
  z.refine((text) => text.isWellFormed(), 'must be whole Unicode text: it holds half of a surrogate pair'),
  z.meta({
    minLength: 1,
    pattern: `^[^\\p{Cc}]*${VISIBLE.source}[^\\p{Cc}]*$`,
    description: 'a sentence on one line, for whoever reads the record',
  }),
);

const LIMIT_DEFAULT = 50;
const LIMIT_SAYS = `must be a whole number from 1 to ${LIST_PAGE_MAX}`;

/** In a query everything is text. */
const limit = z._default(
  z.pipe(
    z.string().check(
      z.refine((text) => /^\d{1,4}$/.test(text) && Number(text) >= 1 && Number(text) <= LIST_PAGE_MAX, LIMIT_SAYS),
      z.meta({ type: 'integer', minimum: 1, maximum: LIST_PAGE_MAX, default: LIMIT_DEFAULT }),
    ),
    z.transform(Number),
  ),
  LIMIT_DEFAULT,
);

/** An empty one is the beginning, as no cursor is: forms and templates send empty parameters. */
const cursor = z.optional(
  z.pipe(
    z.string().check(z.meta({ description: 'the "next" of the page before' })),
    z.transform((text) => (text === '' ? undefined : text)),
  ),
);

// ---- queries ------------------------------------------------------------------------------------------------------

export const pageQuery = z.strictObject({ limit, cursor });

/** A day in UTC, such as `2026-01-31`. */
const day = z.string().check(
  z.refine(
    (text) => /^\d{4}-\d{2}-\d{2}$/.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.startsWith(text) === true,
    'must be a day, such as 2026-01-31',
  ),
  z.meta({ format: 'date' }),
);

export const auditQuery = z.strictObject({ destination: destinationId, day: z.optional(day), limit, cursor });

/** Narrowed down afterwards: see the description of the route. */
export const decisionsQuery = z.strictObject({
  destination: z.optional(destinationId),
  /** The rule of its id is the same. */
  event: z.optional(destinationId),
  actor: z.optional(z.string().check(z.minLength(1), z.maxLength(ACTOR_CHARS_MAX))),
  limit,
  cursor,
});

const shadowWindow = {
  from: z.optional(day),
  to: z.optional(day),
  per: z._default(z.enum(['hour', 'day']), 'day'),
  acceptedSince: z.optional(day),
};

export const shadowQuery = z.strictObject({ ...shadowWindow, cursor });

const sent = z.int().check(z.nonnegative());

/** Counts are read with the window that they belong to: see `readCounts`. */
export const shadowBody = z.strictObject({
  ...shadowWindow,
  sent: z.optional(sent),
  counts: z.optional(z.array(z.strictObject({ at: z.string(), sent })).check(z.maxLength(SHADOW_DAYS_MAX * 24))),
});

/** Deleted ones are left out, unless they are asked for: their deliveries are still there. */
export const destinationsQuery = z.strictObject({ deleted: z.optional(z.enum(['include'])), limit, cursor });

export const DELIVERY_LISTS = ['open', 'parked', 'quarantined', 'recent'] as const;

export const deliveriesQuery = z
  .strictObject({ list: z.enum(DELIVERY_LISTS), destination: z.optional(destinationId), limit, cursor })
  .check(
    // No index has it by destination, and a page that is filtered afterwards could be empty for thousands of rows.
    z.refine(({ list, destination }) => list !== 'open' || destination === undefined, {
      error: 'cannot narrow the list "open"',
      path: ['destination'],
    }),
    z.refine(({ list, destination }) => list !== 'recent' || destination !== undefined, {
      error: 'is missing: the list "recent" is of one destination',
      path: ['destination'],
    }),
  );

// ---- decisions ----------------------------------------------------------------------------------------------------

export const reasonBody = z.strictObject({ reason: sentence });

/** Why, if somebody says so. */
export const whyBody = z.strictObject({ reason: z.optional(sentence) });
export const putBody = z.strictObject({ ...destinationBody.shape, ...whyBody.shape });

export const redriveBody = z.strictObject({
  reason: sentence,
  grant: z._default(z.int().check(z.minimum(0), z.maximum(GRANT_MAX)), 0),
  acceptSecondEffect: z._default(z.boolean(), false),
});

export const resolveBody = z.strictObject({
  reason: sentence,
  as: z.enum(['delivered', 'not-delivered']),
  evidence: sentence,
});

export const replayBody = z.strictObject({
  reason: sentence,
  destinations: z.optional(
    z.array(destinationId).check(
      z.minLength(1),
      z.maxLength(DESTINATIONS_PER_EVENT_MAX),
      z.refine((ids) => new Set(ids).size === ids.length, 'names a destination twice'),
      z.meta({ uniqueItems: true }),
    ),
  ),
});

export const proveBody = z.strictObject({
  reason: sentence,
  parts: z.optional(
    z.array(z.enum(DRILL_PARTS)).check(
      z.minLength(1),
      z.maxLength(DRILL_PARTS.length),
      z.refine((parts) => new Set(parts).size === parts.length, 'names a part twice'),
      z.meta({ uniqueItems: true }),
    ),
  ),
  burst: z.optional(z.int().check(z.minimum(DRILL_BURST_MIN), z.maximum(DRILL_BURST_MAX))),
  evenIfPaused: z._default(z.boolean(), false),
});

// ---- tokens and secrets -------------------------------------------------------------------------------------------

/** It is an actor on every record of what is done with it, so it must not look like one of ours. */
const TOKEN_NAME = /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/;
const OUR_ACTORS: ReadonlySet<string> = new Set(['system', 'destination', 'operator']);

export const parseTokenName = (
  value: unknown,
): { readonly kind: 'ok'; readonly id: string } | { readonly kind: 'bad'; readonly reason: string } => {
  if (typeof value === 'string' && TOKEN_NAME.test(value) && !OUR_ACTORS.has(value)) return { kind: 'ok', id: value };
  const reason = `must be 1 to ${ACTOR_CHARS_MAX} letters, digits, dots, dashes, underscores or @, and not one of ${[...OUR_ACTORS].join(', ')}`;
  return { kind: 'bad', reason };
};

export const tokenBody = z.strictObject({
  name: z.string().check(
    z.refine((text) => parseTokenName(text).kind === 'ok', {
      error: ({ input }) => {
        const parsed = parseTokenName(input);
        return parsed.kind === 'bad' ? parsed.reason : 'is not valid';
      },
    }),
    z.meta({ pattern: '^(?!(system|destination|operator)$)[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$' }),
  ),
  rights: z.array(z.enum(['view', 'send', 'pause', 'resend', 'decide', 'admin'])).check(
    z.minLength(1),
    z.maxLength(6),
    z.refine((rights) => new Set(rights).size === rights.length, 'names a right twice'),
    z.meta({ uniqueItems: true }),
  ),
  reason: sentence,
});

export const rotateBody = z.strictObject({
  reason: sentence,
  overlapHours: z._default(
    z.number().check(z.minimum(0), z.maximum(SECRET_OVERLAP_HOURS_MAX)),
    SECRET_OVERLAP_HOURS_DEFAULT,
  ),
  signingSecret: z.optional(z.string()),
});

// ---- redrives -----------------------------------------------------------------------------------------------------

const RECOVERY_MINUTES_DEFAULT = 60;
const RECOVERY_MINUTES_MAX = 7 * 24 * 60;
const STOP_ABOVE_DEFAULT = 0.5;

export const planBody = z
  .strictObject({
    // First, so that who gives the plan's motive as its `reason`, which is a filter here, hears of `why` first.
    why: sentence,
    source: z.enum(['dead-letters', 'quarantine']),
    destination: z.optional(destinationId),
    reason: z.optional(z.enum(QUARANTINE_REASONS)),
    limit: z.int().check(z.minimum(1), z.maximum(PLAN_MESSAGES_MAX)),
    recoveryMinutes: z._default(
      z.number().check(z.minimum(0.1), z.maximum(RECOVERY_MINUTES_MAX)),
      RECOVERY_MINUTES_DEFAULT,
    ),
    stopAbove: z._default(z.number().check(z.minimum(0), z.maximum(1)), STOP_ABOVE_DEFAULT),
    acceptSecondEffect: z._default(z.boolean(), false),
  })
  .check(
    z.refine(({ source, reason }) => source === 'quarantine' || reason === undefined, {
      error: 'narrows the quarantine only; dead letters have no such reason',
      path: ['reason'],
    }),
  );

const CURSOR_SAYS = 'is not one that this list gave out: start the list again without a cursor';

/** The messages of an operation are numbered, and so are their pages. */
export const messagesQuery = z.strictObject({
  limit,
  cursor: z.optional(
    z.pipe(
      z.string().check(
        z.refine((text) => /^\d{0,9}$/.test(text), { error: CURSOR_SAYS, params: { code: 'bad-cursor' } }),
        z.meta({ pattern: '^\\d{0,9}$' }),
      ),
      z.transform(Number),
    ),
  ),
});
