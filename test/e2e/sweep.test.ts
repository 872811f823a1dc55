/** The sweep: whatever nobody else brings on, it does, from what the row says, a bounded number of times. */
import { describe, expect, it } from 'vitest';
import {
  DUE_SHARDS,
  LOOK_AHEAD_MS,
  leaseMsOf,
  SKEW_MARGIN_MS,
  SWEEP_STEP_MS,
  SWEEP_STEP_MS_MAX,
  TICK_MS,
  TIMEOUT_MS_DEFAULT,
} from '../../functions/core/limits.ts';
import { type Pages, PortUnavailable } from '../../functions/ports.ts';
import { tick } from '../../functions/reconciler/tick.ts';
import { resume } from '../../functions/steps/resume.ts';
import {
  expectOneSendEach,
  FIFTEEN_MINUTES,
  type Flow,
  requestId,
  SEVEN_DAYS,
  sendTimes,
  slowly,
  statuses,
} from '../support/flow.ts';
import {
  broken,
  DAY_MS,
  deliversOf,
  GRACE_MS,
  HOUR_MS,
  inShard,
  inShardOf,
  lateInShard,
  MINUTE_MS,
  ofLaterFormat,
  openedFlow,
  PARTNER,
  spoil,
  sweepNow,
  sweepsOf,
  unpublished,
} from '../support/late-rows.ts';
import { destinationId, eventId } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

/** By the rounding of a delay to whole seconds, and one more. */
const ROUNDING_MS = 2_000;

const runUntil = (flow: Flow, atMs: number) => flow.run(atMs - flow.world.clock.nowMs());

// ---- what it finds ------------------------------------------------------------------------------------------------

