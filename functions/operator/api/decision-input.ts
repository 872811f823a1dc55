/** What every request for a decision carries: who asks, under which request id, and why. */
import type { Context } from 'hono';
import * as z from 'zod/mini';
import { parseDestinationId, parseRequestId, type RequestId } from '../../core/ids.ts';
import { REASON_CHARS_MAX } from '../../core/limits.ts';
import type { Signed } from '../../http/auth.ts';
import { jsonBody, type Read } from './segments.ts';

/** The id of a destination in a body. */
export const destinationId = z.pipe(
  z.string(),
  z.transform((text, context) => {
    const parsed = parseDestinationId(text);
    if (parsed.kind === 'ok') return parsed.id;
    context.issues.push({ code: 'custom', message: parsed.reason, input: text });
    return z.NEVER;
  }),
);

/** A sentence for other people: on one line, and not only blanks. */
export const sentence = z.string().check(
  z.maxLength(REASON_CHARS_MAX),
  z.refine((text) => /\S/.test(text), 'must say something'),
  z.refine((text) => !/\p{Cc}/u.test(text), 'must not hold control characters, line ends included'),
  z.refine((text) => text.isWellFormed(), 'must be whole Unicode text: it holds half of a surrogate pair'),
);

export interface DecisionInput<Body> {
  readonly request: RequestId;
  readonly actor: string;
  readonly body: Body;
}

export const HEADER = 'Idempotency-Key';

export const readDecision = async <Body>(
  context: Context<Signed>,
  schema: z.ZodMiniType<Body>,
): Promise<Read<DecisionInput<Body>>> => {
  const request = requestOf(context);
  if (request.kind === 'bad') return request;
  const body = await jsonBody(context);
  if (body.kind === 'bad') return body;
  // Without a body, what is missing has a name all the same.
  const parsed = schema.safeParse(body.value ?? {}, { reportInput: true });
  if (!parsed.success) return invalid(parsed.error.issues[0]);
  return { kind: 'ok', value: { request: request.value, actor: context.get('actor'), body: parsed.data } };
};

const requestOf = (context: Context): Read<RequestId> => {
  const text = context.req.header(HEADER);
  if (text === undefined || text === '') {
    const detail = `send the header "${HEADER}" with an id of your own for this decision: the same id again is the same decision`;
    return { kind: 'bad', problem: { status: 400, code: 'idempotency-key-missing', detail, field: HEADER } };
  }
  const request = parseRequestId(text);
  if (request.kind === 'ok') return { kind: 'ok', value: request.id };
  const detail = `the header "${HEADER}" ${request.reason}`;
  return { kind: 'bad', problem: { status: 400, code: 'idempotency-key-invalid', detail, field: HEADER } };
};

const invalid = (issue: z.core.$ZodIssue | undefined): Extract<Read<never>, { kind: 'bad' }> => {
  const field = fieldOf(issue);
  const detail = `${field === '' ? 'the body' : field} ${wrongIn(issue)}`;
  return { kind: 'bad', problem: { status: 422, code: 'invalid', detail, field } };
};

const fieldOf = (issue: z.core.$ZodIssue | undefined): string => {
  if (issue?.code === 'unrecognized_keys') return issue.keys[0]?.slice(0, 64) ?? '';
  const [first, ...rest] = issue?.path ?? [];
  return `${String(first ?? '')}${rest.map((one) => `[${String(one)}]`).join('')}`;
};

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a whole number',
  array: 'a list',
  object: 'a JSON object',
};

const wrongIn = (issue: z.core.$ZodIssue | undefined): string => {
  switch (issue?.code) {
    case 'unrecognized_keys':
      return 'is not a member of this request';
    case 'invalid_type':
      return issue.input === undefined ? 'is missing' : `must be ${TYPES[issue.expected] ?? 'of another type'}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must not be longer than ${issue.maximum} characters`
        : `must be at most ${issue.maximum}`;
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    case 'custom':
      return issue.message;
    default:
      return 'is not valid';
  }
};
