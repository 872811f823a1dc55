/**
 * The document and the routes say the same: every operation is called with input that its schema allows and with input
 * that it does not, in a world where all kinds of rows stand, and each answer is held against the document.
 */
import { Validator } from '@seriousme/openapi-schema-validator';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Right } from '../../functions/core/items.ts';
import { RIGHTS } from '../../functions/http/auth.ts';
import { DOCUMENT, faultsOf, OPERATIONS, type Operation } from '../support/api-document.ts';
import { allowedBy, type Schema, spoiltBy } from '../support/json-schema.ts';
import { type Answered, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';
import { pause } from '../support/world-states.ts';

const isSecured = (operation: Operation): operation is Operation & { readonly right: Right } =>
  operation.right !== undefined;

const SECURED = OPERATIONS.filter(isSecured);

/** Rows in many states, at two destinations; `unsafe` is paused, and an operation is planned. */
const populated = async (): Promise<{ readonly world: TestWorld; readonly operation: string }> => {
  const world = openTestWorld();
  await world.destination('partner', { schedule: [5], headers: { authorization: 'x' }, ratePerSecond: 5 });
  await world.destination('unsafe', { repeatSafe: false, keyLifeHours: null, concurrency: 3 });
  for (const [event, destination, ...reactions] of [
    ['delivered', 'partner', answered(204)],
    ['failed', 'partner', answered(500)],
    ['rejected', 'partner', answered(422)],
    ['in-doubt', 'unsafe', unanswered('timeout')],
  ] as const) {
    await world.accepted(event, destination);
    world.sender.script(...reactions);
    await world.deliver(event, destination);
  }
  await world.submit({ id: 'both', type: 'order.paid', payload: [1], destinations: ['partner', 'unsafe'] });
  await pause(world, 'unsafe');
  await world.deliver('both', 'unsafe');
  const planned = await world.call('operator', 'POST', '/v1/redrives', {
    token: world.token('resend'),
    headers: { 'idempotency-key': 'plan' },
    body: { source: 'quarantine', limit: 10, why: 'a plan for all to see' },
  });
  return { world, operation: (planned.body as { operation: string }).operation };
};

const EVENTS = ['delivered', 'failed', 'rejected', 'in-doubt', 'both', 'nowhere'];

const segment = (name: string, operation: string): fc.Arbitrary<string> => {
  const known = { event: EVENTS, destination: ['partner', 'unsafe', 'nowhere'], operation: [operation, 'nowhere'] };
  const names = known[name as keyof typeof known] ?? ['ops', 'nowhere'];
  // A URL cannot carry the two: with or without escapes they are steps of a path, and lead to another route.
  const other = fc.string({ minLength: 1, maxLength: 9 }).filter((text) => text !== '.' && text !== '..');
  return fc.oneof({ weight: 9, arbitrary: fc.constantFrom(...names) }, other);
};

interface Request {
  readonly path: string;
  readonly body: unknown;
  readonly key: string;
}

const pathOf = ({ path, query }: Operation, operation: string): fc.Arbitrary<string> => {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
  const parameters = fc.record(
    Object.fromEntries(
      query.map(({ name, schema }) => [name, name === 'cursor' ? fc.constant('') : allowedBy(schema)]),
    ),
    { requiredKeys: query.filter(({ required }) => required).map(({ name }) => name) },
  );
  return fc.tuple(fc.tuple(...names.map((name) => segment(name, operation))), parameters).map(([ids, chosen]) => {
    const filled = names.reduce((text, name, index) => text.replace(`{${name}}`, encode(ids[index] ?? '')), path);
    const search = new URLSearchParams(
      Object.fromEntries(Object.entries(chosen).map(([name, value]) => [name, String(value)])),
    );
    return search.size === 0 ? filled : `${filled}?${search}`;
  });
};

const encode = (id: string): string => encodeURIComponent(id).replaceAll('.', '%2E');

/** Quotes around it are not of it, so that a pair of them alone is none. */
const REQUEST_KEY = fc.stringMatching(/^[!-~]{1,20}$/).filter((key) => key !== '""');

const requestOf = (operation: Operation, id: string, body: fc.Arbitrary<unknown>): fc.Arbitrary<Request> =>
  fc.record({ path: pathOf(operation, id), body, key: REQUEST_KEY });

const send = (world: TestWorld, operation: Operation, { path, body, key }: Request): Promise<Answered> =>
  world.call(operation.path === '/v1/events' ? 'intake' : 'operator', operation.method.toUpperCase(), path, {
    ...(operation.right === undefined ? {} : { token: world.token(operation.right as Right) }),
    ...(operation.decides ? { headers: { 'idempotency-key': key } } : {}),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

/** Fields whose rules are more than a schema says: two members together, bytes, a policy, what exists. */
const BEYOND: Readonly<Record<string, RegExp>> = {
  submitEvents: /^(id|payload|payloadBase64|contentType|type|deliverAt|destinations(\[\d+\])?)$/,
  putDestination: /^(url|schedule|headers\..*|signingSecret|destination)$/,
  listDeliveries: /^destination$/,
  planRedrive: /^(reason|destination)$/,
  replayEvent: /^destinations\[\d+\]$/,
  rotateSecret: /^signingSecret$/,
  showShadow: /^(from|acceptedSince)$/,
  compareShadow: /^(from|acceptedSince|counts(\[\d+\])?)$/,
};

const RUNS = 25;

describe('the document', () => {
  it('is OpenAPI 3.1', async () => {
    const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(DOCUMENT)));
    expect(errors).toBeUndefined();
    expect(valid).toBe(true);
  });

  it('is served to anybody, as it is', async () => {
    const answer = await openTestWorld().call('operator', 'GET', '/openapi.json');
    expect(answer.status).toBe(200);
    expect(answer.body).toEqual(DOCUMENT);
  });

  it('has every route of the two apps, and no other; pages are for people and not in it', () => {
    const { apps } = openTestWorld();
    const routes = [apps.intake, apps.operator].flatMap((app) =>
      (app as unknown as { routes: { method: string; path: string }[] }).routes
        .filter(({ method, path }) => method !== 'ALL' && !path.startsWith('/console'))
        .map(({ method, path }) => `${method.toLowerCase()} ${path.replaceAll(/:(\w+)/g, '{$1}')}`),
    );
    expect([...new Set(routes)].toSorted()).toEqual(
      OPERATIONS.map(({ method, path }) => `${method} ${path}`).toSorted(),
    );
  });

  it('says of every member of an input what it means', () => {
    const members = OPERATIONS.filter(({ id }) => id !== 'submitEvents').flatMap(({ id, body, query }) => [
      ...Object.entries(body?.properties ?? {}).map(([name, schema]) => ({ id, name, schema })),
      ...query.map(({ name, schema }) => ({ id, name, schema })),
    ]);
    expect(members.length).toBeGreaterThan(40);
    for (const { id, name, schema } of members) {
      expect([id, name, 'description' in schema]).toEqual([id, name, true]);
    }
  });

  it('names each operation once', () => {
    expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
  });
});

describe('input that the document allows', () => {
  it.each(OPERATIONS.map((operation) => [operation.id, operation] as const))(
    'is understood, and answered as described: %s',
    async (id, operation) => {
      const { world, operation: planned } = await populated();
      const body = operation.body === undefined ? fc.constant(undefined) : allowedBy(operation.body);
      await fc.assert(
        fc.asyncProperty(requestOf(operation, planned, body), async (request) => {
          // A drill keeps to the rate of its destination.
          const answer = await world.finish(send(world, operation, request));
          expect(faultsOf(operation, answer)).toEqual([]);
          expect([400, 401, 403, 413, 429, 500, 503]).not.toContain(answer.status);
          const { code, field = '' } = answer.body as { code?: string; field?: string };
          const beyond = /^(event|destination|operation|name)$/.test(field) || BEYOND[id]?.test(field) === true;
          if (answer.status === 422 && code === 'invalid' && !beyond) expect(answer.body).toBe('understood');
        }),
        { numRuns: RUNS },
      );
    },
  );
});

describe('input that the document does not allow', () => {
  const withBody = SECURED.flatMap((operation) => {
    const body = operation.body?.anyOf?.[0] ?? operation.body;
    return body === undefined ? [] : [[operation.id, operation, body] as const];
  });

  it.each(withBody)('is refused as described, and nothing is written: %s', async (_id, operation, schema: Schema) => {
    const { world, operation: planned } = await populated();
    await fc.assert(
      fc.asyncProperty(requestOf(operation, planned, spoiltBy(schema)), async (request) => {
        const written = world.store.writes.length;
        const answer = await send(world, operation, request);
        expect(faultsOf(operation, answer)).toEqual([]);
        expect([404, 413, 422]).toContain(answer.status);
        expect(world.store.writes).toHaveLength(written);
      }),
      { numRuns: RUNS },
    );
  });

  it.each(SECURED.filter(({ body }) => body !== undefined).map((operation) => [operation.id, operation] as const))(
    'is refused when it is no JSON, or no object: %s',
    async (_id, operation) => {
      const { world } = await populated();
      const path = operation.path.replaceAll(/\{\w+\}/g, 'partner');
      for (const body of ['{', '[1', '"text"', 'null', '{"a":1,"a":2}']) {
        const written = world.store.writes.length;
        const app = operation.path === '/v1/events' ? 'intake' : 'operator';
        const answer = await world.call(app, operation.method.toUpperCase(), path, {
          token: world.token(operation.right),
          headers: { 'idempotency-key': 'k' },
          body,
        });
        expect(faultsOf(operation, answer)).toEqual([]);
        expect([400, 422]).toContain(answer.status);
        expect(world.store.writes).toHaveLength(written);
      }
    },
  );

  it.each(SECURED.filter(({ query }) => query.length > 0).map((operation) => [operation.id, operation] as const))(
    'is refused in a query: %s',
    async (_id, operation) => {
      const { world, operation: planned } = await populated();
      const path = operation.path.replace('{operation}', planned).replace('{destination}', 'partner');
      for (const query of ['stranger=1', 'limit=0', 'limit=101', 'limit=x', 'cursor=~']) {
        const search = operation.id === 'listDeliveries' ? `list=open&${query}` : query;
        const answer = await world.call('operator', 'GET', `${path}?${search}`, { token: world.token('view') });
        expect(faultsOf(operation, answer)).toEqual([]);
        expect([400, 422]).toContain(answer.status);
      }
    },
  );

  it('a decision without its Idempotency-Key, or with one that no header carries', async () => {
    const { world } = await populated();
    const decisions = SECURED.filter(({ decides }) => decides);
    expect(decisions.length).toBeGreaterThan(9);
    for (const operation of decisions) {
      for (const headers of [{}, { 'idempotency-key': 'a b' }, { 'idempotency-key': 'x'.repeat(129) }]) {
        const path = operation.path.replaceAll(/\{\w+\}/g, 'partner');
        const options = { token: world.token(operation.right), headers, body: { reason: 'r', why: 'w' } };
        const answer = await world.call('operator', operation.method.toUpperCase(), path, options);
        expect([operation.id, answer.status, faultsOf(operation, answer)]).toEqual([operation.id, 400, []]);
      }
    }
  });
});

describe('rights', () => {
  const MATRIX = SECURED.flatMap((operation) => RIGHTS.map((right) => [operation.id, right, operation] as const));

  // The right is looked at before anything else, so that one world does for all.
  const world = openTestWorld();

  it.each(MATRIX)('%s with the right "%s" alone', async (_id, right, operation) => {
    const path = operation.path.replaceAll(/\{\w+\}/g, 'nowhere');
    const app = operation.path === '/v1/events' ? 'intake' : 'operator';
    const answer = await world.call(app, operation.method.toUpperCase(), path, { token: world.token(right) });
    expect(faultsOf(operation, answer)).toEqual([]);
    if (right === operation.right || right === 'admin') expect([401, 403]).not.toContain(answer.status);
    else expect(answer).toMatchObject({ status: 403, body: { code: 'right-missing' } });
  });

  it('nothing is there for who has no token, but that it lives and what it is', async () => {
    for (const operation of OPERATIONS) {
      const app = operation.path === '/v1/events' ? 'intake' : 'operator';
      const path = operation.path.replaceAll(/\{\w+\}/g, 'partner');
      const answer = await world.call(app, operation.method.toUpperCase(), path, {});
      expect([operation.id, answer.status]).toEqual([operation.id, isSecured(operation) ? 401 : 200]);
      expect(faultsOf(operation, answer)).toEqual([]);
    }
  });
});

describe('the check itself', () => {
  it('fails for an answer with a member that is not described, one that is missing, and a status that is not', () => {
    const stats = OPERATIONS.find(({ id }) => id === 'showStats');
    if (stats === undefined) throw new Error('no stats');
    const body = {
      open: 0,
      parked: 0,
      quarantined: 0,
      capped: [],
      deadLetters: null,
      largestOverdueMs: 0,
      lastSweepAt: null,
      queue: null,
    };
    const answer = { status: 200, contentType: 'application/json', text: '', body };
    const { open: _open, ...less } = body;
    expect(faultsOf(stats, answer)).toEqual([]);
    expect(faultsOf(stats, { ...answer, body: { ...body, more: 1 } })).toHaveLength(1);
    expect(faultsOf(stats, { ...answer, body: less })).toHaveLength(1);
    expect(faultsOf(stats, { ...answer, status: 418 })).toHaveLength(1);
  });
});
