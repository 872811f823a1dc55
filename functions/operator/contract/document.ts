/**
 * The OpenAPI 3.1 document, made from what the routes themselves are made of.
 *
 *   routes.ts: method, path, right, query, body --+
 *   answers.ts: what for, answers, problems ------+--> /openapi.json
 *
 * Answers are described openly: a member that is added later breaks nobody. Inputs are closed, as the routes are.
 */
import * as z from 'zod/mini';
import type { Route } from '../../http/route.ts';
import { SUBMIT } from '../../http/submit-route.ts';
import { DOCS, type Doc, healthAnswer, NAMED, SUBMIT_DOC } from './answers.ts';
import { MEANINGS } from './descriptions.ts';
import { ROUTES } from './routes.ts';

type Json = Readonly<Record<string, unknown>>;

export const API_VERSION = '1';

export const openApiDocument = (): Json => {
  const names = namedSchemas();
  const operations: readonly Operation[] = [
    { id: 'submitEvents', route: SUBMIT, doc: SUBMIT_DOC },
    ...(Object.keys(ROUTES) as (keyof typeof ROUTES)[]).map((id) => ({ id, route: ROUTES[id], doc: DOCS[id] })),
  ];
  return {
    openapi: '3.1.0',
    info: { title: 'Onceward', version: API_VERSION, description: ABOUT, license: { name: 'Apache-2.0' } },
    paths: {
      '/healthz': open('healthz', 'Alive', schemaOf(healthAnswer, names)),
      '/openapi.json': open('openapi', 'This document', { type: 'object' }),
      ...pathsOf(operations, names),
    },
    components: {
      securitySchemes: { bearer: { type: 'http', scheme: 'bearer', description: RIGHTS_SAY } },
      schemas: names.schemas,
      parameters: { IdempotencyKey: IDEMPOTENCY_KEY },
    },
  };
};

const ABOUT =
  'One business effect from at-least-once queues. Ids in a path are percent-encoded once. Times are ISO 8601 in UTC. ' +
  'Every answer has an X-Request-Id, under which the log knows the request. Errors are problem details with a stable code.';

const RIGHTS_SAY =
  'Each operation names the one right that it needs; a token with admin has them all. ' +
  'The name of the token is the actor of what is done with it.';

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: true,
  description: 'An id of your own for this decision: the same id again is the same decision, and completes it.',
  schema: { type: 'string', pattern: '^[!-~]{1,128}$' },
};

interface Operation {
  readonly id: string;
  readonly route: Route;
  readonly doc: Doc;
}

// ---- schemas ------------------------------------------------------------------------------------------------------

interface Names {
  readonly refs: ReadonlyMap<z.ZodMiniType, string>;
  readonly schemas: Json;
}

const namedSchemas = (): Names => {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id });
  const uri = (id: string): string => `#/components/schemas/${id}`;
  const { schemas } = z.toJSONSchema(registry, { io: 'output', uri });
  return {
    refs: new Map(Object.entries(NAMED).map(([id, schema]) => [schema, uri(id)])),
    schemas: Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, opened(schema)])),
  };
};

/** What is said of a whole document does not belong into a part of one; a list of known members is not a closed one. */
const opened = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(opened);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(
    ([name, member]) => name !== '$schema' && name !== '$id' && !(name === 'additionalProperties' && member === false),
  );
  return Object.fromEntries(kept.map(([name, member]) => [name, opened(member)]));
};

const schemaOf = (answer: z.ZodMiniType, { refs }: Names): unknown => {
  const ref = refs.get(answer);
  if (ref !== undefined) return { $ref: ref };
  if (answer instanceof z.ZodMiniUnion) {
    return { anyOf: answer.def.options.map((option) => schemaOf(option as z.ZodMiniType, { refs, schemas: {} })) };
  }
  return opened(z.toJSONSchema(answer, { io: 'output' }));
};

