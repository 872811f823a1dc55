/** Setting up destinations over the API: every bad setting by its name, and no secret in any answer but the first. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { destinationId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

const row = z.object({ kind: z.string(), input: z.string(), verdict: z.string(), why: z.string(), id: z.string() });
const URLS = readFileSync(new URL('../cases/corpora.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line): unknown => JSON.parse(line))
  .filter((one) => z.object({ kind: z.literal('url') }).safeParse(one).success)
  .map((one) => z.parse(row, one));

const put = (world: TestWorld, body: unknown, id = 'partner') =>
  world.call('operator', 'PUT', `/v1/destinations/${id}`, { token: world.token('admin'), body });

const show = (world: TestWorld, id = 'partner') =>
  world.call('operator', 'GET', `/v1/destinations/${id}`, { token: world.token('view') });

const GOOD = { url: 'https://partner.example/hook', repeatSafe: true };

describe('the URL of a destination', () => {
  it('is tried with all rows of the corpus', () => {
    expect(URLS).toHaveLength(132);
    expect(URLS.filter(({ verdict }) => verdict.startsWith('DENY'))).toHaveLength(117);
  });

  it.each(URLS.filter(({ verdict }) => verdict.startsWith('DENY')))(
    'is refused, and nothing is written: $input ($why) [$id]',
    async ({ input }) => {
      const world = openTestWorld();
      const writes = await world.writesOf(async () => {
        const answer = await put(world, { ...GOOD, url: input });
        expect(answer.status).toBe(422);
        expect(answer.contentType).toBe('application/problem+json');
        expect(answer.body).toMatchObject({ code: 'invalid', field: 'url' });
      });
      expect(writes).toEqual([]);
    },
  );

  it.each(URLS.filter(({ verdict }) => verdict === 'ALLOW'))('is taken: $input ($why) [$id]', async ({ input }) => {
    const world = openTestWorld();
    expect((await put(world, { ...GOOD, url: input })).status).toBe(201);
  });

  it('is refused where it points at this service itself', async () => {
    const world = openTestWorld({ policy: { allowLocal: false, ownHosts: ['push.onceward.example'] } });
    const answer = await put(world, { ...GOOD, url: 'https://push.onceward.example/push/infrai' });
    expect(answer.body).toMatchObject({ status: 422, field: 'url' });
  });

  it('may be on this machine in the local world only', async () => {
    const local = openTestWorld({ policy: { allowLocal: true } });
    expect((await put(local, { ...GOOD, url: 'http://127.0.0.1:8787/x' })).status).toBe(201);
    expect((await put(openTestWorld(), { ...GOOD, url: 'http://127.0.0.1:8787/x' })).status).toBe(422);
  });
});

describe('a setting of a destination', () => {
  it.each<[what: string, body: unknown, status: number, field: string | undefined]>([
    ['no body', '', 422, undefined],
    ['broken JSON', '{', 400, undefined],
    ['a setting twice', '{"url":"https://a.example/","url":"https://b.example/"}', 400, 'url'],
    ['a list', [GOOD], 422, undefined],
    ['no URL', { repeatSafe: true }, 422, 'url'],
    ['no answer to whether a repeat is safe', { url: GOOD.url }, 422, 'repeatSafe'],
    ['a text instead of true or false', { ...GOOD, repeatSafe: 'true' }, 422, 'repeatSafe'],
    ['a setting that does not exist', { ...GOOD, retries: 5 }, 422, 'retries'],
    [
      'a secret of too few bytes',
      { ...GOOD, signingSecret: `whsec_${Buffer.alloc(23).toString('base64')}` },
      422,
      'signingSecret',
    ],
    ['a header of ours', { ...GOOD, headers: { 'Idempotency-Key': 'x' } }, 422, 'headers.Idempotency-Key'],
    ['a body over 2 MB', `"${'x'.repeat(2_097_152)}"`, 413, undefined],
  ])('is refused by its name, and nothing is written: %s', async (_what, body, status, field) => {
    const world = openTestWorld();
    const writes = await world.writesOf(async () => {
      const answer = await put(world, body);
      expect(answer.status).toBe(status);
      expect(answer.contentType).toBe('application/problem+json');
      expect(z.parse(z.object({ field: z.optional(z.string()) }), answer.body).field).toBe(field);
    });
    expect(writes).toEqual([]);
  });

  it('never comes back in a problem when it is a secret', async () => {
    const world = openTestWorld();
    const headers = { authorization: 'Bearer sesame-open-now\n' };
    const signingSecret = 'whsec_not-base64-but-secret';
    expect((await put(world, { ...GOOD, headers })).text).not.toContain('sesame');
    expect((await put(world, { ...GOOD, signingSecret })).text).not.toContain('not-base64-but-secret');
  });

  it('is changed by another PUT; what was left out goes back to its default', async () => {
    const world = openTestWorld();
    await put(world, { ...GOOD, timeoutMs: 5_000, ratePerSecond: 2 });
    await world.clock.advance(60_000);
    const changed = await put(world, { ...GOOD, timeoutMs: 3_000 });
    expect(changed.status).toBe(200);
    expect((await show(world)).body).toMatchObject(z.parse(z.looseObject({}), changed.body));
    expect(changed.body).toMatchObject({
      timeoutMs: 3_000,
      createdAt: '2026-01-01T00:00:00.000Z',
      updatedAt: '2026-01-01T00:01:00.000Z',
    });
    expect(changed.body).not.toHaveProperty('ratePerSecond');
  });
});

describe('a signing secret', () => {
  const secretOf = (body: unknown): string => z.parse(z.object({ signingSecret: z.string() }), body).signingSecret;

  it('is shown once, at creation, where it was made here', async () => {
    const world = openTestWorld();
    const created = await put(world, GOOD);
    const secret = secretOf(created.body);
    expect(created.status).toBe(201);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const answers = [await show(world), await put(world, GOOD), await put(world, { ...GOOD, timeoutMs: 5_000 })];
    answers.push(await world.call('operator', 'GET', '/v1/destinations', { token: world.token('view') }));
    for (const { text } of answers) {
      expect(text).not.toContain(secret);
      expect(text).not.toContain('signingSecret');
    }
  });

  it('is not shown at all where the owner gave it', async () => {
    const world = openTestWorld();
    const given = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
    const created = await put(world, { ...GOOD, signingSecret: given });
    expect([created.status, created.text.includes(given)]).toEqual([201, false]);
    expect((await show(world)).text).not.toContain(given);
  });

  it('of one destination is no other one', async () => {
    const world = openTestWorld();
    const secrets = [(await put(world, GOOD, 'a')).body, (await put(world, GOOD, 'b')).body].map(secretOf);
    expect(new Set(secrets).size).toBe(2);
  });

  it('stays as it is when settings change, so that the receiver goes on verifying', async () => {
    const world = openTestWorld();
    const before = secretOf((await put(world, GOOD)).body);
    await put(world, { ...GOOD, timeoutMs: 5_000 });
    const found = await world.records.load({ item: 'secret', destination: destinationId('partner') });
    expect(found).toMatchObject({ kind: 'found', item: { secrets: [before] } });
  });

  it('and the headers with credentials are in no answer, no log line and no row; the request carries them [C145]', async () => {
    const world = openTestWorld();
    const created = await put(world, { ...GOOD, headers: { authorization: 'Bearer sesame', 'x-api-key': 'k-123456' } });
    const secret = secretOf(created.body).slice('whsec_'.length);
    world.sender.script(answered(500, { excerpt: 'went wrong' }), answered(200));
    await world.accepted('order-17', 'partner');
    await world.run(60_000);
    expect(world.sender.sends.map(({ headers }) => [headers['authorization'], headers['x-api-key']])).toEqual([
      ['Bearer sesame', 'k-123456'],
      ['Bearer sesame', 'k-123456'],
    ]);
    const view = { token: world.token('view') };
    const seen = [
      created.text.replace(secret, ''),
      (await show(world)).text,
      (await world.call('operator', 'GET', '/v1/events/order-17', view)).text,
      (await world.call('operator', 'GET', '/v1/events/order-17/deliveries/partner', view)).text,
      JSON.stringify(world.telemetry.lines),
      JSON.stringify(await world.row('order-17', 'partner')),
      ...world.queue.published.map(({ body, key }) => body + key),
    ].join('\n');
    for (const hidden of ['sesame', 'k-123456', secret, world.sender.sends[0]?.headers['webhook-signature'] ?? '?']) {
      expect(seen).not.toContain(hidden);
    }
    expect((await show(world)).body).toMatchObject({ headers: { authorization: '***', 'x-api-key': '***' } });
  });
});

describe('the list of destinations', () => {
  it('holds each with its state, and no one twice over its pages', async () => {
    const world = openTestWorld();
    for (let n = 0; n < 105; n += 1) await put(world, GOOD, `d${n}`);
    const page = z.object({
      items: z.array(z.object({ destination: z.string(), state: z.string() })),
      next: z.optional(z.string()),
    });
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const path = `/v1/destinations${cursor === undefined ? '' : `?cursor=${encodeURIComponent(cursor)}`}`;
      const { items, next } = z.parse(
        page,
        (await world.call('operator', 'GET', path, { token: world.token('view') })).body,
      );
      names.push(...items.map(({ destination }) => destination));
      cursor = next;
    } while (cursor !== undefined);
    expect(names).toHaveLength(105);
    expect(new Set(names).size).toBe(105);
  });

  it('refuses a cursor that is none of its own', async () => {
    const world = openTestWorld();
    const answer = await world.call('operator', 'GET', '/v1/destinations?cursor=!!', { token: world.token('view') });
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ code: 'bad-cursor', field: 'cursor' });
  });
});
