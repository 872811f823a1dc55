/**
 * The script of a mailbox: one step for each request, the last one for ever. It comes from code, from
 * `PUT /partner/<name>/script`, or for one request from the query of the URL; all three go through this parser.
 */
import { validateHeaderName, validateHeaderValue } from 'node:http';
import * as z from 'zod/mini';
import { parseSecret } from '../../../functions/core/signature.ts';
import { KEYS, type Keys, type Personality } from './personality.ts';
import { type Manner, type Play, replyOf } from './play.ts';

export const STEPS_MAX = 100;
const TEXT_CHARS_MAX = 65_536;
const WAIT_MS_MAX = 600_000;
const MANNERS = ['hang', 'reset', 'drip', 'garbage', 'closeKeepAlive'] as const;

// Every message is written here: the small zod brings none of its own.
const whole = (min: number, max: number) => {
  const says = `must be a whole number from ${min} to ${max}`;
  return z.int(says).check(z.gte(min, says), z.lte(max, says));
};
const oneOf = <const T extends readonly string[]>(values: T) => z.enum(values, `must be one of: ${values.join(', ')}`);
const onlyOf = (names: readonly string[]) => ({
  error: ({ code }: { readonly code?: string }) =>
    code === 'unrecognized_keys' ? `is not known here; known are: ${names.join(', ')}` : 'must be an object',
});
const text = z
  .string('must be text')
  .check(z.maxLength(TEXT_CHARS_MAX, `must be at most ${TEXT_CHARS_MAX} characters`));
const flag = z.boolean('must be true or false');
const yes = z.literal(true, 'must be true, or left out');

const headers = z
  .record(z.string(), z.union([text, z.array(text)], 'must be text or a list of texts'), 'must be an object of texts')
  .check((ctx) => {
    for (const [name, value] of Object.entries(ctx.value)) {
      const fault = headerFault(name, value);
      if (fault !== undefined) ctx.issues.push({ code: 'custom', input: value, path: [name], message: fault });
    }
  });

const dripShape = { everyMs: whole(1, WAIT_MS_MAX), from: z.optional(oneOf(['head', 'body'])) };

const stepShape = {
  status: z.optional(whole(200, 999)),
  headers: z.optional(headers),
  body: z.optional(text),
  delayMs: z.optional(whole(0, WAIT_MS_MAX)),
  act: z.optional(flag),
  hang: z.optional(yes),
  reset: z.optional(oneOf(['before-answer', 'after-status'])),
  drip: z.optional(z.strictObject(dripShape, onlyOf(Object.keys(dripShape)))),
  garbage: z.optional(text),
  closeKeepAlive: z.optional(yes),
};
const step = z.strictObject(stepShape, onlyOf(Object.keys(stepShape))).check((ctx) => {
  const [, second] = MANNERS.filter((name) => ctx.value[name] !== undefined);
  if (second === undefined) return;
  const message = `cannot stand beside another of: ${MANNERS.join(', ')}`;
  ctx.issues.push({ code: 'custom', input: ctx.value, path: [second], message });
});

const isSecret = z.refine<string>(
  (value) => parseSecret(value).kind === 'ok',
  'must be whsec_ and base64 of 24 to 64 bytes',
);
const scriptShape = {
  steps: z.optional(
    z
      .array(step, 'must be a list of steps')
      .check(z.minLength(1, 'must hold a step'), z.maxLength(STEPS_MAX, `must hold at most ${STEPS_MAX} steps`)),
  ),
  keys: z.optional(oneOf(KEYS)),
  forgetsAfterMs: z.optional(whole(1, Number.MAX_SAFE_INTEGER)),
  secret: z.optional(z.string('must be text').check(isSecret)),
  refuses: z.optional(flag),
};
const script = z.strictObject(scriptShape, onlyOf(Object.keys(scriptShape))).check((ctx) => {
  if ((ctx.value.keys === 'forgets-after') === (ctx.value.forgetsAfterMs !== undefined)) return;
  const message = 'goes with keys "forgets-after", and only with it';
  ctx.issues.push({ code: 'custom', input: ctx.value, path: ['forgetsAfterMs'], message });
});

/** One step as it is written. `act`: is the effect carried out? By default where the status is 2xx. */
export type Step = z.infer<typeof step>;

export interface Settings {
  readonly keys?: Keys;
  /** Only with `keys: 'forgets-after'`: how long a key is remembered after its first request. */
  readonly forgetsAfterMs?: number;
  /** `whsec_...`: each request is checked against it and the result noted. */
  readonly secret?: string;
  /** What is not signed by the secret gets a 401 and has no effect; without this, a bad signature changes nothing. */
  readonly refuses?: boolean;
}

/** What is left out stays as it was. */
export interface Script {
  readonly plays?: readonly Play[];
  readonly personality?: Personality;
  readonly secret?: string;
  readonly refuses?: boolean;
}

export type Parsed<T> =
  | { readonly kind: 'ok'; readonly value: T }
  /** `field` as in `steps[0].status`; empty for the whole. */
  | { readonly kind: 'bad'; readonly field: string; readonly detail: string };

