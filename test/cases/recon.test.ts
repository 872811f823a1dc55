/** Real failures of reconcilers and outboxes: what was picked up too early, too late, twice or never. */
import { describe, expect, it } from 'vitest';
import { DUE_SHARDS, leaseMsOf, SKEW_MARGIN_MS, TICK_MS, TIMEOUT_MS_DEFAULT } from '../../functions/core/limits.ts';
import type { Claimed, Delivery, Pending } from '../../functions/core/model.ts';
import type { ListQuery, Published } from '../../functions/ports.ts';
import { tick } from '../../functions/reconciler/tick.ts';
import { expectOneSendEach, type Flow, openFlow, pushByHand, slowly, statuses } from '../support/flow.ts';
import {
  beatOf,
  deliversOf,
  GRACE_MS,
  HOUR_MS,
  lateInShard,
  MINUTE_MS,
  openedFlow,
  PARTNER,
  sweepNow,
} from '../support/late-rows.ts';
import { answered } from '../support/world-ports.ts';

const listed = async (flow: Flow, query: ListQuery): Promise<string[]> =>
  (await flow.world.ports.pages.list(query)).refs.flatMap((ref) => (ref.item === 'delivery' ? [ref.event] : []));
const open = (flow: Flow) => listed(flow, { list: 'open', limit: 100 });

const openRow = (row: Delivery): Pending | Claimed => {
  if (row.status !== 'pending' && row.status !== 'claimed') throw new TypeError(row.status);
  return row;
};

/** Publishes of deliveries get this answer instead of the queue's; `taken`: the queue has it all the same. */
const answering = (answer: (nth: number) => { readonly taken: boolean; readonly said: Published } | undefined) => {
  let nth = 0;
  return {
    reshape: (ports: Flow['world']['ports']): Flow['world']['ports'] => ({
      ...ports,
      queue: {
        limits: ports.queue.limits,
        publish: async (publication) => {
          if (JSON.parse(publication.body).kind !== 'deliver') return ports.queue.publish(publication);
          nth += 1;
          const instead = answer(nth);
          if (instead === undefined) return ports.queue.publish(publication);
          if (instead.taken) await ports.queue.publish(publication);
          return instead.said;
        },
      },
    }),
  };
};

const FAILED: Published = { kind: 'failed', code: 'unavailable', detail: 'no clear answer' };

describe('a retry whose time has long passed', () => {
  const stranded = async () => {
    const flow = await openedFlow();
    flow.world.sender.script(answered(500));
    const [event = ''] = await flow.accept(PARTNER, 1);
    flow.queue.loses = ({ messageId }) => messageId === 'm2';
    await flow.run(10 * MINUTE_MS);
    expect(await flow.world.row(event, PARTNER)).toMatchObject({ status: 'pending', attempts: 1 });
    return { flow, event };
  };

  it('is enqueued once by a pass, and delivered; the lost message that comes late does nothing [C024]', async () => {
    const { flow, event } = await stranded();
    const published = flow.queue.published.length;
    for (let n = 0; n < 3; n += 1) await tick(flow.world.ports, TICK_MS);
    await flow.run(1_000);
    expect(deliversOf(flow, published)).toHaveLength(1);
    expect(await flow.world.row(event, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2 });
    const lost = flow.queue.published.find(({ messageId }) => messageId === 'm2');
    const writes = await flow.world.writesOf(async () => {
      expect(await pushByHand(flow, lost?.body ?? '')).toEqual({ kind: 'ack', note: 'done' });
    });
    expect(writes).toEqual([]);
    expect(flow.world.sender.sends).toHaveLength(2);
  });
});

