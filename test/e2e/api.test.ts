/** The two apps that a person or a producer talks to, in process: what they take, what they refuse, what they never say. */

import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { tokenHash } from '../../functions/http/auth.ts';
import { eventId, openTestWorld, type TestWorld } from '../support/world.ts';

const opened = async (): Promise<TestWorld> => {
  const world = openTestWorld();
  await world.destination('partner');
  await world.destination('audit');
  return world;
};

const event = (more: Readonly<Record<string, unknown>> = {}) => ({
  id: 'order-17',
  payload: { total: 100 },
  destinations: ['partner'],
  ...more,
});

/** The answer to a refusal, after it is certain that nothing was written and nothing was published. */
const refused = async (world: TestWorld, work: () => ReturnType<TestWorld['submit']>) => {
  const [written, published] = [world.store.writes.length, world.queue.published.length];
  const answer = await work();
  expect(world.store.writes.length).toBe(written);
  expect(world.queue.published.length).toBe(published);
  expect(answer.contentType).toBe('application/problem+json');
  const problem = z.parse(problemShape, answer.body);
  expect(problem.status).toBe(answer.status);
  return problem;
};

const problemShape = z.strictObject({
  type: z.literal('about:blank'),
  title: z.string().check(z.minLength(1)),
  status: z.number(),
  detail: z.string().check(z.minLength(10)),
  code: z.string().check(z.regex(/^[a-z-]+$/)),
  field: z.optional(z.string()),
});

const acceptedShape = z.strictObject({
  event: z.string(),
  acceptedAt: z.string(),
  deliveries: z.array(z.strictObject({ destination: z.string(), href: z.string() })),
});

// ---- POST /v1/events: refusals ------------------------------------------------------------------------------------

const LONG_ID = 'é'.repeat(129);

/** A name, the event or the whole body as text, and what must come back. */
const REFUSED: readonly (readonly [what: string, body: unknown, status: number, code: string, field?: string])[] = [
  ['no body at all', '', 400, 'malformed-json'],
  ['text that is no JSON', '{"id":"a"', 400, 'malformed-json'],
  ['JSON with a comment', '{"id":"a" /* b */}', 400, 'malformed-json'],
  ['JSON with a trailing comma', '{"id":"a",}', 400, 'malformed-json'],
  ['a byte order mark', '\uFEFF{"id":"a"}', 400, 'malformed-json'],
  ['a key that stands twice', '{"id":"a","id":"b"}', 400, 'malformed-json', 'id'],
  [
    'a key that stands twice inside the payload',
    '{"id":"a","payload":{"n":1,"n":2}}',
    400,
    'malformed-json',
    'payload.n',
  ],
  ['a text instead of an event', '"order-17"', 422, 'invalid'],
  ['no id', event({ id: undefined }), 422, 'invalid', 'id'],
  ['a number as id', '{"id":9007199254740993,"payload":1,"destinations":["partner"]}', 422, 'invalid', 'id'],
  ['a small number as id', event({ id: 17 }), 422, 'invalid', 'id'],
  ['null as id', event({ id: null }), 422, 'invalid', 'id'],
  ['an empty id', event({ id: '' }), 422, 'invalid', 'id'],
  ['an id of 258 bytes', event({ id: LONG_ID }), 422, 'invalid', 'id'],
  ['an id with a line end', event({ id: 'a\nb' }), 422, 'invalid', 'id'],
  ['an id with NUL', event({ id: 'a\u0000' }), 422, 'invalid', 'id'],
  ['an id with a C1 control', event({ id: 'a\u0085' }), 422, 'invalid', 'id'],
  ['half of a surrogate pair as id', '{"id":"\\ud800","payload":1,"destinations":["partner"]}', 422, 'invalid', 'id'],
  ['an id that no URL can carry', event({ id: '..' }), 422, 'invalid', 'id'],
  ['a type that is no text', event({ type: 5 }), 422, 'invalid', 'type'],
  ['a type with a control character', event({ type: 'a\tb' }), 422, 'invalid', 'type'],
  ['no destinations', event({ destinations: undefined }), 422, 'invalid', 'destinations'],
  ['an empty list of destinations', event({ destinations: [] }), 422, 'invalid', 'destinations'],
  ['a destination outside of a list', event({ destinations: 'partner' }), 422, 'invalid', 'destinations'],
  ['eleven destinations', event({ destinations: Array(11).fill('partner') }), 422, 'invalid', 'destinations'],
  ['a destination twice', event({ destinations: ['partner', 'partner'] }), 422, 'invalid', 'destinations[1]'],
  ['a number as destination', event({ destinations: ['partner', 5] }), 422, 'invalid', 'destinations[1]'],
  ['a destination with a control character', event({ destinations: ['a\u007f'] }), 422, 'invalid', 'destinations[0]'],
  [
    'a destination that does not exist',
    event({ destinations: ['nobody'] }),
    422,
    'unknown-destination',
    'destinations[0]',
  ],
  [
    'one that does not exist among others',
    event({ destinations: ['partner', 'nobody'] }),
    422,
    'unknown-destination',
    'destinations[1]',
  ],
  ['deliverAt without a zone', event({ deliverAt: '2026-03-01T10:00:00' }), 422, 'invalid', 'deliverAt'],
  ['a date alone as deliverAt', event({ deliverAt: '2026-03-01' }), 422, 'invalid', 'deliverAt'],
  ['deliverAt in words', event({ deliverAt: 'tomorrow' }), 422, 'invalid', 'deliverAt'],
  ['a day that does not exist', event({ deliverAt: '2026-02-30T10:00:00Z' }), 422, 'invalid', 'deliverAt'],
  ['deliverAt in seconds and a fraction', event({ deliverAt: 1.5 }), 422, 'invalid', 'deliverAt'],
  ['deliverAt in two years', event({ deliverAt: '2028-01-01T00:00:00Z' }), 422, 'invalid', 'deliverAt'],
  ['no payload', event({ payload: undefined }), 422, 'invalid', 'payload'],
  ['both payloads', event({ payloadBase64: 'AA==', contentType: 'a/b' }), 422, 'invalid', 'payloadBase64'],
  [
    'broken base64',
    event({ payload: undefined, payloadBase64: 'AA=', contentType: 'a/b' }),
    422,
    'invalid',
    'payloadBase64',
  ],
  ['base64 without its type', event({ payload: undefined, payloadBase64: 'AA==' }), 422, 'invalid', 'contentType'],
  ['a member that no event has', event({ delay: 5 }), 422, 'invalid', 'delay'],
  ['a payload over 256 KB', event({ payload: 'x'.repeat(262_143) }), 413, 'payload-too-large', 'payload'],
  [
    'a payload over 256 KB in base64',
    event({ payload: undefined, payloadBase64: Buffer.alloc(262_145).toString('base64'), contentType: 'a/b' }),
    413,
    'payload-too-large',
    'payloadBase64',
  ],
  ['a body over 2 MB', ' '.repeat(2_097_153), 413, 'body-too-large'],
];

