/** The reconciler's look at the others: what it says while they live, when they are late, and when nobody can be asked. */
import { describe, expect, it } from 'vitest';
import type { Heartbeat } from '../../functions/core/items.ts';
import { DUE_SHARDS } from '../../functions/core/limits.ts';
import type { QueueStats } from '../../functions/ports.ts';
import { reconcile, watch } from '../../functions/reconciler/watch.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';

const MINUTE_MS = 60_000;

const beat = (world: TestWorld, shard: number, ageMs: number, largestOverdueMs = 0): Promise<unknown> =>
  world.records.create<Heartbeat>({
    item: 'heartbeat',
    version: 1,
    shard,
    holder: 'a-pass',
    leaseEndsAtMs: world.clock.nowMs() - ageMs,
    passAtMs: world.clock.nowMs() - ageMs,
    looked: 1,
    published: 0,
    moved: 0,
    largestOverdueMs,
    tick: 1,
    carried: {},
  });

const scene = async (agesMs: readonly number[], overdueMs = 0) => {
  const world = openTestWorld();
  for (const [shard, ageMs] of agesMs.entries()) await beat(world, shard, ageMs, shard === 1 ? overdueMs : 0);
  return world;
};

const FRESH = Array.from({ length: DUE_SHARDS }, () => 10_000);
const STATS: QueueStats = { available: 7, delayed: 2, inFlight: 3, dead: 4, oldestAgeMs: 90_000 };

describe('what the reconciler sees of the sweeps', () => {
  it('is the age of the shard that was passed longest ago, and the row that was latest', async () => {
    const [, ...rest] = FRESH;
    const world = await scene([4 * MINUTE_MS, ...rest], 70_000);
    await watch(world.ports);
    expect(world.telemetry.measured.get('sweep-age-ms')).toBe(4 * MINUTE_MS);
    expect(world.telemetry.measured.get('largest-overdue-ms')).toBe(70_000);
  });

  it('is nothing where one shard was never passed: a number would hide it', async () => {
    const [, ...rest] = FRESH;
    const world = await scene(rest);
    await watch(world.ports);
    expect(world.telemetry.measured.has('sweep-age-ms')).toBe(false);
  });

  it('is nothing, and no exception, while the ledger is away', async () => {
    const world = await scene(FRESH);
    world.ledgerAway();
    await watch(world.ports);
    expect([...world.telemetry.measured.keys()]).toEqual([]);
    expect(world.telemetry.lines.map(({ name }) => name)).toEqual(['heartbeats.not-read']);
  });
});

describe('what the reconciler sees of the queue', () => {
  it('is what the queue says of itself, where it is asked', async () => {
    const world = await scene(FRESH);
    await watch({ ...world.ports, stats: async () => ({ kind: 'stats', ...STATS }) });
    const { measured } = world.telemetry;
    const names = ['queue-available', 'queue-in-flight', 'queue-dead', 'queue-oldest-age-ms'];
    expect(names.map((name) => measured.get(name))).toEqual([7, 3, 4, 90_000]);
  });

  it('leaves out what the queue does not say', async () => {
    const { oldestAgeMs: _unknown, ...known } = STATS;
    const world = await scene(FRESH);
    await watch({ ...world.ports, stats: async () => ({ kind: 'stats', ...known }) as never });
    expect(world.telemetry.measured.has('queue-oldest-age-ms')).toBe(false);
    expect(world.telemetry.measured.get('queue-dead')).toBe(4);
  });

  it('is nothing while the queue is away; the sweeps are seen all the same', async () => {
    const world = await scene(FRESH);
    await watch({ ...world.ports, stats: async () => ({ kind: 'failed', code: 'unavailable', detail: 'away' }) });
    expect(world.telemetry.measured.has('queue-dead')).toBe(false);
    expect(world.telemetry.measured.has('sweep-age-ms')).toBe(true);
  });
});

describe('a tick', () => {
  it('enqueues before it looks, and whatever it finds', async () => {
    const world = openTestWorld();
    world.ledgerAway();
    expect(await reconcile(world.ports, MINUTE_MS)).toMatchObject({ enqueued: DUE_SHARDS, failed: 0 });
    expect(world.queue.published).toHaveLength(DUE_SHARDS);
  });

  it('says that the account of the queue is empty, by its own name', async () => {
    const world = openTestWorld();
    const queue = {
      ...world.queue,
      publish: async () => ({ kind: 'failed', code: 'no-credit', detail: 'top it up' }) as const,
    };
    await reconcile({ ...world.ports, queue }, MINUTE_MS);
    expect(world.telemetry.counted('queue-no-credit')).toBe(DUE_SHARDS);
    expect(world.telemetry.counted('tick-failed')).toBe(DUE_SHARDS);
    expect(world.telemetry.counted('tick')).toBe(1);
  });
});