describe('a delivery that somebody is sending right now', () => {
  it('is not touched by a sweep three seconds after its claim, nor until lease and margin are over: one request [C037]', async () => {
    const flow = await openedFlow({}, { schedule: [] });
    flow.queue.loses = ({ kind }) => kind === 'deliver';
    const [event = ''] = await flow.accept(PARTNER, 1);
    await flow.run(GRACE_MS + MINUTE_MS);
    flow.world.sender.always(slowly(flow, TIMEOUT_MS_DEFAULT - 1, answered(200)));
    const push = flow.world.deliver(event, PARTNER);
    await flow.run(3_000);
    const before = await flow.world.row(event, PARTNER);
    expect(before.status).toBe('claimed');
    for (let second = 0; second < 16; second += 1) {
      for (let shard = 0; shard < DUE_SHARDS; shard += 1) await sweepNow(flow, shard, second + 1);
      // The next look is put off, and nothing else.
      const { version, lookAfterMs } = openRow(await flow.world.row(event, PARTNER));
      expect(await flow.world.row(event, PARTNER)).toEqual({ ...before, version, lookAfterMs });
      await flow.run(1_000);
    }
    expect(deliversOf(flow)).toHaveLength(1);
    await flow.run(1_000);
    await push;
    expect(await flow.world.row(event, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(flow.world.sender.sends).toHaveLength(1);
  });
});

describe('a worker that crashed behind its claim', () => {
  it('needs no deploy and no new traffic: its delivery is recovered within lease, margin and one interval [C039]', async () => {
    const flow = await openedFlow();
    flow.startTicks();
    flow.world.sender.script(() => new Promise<never>(() => {}));
    flow.queue.loses = ({ kind }) => kind === 'deliver' && flow.world.sender.sends.length === 0;
    const [event = ''] = await flow.accept(PARTNER, 1);
    void flow.world.deliver(event, PARTNER);
    const claimedMs = flow.world.clock.nowMs();
    await flow.run(leaseMsOf(TIMEOUT_MS_DEFAULT) + SKEW_MARGIN_MS + TICK_MS);
    const row = await flow.world.row(event, PARTNER);
    expect(row).toMatchObject({ status: 'delivered', attempts: 2 });
    const boundMs = leaseMsOf(TIMEOUT_MS_DEFAULT) + SKEW_MARGIN_MS + TICK_MS;
    expect((flow.world.sender.sends[1]?.atMs ?? Number.NaN) - claimedMs).toBeLessThanOrEqual(boundMs);
  });
});

// There is no batch: every publish has an answer of its own, and its row moves only if that answer is a yes.
describe('ten publishes of a sweep', () => {
  it('of which one fails move nine rows, say nine, and the tenth is published at the next pass [C048]', async () => {
    const flow = await openedFlow(answering((nth) => (nth === 14 ? { taken: false, said: FAILED } : undefined)));
    const events = await lateInShard(flow, 1, 10);
    await sweepNow(flow, 1);
    expect(await beatOf(flow, 1)).toMatchObject({ looked: 10, published: 9, moved: 9 });
    expect(flow.world.telemetry.counted('publish-failed')).toBe(10 + 1);
    await flow.run(1_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 9, pending: 1 });
    await sweepNow(flow, 1, 2);
    expect(await beatOf(flow, 1)).toMatchObject({ looked: 1, published: 1, moved: 1 });
    await flow.run(1_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 10 });
    expectOneSendEach(flow, events);
  });

  it('of which one fails and one gets no clear answer count as eight: both are published again, neither is sent twice [C049]', async () => {
    const flow = await openedFlow(
      answering((nth) => {
        if (nth === 13) return { taken: false, said: FAILED };
        // The queue has taken it, and nobody was told.
        return nth === 17 ? { taken: true, said: FAILED } : undefined;
      }),
    );
    const events = await lateInShard(flow, 1, 10);
    await sweepNow(flow, 1);
    expect(await beatOf(flow, 1)).toMatchObject({ looked: 10, published: 8, moved: 8 });
    await sweepNow(flow, 1, 2);
    expect(await beatOf(flow, 1)).toMatchObject({ looked: 2, published: 2, moved: 2 });
    await flow.run(1_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 10 });
    expectOneSendEach(flow, events);
  });
});

describe('every delivery that is not over', () => {
  it('is in what a sweep looks through: due, failed, early, deferred, parked and claimed ones [C116]', async () => {
    const flow = await openedFlow({ workers: 1 });
    await flow.destination('paced', { ratePerSecond: 0.01 });
    await flow.destination('shut');
    await flow.pause('shut');
    flow.queue.loses = () => true;
    const due = await flow.accept(PARTNER, ['due', 'failed', 'claimed']);
    await flow.accept(PARTNER, ['early'], { deliverAtMs: flow.world.clock.nowMs() + HOUR_MS });
    await flow.accept('paced', ['at-once', 'deferred']);
    await flow.accept('shut', ['parked']);
    flow.world.sender.script(answered(500), answered(200));
    await flow.world.deliver('failed', PARTNER);
    await flow.world.deliver('at-once', 'paced');
    await flow.world.deliver('deferred', 'paced');
    await flow.world.deliver('parked', 'shut');
    flow.world.sender.hold();
    void flow.world.deliver('claimed', PARTNER);
    await flow.run(0);
    expect(await statuses(flow, due, PARTNER)).toEqual({ pending: 2, claimed: 1 });
    expect((await open(flow)).toSorted()).toEqual(['claimed', 'deferred', 'due', 'early', 'failed', 'parked']);
  });

  it('goes on when its worker crashed directly after it had recorded failure 1 of 5 [C116]', async () => {
    const flow = await openedFlow({}, { schedule: [5, 5, 5, 5] });
    flow.world.sender.script(answered(500));
    const [event = ''] = await flow.accept(PARTNER, 1);
    // The write of the outcome is the last thing that it did.
    flow.queue.loses = () => true;
    await flow.world.deliver(event, PARTNER);
    flow.queue.loses = () => false;
    expect(await flow.world.row(event, PARTNER)).toMatchObject({ status: 'pending', attempts: 1, budget: 5 });
    expect(await open(flow)).toEqual([event]);
    flow.startTicks();
    await flow.run(GRACE_MS + 6_000 + TICK_MS);
    expect(await flow.world.row(event, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2 });
  });
});