export const parseScript = (input: unknown): Parsed<Script> => {
  const parsed = z.safeParse(script, input);
  if (!parsed.success) return refusalOf(parsed.error.issues);
  const { steps, keys, forgetsAfterMs, secret, refuses } = parsed.data;
  const value: Script = {
    ...(steps === undefined ? {} : { plays: steps.map(playOf) }),
    ...(keys === undefined ? {} : { personality: { keys, forgetsAfterMs: forgetsAfterMs ?? Infinity } }),
    ...(secret === undefined ? {} : { secret }),
    ...(refuses === undefined ? {} : { refuses }),
  };
  return { kind: 'ok', value };
};

const playOf = (given: Step): Play => {
  const { status = 200, headers: own = {}, delayMs = 0 } = given;
  const isSuccess = status >= 200 && status <= 299;
  // A drip wants enough to drip.
  const usual = given.drip !== undefined ? '.'.repeat(64) : isSuccess ? 'ok' : `status ${status}`;
  const plain = replyOf(status, given.body ?? usual);
  const names = Object.keys(own).map((name) => name.toLowerCase());
  const reply = { ...plain, headers: names.includes('content-type') ? own : { ...plain.headers, ...own } };
  return { reply, manner: mannerOf(given), delayMs, acts: given.act ?? isSuccess };
};

const mannerOf = ({ hang, reset, drip, garbage, closeKeepAlive }: Step): Manner => {
  if (hang !== undefined) return { kind: 'hang' };
  if (reset !== undefined) return { kind: 'reset', when: reset };
  if (drip !== undefined) return { kind: 'drip', everyMs: drip.everyMs, from: drip.from ?? 'body' };
  if (garbage !== undefined) return { kind: 'garbage', text: garbage };
  return { kind: closeKeepAlive === undefined ? 'plain' : 'close-keep-alive' };
};

const headerFault = (name: string, value: string | readonly string[]): string | undefined => {
  try {
    validateHeaderName(name);
    for (const one of [value].flat()) validateHeaderValue(name, one);
    return undefined;
  } catch {
    return 'is not a header that HTTP can carry';
  }
};

// ---- query --------------------------------------------------------------------------------------------------------

export interface QuickPlay {
  readonly play: Play;
  readonly personality?: Personality;
}

const QUICK = ['status', 'retryAfter', 'delayMs', 'act', 'hang', 'reset', 'dripMs', 'garbage', 'closeKeepAlive'];
const QUICK_SETTINGS = ['keys', 'forgetsAfterMs'];

/** `?status=429&retryAfter=120`, `?hang=true`: in place of the script, for this one request. Undefined without query. */
export const parseQuery = (query: URLSearchParams): Parsed<QuickPlay | undefined> => {
  if (query.size === 0) return { kind: 'ok', value: undefined };
  const quick: Record<string, unknown> = {};
  const settings: Record<string, unknown> = {};
  for (const [name, value] of query) {
    const known = [...QUICK, ...QUICK_SETTINGS];
    if (!known.includes(name))
      return { kind: 'bad', field: name, detail: `is not known; known are: ${known.join(', ')}` };
    if (QUICK_SETTINGS.includes(name)) settings[name] = readValue(value);
    else if (name === 'retryAfter') quick['headers'] = { 'retry-after': value };
    else if (name === 'dripMs') quick['drip'] = { everyMs: readValue(value) };
    else quick[name] = name === 'garbage' ? value : readValue(value);
  }
  const parsed = parseScript({ steps: [quick], ...settings });
  if (parsed.kind === 'bad') return { ...parsed, field: quickNameOf(parsed.field.replace(/^steps\[0\]\./, '')) };
  const { plays: [play] = [], personality } = parsed.value;
  if (play === undefined) throw new Error('a query makes one step');
  return { kind: 'ok', value: personality === undefined ? { play } : { play, personality } };
};

/** A person is told the name that they typed. */
const quickNameOf = (field: string): string =>
  ({ 'drip.everyMs': 'dripMs', 'headers.retry-after': 'retryAfter' })[field] ?? field;

const readValue = (value: string): unknown => {
  if (/^\d{1,15}$/.test(value)) return Number(value);
  return value === 'true' ? true : value === 'false' ? false : value;
};

// ---- refusals -----------------------------------------------------------------------------------------------------

const refusalOf = (issues: readonly z.core.$ZodIssue[]): Parsed<never> => {
  const [issue] = issues;
  if (issue === undefined) throw new Error('a refusal without an issue');
  const path = issue.code === 'unrecognized_keys' ? [...issue.path, ...issue.keys.slice(0, 1)] : issue.path;
  return { kind: 'bad', field: fieldOf(path), detail: issue.message };
};

const fieldOf = (path: readonly PropertyKey[]): string =>
  path.reduce<string>((field, part) => {
    if (typeof part === 'number') return `${field}[${part}]`;
    return field === '' ? String(part) : `${field}.${String(part)}`;
  }, '');
