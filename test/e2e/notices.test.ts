/** Notices: what a person should know, delivered by the product itself, once, and never about a notice. */
import { describe, expect, it } from 'vitest';
import { createLedgerNotices } from '../../functions/adapters/notices.ts';
import type { Heartbeat } from '../../functions/core/items.ts';
import { BREAKER_FAILURES, BREAKER_MS, DUE_SHARDS, TICK_MS } from '../../functions/core/limits.ts';
import { NOTICE_WINDOW_MS, SWEEP_SILENT_MS } from '../../functions/core/notice.ts';
import { LedgerCorrupt, type Notices, PortUnavailable } from '../../functions/ports.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import { reconcile } from '../../functions/reconciler/watch.ts';
import { ran } from '../support/cli.ts';
import {
  kindsAt,
  MINUTE_MS,
  noticeEvents,
  noticeWorld,
  OPS_URL,
  refused,
  toldAt,
  withNotices,
  written,
} from '../support/notice-world.ts';
import { openRedriveWorld } from '../support/redrive-world.ts';
import { deliverMessage, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

describe('a destination that is marked', () => {
  it('is told of a delivery in quarantine: what, where, and what to do; no secret and nothing of a payload', async () => {
    const world = await noticeWorld();
    world.sender.script(answered(422, { excerpt: 'what the partner has said' }));
    await world.submit({ id: 'order-1', payload: { card: 'a-secret-of-the-customer' }, destinations: ['partner'] });
    await world.run(MINUTE_MS);
    expect(toldAt(world)).toEqual([
      {
        notice: 'delivery-quarantined',
        at: expect.any(String),
        destination: 'partner',
        event: 'order-1',
        reason: 'rejected',
        attempts: 1,
        says: expect.any(String),
        look: 'onceward delivery explain order-1 partner',
        page: '/console/events/order-1/deliveries/partner',
      },
    ]);
    const sent = JSON.stringify(toldAt(world));
    for (const secret of ['a-secret-of', 'what the partner', 'whsec_']) expect(sent).not.toContain(secret);
    const { look } = toldAt(world)[0] ?? { look: '' };
    expect((await ran(world, look.split(' ').slice(1))).out).toContain('quarantined');
  });

  it('can run the command that it is told, whatever the ids look like', async () => {
    const world = await noticeWorld();
    await refused(world, '--json');
    await world.run(MINUTE_MS);
    const { look } = toldAt(world)[0] ?? { look: '' };
    expect((await ran(world, look.split(' ').slice(1))).out).toContain('quarantined');
  });

  it('is told of a destination that is gone, and is paused for it', async () => {
    const world = await noticeWorld();
    await refused(world, 'order-1', 410);
    await world.run(MINUTE_MS);
    expect(kindsAt(world).toSorted()).toEqual(['delivery-quarantined', 'destination-paused']);
  });

  it('is told that a destination fails, and then that its breaker has paused it', async () => {
    const world = await noticeWorld();
    await world.destination('partner', { schedule: Array(7).fill(600) });
    world.sender.always(async (request) => answered(request.url === OPS_URL ? 204 : 500));
    const failures = async (prefix: string, count: number): Promise<void> => {
      for (let n = 0; n < count; n += 1) await world.accepted(`${prefix}-${n}`, 'partner');
      await world.run(1_000);
    };
    await failures('early', 9);
    await world.run(3 * MINUTE_MS);
    expect(kindsAt(world)).toEqual([]);
    await failures('more', BREAKER_FAILURES);
    await world.run(MINUTE_MS);
    expect(kindsAt(world)).toEqual(['destination-failing']);
    await world.run(BREAKER_MS);
    await failures('last', 1);
    await world.run(MINUTE_MS);
    expect(kindsAt(world)).toEqual(['destination-failing', 'destination-paused']);
    expect(toldAt(world)[1]).toMatchObject({ destination: 'partner', look: 'onceward destination show partner' });
  });

  it('is told that a redrive is over, and how', async () => {
    const redrives = openRedriveWorld({ reshape: withNotices });
    const { world } = redrives;
    await world.destination('partner');
    await world.destination('ops', { url: OPS_URL, notices: true });
    await redrives.deadLetter('e-1');
    const { operation } = await redrives.through();
    await world.run(MINUTE_MS);
    expect(toldAt(world)).toMatchObject([{ notice: 'redrive-finished', look: `onceward redrive show ${operation}` }]);
  });

  it('is told by the reconciler that no sweep passes, as long as that is so', async () => {
    const world = await noticeWorld();
    await world.tick();
    await world.run(1_000);
    const tick = () => reconcile(world.ports, TICK_MS);
    // The sweeps of one shard get lost, again and again.
    for (let minutes = 0; minutes < 12; minutes += 1) {
      await world.clock.advance(MINUTE_MS);
      await tick();
      for (let next = world.queue.take(world.clock.nowMs()); next !== undefined; ) {
        const isLost = next.body.includes('"sweep"') && next.body.includes('"shard":1');
        if (!isLost) await world.finish(world.push(next.body, { messageId: next.messageId }));
        next = world.queue.take(world.clock.nowMs());
      }
    }
    expect(toldAt(world)).toMatchObject([{ notice: 'sweep-silent', shard: 1, look: 'onceward queue stats' }]);
  });

  it('is told by a message only, where the reconciler may not know who is marked', async () => {
    const world = openTestWorld({ reshape: withNotices });
    const passAtMs = world.clock.nowMs() - SWEEP_SILENT_MS - 1;
    for (let shard = 0; shard < DUE_SHARDS; shard += 1) {
      const beat = { holder: 'h', leaseEndsAtMs: passAtMs, passAtMs, looked: 0, published: 0, moved: 0 };
      const item = { item: 'heartbeat', version: 1, shard, largestOverdueMs: 0, ...beat, carried: {} } as const;
      await world.records.create<Heartbeat>(item);
    }
    await reconcile(world.ports, TICK_MS);
    await reconcile(world.ports, TICK_MS);
    expect(world.queue.published.filter(({ body }) => body.includes('"notice"'))).toHaveLength(1);
    await world.run(1_000);
    expect(noticeEvents(world)).toEqual([]);
  });
});

describe('notices of one kind about one destination', () => {
  it('are one in a quarter of an hour, and another one in the next', async () => {
    const world = await noticeWorld();
    for (const id of ['a', 'b', 'c', 'd']) await refused(world, id);
    await world.run(MINUTE_MS);
    expect(toldAt(world)).toMatchObject([{ event: 'a' }]);
    await world.run(NOTICE_WINDOW_MS);
    await refused(world, 'e');
    await world.run(MINUTE_MS);
    expect(toldAt(world)).toMatchObject([{ event: 'a' }, { event: 'e' }]);
  });

  it('are one for all processes together: the first content stands, and nobody files a conflict', async () => {
    const world = await noticeWorld((ports) => ({
      ...ports,
      // Each look is that of a new process, which knows nothing of what others have said.
      get notices() {
        return createLedgerNotices(ports.ledger, ports.clock);
      },
    }));
    const what = { kind: 'notice', format: 1, notice: 'delivery-quarantined', destination: 'partner' };
    const notice = (event: string) => ({ ...what, event });
    await refused(world, 'a');
    await refused(world, 'b');
    await Promise.all([world.push(notice('b')), world.push(notice('a')), world.push(notice('b'))]);
    await world.run(MINUTE_MS);
    expect(toldAt(world)).toHaveLength(1);
    expect(noticeEvents(world)).toHaveLength(1);
    expect(written(world, 'conflict')).toBe(0);
    expect(world.telemetry.counted('event-conflict')).toBe(0);
  });

  it('of now are not kept back by a push that comes again for what was told in the quarter before', async () => {
    const world = await noticeWorld();
    await world.clock.advance(NOTICE_WINDOW_MS - (world.clock.nowMs() % NOTICE_WINDOW_MS) - 2 * MINUTE_MS);
    await refused(world, 'before');
    await world.run(3 * MINUTE_MS);
    await world.push(deliverMessage('before', 'partner'));
    await refused(world, 'behind');
    await world.run(MINUTE_MS);
    expect(toldAt(world)).toMatchObject([{ event: 'before' }, { event: 'behind' }]);
  });

  it('are one message a process, however many deliveries a storm holds', async () => {
    const world = await noticeWorld();
    for (let n = 0; n < 30; n += 1) await refused(world, `storm-${n}`);
    expect(world.queue.published.filter(({ body }) => body.includes('"notice"'))).toHaveLength(1);
  });
});

describe('whoever is marked', () => {
  it('is told, each of them, but nobody about themselves', async () => {
    const world = await noticeWorld();
    await world.destination('pager', { url: 'https://pager.example/hook', notices: true });
    await world.destination('partner', { schedule: [], notices: true });
    await refused(world, 'order-1');
    await world.run(MINUTE_MS);
    expect([kindsAt(world), kindsAt(world, 'https://pager.example/hook')]).toEqual([
      ['delivery-quarantined'],
      ['delivery-quarantined'],
    ]);
    expect(kindsAt(world, 'https://partner.example/hook')).toHaveLength(1);
    expect(noticeEvents(world)).toHaveLength(2);
  });

  it('is told although the settings of another are broken', async () => {
    const world = await noticeWorld();
    await world.destination('pager', { url: 'https://pager.example/hook', notices: true });
    world.ledgerHooks.before = ({ kind, ref }) => {
      if (kind === 'load' && ref?.item === 'destination' && ref.destination === 'ops') {
        throw new LedgerCorrupt('destination#ops', 'config', 'nobody can read it');
      }
    };
    await refused(world, 'order-1');
    await world.run(MINUTE_MS);
    expect(kindsAt(world, 'https://pager.example/hook')).toEqual(['delivery-quarantined']);
    expect(world.telemetry.counted('ledger-corrupt')).toBe(1);
  });

  it('is told soon after a clock that ran ahead was set right', async () => {
    let nowMs = 10 * NOTICE_WINDOW_MS;
    const world = openTestWorld();
    const notices = createLedgerNotices(world.ports.ledger, { nowMs: () => nowMs });
    expect(await notices.marked()).toEqual([]);
    await world.destination('ops', { url: OPS_URL, notices: true });
    nowMs -= NOTICE_WINDOW_MS;
    expect(await notices.marked()).toEqual(['ops']);
  });

  it.each<[string, (world: TestWorld) => Promise<unknown>]>([
    ['unmarked', (world) => world.destination('ops', { url: OPS_URL })],
    [
      'deleted',
      (world) =>
        world.call('operator', 'DELETE', '/v1/destinations/ops', {
          token: world.token('admin'),
          headers: { 'idempotency-key': 'k' },
          body: { reason: 'no longer' },
        }),
    ],
  ])('hears nothing once it is %s, even of a process that does not know yet', async (_what, change) => {
    const world = await noticeWorld();
    await refused(world, 'order-1');
    await change(world);
    await world.run(MINUTE_MS);
    expect(noticeEvents(world)).toEqual([]);
  });

  it('is nobody: then nothing is published, and one read tells so for half a minute', async () => {
    const world = openTestWorld({ reshape: withNotices });
    await world.destination('partner', { schedule: [] });
    await refused(world, 'a');
    const before = world.asked.length;
    await refused(world, 'b');
    const withPort = world.asked.length - before;
    expect(world.queue.published.filter(({ body }) => body.includes('"notice"'))).toEqual([]);
    const bare = openTestWorld();
    await bare.destination('partner', { schedule: [] });
    await refused(bare, 'a');
    const bareBefore = bare.asked.length;
    await refused(bare, 'b');
    expect(withPort).toBe(bare.asked.length - bareBefore);
  });

  it('costs a delivery that goes well nothing', async () => {
    const [marked, bare] = [await noticeWorld(), openTestWorld()];
    await bare.destination('partner', { schedule: [] });
    const requests = async (world: TestWorld): Promise<number> => {
      const before = world.asked.length;
      await world.accepted('well', 'partner');
      await world.deliver('well', 'partner');
      return world.asked.length - before;
    };
    expect(await requests(marked)).toBe(await requests(bare));
  });
});

describe('nothing is told about a notice', () => {
  /** Everything that is sent to a marked destination fails, for as long as it lives. */
  it('when those who are told fail, are quarantined, gone, or paused by their breakers', async () => {
    const world = await noticeWorld();
    await world.destination('ops', { url: OPS_URL, notices: true, schedule: [1] });
    await world.destination('pager', { url: 'https://pager.example/hook', notices: true, schedule: [] });
    world.sender.always(async (request) => {
      if (request.url === OPS_URL) return answered(500);
      return answered(request.url.includes('pager') ? 410 : 422);
    });
    for (let n = 0; n < 2 * BREAKER_FAILURES; n += 1) {
      await world.accepted(`order-${n}`, 'partner');
      await world.run(NOTICE_WINDOW_MS);
    }
    // One for each window and each of the two, about the partner; and none about the two themselves.
    expect(noticeEvents(world)).toHaveLength(4 * BREAKER_FAILURES);
    expect(new Set(toldAt(world).map(({ destination }) => destination))).toEqual(new Set(['partner']));
    const ops = await world.call('operator', 'GET', '/v1/destinations/ops', { token: world.token('view') });
    expect(ops.body).toMatchObject({ state: 'paused', by: 'system' });
    const before = noticeEvents(world).length;
    await world.run(24 * 60 * MINUTE_MS);
    expect(noticeEvents(world)).toHaveLength(before);
  });

  it('while the same end of any other delivery there is told to the others', async () => {
    const world = await noticeWorld();
    await world.destination('ops', { url: OPS_URL, notices: true, schedule: [] });
    const pager = 'https://pager.example/hook';
    await world.destination('pager', { url: pager, notices: true });
    world.sender.always(async (request) => answered(request.url === OPS_URL ? 410 : 204));
    await world.accepted('order-1', 'ops');
    await world.run(MINUTE_MS);
    expect(kindsAt(world, pager).toSorted()).toEqual(['delivery-quarantined', 'destination-paused']);
  });
});

describe('a crash, or a port that is away', () => {
  const told = async (world: TestWorld): Promise<readonly string[]> => {
    await world.run(MINUTE_MS);
    return kindsAt(world);
  };
  /** A process that dies once, just as it is about to speak. */
  const dying = (ports: Receiver): Receiver => {
    let lives = 0;
    const inner = createLedgerNotices(ports.ledger, ports.clock);
    const marked: Notices['marked'] = async () => {
      lives += 1;
      if (lives === 1) throw new Error('killed');
      return inner.marked();
    };
    return { ...ports, notices: { ...inner, marked } };
  };

  it('between the quarantine and the notice is made good by the push that comes again', async () => {
    const world = await noticeWorld(dying);
    world.sender.script(answered(422));
    await world.accepted('order-1', 'partner');
    expect((await world.deliver('order-1', 'partner')).status).toBe(500);
    expect((await world.row('order-1', 'partner')).status).toBe('quarantined');
    expect((await world.deliver('order-1', 'partner')).status).toBe(200);
    expect(await told(world)).toEqual(['delivery-quarantined']);
    expect(world.sender.sends.filter(({ url }) => url !== OPS_URL)).toHaveLength(1);
  });

  it('between the end of a redrive and the notice is made good by its message that comes again', async () => {
    const redrives = openRedriveWorld({ reshape: dying });
    const { world } = redrives;
    await world.destination('partner');
    await world.destination('ops', { url: OPS_URL, notices: true });
    await redrives.deadLetter('e-1');
    const { operation, state } = await redrives.through();
    expect(state).toBe('done');
    expect(await told(world)).toEqual([]);
    const last = world.queue.published.findLast(({ body }) => body.includes('"redrive"') && body.includes(operation));
    expect((await world.push(last?.body ?? '')).status).toBe(200);
    expect(await told(world)).toEqual(['redrive-finished']);
  });

  it('in the middle of telling is made good by the message that comes again', async () => {
    const world = await noticeWorld();
    await refused(world, 'order-1');
    const notice = world.queue.published.find(({ body }) => body.includes('"notice"'));
    world.queue.loseAll();
    world.ledgerHooks.before = ({ kind, ref }) => {
      if (kind === 'create' && ref?.item === 'delivery') throw new PortUnavailable('ledger', 'away');
    };
    expect((await world.push(notice?.body ?? '')).status).toBe(503);
    delete world.ledgerHooks.before;
    expect([noticeEvents(world).length, kindsAt(world).length]).toEqual([1, 0]);
    await world.push(notice?.body ?? '');
    expect(await told(world)).toEqual(['delivery-quarantined']);
    expect(noticeEvents(world)).toHaveLength(1);
  });

  it('never keeps the delivery itself from its end', async () => {
    const world = await noticeWorld();
    world.sender.script(answered(422));
    await world.accepted('order-1', 'partner');
    world.queue.loseAll();
    world.ledgerHooks.before = ({ ref }) => {
      if (ref?.item === 'notice-register') throw new PortUnavailable('ledger', 'away');
    };
    expect((await world.deliver('order-1', 'partner')).status).toBe(200);
    delete world.ledgerHooks.before;
    world.queue.away = true;
    expect((await world.deliver('order-1', 'partner')).status).toBe(200);
    expect(world.telemetry.counted('publish-failed')).toBe(1);
    world.queue.away = false;
    expect((await world.deliver('order-1', 'partner')).status).toBe(200);
    expect(await told(world)).toEqual(['delivery-quarantined']);
  });

  it('does not tell of what is long over, however late a message comes again', async () => {
    const world = await noticeWorld(dying);
    world.sender.script(answered(422));
    await world.accepted('order-1', 'partner');
    world.queue.loseAll();
    await world.deliver('order-1', 'partner');
    await world.run(NOTICE_WINDOW_MS);
    await world.push(deliverMessage('order-1', 'partner'));
    expect(await told(world)).toEqual([]);
  });
});

describe('a message can say nothing that the ledger does not say', () => {
  it.each([
    { notice: 'delivery-quarantined', event: 'well', destination: 'partner' },
    { notice: 'delivery-quarantined', event: 'nowhere', destination: 'partner' },
    { notice: 'destination-paused', destination: 'partner' },
    { notice: 'destination-failing', destination: 'partner' },
    { notice: 'destination-paused', destination: 'nowhere' },
    { notice: 'redrive-finished', operation: 'rd_nowhere' },
    { notice: 'sweep-silent' },
  ])('$notice: $event $destination', async (notice) => {
    const world = await noticeWorld();
    await world.accepted('well', 'partner');
    await world.run(1_000);
    await world.push({ kind: 'notice', format: 1, ...notice });
    await world.run(MINUTE_MS);
    expect(noticeEvents(world)).toEqual([]);
  });
});