describe('a delivery that failed twice and then succeeded', () => {
  it('has no next time, stands in no list of open ones, and shows no error as its state [C117]', async () => {
    const flow = await openedFlow({}, { schedule: [1, 1] });
    flow.world.sender.script(answered(500, { excerpt: 'down' }), answered(500, { excerpt: 'down' }));
    const [event = ''] = await flow.accept(PARTNER, 1);
    await flow.run(MINUTE_MS);
    const row = await flow.world.row(event, PARTNER);
    expect(row).toMatchObject({ status: 'delivered', attempts: 3 });
    for (const member of ['dueAtMs', 'lookAfterMs', 'reason', 'deferral', 'parking', 'waits', 'claim']) {
      expect(row).not.toHaveProperty(member);
    }
    expect(await open(flow)).toEqual([]);
    for (const list of ['parked', 'quarantined'] as const) expect(await listed(flow, { list, limit: 100 })).toEqual([]);
    const view = await flow.world.call('operator', 'GET', `/v1/events/${event}/deliveries/${PARTNER}`, {
      token: flow.world.token('view'),
    });
    expect(view.body).toMatchObject({ status: 'delivered', attempts: 3 });
    for (const member of ['dueAt', 'reason', 'parked']) expect(view.body).not.toHaveProperty(member);
  });
});

describe('a reconciler that is invoked three times for one tick', () => {
  it('does what one would have done: overlapping, the last one with nothing to do [C138]', async () => {
    const flow = await openedFlow();
    const events = await lateInShard(flow, 1, 30);
    const before = deliversOf(flow).length;
    flow.world.ledgerHooks.before = () => flow.world.clock.sleep(10);
    const passes = [sweepNow(flow, 1, 7), sweepNow(flow, 1, 7)];
    await flow.run(5_000);
    expect((await Promise.all(passes)).map((verdict) => verdict.kind)).toEqual(['ack', 'ack']);
    delete flow.world.ledgerHooks.before;
    const rows = await flow.rows(events, PARTNER);
    await sweepNow(flow, 1, 7);
    expect(await flow.rows(events, PARTNER)).toEqual(rows);
    expect(deliversOf(flow).length - before).toBe(30);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 30 });
    expectOneSendEach(flow, events);
  });

  it('has one message a shard on the queue, however often it was called [C138]', async () => {
    const flow = openFlow();
    const ticked = await Promise.all([1, 2, 3].map(() => tick(flow.world.ports, TICK_MS)));
    expect(ticked.map(({ failed }) => failed)).toEqual([0, 0, 0]);
    expect(flow.queue.published).toHaveLength(DUE_SHARDS);
  });

  // The heartbeat knows no tick: every pass writes over what the one before it did.
  it('keeps on record what the tick did, when its message comes once more and finds nothing [C138]', async () => {
    const flow = await openedFlow();
    await lateInShard(flow, 1, 30);
    await sweepNow(flow, 1, 7);
    await sweepNow(flow, 1, 7);
    expect(await beatOf(flow, 1)).toMatchObject({ published: 30 });
  });
});

describe('a reconciler that is killed in the middle of its work', () => {
  it('after 955 of 1,187 publishes: the remaining 232 are published within two intervals [C150]', async () => {
    let alive = true;
    let published = 0;
    const flow = await openedFlow({
      reshape: (ports) => ({
        ...ports,
        queue: {
          limits: ports.queue.limits,
          publish: (publication) => {
            if (!alive || JSON.parse(publication.body).kind !== 'deliver') return ports.queue.publish(publication);
            published += 1;
            return published > 955 ? new Promise<never>(() => {}) : ports.queue.publish(publication);
          },
        },
      }),
    });
    alive = false;
    flow.queue.away = true;
    const events = await flow.accept(PARTNER, 1_187);
    flow.queue.away = false;
    await flow.run(GRACE_MS);
    alive = true;
    await tick(flow.world.ports, TICK_MS);
    await flow.run(1_000);
    expect(deliversOf(flow)).toHaveLength(955);
    alive = false;
    flow.startTicks();
    await flow.run(2 * TICK_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 1_187 });
    // Rows that were published and not yet moved when it died may be published once more.
    expect(deliversOf(flow).length).toBeLessThanOrEqual(1_187 + DUE_SHARDS * 8);
    expectOneSendEach(flow, events);
  });
});
