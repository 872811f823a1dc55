/** Shadow mode: everything runs but the request, and a report says what would have been sent beside another's counts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { silentTelemetry } from '../../functions/adapters/telemetry.ts';
import { SHADOW_ROWS_MAX } from '../../functions/core/shadow.ts';
import { demoWorldOptions } from '../../infra/local/demo/options.ts';
import { Stage } from '../../infra/local/demo/stage.ts';
import { type LocalWorld, openWorld } from '../../infra/local/world.ts';
import { type CliOptions, ran } from '../support/cli.ts';
import { signedIn, wordsIn } from '../support/console.ts';
import { cancelledRow, eventIdOf } from '../support/rows.ts';
import { deliverMessage, destinationId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

const SHADOW = 'partner-shadow';
const PATH = `/v1/destinations/${SHADOW}/shadow-report`;
const HOUR_MS = 3_600_000;

const shadowWorld = async (): Promise<TestWorld> => {
  const world = openTestWorld();
  await world.destination(SHADOW, { mode: 'shadow' });
  return world;
};

const submitted = (world: TestWorld, id: string, more: Record<string, unknown> = {}) =>
  world.submit({ id, payload: { order: id }, destinations: [SHADOW], ...more });

const today = (world: TestWorld): string => new Date(world.clock.nowMs()).toISOString().slice(0, 10);

const get = (world: TestWorld, query = '') =>
  world.call('operator', 'GET', `${PATH}${query}`, { token: world.token('view') });
const post = (world: TestWorld, body: unknown) =>
  world.call('operator', 'POST', PATH, { token: world.token('view'), body });
const shadow = (world: TestWorld, args: readonly string[], options: CliOptions = {}) =>
  ran(world, ['destination', 'shadow', SHADOW, ...args], { right: 'view', ...options });

describe('what a destination in shadow would have been sent', () => {
  it('is counted once for each event, however often it was handed in, pushed and swept; and nothing is sent', async () => {
    const world = await shadowWorld();
    for (let n = 0; n < 3; n += 1) {
      await submitted(world, 'order-1');
      await submitted(world, 'order-2');
      await world.push(deliverMessage('order-1', SHADOW));
    }
    await world.run(60_000);
    await world.tick();
    await world.run(60_000);
    await world.push(deliverMessage('order-2', SHADOW));
    expect(world.sender.sends).toEqual([]);
    expect((await get(world)).body).toMatchObject({ wouldSend: 2, requests: 0, mode: 'shadow', complete: true });
  });

  it('is told apart from what never would have been sent, what waits, and what a person has made', async () => {
    const world = openTestWorld();
    await world.destination(SHADOW);
    world.sender.script(answered(422), answered(204));
    for (const id of ['refused', 'paid']) {
      await world.accepted(id, SHADOW);
      await world.deliver(id, SHADOW);
    }
    await world.destination(SHADOW, { mode: 'shadow' });
    await submitted(world, 'order-1');
    await submitted(world, 'soon', { deliverAt: world.clock.nowMs() + HOUR_MS });
    await submitted(world, 'unwanted', { deliverAt: world.clock.nowMs() + HOUR_MS });
    const reason = ['--reason', 'a test', '--yes'];
    expect((await ran(world, ['delivery', 'cancel', 'unwanted', SHADOW, ...reason])).exit).toBe(0);
    expect((await ran(world, ['destination', 'test', SHADOW, ...reason])).exit).toBe(0);
    await world.run(60_000);
    expect((await get(world)).body).toMatchObject({
      ...{ wouldSend: 1, quarantined: 1, delivered: 1, waiting: 1, cancelled: 1, tests: 1, unreadable: 0 },
      requests: 2,
      words: [
        expect.stringContaining(`1 delivery would have been sent to ${SHADOW}`),
        expect.stringMatching(/Not in that number: 1 quarantined: .*; 1 cancelled by a person; 1 not over yet/),
        expect.stringContaining('2 real requests were made'),
      ],
    });
  });

  it('stands on the day on which it would have left, and a reminder is found by when it was accepted', async () => {
    const world = await shadowWorld();
    const accepted = today(world);
    await submitted(world, 'reminder', { deliverAt: world.clock.nowMs() + 5 * 24 * HOUR_MS });
    await world.run(5 * 24 * HOUR_MS + 60_000);
    expect((await get(world)).body).toMatchObject({ wouldSend: 0, acceptedSince: expect.not.stringMatching(accepted) });
    expect((await get(world, `?acceptedSince=${accepted}`)).body).toMatchObject({ wouldSend: 1, from: today(world) });
    expect((await get(world, `?from=${accepted}&to=${accepted}`)).body).toMatchObject({ wouldSend: 0, waiting: 0 });
  });

  it.each([
    ['?from=2026-11-30&to=2026-11-29', 'from'],
    ['?from=2026-01-01&to=2026-11-29', 'from'],
    ['?from=1969-12-31&to=1969-12-31', 'from'],
    ['?from=2026-11-29&to=2026-11-29&acceptedSince=2026-11-30', 'acceptedSince'],
    ['?from=2026-11-29&to=2026-11-29&acceptedSince=2025-01-01', 'acceptedSince'],
    ['?per=minute', 'per'],
    ['?from=yesterday', 'from'],
  ])('is asked for in days that make sense: %s', async (query, field) => {
    expect(await get(await shadowWorld(), query)).toMatchObject({ status: 422, body: { code: 'invalid', field } });
  });

  it('is that of a destination that there is', async () => {
    const world = openTestWorld();
    expect((await get(world)).status).toBe(404);
    expect((await post(world, { sent: 1 })).status).toBe(404);
  });
});

describe('beside the counts of another sender', () => {
  /** Two now and one an hour later. */
  const counting = async (): Promise<{ world: TestWorld; hour: string; next: string }> => {
    const world = await shadowWorld();
    const hourOf = () => new Date(world.clock.nowMs()).toISOString().slice(0, 13);
    const hour = hourOf();
    await submitted(world, 'order-1');
    await submitted(world, 'order-2');
    await world.run(HOUR_MS);
    const next = hourOf();
    await submitted(world, 'order-3');
    await world.run(60_000);
    return { world, hour, next };
  };

  it('agrees, or differs by so many, in JSON and in words', async () => {
    const { world, hour, next } = await counting();
    expect((await post(world, { sent: 3 })).body).toMatchObject({ compared: { same: true, given: 3, difference: 0 } });
    const counts = [
      { at: hour, sent: 2 },
      { at: next, sent: 2 },
    ];
    expect((await post(world, { per: 'hour', counts })).body).toMatchObject({
      compared: { same: false, given: 4, difference: -1 },
      buckets: [
        { at: `${hour}:00:00.000Z`, wouldSend: 2, given: 2, difference: 0 },
        { at: `${next}:00:00.000Z`, wouldSend: 1, given: 2, difference: -1 },
      ],
    });
  });

  it.each([
    ['neither', {}, 'counts'],
    ['both', { sent: 1, counts: [] }, 'counts'],
    ['an hour in a count of days', { counts: [{ at: '2026-11-29T12', sent: 1 }] }, 'counts[0]'],
    ['a part of an event', { sent: 1.5 }, 'sent'],
  ])('takes one of the two, whole: %s', async (_what, body, field) => {
    expect(await post(await shadowWorld(), body)).toMatchObject({ status: 422, body: { field } });
  });

  it('ends the command with 0 where they agree and 1 where they do not', async () => {
    const { world, hour, next } = await counting();
    const agrees = await shadow(world, ['--sent', '3']);
    expect(agrees).toMatchObject({ exit: 0, err: '' });
    expect(agrees.out).toContain('You counted the same: 3.');
    const files = { lines: `${hour} 2\n${next}:00:00Z,2\n`, json: `{"${today(world)}": 3}` };
    const differs = await shadow(world, ['--per', 'hour', '--counts', 'lines'], { files });
    expect(differs.exit).toBe(1);
    expect(differs.err).toMatch(/^onceward: partner-shadow: 3 would have been sent, and you counted 4\n$/);
    expect(differs.out).toMatch(/You counted 4: 1 more. 1 of 2 counts differ/);
    expect(differs.out).toMatch(/ 1 +2 +-1\n/);
    expect((await shadow(world, ['--counts', 'json'], { files })).exit).toBe(0);
    const json = await shadow(world, ['--per', 'hour', '--counts', 'lines', '--json'], { files });
    expect(json.exit).toBe(1);
    expect(JSON.parse(json.out)).toMatchObject({ wouldSend: 3, compared: { same: false, difference: -1 } });
  });

  it.each([
    ['both kinds of counts', ['--sent', '1', '--counts', 'lines'], 'not both'],
    ['a line that is no count', ['--counts', 'bad'], 'must be a time and a number'],
    ['an object that is none', ['--counts', 'cut'], 'is no JSON'],
    ['a day that stands there twice', ['--counts', 'twice'], 'counts begins with { and is no JSON of counts'],
    ['a list in JSON', ['--counts', 'list'], 'must be a time and a number'],
    ['a count that is an object', ['--counts', 'deep'], 'must be a time and a number'],
    ['a file that is not there', ['--counts', 'nowhere'], 'cannot read nowhere'],
    ['an hour in a count of days', ['--counts', 'lines'], 'counts by the day'],
    ['a day that is none', ['--from', 'yesterday'], 'must be a day'],
  ])('is a usage error with %s', async (_what, args, says) => {
    const files = {
      ...{ lines: '2026-11-29T12 1', bad: '2026-11-29 many', cut: '{', twice: '{"2026-11-29": 1, "2026-11-29": 2}' },
      ...{ list: '[{"at": "2026-11-29", "sent": 1}]', deep: '{"2026-11-29": {"sent": 1}}' },
    };
    const done = await shadow(await shadowWorld(), args, { files });
    expect(done).toMatchObject({ exit: 2, out: '' });
    expect(done.err).toContain(says);
  });

  it('is a page with a form, for whoever may look', async () => {
    const { world } = await counting();
    const visitor = await signedIn(world, world.token('view'));
    const destination = await visitor.get(`/console/destinations/${SHADOW}`);
    expect(destination.text).toContain(`href="/console/destinations/${SHADOW}/shadow"`);
    const plain = wordsIn((await visitor.get(`/console/destinations/${SHADOW}/shadow`)).text);
    expect(plain).toContain(`3 deliveries would have been sent to ${SHADOW}`);
    expect(plain).not.toContain('You counted');
    const asked = await visitor.get(`/console/destinations/${SHADOW}/shadow?from=&to=&per=hour&sent=5`);
    expect(wordsIn(asked.text)).toMatch(/You counted 5: 2 more\./);
    for (const query of ['sent=many', 'from=2026-13-01', 'per=week']) {
      expect((await visitor.get(`/console/destinations/${SHADOW}/shadow?${query}`)).status).toBe(422);
    }
    expect((await visitor.get('/console/destinations/nowhere/shadow')).status).toBe(404);
  });
});