describe('a sweep brings on', () => {
  it.each([
    ['whose publish failed', true],
    ['whose message got lost', false],
  ])('an accepted delivery %s, within grace and a tick', async (_what, away) => {
    const flow = await openedFlow();
    flow.queue.away = away;
    flow.queue.loses = () => true;
    const events = await flow.accept(PARTNER, 20);
    const acceptedMs = flow.world.clock.nowMs();
    flow.queue.away = false;
    flow.queue.loses = () => false;
    flow.startTicks();
    await flow.run(GRACE_MS - 1);
    expect(flow.world.sender.sends).toEqual([]);
    await flow.run(TICK_MS + 1);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 20 });
    expect(Math.max(...sendTimes(flow)) - acceptedMs).toBeLessThanOrEqual(GRACE_MS + TICK_MS);
    expectOneSendEach(flow, events);
  });

  it.each([
    ['a queue that delays for seven days', SEVEN_DAYS],
    ['a queue that delays for fifteen minutes', FIFTEEN_MINUTES],
  ])(
    'a delivery that is due in ninety days, on its day, within a tick and never early, on %s',
    async (_what, limits) => {
      const flow = await openedFlow({ limits });
      const dueMs = flow.world.clock.nowMs() + 90 * DAY_MS;
      const events = await flow.accept(PARTNER, 5, { deliverAtMs: dueMs });
      expect(flow.queue.published).toEqual([]);
      for (let day = 0; day < 89; day += 1) {
        await tick(flow.world.ports, TICK_MS);
        await flow.run(DAY_MS);
      }
      expect(deliversOf(flow)).toEqual([]);
      await runUntil(flow, dueMs - 2 * LOOK_AHEAD_MS);
      flow.startTicks();
      await runUntil(flow, dueMs - 1);
      expect(flow.world.sender.sends).toEqual([]);
      await flow.run(TICK_MS);
      expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 5 });
      for (const atMs of sendTimes(flow)) expect(atMs - dueMs).toBeLessThanOrEqual(ROUNDING_MS);
      expect(deliversOf(flow)).toHaveLength(5);
      expectOneSendEach(flow, events);
    },
  );

  it.each([
    ['ten days ahead on a queue that delays for seven', SEVEN_DAYS, 10 * DAY_MS],
    ['sixteen minutes ahead on one that delays for fifteen', FIFTEEN_MINUTES, 16 * MINUTE_MS],
    ['an hour ahead on one that could delay for it', SEVEN_DAYS, HOUR_MS],
  ])('a delivery %s, once, though its first message is lost as well', async (_what, limits, aheadMs) => {
    const flow = await openedFlow({ limits });
    flow.queue.loses = ({ kind }) => kind === 'deliver' && deliversOf(flow).length <= 1;
    const dueMs = flow.world.clock.nowMs() + aheadMs;
    const events = await flow.accept(PARTNER, 1, { deliverAtMs: dueMs });
    await flow.run(aheadMs - LOOK_AHEAD_MS - TICK_MS);
    flow.startTicks();
    await runUntil(flow, dueMs - 1);
    expect(flow.world.sender.sends).toEqual([]);
    await flow.run(GRACE_MS + TICK_MS + 1);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 1 });
    expectOneSendEach(flow, events);
  });

  it('a retry that lies behind the longest delay of the queue: five days on one of fifteen minutes', async () => {
    const flow = await openedFlow({ limits: FIFTEEN_MINUTES }, { schedule: [5 * 86_400], keyLifeHours: null });
    flow.world.sender.script(answered(500));
    const [event = ''] = await flow.accept(PARTNER, 1);
    await flow.run(1_000);
    const row = await flow.world.row(event, PARTNER);
    const dueMs = row.status === 'pending' ? row.dueAtMs : Number.NaN;
    await runUntil(flow, dueMs - LOOK_AHEAD_MS - TICK_MS);
    flow.startTicks();
    await runUntil(flow, dueMs - 1);
    expect(flow.world.sender.sends).toHaveLength(1);
    await flow.run(TICK_MS);
    expect((await flow.world.row(event, PARTNER)).status).toBe('delivered');
    expect((sendTimes(flow)[1] ?? 0) - dueMs).toBeLessThanOrEqual(ROUNDING_MS);
  });

  it.each([
    ['at its first attempt', 0],
    ['that was made long after it was due', 40_000],
  ])('a delivery whose worker died behind its claim, %s: lease end, margin and a tick', async (_what, lateMs) => {
    const flow = await openedFlow();
    flow.queue.loses = () => true;
    const [event = ''] = await flow.accept(PARTNER, 1);
    flow.queue.loses = () => false;
    await flow.run(lateMs);
    flow.world.sender.script(() => new Promise<never>(() => {}));
    void flow.world.deliver(event, PARTNER);
    await flow.run(0);
    const row = await flow.world.row(event, PARTNER);
    const leaseEndsAtMs = row.status === 'claimed' ? row.claim.leaseEndsAtMs : Number.NaN;
    expect(leaseEndsAtMs - flow.world.clock.nowMs()).toBe(leaseMsOf(TIMEOUT_MS_DEFAULT));
    flow.startTicks();
    await runUntil(flow, leaseEndsAtMs + SKEW_MARGIN_MS);
    expect(flow.world.sender.sends).toHaveLength(1);
    await flow.run(TICK_MS + 1);
    expect(await flow.world.row(event, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  it('a delivery whose message is lost again and again: a quarter of an hour, then half, then an hour, then two', async () => {
    const flow = await openedFlow();
    flow.queue.loses = ({ kind }) => kind === 'deliver';
    await flow.accept(PARTNER, 1);
    flow.startTicks();
    await flow.run(12 * HOUR_MS);
    const times = deliversOf(flow).map(({ publishedAtMs }) => publishedAtMs);
    const steps = times.slice(1).map((atMs, at) => atMs - (times[at] ?? 0));
    const wanted = [0, 1, 2, 3, 4, 5].map((n) => Math.min(SWEEP_STEP_MS * 2 ** n, SWEEP_STEP_MS_MAX));
    expect(steps.length).toBeGreaterThanOrEqual(6);
    for (const [at, step] of wanted.entries()) {
      expect((steps[at + 1] ?? 0) - step).toBeGreaterThanOrEqual(0);
      expect((steps[at + 1] ?? 0) - step).toBeLessThanOrEqual(TICK_MS);
    }
  });
});

// ---- what it leaves alone -----------------------------------------------------------------------------------------

describe('a sweep leaves alone', () => {
  const misled = (refs: () => Awaited<ReturnType<Pages['due']>>) => ({
    reshape: (ports: Flow['world']['ports']): Flow['world']['ports'] => ({
      ...ports,
      pages: { ...ports.pages, due: async (_shard, _untilMs, _limit, after) => (after === undefined ? refs() : []) },
    }),
  });

  it('what an index entry says and the row does not: delivered, early, live, fresh and never existing ones', async () => {
    const entries: {
      event: ReturnType<typeof eventId>;
      destination: ReturnType<typeof destinationId>;
      lookAfterMs: number;
    }[] = [];
    const flow = await openedFlow(misled(() => entries));
    const [done = ''] = await flow.accept(PARTNER, 1, { prefix: 'done-' });
    await flow.run(1_000);
    const [fresh = ''] = await unpublished(flow, 1, 'fresh-');
    const [live = ''] = await unpublished(flow, 1, 'live-');
    const [early = ''] = await flow.accept(PARTNER, 1, {
      prefix: 'early-',
      deliverAtMs: flow.world.clock.nowMs() + HOUR_MS,
    });
    flow.world.sender.hold();
    void flow.world.deliver(live, PARTNER);
    await flow.run(0);
    expect(await statuses(flow, [done, fresh, live, early], PARTNER)).toEqual({ delivered: 1, pending: 2, claimed: 1 });
    for (const event of [done, fresh, live, early, 'never-existed']) {
      entries.push({ event: eventId(event), destination: destinationId(PARTNER), lookAfterMs: 1 });
    }
    const published = flow.queue.published.length;
    const writes = await flow.world.writesOf(async () => {
      for (let shard = 0; shard < DUE_SHARDS; shard += 1) {
        expect(await sweepNow(flow, shard)).toEqual({ kind: 'ack', note: 'swept' });
      }
    });
    expect(writes.filter(({ ref }) => ref?.item !== 'heartbeat')).toEqual([]);
    expect(flow.queue.published.slice(published)).toEqual([]);
  });

  it('what is not late: a table of rows that all have their messages costs it one query a shard', async () => {
    const flow = await openedFlow({ workers: 1 });
    flow.world.sender.always(slowly(flow, 1_000, answered(200)));
    await flow.accept(PARTNER, 30);
    const asked = flow.world.asked.length;
    for (let shard = 0; shard < DUE_SHARDS; shard += 1) await sweepNow(flow, shard);
    const kinds = flow.world.asked.slice(asked).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === 'due')).toHaveLength(DUE_SHARDS);
    // The rest is the heartbeat: read, taken, given back.
    expect(kinds).toHaveLength(DUE_SHARDS * 4);
  });

  it('the destination: no sweep ever sends', async () => {
    const flow = await openedFlow();
    await unpublished(flow, 20);
    flow.startTicks();
    await flow.run(2 * MINUTE_MS);
    expect(flow.world.sender.sends).toHaveLength(20);
    expect(sweepsOf(flow).filter(({ sentAtMs }) => sentAtMs !== undefined)).toEqual([]);
  });
});

