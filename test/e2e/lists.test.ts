/** Lists and numbers over the API: what an index answers, shown as the rows are. */

import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { Right } from '../../functions/core/items.ts';
import { DUE_SHARDS, HORIZON_MS } from '../../functions/core/limits.ts';
import { RIGHTS } from '../../functions/http/auth.ts';
import { COUNT_CAP } from '../../functions/operator/commands/stats.ts';
import { CALLS, decideBy } from '../support/decisions.ts';
import { destinationId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { alter, EVENT, opened, PARTNER, RESTING, ROW, toLaterFormat } from '../support/world-states.ts';

const get = (world: TestWorld, path: string, right: Right = 'view') =>
  world.call('operator', 'GET', path, { token: world.token(right) });

const page = z.object({
  items: z.array(z.looseObject({ event: z.string(), destination: z.string(), status: z.string() })),
  next: z.optional(z.string()),
});

const list = async (world: TestWorld, query: string) => {
  const answer = await get(world, `/v1/deliveries?${query}`);
  expect(answer.status).toBe(200);
  return z.parse(page, answer.body);
};

const eventsIn = async (world: TestWorld, query: string): Promise<readonly string[]> =>
  (await list(world, query)).items.map(({ event }) => event).toSorted();

const COUNT = 7;

/** At each of two destinations: some delivered, some open, some quarantined, some parked. */
const busy = async (): Promise<TestWorld> => {
  const world = openTestWorld();
  for (const destination of [PARTNER, 'audit']) {
    await world.destination(destination);
    world.sender.always(answered(422));
    for (let n = 0; n < COUNT; n += 1) await world.accepted(`${destination}-bad-${n}`, destination);
    await world.run(5_000);
    world.sender.always(answered(200));
    await world.accepted(`${destination}-good`, destination);
    await world.run(5_000);
    const path = `/v1/destinations/${destination}/pause`;
    await decideBy(world, CALLS.pause, `pause-${destination}`, { path });
    for (let n = 0; n < COUNT; n += 1) {
      await world.accepted(`${destination}-held-${n}`, destination);
      await world.run(1_000);
    }
    const event = { id: `${destination}-later`, payload: 1, destinations: [destination] };
    await world.submit({ ...event, deliverAt: world.clock.nowMs() + 3_600_000 });
  }
  return world;
};

const named = (destination: string, kind: string): readonly string[] =>
  Array.from({ length: COUNT }, (_, n) => `${destination}-${kind}-${n}`);

describe('a list of deliveries', () => {
  it('shows what belongs to it, of all destinations or of one', async () => {
    const world = await busy();
    const both = (kind: string) => [...named('audit', kind), ...named(PARTNER, kind)];
    expect(await eventsIn(world, 'list=quarantined')).toEqual(both('bad'));
    expect(await eventsIn(world, 'list=quarantined&destination=audit')).toEqual(named('audit', 'bad'));
    expect(await eventsIn(world, 'list=parked')).toEqual(both('held'));
    expect(await eventsIn(world, `list=parked&destination=${PARTNER}`)).toEqual(named(PARTNER, 'held'));
    const open = [...both('held'), 'audit-later', `${PARTNER}-later`];
    expect(await eventsIn(world, 'list=open')).toEqual(open.toSorted());
    const recent = ['audit-good', 'audit-later', ...named('audit', 'bad'), ...named('audit', 'held')];
    expect(await eventsIn(world, 'list=recent&destination=audit')).toEqual(recent.toSorted());
  });

  it('shows each row in short, with what it waits for', async () => {
    const world = await busy();
    expect((await list(world, 'list=parked&limit=1')).items[0]).toEqual({
      ...{ event: 'audit-held-0', destination: 'audit', status: 'pending', reason: 'paused' },
      ...{ attempts: 0, budget: 8, redrives: 0, dueAt: expect.any(String) },
    });
    expect((await list(world, 'list=quarantined&limit=1')).items[0]).toMatchObject({ reason: 'rejected', attempts: 1 });
  });

  it.each(['open', 'parked', 'quarantined', `recent&destination=${PARTNER}`])(
    'gives every row exactly once over its pages: %s',
    async (query) => {
      const world = await busy();
      const seen: string[] = [];
      let next: string | undefined;
      for (let pages = 0; pages === 0 || next !== undefined; pages += 1) {
        const cursor: string = next === undefined ? '' : `&cursor=${encodeURIComponent(next)}`;
        const read = await list(world, `list=${query}&limit=3${cursor}`);
        expect(read.items.length).toBeLessThanOrEqual(3);
        seen.push(...read.items.map(({ event }) => event));
        next = read.next;
        expect(pages).toBeLessThan(50);
      }
      expect(seen.toSorted()).toEqual(await eventsIn(world, `list=${query}&limit=100`));
    },
  );

  it('does not show a row that has left it, whatever the index says', async () => {
    const world = openTestWorld({
      reshape: (ports) => ({ ...ports, pages: { ...ports.pages, list: async () => ({ refs: [ROW] }) } }),
    });
    await RESTING['quarantined as rejected']?.(world);
    expect((await list(world, 'list=quarantined')).items).toHaveLength(1);
    for (const query of ['list=open', 'list=parked']) expect(await list(world, query), query).toEqual({ items: [] });
    await decideBy(world, CALLS.cancel, 'enough');
    expect(await list(world, 'list=quarantined')).toEqual({ items: [] });
  });

  it('does not hide what it cannot read', async () => {
    const world = openTestWorld();
    await RESTING['quarantined as rejected']?.(world);
    toLaterFormat(world, ROW);
    const unreadable = { event: EVENT, destination: PARTNER, status: 'unreadable' };
    expect((await list(world, 'list=quarantined')).items).toEqual([{ ...unreadable, reason: 'written-by-newer-code' }]);
    const broken = openTestWorld();
    await RESTING['quarantined as rejected']?.(broken);
    alter(broken, ROW, ({ bud: _bud, ...rest }) => rest);
    expect((await list(broken, 'list=quarantined')).items).toEqual([{ ...unreadable, reason: 'ledger-corrupt' }]);
  });

  it.each<[query: string, status: number, field: string | undefined]>([
    ['', 422, 'list'],
    ['list=', 422, 'list'],
    ['list=all', 422, 'list'],
    ['list=delivered', 422, 'list'],
    ['list=destinations', 422, 'list'],
    ['list=OPEN', 422, 'list'],
    ['list=recent', 422, 'destination'],
    ['list=recent&destination=', 422, 'destination'],
    ['list=parked&destination=%00', 422, 'destination'],
    ['list=open&destination=partner', 422, 'destination'],
    ['list=open&limit=0', 422, 'limit'],
    ['list=open&limit=101', 422, 'limit'],
    ['list=open&limit=-1', 422, 'limit'],
    ['list=open&limit=1.5', 422, 'limit'],
    ['list=open&limit=all', 422, 'limit'],
    ['list=open&limit=', 422, 'limit'],
    ['list=open&page=2', 422, 'page'],
    ['list=open&cursor=x', 400, 'cursor'],
  ])('refuses what it cannot answer, by its name: %s', async (query, status, field) => {
    const answer = await get(openTestWorld(), `/v1/deliveries?${query}`);
    expect(answer.contentType).toBe('application/problem+json');
    expect(answer.body).toMatchObject({ status, field });
  });

  it('takes no cursor of another list', async () => {
    const world = await busy();
    const { next } = await list(world, 'list=parked&limit=1');
    const answer = await get(world, `/v1/deliveries?list=quarantined&cursor=${encodeURIComponent(next ?? '')}`);
    expect(answer.body).toMatchObject({ status: 400, code: 'bad-cursor' });
  });
});

// ---- numbers ------------------------------------------------------------------------------------------------------

const stats = async (world: TestWorld) => {
  const answer = await get(world, '/v1/stats');
  expect(answer.status).toBe(200);
  return answer.body;
};

describe('the numbers of the whole', () => {
  it('are those of the lists, of the queue and of the sweeps', async () => {
    const world = await busy();
    world.deadLetters.add({ messageId: 'qmsg_dead', body: Buffer.from('{}') });
    for (let shard = 0; shard < DUE_SHARDS; shard += 1) await world.push({ kind: 'sweep', format: 1, shard, tick: 1 });
    expect(await stats(world)).toEqual({
      ...{ open: 2 * COUNT + 2, parked: 2 * COUNT, quarantined: 2 * COUNT, capped: [], deadLetters: 1 },
      largestOverdueMs: expect.any(Number),
      lastSweepAt: new Date(world.clock.nowMs()).toISOString(),
      queue: { available: 0, delayed: 0, inFlight: 0, oldestAgeMs: 0 },
    });
  });

  it('say since when the shard that was passed longest ago was not passed', async () => {
    const world = await opened(openTestWorld());
    for (let shard = 0; shard < DUE_SHARDS - 1; shard += 1)
      await world.push({ kind: 'sweep', format: 1, shard, tick: 1 });
    expect(await stats(world)).toMatchObject({ lastSweepAt: null });
    const firstMs = world.clock.nowMs();
    await world.push({ kind: 'sweep', format: 1, shard: DUE_SHARDS - 1, tick: 1 });
    await world.clock.advance(60_000);
    await world.push({ kind: 'sweep', format: 1, shard: 0, tick: 2 });
    expect(await stats(world)).toMatchObject({ lastSweepAt: new Date(firstMs).toISOString() });
  });

  it('say how long overdue the oldest row is although no sweep runs any more', async () => {
    const world = await opened(openTestWorld());
    world.queue.loseAll();
    expect(await stats(world)).toMatchObject({ largestOverdueMs: 0 });
    await world.clock.advance(600_000);
    expect(await stats(world)).toMatchObject({ largestOverdueMs: 600_000 - 35_000 });
  });

  it('stop at a cap, and name the counts that did', async () => {
    const world = openTestWorld({
      reshape: (ports) => ({
        ...ports,
        pages: { ...ports.pages, count: async ({ list: wanted }, cap) => (wanted === 'open' ? cap : 3) },
      }),
    });
    expect(await stats(world)).toMatchObject({ open: COUNT_CAP, parked: 3, capped: ['open'] });
  });

  it('are there without the queue, which is then null', async () => {
    const world = openTestWorld({
      reshape: (ports) => ({
        ...ports,
        deadLetters: {
          ...ports.deadLetters,
          stats: async () => ({ kind: 'failed', code: 'unavailable', detail: 'the queue is away' }),
        },
      }),
    });
    expect(await stats(world)).toMatchObject({ deadLetters: null, queue: null, open: 0 });
    expect(world.telemetry.lines.some(({ name }) => name === 'queue.no-stats')).toBe(true);
  });
});

// ---- what is parked at a destination ------------------------------------------------------------------------------

describe('a destination', () => {
  const show = async (world: TestWorld) => (await get(world, `/v1/destinations/${PARTNER}`)).body;

  it('shows how much is parked there, since when, and how long it can still wait', async () => {
    const world = await busy();
    const oldestAtMs = world.clock.nowMs();
    const shown = await show(world);
    expect(shown).toMatchObject({ state: 'paused', parked: { count: COUNT, oldestEndsBy: 'horizon' } });
    const { parked } = z.parse(
      z.object({ parked: z.object({ oldestAt: z.string(), oldestLeftMs: z.number() }) }),
      shown,
    );
    expect(new Date(parked.oldestAt).getTime()).toBeLessThanOrEqual(oldestAtMs);
    const row = await world.row(`${PARTNER}-held-0`, PARTNER);
    expect(parked.oldestLeftMs).toBe(row.horizonFromMs + HORIZON_MS - world.clock.nowMs());
    await world.clock.advance(HORIZON_MS);
    expect(await show(world)).toMatchObject({ parked: { oldestLeftMs: 0 } });
  });

  it.each([1, 0.777_777_777])('shows the end of a key’s life where that comes first: %d hours', async (hours) => {
    const world = await opened(openTestWorld(), { keyLifeHours: hours, schedule: [60] });
    world.sender.script(answered(500));
    const sentAtMs = world.clock.nowMs();
    await world.run(2_000);
    await decideBy(world, CALLS.pause, 'hold');
    await world.run(120_000);
    const leftMs = sentAtMs + Math.floor(hours * 3_600_000) - world.clock.nowMs();
    expect(await show(world)).toMatchObject({ parked: { count: 1, oldestLeftMs: leftMs, oldestEndsBy: 'key-life' } });
  });

  it('shows what stands in its gate, the most serious first', async () => {
    const world = await opened(openTestWorld());
    const nowMs = world.clock.nowMs();
    const at = (ms: number): string => new Date(nowMs + ms).toISOString();
    const base = { item: 'gate', destination: destinationId(PARTNER), carried: {} } as const;
    const crowded = { ...base, version: 1, crowdedUntilMs: nowMs + 60_000 };
    await world.records.create(crowded);
    expect(await show(world)).toMatchObject({
      state: 'crowded',
      by: 'system',
      since: at(-540_000),
      crowdedUntil: at(60_000),
    });
    const closed = { ...crowded, version: 2, closedUntilMs: nowMs + 5_000, closedSinceMs: nowMs };
    await world.records.replace(crowded, closed);
    expect(await show(world)).toMatchObject({
      state: 'closed',
      by: 'destination',
      since: at(0),
      closedUntil: at(5_000),
    });
    const pause = { by: 'system', reason: '20 failures in a row', sinceMs: nowMs, probeAtMs: nowMs + 7_000 };
    await world.records.replace(closed, { ...closed, version: 3, pause });
    expect(await show(world)).toMatchObject({
      state: 'paused',
      by: 'system',
      reason: pause.reason,
      probeAt: at(7_000),
    });
  });

  it('shows that nothing is parked where nothing is', async () => {
    expect(await show(await opened(openTestWorld()))).toMatchObject({ state: 'active', parked: { count: 0 } });
  });
});

describe('who may look', () => {
  it.each(RIGHTS.flatMap((right) => ['/v1/stats', '/v1/deliveries?list=open'].map((path) => [right, path] as const)))(
    'the right "%s" at %s',
    async (right, path) => {
      const may = right === 'view' || right === 'admin';
      expect((await get(openTestWorld(), path, right)).status).toBe(may ? 200 : 403);
    },
  );

  it.each(['/v1/stats', '/v1/deliveries?list=open'])('nobody without a token: %s', async (path) => {
    expect((await openTestWorld().call('operator', 'GET', path)).status).toBe(401);
  });
});