describe('more rows than one answer looks at', () => {
  const MORE = 30;
  const crowded = async (): Promise<TestWorld> => {
    const world = await shadowWorld();
    const atMs = world.clock.nowMs();
    for (let n = 0; n < SHADOW_ROWS_MAX + MORE; n += 1) {
      const event = eventIdOf(`order-${n}`);
      const ended = { reason: 'shadow', acceptedAtMs: atMs + n, endedAtMs: atMs + n } as const;
      world.store.poke(toItem(cancelledRow({ event, destination: destinationId(SHADOW), ...ended })));
    }
    return world;
  };

  it('make parts that add up, and nothing is compared with one of them', async () => {
    const world = await crowded();
    const first = (await post(world, { sent: SHADOW_ROWS_MAX + MORE })).body as Record<string, unknown>;
    expect(first).toMatchObject({ wouldSend: SHADOW_ROWS_MAX, complete: false, next: expect.any(String) });
    expect(first).not.toHaveProperty('compared');
    const rest = await get(world, `?cursor=${encodeURIComponent(String(first['next']))}`);
    expect(rest.body).toMatchObject({ wouldSend: MORE, complete: true });
    const all = await shadow(world, ['--sent', String(SHADOW_ROWS_MAX + MORE)]);
    expect(all).toMatchObject({ exit: 0, err: '' });
  });

  it('are said to be a part on the page, which compares nothing and names the command that goes through all', async () => {
    const world = await crowded();
    const visitor = await signedIn(world, world.token('view'));
    const page = wordsIn((await visitor.get(`/console/destinations/${SHADOW}/shadow?sent=9`)).text);
    expect(page).toMatch(/This is a part.*onceward destination shadow/);
    expect(page).not.toContain('You counted 9');
  });

  it.each(['2026-11-29.~', 'yesterday', '2020-01-01', '2026-11-29.AAAA', '2026-99-99'])(
    'go on from a cursor of ours only: %s',
    async (cursor) => {
      const world = await shadowWorld();
      expect(await get(world, `?cursor=${cursor}`)).toMatchObject({ status: 400, body: { code: 'bad-cursor' } });
    },
  );
});

describe('in the local world, over the real queue', () => {
  const TOKEN = 'test-admin-token-0123456789';
  let local: LocalWorld;
  let stage: Stage;

  beforeAll(async () => {
    local = await openWorld(demoWorldOptions(TOKEN, silentTelemetry));
    stage = new Stage(local.url, TOKEN, local.partner, local.url);
  });
  afterAll(() => local.close());

  it('the machine runs, the partner hears nothing, and the report says what it would have got', async () => {
    const settings = { url: `${local.url}/partner/${SHADOW}`, repeatSafe: true, mode: 'shadow' };
    expect((await stage.call('PUT', `/v1/destinations/${SHADOW}`, settings)).status).toBe(201);
    for (const id of ['order-1', 'order-2', 'order-1']) await stage.submit(id, SHADOW);
    for (const id of ['order-1', 'order-2']) await stage.until(id, SHADOW, (row) => row.reason === 'shadow');
    expect(local.partner.mailbox(SHADOW).requests).toEqual([]);
    const { body } = await stage.call('POST', PATH, { sent: 2 });
    expect(body).toMatchObject({ wouldSend: 2, compared: { same: true } });
  });
});
