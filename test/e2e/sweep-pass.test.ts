/** One pass of a sweep, and the schedule that starts it: bounded, one at a time, on record, and cheap in a large table. */
import { describe, expect, it } from 'vitest';
import { DUE_SHARDS, SWEEP_LEASE_MS, SWEEP_PAGE_MS, TICK_MS } from '../../functions/core/limits.ts';
import { sweepBody } from '../../functions/core/message.ts';
import type { Pages } from '../../functions/ports.ts';
import { tick } from '../../functions/reconciler/tick.ts';
import { expectOneSendEach, pushByHand, slowly, statuses } from '../support/flow.ts';
import {
  beatOf,
  deliversOf,
  GRACE_MS,
  HOUR_MS,
  lateInShard,
  MINUTE_MS,
  ofLaterFormat,
  openedFlow,
  PARTNER,
  slowLedger,
  spoil,
  sweepNow,
  sweepsOf,
  unpublished,
} from '../support/late-rows.ts';
import { claim, play, sweep as sweepStep, wait } from '../support/machine.ts';
import { answered } from '../support/world-ports.ts';

// ---- pages and ticks ----------------------------------------------------------------------------------------------

describe('a pass over a shard', () => {
  it('is bounded in time: it ends, and goes on in pages with keys of their own, until nothing is late', async () => {
    const flow = await openedFlow();
    const events = await lateInShard(flow, 2, 300);
    slowLedger(flow, 500);
    await tick(flow.world.ports, TICK_MS);
    await flow.run(2 * MINUTE_MS);
    delete flow.world.ledgerHooks.before;
    const pages = flow.queue.published.filter(({ kind, body }) => kind === 'sweep' && JSON.parse(body).shard === 2);
    expect(pages.map(({ body }) => JSON.parse(body).page)).toEqual([0, 1, 2]);
    expect(new Set(pages.map(({ key }) => key)).size).toBe(3);
    for (const { message, atMs, endedAtMs = Number.NaN } of sweepsOf(flow)) {
      if (JSON.parse(message.body).shard === 2) expect(endedAtMs - atMs).toBeLessThanOrEqual(SWEEP_PAGE_MS + 5_000);
    }
    expect(deliversOf(flow)).toHaveLength(300);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 300 });
  });

  it('whose next page got lost is gone on with at the next tick', async () => {
    const flow = await openedFlow();
    const events = await lateInShard(flow, 2, 300);
    flow.queue.loses = ({ kind, body }) => kind === 'sweep' && JSON.parse(body).page > 0;
    slowLedger(flow, 500);
    flow.startTicks();
    await flow.run(4 * MINUTE_MS);
    delete flow.world.ledgerHooks.before;
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 300 });
    expect(deliversOf(flow)).toHaveLength(300);
  });

  it.each([
    ['a minute', TICK_MS],
    ['two seconds', 2_000],
  ])('that dies holds its shard no longer than until the next tick, when that is in %s', async (_what, tickMs) => {
    const flow = await openedFlow({ reshape: (ports) => ({ ...ports, tickMs }) });
    const events = await lateInShard(flow, 2, 10);
    flow.world.ledgerHooks.before = ({ kind }) => (kind === 'due' ? new Promise<never>(() => {}) : undefined);
    flow.startTicks();
    await flow.run(tickMs);
    delete flow.world.ledgerHooks.before;
    const leaseMs = (await beatOf(flow, 2)).leaseEndsAtMs - flow.world.clock.nowMs();
    expect(leaseMs).toBeGreaterThan(0);
    expect(leaseMs).toBeLessThan(Math.min(tickMs, SWEEP_LEASE_MS + 1));
    await flow.run(tickMs);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 10 });
  });

  it('is one at a time: another message for the shard finds it busy and does nothing', async () => {
    const flow = await openedFlow();
    await lateInShard(flow, 2, 20);
    slowLedger(flow, 300);
    const first = sweepNow(flow, 2);
    await flow.run(1_000);
    const second = sweepNow(flow, 2, 5);
    await flow.run(1_000);
    expect(await second).toEqual({ kind: 'ack', note: 'busy' });
    await flow.run(10_000);
    expect(await first).toEqual({ kind: 'ack', note: 'swept' });
    expect(deliversOf(flow)).toHaveLength(20);
  });

  it('while the queue is away publishes nothing, moves nothing, and ends; the next tick does both', async () => {
    const flow = await openedFlow();
    const events = await lateInShard(flow, 2, 50);
    const before = await flow.rows(events, PARTNER);
    flow.queue.away = true;
    expect(await sweepNow(flow, 2)).toEqual({ kind: 'ack', note: 'swept' });
    expect(await flow.rows(events, PARTNER)).toEqual(before);
    expect(await beatOf(flow, 2)).toMatchObject({ looked: 50, published: 0, moved: 0 });
    flow.queue.away = false;
    await sweepNow(flow, 2);
    await flow.run(1_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 50 });
  });

  // At that very millisecond the claim still lives and its next look is due: moving it there would move nothing.
  it('writes nothing at the last moment of a lease, and finds it lapsed a moment later', () => {
    const last = play([claim('a'), wait(GRACE_MS)]);
    expect(play([sweepStep()], last).row).toBe(last.row);
    const { row, nowMs } = play([wait(1), sweepStep()], last);
    expect(row.status === 'claimed' && row.lookAfterMs).toBeGreaterThan(nowMs);
  });
});