// ---- broken rows --------------------------------------------------------------------------------------------------

describe('what nothing can be done with', () => {
  it.each([
    ['of a later format', ofLaterFormat],
    ['broken', broken],
  ])('never hides the rest of a shard: 150 rows at its head, %s', async (_what, change) => {
    const flow = await openedFlow();
    flow.queue.away = true;
    const bad = await flow.accept(PARTNER, inShard(1, 150, 'bad-'));
    await flow.run(1_000);
    const good = await flow.accept(PARTNER, inShard(1, 120, 'good-'));
    flow.queue.away = false;
    for (const event of bad) {
      spoil(flow, { item: 'delivery', event: eventId(event), destination: destinationId(PARTNER) }, change);
    }
    await flow.run(GRACE_MS);
    const writes = await flow.world.writesOf(async () => {
      await tick(flow.world.ports, TICK_MS);
      await flow.run(1_000);
    });
    expect(await statuses(flow, good, PARTNER)).toEqual({ delivered: 120 });
    const touched = new Set(writes.flatMap(({ ref }) => (ref?.item === 'delivery' ? [ref.event] : [])));
    expect(bad.filter((event) => touched.has(eventId(event)))).toEqual([]);
    expect(flow.queue.dead).toEqual([]);
  });

  /** Rows of another destination are parked in the same shard, and an hour has passed. */
  const besideParked = async (
    reshape: (ports: Flow['world']['ports']) => Flow['world']['ports'] = (ports) => ports,
  ) => {
    const flow = await openedFlow({ reshape });
    await flow.destination('other');
    await flow.pause('other');
    await flow.accept('other', inShardOf('other', 1, 3, 'parked-'));
    await flow.run(1_000);
    await flow.run(HOUR_MS);
    const good = await lateInShard(flow, 1, 50);
    return { flow, good };
  };

  const sweepTwice = async (flow: Flow): Promise<void> => {
    for (let n = 0; n < 2; n += 1) {
      await tick(flow.world.ports, TICK_MS);
      await flow.run(TICK_MS);
    }
  };

  it('stops no other row of its shard when it is a destination of a later format', async () => {
    const { flow, good } = await besideParked();
    spoil(flow, { item: 'gate', destination: destinationId('other') }, ofLaterFormat);
    await sweepTwice(flow);
    expect(await statuses(flow, good, PARTNER)).toEqual({ delivered: 50 });
  });

  // The gate of a parked row is read outside of the guard that lets a sweep pass a broken row by: one broken item of one
  // destination ends every pass over the shard, again and again, for as long as one of its parked rows is late.
  it.each(['gate', 'destination'] as const)(
    'stops no other row of its shard when it is the %s of parked rows that is broken',
    async (item) => {
      const { flow, good } = await besideParked();
      spoil(flow, { item, destination: destinationId('other') }, broken);
      await sweepTwice(flow);
      expect(await statuses(flow, good, PARTNER)).toEqual({ delivered: 50 });
    },
  );

  // The same for the item that gives slots: broken, or of a later format while a deploy is under way.
  it('stops no other row of its shard when a parked row gets no slot', async () => {
    const { flow, good } = await besideParked((ports) => ({
      ...ports,
      pace: {
        take: async (destination, line, fromMs, stepMs) => {
          if (destination === 'other') throw new PortUnavailable('ledger', 'the item gives no slot');
          return ports.pace.take(destination, line, fromMs, stepMs);
        },
      },
    }));
    flow.queue.loses = ({ kind }) => kind === 'drain';
    await resume(flow.world.ports, destinationId('other'), 1, requestId('open'));
    await sweepTwice(flow);
    expect(await statuses(flow, good, PARTNER)).toEqual({ delivered: 50 });
  });
});