describe('an event that cannot be taken', () => {
  it.each(REFUSED)(
    'is refused, its field named, and nothing is written: %s',
    async (_what, body, status, code, field) => {
      const world = await opened();
      const text = typeof body === 'string' ? body : JSON.stringify(body);
      const problem = await refused(world, () => world.submit(text));
      expect([problem.status, problem.code, problem.field]).toEqual([status, code, field]);
      if (field !== undefined) expect(problem.detail).toContain(code === 'unknown-destination' ? 'nobody' : field);
    },
  );

  it('would be taken without its fault: the base of the table is good', async () => {
    const world = await opened();
    expect((await world.submit(event())).status).toBe(202);
    expect((await world.submit(event({ id: 'é'.repeat(128) }))).status).toBe(202);
    expect((await world.submit(event({ id: 'largest', payload: 'x'.repeat(262_142) }))).status).toBe(202);
    expect((await world.submit(event({ id: 'later', deliverAt: '2026-03-01T10:00:00+01:00' }))).status).toBe(202);
  });

  it('never finds its content in the answer', async () => {
    const world = await opened();
    const problem = await refused(world, () => world.submit(event({ payload: { card: '4111111111111111' }, type: 5 })));
    expect(JSON.stringify(problem)).not.toContain('4111');
  });
});

// ---- POST /v1/events: acceptance ----------------------------------------------------------------------------------

