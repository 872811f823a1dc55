/** What comes in: a query, and what every request for a decision carries: who asks, under which request id, and why. */
import type { Context } from 'hono';
import type * as z from 'zod/mini';
import { parseRequestId, type RequestId } from '../../core/ids.ts';
import type { Signed } from '../../http/auth.ts';
import { jsonBody, type Read } from './segments.ts';

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
  const read = readBody(body.value ?? {}, schema);
  if (read.kind === 'bad') return read;
  return { kind: 'ok', value: { request: request.value, actor: context.get('actor'), body: read.value } };
};

/** What was asked for, by the schema of its route, however it came. */
export const readBody = <Body>(value: unknown, schema: z.ZodMiniType<Body>): Read<Body> => {
  const parsed = schema.safeParse(value, { reportInput: true });
  return parsed.success ? { kind: 'ok', value: parsed.data } : invalid(parsed.error.issues[0], 'the body');
};

/**
 * The header is a string of structured fields in the draft that names it (draft-ietf-httpapi-idempotency-key-header, 2.1;
 * RFC 9651, 3.3.3), and mostly sent without the quotes: with or without them it is the same id.
 */
const unquoted = (text: string | undefined): string | undefined =>
  /^"(?:[^"\\]|\\["\\])*"$/.exec(text ?? '') ? text?.slice(1, -1).replace(/\\(["\\])/g, '$1') : text;

export const requestOf = (context: Context, instead?: RequestId): Read<RequestId> => {
  const text = unquoted(context.req.header(HEADER));
  if (text === undefined && instead !== undefined) return { kind: 'ok', value: instead };
  if (text === undefined || text === '') {
    const detail = `send the header "${HEADER}" with an id of your own for this decision: the same id again is the same decision`;
    return { kind: 'bad', problem: { status: 400, code: 'idempotency-key-missing', detail, field: HEADER } };
  }
  const request = parseRequestId(text);
  if (request.kind === 'ok') return { kind: 'ok', value: request.id };
  const detail = `the header "${HEADER}" ${request.reason}`;
  return { kind: 'bad', problem: { status: 400, code: 'idempotency-key-invalid', detail, field: HEADER } };
};

/** The parameters of a list. One that it does not know is refused: misspelt, it would be a filter that filters nothing. */
export const readQuery = <Query>(context: Context, schema: z.ZodMiniType<Query>): Read<Query> => {
  const parsed = schema.safeParse(context.req.query(), { reportInput: true });
  return parsed.success ? { kind: 'ok', value: parsed.data } : invalid(parsed.error.issues[0], 'the query');
};

const invalid = (
  issue: z.core.$ZodIssue | undefined,
  whole: 'the body' | 'the query',
): Extract<Read<never>, { kind: 'bad' }> => {
  const field = fieldOf(issue);
  const detail = `${field === '' ? whole : field} ${wrongIn(issue)}`;
  if (issue?.code === 'custom' && issue.params?.['code'] === 'bad-cursor') {
    return { kind: 'bad', problem: { status: 400, code: 'bad-cursor', detail, field } };
  }
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
      return `${issue.input === undefined ? 'is missing: it ' : ''}must be one of ${issue.values.map(String).join(', ')}`;
    case 'custom':
      return issue.message;
    default:
      return 'is not valid';
  }
};
