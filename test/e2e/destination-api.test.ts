/** Setting up destinations over the API: every bad setting by its name, and no secret in any answer but the first. */

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { KEY_END_MARGIN_MS, longestMsOf } from '../../functions/core/limits.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import { openFlow, slowly } from '../support/flow.ts';
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

  it.each([
    [
      'a mistyped name',
      { url: GOOD.url, repeatsafe: true },
      'repeatSafe is missing, and "repeatsafe" is not a setting of a destination',
    ],
    [
      'another scheme',
      { ...GOOD, url: 'ftp://a.example/' },
      'url is refused: the scheme ftp: is not allowed; only https: is',
    ],
    [
      'no whole URL',
      { ...GOOD, url: 'partner' },
      'url is refused: it is not a complete URL; write it as https://host/path',
    ],
  ])('is refused in a whole sentence: %s', async (_what, body, detail) => {
    expect((await put(openTestWorld(), body)).body).toMatchObject({ status: 422, detail });
  });

  it('is told of the rule that holds in the local world, and of the setting that has changed it', async () => {
    const local = openTestWorld({ policy: { allowLocal: true } });
    expect((await put(local, { ...GOOD, url: 'ftp://a.example/' })).body).toMatchObject({
      detail: 'url is refused: the scheme ftp: is not allowed; only https: and, in this local world, http: are',
    });
    const denying = openTestWorld({ policy: { allowLocal: false, deniedBy: 'ONCEWARD_LOCAL_DESTINATIONS=deny' } });
    expect((await put(denying, { ...GOOD, url: 'http://127.0.0.1:8787/' })).body).toMatchObject({
      detail: 'url is refused: the scheme http: is not allowed; only https: is (ONCEWARD_LOCAL_DESTINATIONS=deny)',
    });
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

describe('the longest schedule that the life of a key can hold', () => {
  const SCHEDULE = [10, 20, 30];
  const keyLifeHours = (longestMsOf(SCHEDULE, 1_000) + KEY_END_MARGIN_MS) / 3_600_000;
  const latest = (ports: Receiver): Receiver => ({ ...ports, dice: { ...ports.dice, draw: () => 0.999_999 } });

  it('ends with its last attempt, however long all the others and their delays took', async () => {
    const flow = openFlow({ reshape: latest });
    const tooShort = await flow.world.destination('partner', {
      schedule: SCHEDULE,
      timeoutMs: 1_000,
      keyLifeHours: 0.02,
    });
    expect(tooShort.body).toMatchObject({ status: 422, field: 'schedule' });
    await flow.destination('partner', { schedule: SCHEDULE, timeoutMs: 1_000, keyLifeHours });
    flow.world.sender.always(slowly(flow, 1_000, answered(500)));
    const [event = ''] = await flow.accept('partner', 1);
    await flow.run(120_000);
    expect(await flow.world.row(event, 'partner')).toMatchObject({ reason: 'budget', attempts: SCHEDULE.length + 1 });
  });
});

describe('the same settings again', () => {
  it('write nothing, so that no attempt on its way is withheld for them', async () => {
    const world = openTestWorld();
    const settings = { ...GOOD, headers: { authorization: 'Bearer sesame' }, schedule: [1, 2], ratePerSecond: 3 };
    const created = await put(world, settings);
    await world.clock.advance(60_000);
    expect(await world.writesOf(() => put(world, settings))).toEqual([]);
    const again = await put(world, settings);
    expect(again.status).toBe(200);
    expect((await show(world)).body).toMatchObject(z.parse(z.looseObject({}), again.body));
    expect(created.body).toMatchObject({ updatedAt: '2026-01-01T00:00:00.000Z' });
    expect(again.body).toMatchObject({ updatedAt: '2026-01-01T00:00:00.000Z' });
    const writes = await world.writesOf(() => put(world, { ...settings, schedule: [1, 3] }));
    expect(writes.map(({ ref }) => ref?.item)).toEqual(['decision', 'destination', 'decision']);
  });
});

describe('a header that comes back as it was shown', () => {
  const headersOf = async (world: TestWorld) =>
    (await world.records.load({ item: 'destination', destination: destinationId('partner') })) as {
      readonly item: { readonly headers: Readonly<Record<string, string>> };
    };

  it('keeps its value, whatever else changes, and in any case of its letters', async () => {
    const world = openTestWorld();
    await put(world, { ...GOOD, headers: { authorization: 'Bearer sesame', 'x-other': 'one' } });
    const changed = await put(world, { ...GOOD, headers: { Authorization: '***', 'x-other': 'two' } });
    expect(changed.status).toBe(200);
    expect((await headersOf(world)).item.headers).toEqual({ authorization: 'Bearer sesame', 'x-other': 'two' });
  });

  it('is refused by its name where it has no value yet: a mask is never sent', async () => {
    const world = openTestWorld();
    const masked = { ...GOOD, headers: { 'x-key': '***' } };
    const writes = await world.writesOf(async () => {
      expect((await put(world, masked)).body).toMatchObject({ status: 422, code: 'invalid', field: 'headers.x-key' });
    });
    expect(writes).toEqual([]);
    await put(world, { ...GOOD, headers: { authorization: 'Bearer sesame' } });
    expect((await put(world, masked)).body).toMatchObject({ status: 422, field: 'headers.x-key' });
    expect((await headersOf(world)).item.headers).toEqual({ authorization: 'Bearer sesame' });
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

  const away = (): never => {
    throw new PortUnavailable('ledger', 'the ledger is away');
  };

  it.each<[what: string, at: 'before' | 'after', item: 'destination' | 'secret']>([
    ['its creation, whose answer is lost', 'after', 'secret'],
    ['the creation of its destination', 'before', 'destination'],
  ])('is shown by the repeat of a request that was cut off at %s', async (_what, at, item) => {
    const world = openTestWorld();
    world.ledgerHooks[at] = ({ kind, ref }) => (kind === 'create' && ref?.item === item ? away() : undefined);
    expect((await put(world, GOOD)).status).toBe(503);
    world.ledgerHooks[at] = undefined;
    const repeated = await put(world, GOOD);
    const found = await world.records.load({ item: 'secret', destination: destinationId('partner') });
    expect(repeated.status).toBe(201);
    expect(found).toMatchObject({ kind: 'found', item: { secrets: [secretOf(repeated.body)] } });
    expect((await put(world, { ...GOOD, timeoutMs: 5_000 })).text).not.toContain('signingSecret');
  });

  it('is one and the same for all who create the destination at once, and shown to nobody after them', async () => {
    const world = openTestWorld();
    const timeouts = [5_000, 6_000, 7_000];
    const answers = await Promise.all(timeouts.map((timeoutMs) => put(world, { ...GOOD, timeoutMs })));
    const created = answers.filter(({ status }) => status === 201);
    expect(created).toHaveLength(1);
    expect(answers.filter(({ text }) => text.includes('signingSecret'))).toEqual(created);
    const found = await world.records.load({ item: 'secret', destination: destinationId('partner') });
    expect(found).toMatchObject({ item: { secrets: created.map(({ body }) => secretOf(body)) } });
  });

  it('is shown where the creation of the destination was written twice, the first answer being lost', async () => {
    const lost = openTestWorld({
      reshape: (ports) => ({
        ...ports,
        ledger: {
          ...ports.ledger,
          create: async (item) => {
            if (item.item === 'destination') await ports.ledger.create(item);
            return ports.ledger.create(item);
          },
        },
      }),
    });
    const created = await put(lost, GOOD);
    expect([created.status, secretOf(created.body)]).toEqual([201, expect.stringMatching(/^whsec_/)]);
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

describe('a page for debugging that repeats our request', () => {
  const SECRET = 'Bearer sesame/open"now';

  it.each([
    ['as PHP writes JSON', JSON.stringify({ authorization: SECRET }).replaceAll('/', '\\/')],
    ['as HTML', `<td>${SECRET.replaceAll('"', '&quot;')}</td>`],
    ['as a query', `?authorization=${encodeURIComponent(SECRET)}`],
    ['cut off in the middle', `${'x'.repeat(490)} ${SECRET.slice(0, 20)}`],
  ])('shows no credential to whoever may look: %s', async (_how, excerpt) => {
    const world = openTestWorld();
    await put(world, { ...GOOD, schedule: [], headers: { authorization: SECRET } });
    world.sender.script(answered(500, { excerpt }));
    await world.accepted('order-17', 'partner');
    await world.run(1_000);
    const row = await world.row('order-17', 'partner');
    expect(row.latestExcerpt?.text).toContain('***');
    expect(JSON.stringify(row)).not.toContain('sesame');
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