describe('the schedule', () => {
  it('may tick as often as it likes, overlapping and repeated: no delivery is published or sent twice', async () => {
    const flow = await openedFlow({ workers: 20 });
    const events = await unpublished(flow, 200);
    await flow.run(GRACE_MS);
    flow.world.ledgerHooks.before = () => flow.world.clock.sleep(Math.floor(flow.world.ports.dice.draw() * 30));
    for (let n = 0; n < 10; n += 1) {
      await Promise.all([
        tick(flow.world.ports, TICK_MS),
        tick(flow.world.ports, TICK_MS),
        tick(flow.world.ports, 100),
      ]);
      await flow.run(100);
    }
    await flow.run(MINUTE_MS);
    delete flow.world.ledgerHooks.before;
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 200 });
    expect(deliversOf(flow)).toHaveLength(200);
    expectOneSendEach(flow, events);
  });

  it('may miss as many ticks as it likes: the first one after that makes everything good', async () => {
    const flow = await openedFlow();
    const events = await unpublished(flow, 200);
    await flow.run(7 * HOUR_MS);
    await tick(flow.world.ports, TICK_MS);
    await flow.run(1_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 200 });
    expectOneSendEach(flow, events);
  });

  it.each([0, 2_000])('asks the queue four times a tick and the ledger never, with %d rows that wait', async (rows) => {
    const flow = await openedFlow();
    await unpublished(flow, rows);
    await flow.run(GRACE_MS);
    const [asked, published] = [flow.world.asked.length, flow.queue.published.length];
    const done = await tick(flow.world.ports, TICK_MS);
    expect(done).toMatchObject({ enqueued: DUE_SHARDS, failed: 0 });
    expect(flow.queue.published.length - published).toBe(DUE_SHARDS);
    expect(flow.world.asked.length).toBe(asked);
  });

  it('publishes a backlog of 2,000 once, though its workers need minutes for it: at most 1.2 times each', async () => {
    const flow = await openedFlow({ workers: 4 });
    const events = await unpublished(flow, 2_000);
    flow.world.sender.always(slowly(flow, 400, answered(200)));
    flow.startTicks();
    await flow.run(GRACE_MS + 5 * MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 2_000 });
    expect(deliversOf(flow).length).toBeLessThanOrEqual(1.2 * 2_000);
    expectOneSendEach(flow, events);
  });
});