describe('an event that is taken', () => {
  it('stands in the ledger with all its deliveries before it is answered', async () => {
    const world = await opened();
    const answer = await world.submit(event({ destinations: ['partner', 'audit'] }));
    expect(answer.status).toBe(202);
    expect(answer.body).toEqual({
      event: 'order-17',
      acceptedAt: '2026-01-01T00:00:00.000Z',
      deliveries: [
        { destination: 'partner', href: '/v1/events/order-17/deliveries/partner' },
        { destination: 'audit', href: '/v1/events/order-17/deliveries/audit' },
      ],
    });
    expect((await world.row('order-17', 'partner')).status).toBe('pending');
    expect((await world.row('order-17', 'audit')).status).toBe('pending');
    expect(world.queue.published).toHaveLength(2);
  });

  it('gives the same answer when it comes again, and writes and publishes nothing', async () => {
    const world = await opened();
    const first = await world.submit('{"id":"a","payload":{"x":1,"y":[1,2]},"destinations":["partner","audit"]}');
    await world.clock.advance(3_600_000);
    await world.run(0);
    const [written, published] = [world.store.writes.length, world.queue.published.length];
    const again = await world.submit('{"id":"a","payload":{"y":[1, 2],"x":1},"destinations":["audit","partner"]}');
    expect([again.status, again.text]).toEqual([first.status, first.text]);
    expect([world.store.writes.length, world.queue.published.length]).toEqual([written, published]);
  });

  it('keeps its first type and time, whatever a repeat says', async () => {
    const world = await opened();
    await world.submit(event({ type: 'order.paid', deliverAt: '2026-01-02T00:00:00Z' }));
    expect((await world.submit(event({ type: 'other' }))).status).toBe(202);
    const shown = await world.call('operator', 'GET', '/v1/events/order-17', { token: world.token('view') });
    expect(shown.body).toMatchObject({ type: 'order.paid', deliverAt: '2026-01-02T00:00:00.000Z' });
  });

  it.each([
    ['another payload', event({ payload: { total: 101 } })],
    ['the same numbers in another order', event({ payload: [2, 1] })],
    ['one destination more', event({ destinations: ['partner', 'audit'] })],
    ['another destination', event({ destinations: ['audit'] })],
  ])('is a 409 and one conflict item under the same id with %s; the first one goes on', async (_what, other) => {
    const world = await opened();
    await world.submit(
      event({ payload: other.payload === undefined ? 1 : Array.isArray(other.payload) ? [1, 2] : { total: 100 } }),
    );
    const first = await world.row('order-17', 'partner');
    const writes = await world.writesOf(async () => {
      const answer = await world.submit(other);
      expect(answer.status).toBe(409);
      expect(answer.body).toMatchObject({ code: 'event-conflict', field: 'id' });
      expect((await world.submit(other)).status).toBe(409);
    });
    expect(writes.map(({ ref }) => ref?.item)).toEqual(['conflict']);
    expect(await world.row('order-17', 'partner')).toEqual(first);
  });

  it('keeps at most ten conflicts, however many contents come under its id at once, each content once', async () => {
    const world = await opened();
    await world.submit(event());
    const totals = Array.from({ length: 40 }, (_, n) => n % 20);
    const answers = await Promise.all(totals.map((total) => world.submit(event({ payload: { other: total } }))));
    expect(answers.map(({ status }) => status)).toEqual(totals.map(() => 409));
    const items = await world.records.loadEvent(eventId('order-17'));
    const conflicts = items.flatMap((item) => (item.item === 'conflict' ? [item] : []));
    expect(conflicts.map(({ n }) => n).toSorted((a, b) => a - b)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
    expect(new Set(conflicts.map(({ fingerprint }) => fingerprint)).size).toBe(10);
  });

  it('keeps at most ten conflicts, however many contents come under its id', async () => {
    const world = await opened();
    await world.submit(event());
    const writes = await world.writesOf(async () => {
      for (let total = 0; total < 15; total += 1) {
        expect((await world.submit(event({ payload: { other: total } }))).status).toBe(409);
      }
    });
    expect(writes).toHaveLength(10);
    const shown = await world.call('operator', 'GET', '/v1/events/order-17', { token: world.token('view') });
    expect(shown.body).toMatchObject({ conflicts: 10 });
  });

  it.each([0, 1, 2, 3, 4, 5])(
    'is completed by a repeat when the ledger fails after %d requests: no answer, no promise, nothing twice',
    async (requests) => {
      const world = await opened();
      const whole = event({ destinations: ['partner', 'audit'] });
      let left = requests + 1; // the token is asked for first
      world.ledgerHooks.before = () => {
        left -= 1;
        if (left < 0) world.ledgerAway();
        if (left < 0) return world.ledgerHooks.before?.({ kind: 'load' });
        return undefined;
      };
      const broken = await world.submit(whole);
      expect(broken.status === 503 || broken.status === 202).toBe(true);
      world.ledgerBack();
      const answer = await world.submit(whole);
      expect(answer.status).toBe(202);
      expect(z.parse(acceptedShape, answer.body).deliveries).toHaveLength(2);
      await world.run(120_000);
      await world.tick();
      await world.run(0);
      expect((await world.row('order-17', 'partner')).status).toBe('delivered');
      expect((await world.row('order-17', 'audit')).status).toBe('delivered');
      expect(world.sender.sends).toHaveLength(2);
    },
  );

  it('is accepted although the queue is away: the sweep publishes it', async () => {
    const world = await opened();
    world.queue.away = true;
    expect((await world.submit(event())).status).toBe(202);
    world.queue.away = false;
    await world.run(60_000);
    expect(world.sender.sends).toEqual([]);
    await world.tick();
    await world.run(0);
    expect((await world.row('order-17', 'partner')).status).toBe('delivered');
  });

  it('asks the caller to repeat while the ledger is away', async () => {
    const world = await opened();
    world.ledgerAway();
    const problem = await refused(world, () => world.submit(event()));
    expect([problem.status, problem.code]).toEqual([503, 'ledger-unavailable']);
  });
});

describe('an array of events', () => {
  it('is answered one by one: a bad one stops no other', async () => {
    const world = await opened();
    const answer = await world.submit([
      event({ id: 'a' }),
      event({ id: 5 }),
      event({ id: 'b', destinations: ['nobody'] }),
      event({ id: 'a' }),
      event({ id: 'a', payload: 2 }),
      'text',
      event({ id: 'c' }),
    ]);
    expect(answer.status).toBe(207);
    const items = z.parse(
      z.object({ items: z.array(z.object({ status: z.number(), field: z.optional(z.string()) })) }),
      answer.body,
    ).items;
    expect(items.map(({ status }) => status)).toEqual([202, 422, 422, 202, 409, 422, 202]);
    expect(items.map(({ field }) => field)).toEqual([
      undefined,
      'id',
      'destinations[0]',
      undefined,
      'id',
      undefined,
      undefined,
    ]);
    expect((await world.row('c', 'partner')).status).toBe('pending');
  });

  it.each([[0], [51]])('of %d events is refused as a whole', async (count) => {
    const world = await opened();
    const all = Array.from({ length: count }, (_, index) => event({ id: `e${index}` }));
    const problem = await refused(world, () => world.submit(all));
    expect([problem.status, problem.code]).toEqual([422, 'event-count']);
  });

  it('of 50 good ones is a 202', async () => {
    const world = await opened();
    const all = Array.from({ length: 50 }, (_, index) => event({ id: `e${index}` }));
    expect((await world.submit(all)).status).toBe(202);
    expect(world.queue.published).toHaveLength(50);
  });
});

// ---- who may ------------------------------------------------------------------------------------------------------

const ROUTES = [
  ['intake', 'POST', '/v1/events', 'send', 202],
  ['operator', 'GET', '/v1/events/order-17', 'view', 200],
  ['operator', 'GET', '/v1/events/order-17/deliveries/partner', 'view', 200],
  ['operator', 'GET', '/v1/destinations', 'view', 200],
  ['operator', 'GET', '/v1/destinations/partner', 'view', 200],
  ['operator', 'PUT', '/v1/destinations/partner', 'admin', 200],
] as const;
const BODIES: Readonly<Record<string, unknown>> = {
  POST: event(),
  PUT: { url: 'https://partner.example/hook', repeatSafe: true },
};

describe.each(ROUTES)('%s %s %s', (app, method, path, right, status) => {
  const called = async (world: TestWorld, options: { token?: string; headers?: Record<string, string> }) =>
    world.call(app, method, path, { ...options, ...(method === 'GET' ? {} : { body: BODIES[method] }) });

  it(`is open to a token with the right "${right}", and to an administrator`, async () => {
    const world = await opened();
    await world.submit(event());
    expect((await called(world, { token: world.token(right) })).status).toBe(status);
    expect((await called(world, { token: world.token('admin') })).status).toBe(status);
  });

  it('is closed to every other right, by name, and writes nothing', async () => {
    const world = await opened();
    await world.submit(event());
    for (const other of ['view', 'send', 'pause', 'resend', 'decide'] as const) {
      if (other === right) continue;
      const problem = await refused(world, () => called(world, { token: world.token(other) }));
      expect([problem.status, problem.code]).toEqual([403, 'right-missing']);
      expect(problem.detail).toContain(right);
    }
  });

  it.each([
    ['no token', {}],
    ['a token that nobody gave', { token: 'a-token-that-nobody-gave' }],
    ['two tokens', { headers: { authorization: 'Bearer token-for-admin-0123456789, Bearer b' } }],
    ['another scheme', { headers: { authorization: 'Basic token-for-admin-0123456789' } }],
    ['no scheme', { headers: { authorization: 'token-for-admin-0123456789' } }],
    ['a token of 600 characters', { token: 'x'.repeat(600) }],
  ])('asks who it is: %s', async (_what, options) => {
    const world = await opened();
    const problem = await refused(world, () => called(world, options));
    expect([problem.status, problem.code]).toEqual([401, 'not-signed-in']);
  });

  it('is closed to a token that was revoked', async () => {
    const world = await opened();
    await world.submit(event());
    const found = await world.records.load({ item: 'token', hash: tokenHash(world.token(right)) });
    if (found.kind !== 'found') throw new Error('no token');
    await world.records.replace(found.item, { ...found.item, version: 2, revokedAtMs: world.clock.nowMs() });
    expect((await called(world, { token: world.token(right) })).status).toBe(401);
  });
});

// ---- ids in a path ------------------------------------------------------------------------------------------------

describe('an id in a path', () => {
  const IDS = [
    'a/b',
    'a%2Fb',
    'a%252Fb',
    'é',
    'e\u0301',
    ' a ',
    'a#b',
    'a?b=c',
    'a+b',
    '%',
    'a:b|c',
    '😀',
    'a\\b',
    '...',
  ];

  it.each(IDS)('is decoded exactly once: %j', async (id) => {
    const world = await opened();
    await world.destination(id);
    for (const one of IDS) await world.submit(event({ id: one, payload: one, destinations: ['partner'] }));
    await world.submit(event({ id: `${id}!`, destinations: [id] }));
    const view = { token: world.token('view') };
    const shown = await world.call('operator', 'GET', `/v1/events/${encodeURIComponent(id)}`, view);
    expect(shown.body).toMatchObject({ event: id, payloadBytes: Buffer.byteLength(JSON.stringify(id)) });
    const destination = await world.call('operator', 'GET', `/v1/destinations/${encodeURIComponent(id)}`, view);
    expect(destination.body).toMatchObject({ destination: id });
    const [first] = z.parse(
      acceptedShape,
      (await world.submit(event({ id: `${id}!`, destinations: [id] }))).body,
    ).deliveries;
    const delivery = await world.call('operator', 'GET', first?.href ?? '', view);
    expect(delivery.body).toMatchObject({ event: `${id}!`, destination: id, status: 'pending' });
  });

  it.each(['%zz', '%', '%E9', '%C3', 'a%00b', 'a%0Ab', '%ED%A0%80', 'x'.repeat(257)])(
    'is refused where it is broken or could be none: %s',
    async (raw) => {
      const world = await opened();
      const view = { token: world.token('view') };
      for (const path of [`/v1/events/${raw}`, `/v1/events/${raw}/deliveries/partner`]) {
        const problem = await refused(world, () => world.call('operator', 'GET', path, view));
        expect([problem.status, problem.field]).toEqual([422, 'event']);
      }
      const put = { token: world.token('admin'), body: BODIES['PUT'] };
      const problem = await refused(world, () => world.call('operator', 'PUT', `/v1/destinations/${raw}`, put));
      expect([problem.status, problem.field]).toEqual([422, 'destination']);
    },
  );

  it('names nothing: a problem says so', async () => {
    const world = await opened();
    const view = { token: world.token('view') };
    for (const path of ['/v1/events/none', '/v1/events/none/deliveries/partner', '/v1/destinations/none']) {
      const problem = await refused(world, () => world.call('operator', 'GET', path, view));
      expect([problem.status, problem.code]).toEqual([404, 'not-found']);
    }
    const problem = await refused(world, () => world.call('operator', 'GET', '/v1/nothing', view));
    expect([problem.status, problem.code]).toEqual([404, 'no-such-route']);
  });

  it.each([
    ['operator', 'DELETE', '/v1/stats', 'GET, HEAD'],
    ['operator', 'POST', '/v1/destinations/partner', 'PUT, GET, HEAD, DELETE'],
    ['operator', 'GET', '/v1/destinations/partner/pause', 'POST'],
    ['intake', 'GET', '/v1/events', 'POST'],
  ] as const)('has another method than %s %s %s: it is told which', async (app, method, path, allow) => {
    const world = await opened();
    const authorization = `Bearer ${world.token('admin')}`;
    const answer = await world.apps[app].request(path, { method, headers: { authorization } });
    expect(answer.status).toBe(405);
    expect((answer.headers.get('allow') ?? '').split(', ').toSorted()).toEqual(allow.split(', ').toSorted());
    expect(await answer.json()).toMatchObject({ code: 'wrong-method', status: 405 });
  });
});