/** With what its members mean beside what they may be. */
const inputSchema = (input: z.ZodMiniType): Json => {
  const { $schema: _dialect, properties, ...schema } = z.toJSONSchema(input, { io: 'input' });
  if (properties === undefined) return schema;
  const meanings = MEANINGS.get(input) ?? {};
  const described = Object.entries(properties).map(([name, member]) => {
    const says = meanings[name];
    return [name, typeof member === 'object' && says !== undefined ? { ...member, description: says } : member];
  });
  return { ...schema, properties: Object.fromEntries(described) };
};

// ---- paths --------------------------------------------------------------------------------------------------------

const open = (operationId: string, summary: string, schema: unknown): Json => ({
  get: {
    operationId,
    summary,
    security: [],
    responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } },
  },
});

const pathsOf = (operations: readonly Operation[], names: Names): Json => {
  const paths = new Map<string, Record<string, unknown>>();
  for (const operation of operations) {
    const path = operation.route.path.replaceAll(/:(\w+)/g, '{$1}');
    const item = paths.get(path) ?? {};
    item[operation.route.method] = operationOf(operation, names);
    paths.set(path, item);
  }
  return Object.fromEntries(paths);
};

const operationOf = ({ id, route, doc }: Operation, names: Names): Json => ({
  operationId: id,
  summary: doc.summary,
  ...(doc.description === undefined ? {} : { description: doc.description }),
  security: [{ bearer: [route.right] }],
  parameters: [
    ...segmentsOf(route).map((name) => ({
      name,
      in: 'path',
      required: true,
      schema: { type: 'string', minLength: 1 },
    })),
    ...queryOf(route),
    ...(route.decides === true ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : []),
    ...(route.mayDecide === true ? [{ ...IDEMPOTENCY_KEY, required: false }] : []),
  ],
  ...(route.body === undefined
    ? {}
    : { requestBody: { required: true, content: { 'application/json': { schema: inputSchema(route.body) } } } }),
  responses: { ...successes(doc, names), ...problems(route, doc) },
});

const segmentsOf = ({ path }: Route): readonly string[] => [...path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);

const queryOf = ({ query }: Route): readonly Json[] => {
  if (query === undefined) return [];
  const { properties = {}, required = [] } = inputSchema(query) as { properties?: Json; required?: readonly string[] };
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    in: 'query',
    required: required.includes(name),
    schema,
  }));
};

const successes = ({ answers }: Doc, names: Names): Json =>
  Object.fromEntries(
    Object.entries(answers).map(([status, answer]) => [
      status,
      { description: 'OK', content: { 'application/json': { schema: schemaOf(answer, names) } } },
    ]),
  );

const SAYS: Readonly<Record<number, string>> = {
  400: 'Malformed: not JSON, no Idempotency-Key, or a cursor that is not of this list',
  401: 'No token, or one that is not known or was revoked',
  403: 'The token lacks the right of this operation',
  404: 'Not there',
  413: 'Too large',
  422: 'Input refused; the field is named',
  429: 'This token has failed too often lately',
  500: 'A fault of ours; it has been logged',
  503: 'Out of reach for the moment; repeat the same request',
};

const problems = (route: Route, { problems: own = [], refusals = [] }: Doc): Json => {
  const statuses = new Set([401, 403, 429, 500, 503, ...own]);
  if (segmentsOf(route).length > 0) for (const status of [404, 422]) statuses.add(status);
  if (route.query !== undefined) statuses.add(422);
  if (route.body !== undefined) for (const status of [400, 413, 422]) statuses.add(status);
  if (refusals.length > 0) statuses.add(409);
  const content = { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } };
  const response = (status: number): Json =>
    status === 409
      ? { description: `Refused in this state: ${refusals.join(', ')}`, 'x-codes': refusals, content }
      : { description: SAYS[status], content };
  return Object.fromEntries([...statuses].toSorted((a, b) => a - b).map((status) => [status, response(status)]));
};
