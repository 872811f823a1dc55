/** Gates, drain and sweep at the sizes that a bad day has. */
import { describe, expect, it } from 'vitest';
import { toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { DUE_SHARDS, TICK_MS, TIMEOUT_MS_DEFAULT } from '../../functions/core/limits.ts';
import { tick } from '../../functions/reconciler/tick.ts';
import {
  expectOneSendEach,
  type Flow,
  type FlowOptions,
  mostWithin,
  openFlow,
  pausedFlow,
  sendTimes,
  sentBehind,
  slowly,
  statuses,
  writesOf,
} from '../support/flow.ts';
import { deliversOf, GRACE_MS, MINUTE_MS, openedFlow, PARTNER, sweepNow, unpublished } from '../support/late-rows.ts';
import { deliveredRow } from '../support/rows.ts';
import { destinationId, eventId } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';

const SEEDS = Array.from({ length: 60 }, (_, seed) => seed + 100);

/** Four workers in the middle of 200 deliveries, each at another step. */
const underWay = async (seed: number) => {
  const flow = await openedFlow({ seed, workers: 4 });
  const events = await flow.accept(PARTNER, 200);
  const { clock, ports, ledgerHooks, sender } = flow.world;
  ledgerHooks.before = () => clock.sleep(Math.floor(ports.dice.draw() * 20));
  ledgerHooks.after = () => clock.sleep(Math.floor(ports.dice.draw() * 20));
  sender.always(slowly(flow, 50, answered(200)));
  return { flow, events };
};

describe('four workers', () => {
  it.each(SEEDS)('obey a pause: no re-check that begins behind its write passes: seed %d', async (seed) => {
    const { flow, events } = await underWay(seed);
    await flow.run(1_000 + (seed % 37) * 13);
    const pausing = flow.pause(PARTNER);
    await flow.run(20_000);
    await pausing;
    const [pause] = writesOf(flow.world, 'gate').filter(({ after }) => after.pause);
    expect(sentBehind(flow.pushes, pause?.order ?? 0)).toEqual([]);
    const sent = flow.world.sender.sends.length;
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: sent, parked: 200 - sent });
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(200);
  });

  it.each(SEEDS)('obey one 429: no re-check that begins behind the closing passes: seed %d', async (seed) => {
    const { flow, events } = await underWay(seed);
    const before = Array.from({ length: 5 + (seed % 29) }, () => slowly(flow, 50, answered(200)));
    flow.world.sender.script(...before, slowly(flow, 50, answered(429, { retryAfter: ['60'] })));
    await flow.run(40_000);
    const [closing] = writesOf(flow.world, 'gate').filter(({ after }) => after.closedUntilMs !== undefined);
    const { closedUntilMs: untilMs = 0, closedSinceMs: sinceMs = 0 } = closing?.after ?? {};
    const through = sentBehind(flow.pushes, closing?.order ?? 0).filter(({ sentAtMs = 0 }) => sentAtMs < untilMs);
    expect(through).toEqual([]);
    for (const atMs of sendTimes(flow)) expect(atMs - sinceMs < 1_000 || atMs >= untilMs).toBe(true);
    await flow.run(120_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 200 });
    expect(flow.world.sender.sends).toHaveLength(201);
  });
});

describe('a thousand deliveries that were parked', () => {
  it.each([
    ['ten a second where there is no rate', {}, 10],
    ['its rate', { ratePerSecond: 4 }, 4],
  ])('go out at %s, once each', async (_what, settings, rate) => {
    const { flow, events } = await pausedFlow(PARTNER, 1_000, settings);
    await flow.resume(PARTNER);
    await flow.run((1_000 / rate) * 1_000 + 10_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 1_000 });
    expectOneSendEach(flow, events);
    expect(mostWithin(sendTimes(flow), 10_000)).toBeLessThanOrEqual(12 * rate);
  });
});

describe('one hanging destination with a thousand deliveries', () => {
  const hangingBeside = async (options: FlowOptions & { readonly hanging: number }) => {
    const flow = openFlow({ workers: 20, ...options });
    await flow.destination('hanging');
    await flow.destination('healthy');
    const { clock, sender } = flow.world;
    sender.always(async ({ url }) => {
      const hangs = url.endsWith('hanging');
      await clock.sleep(hangs ? TIMEOUT_MS_DEFAULT : 100);
      return hangs ? unanswered('timeout') : answered(200);
    });
    await flow.accept('hanging', options.hanging);
    flow.startTicks();
    await flow.run(TIMEOUT_MS_DEFAULT + 1_000);
    const healthy: string[] = [];
    for (let second = 0; second < 300; second += 1) {
      healthy.push(...(await flow.accept('healthy', 5, { prefix: `healthy-${second}-` })));
      await flow.run(1_000);
    }
    await flow.run(MINUTE_MS);
    const tookMs = (await flow.rows(healthy, 'healthy'))
      .map((row) => (row.status === 'delivered' ? row.endedAtMs - row.acceptedAtMs : Number.POSITIVE_INFINITY))
      .toSorted((a, b) => a - b);
    return tookMs[Math.floor(tookMs.length * 0.95)] ?? Number.NaN;
  };

  it('leaves the healthy ones a p95 within 1.5 times that without it', async () => {
    const without = await hangingBeside({ hanging: 0 });
    expect(await hangingBeside({ hanging: 1_000 })).toBeLessThanOrEqual(1.5 * without);
  });
});

describe('a backlog of 20,000 deliveries whose publish was lost', () => {
  it('costs at most 1.2 further publishes each, with workers that need 1,000 seconds for it', async () => {
    const flow = await openedFlow({ workers: 10 });
    const events = await unpublished(flow, 20_000);
    flow.world.sender.always(slowly(flow, 500, answered(200)));
    flow.startTicks();
    await flow.run(GRACE_MS + 1_000_000 + 2 * MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 20_000 });
    expect(deliversOf(flow).length).toBeLessThanOrEqual(1.2 * 20_000);
    expectOneSendEach(flow, events);
  });

  it('makes the tick itself no longer: four publishes, and no request to the ledger', async () => {
    const flow = await openedFlow();
    await unpublished(flow, 20_000);
    await flow.run(GRACE_MS);
    const [asked, published] = [flow.world.asked.length, flow.queue.published.length];
    await tick(flow.world.ports, TICK_MS);
    expect(flow.queue.published.length - published).toBe(DUE_SHARDS);
    expect(flow.world.asked.length).toBe(asked);
  });
});

describe('a sweep for a hundred late rows', () => {
  const fill = (flow: Flow, count: number): void => {
    const settled = deliveredRow({ destination: destinationId(PARTNER) });
    for (let n = 0; n < count; n += 1) flow.world.store.poke(toItem({ ...settled, event: eventId(`settled-${n}`) }));
  };

  const costWith = async (settled: number) => {
    const flow = await openedFlow();
    fill(flow, settled);
    await unpublished(flow, 100);
    await flow.run(GRACE_MS);
    const asked = flow.world.asked.length;
    for (let shard = 0; shard < DUE_SHARDS; shard += 1) await sweepNow(flow, shard);
    const kinds: Record<string, number> = {};
    for (const { kind } of flow.world.asked.slice(asked)) kinds[kind] = (kinds[kind] ?? 0) + 1;
    return kinds;
  };

  it('asks as much in a table of 200,000 settled rows as in one of 2,000', async () => {
    const small = await costWith(2_000);
    expect(await costWith(200_000)).toEqual(small);
    expect(small['load']).toBe(100 + DUE_SHARDS);
  });
});