describe('the reads of a sweep', () => {
  const readsWith = async (settled: number) => {
    const flow = await openedFlow();
    await flow.accept(PARTNER, settled, { prefix: 'settled-' });
    await flow.run(1_000);
    await unpublished(flow, 100, 'late-');
    await flow.run(GRACE_MS);
    const asked = flow.world.asked.length;
    let rows = 0;
    const { due } = flow.world.ports.pages;
    const ports = {
      ...flow.world.ports,
      pages: {
        ...flow.world.ports.pages,
        due: async (...query: Parameters<Pages['due']>) => {
          const page = await due(...query);
          rows += page.length;
          return page;
        },
      },
    };
    for (let shard = 0; shard < DUE_SHARDS; shard += 1) await pushByHand(flow, sweepBody(shard, 1, 0), ports);
    return { rows, requests: flow.world.asked.length - asked };
  };

  it('are about what is late, not about the table: the same with 2,000 settled rows as with none', async () => {
    const [none, many] = [await readsWith(0), await readsWith(2_000)];
    expect(many).toEqual(none);
    expect(many.rows).toBe(100);
    // A load and a move for each, and for each shard a heartbeat and one page.
    expect(many.requests).toBeLessThanOrEqual(2 * 100 + 5 * DUE_SHARDS);
  });
});

// ---- heartbeat ----------------------------------------------------------------------------------------------------

describe('the heartbeat', () => {
  it('says when the pass was, what it did, and how late the latest row was', async () => {
    const flow = await openedFlow();
    await lateInShard(flow, 3, 7);
    await flow.run(5 * MINUTE_MS);
    await sweepNow(flow, 3);
    expect(await beatOf(flow, 3)).toMatchObject({
      passAtMs: flow.world.clock.nowMs(),
      looked: 7,
      published: 7,
      moved: 7,
      largestOverdueMs: 5 * MINUTE_MS,
    });
    expect(flow.world.telemetry.lines.find(({ name }) => name === 'sweep.passed')?.fields).toMatchObject({
      shard: 3,
      published: 7,
    });
    await flow.run(MINUTE_MS);
    await sweepNow(flow, 3);
    expect(await beatOf(flow, 3)).toMatchObject({ looked: 0, published: 0, moved: 0, largestOverdueMs: 0 });
  });

  it('holds what the queue says of itself, asked for by one shard, and still does when the queue does not answer', async () => {
    let answers = true;
    const seen = { available: 5, delayed: 4, inFlight: 3, dead: 2, oldestAgeMs: 1 };
    const flow = await openedFlow({
      reshape: (ports) => ({
        ...ports,
        deadLetters: {
          ...ports.deadLetters,
          stats: async () => (answers ? { kind: 'stats', ...seen } : { kind: 'failed', code: 'x', detail: 'away' }),
        },
      }),
    });
    await sweepNow(flow, 0);
    await sweepNow(flow, 1);
    expect((await beatOf(flow, 0)).queue).toEqual(seen);
    expect((await beatOf(flow, 1)).queue).toBeUndefined();
    answers = false;
    await flow.run(MINUTE_MS);
    expect(await sweepNow(flow, 0)).toEqual({ kind: 'ack', note: 'swept' });
    expect(await beatOf(flow, 0)).toMatchObject({ passAtMs: flow.world.clock.nowMs(), queue: seen });
  });

  it('that newer code has written is left as it is, and the shard is swept without it, with an alarm', async () => {
    const flow = await openedFlow();
    await sweepNow(flow, 1);
    spoil(flow, { item: 'heartbeat', shard: 1 }, ofLaterFormat);
    await lateInShard(flow, 1, 3);
    const writes = await flow.world.writesOf(async () => {
      expect(await sweepNow(flow, 1)).toEqual({ kind: 'ack', note: 'swept' });
    });
    expect(writes.map(({ ref }) => ref?.item)).toEqual(['delivery', 'delivery', 'delivery']);
    expect(flow.world.telemetry.counted('row-of-later-format')).toBeGreaterThan(0);
  });

  it('says what a pass of several pages did in all, and how late its latest row was', async () => {
    const flow = await openedFlow();
    await lateInShard(flow, 2, 300);
    slowLedger(flow, 500);
    await tick(flow.world.ports, TICK_MS);
    await flow.run(2 * MINUTE_MS);
    delete flow.world.ledgerHooks.before;
    expect(await beatOf(flow, 2)).toMatchObject({ published: 300 });
  });
});
