/** Real failures in taking and holding a claim, met with the real receiver. */

import { describe, expect, it } from 'vitest';
import type { Write } from '../../functions/adapters/ledger/memory-store.ts';
import { TTL_ATTRIBUTE } from '../../functions/adapters/ledger/schema.ts';
import { dueShard } from '../../functions/core/keys.ts';
import { DUE_SHARDS, leaseMsOf, SKEW_MARGIN_MS, TIMEOUT_MS_DEFAULT } from '../../functions/core/limits.ts';
import { destinationId, eventId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';
import { alter, EVENT, killedWhileSending, opened, PARTNER, ROW, sending } from '../support/world-states.ts';

const LEASE_MS = leaseMsOf(TIMEOUT_MS_DEFAULT);
const LAPSED_MS = LEASE_MS + SKEW_MARGIN_MS + 1;
const DAY_MS = 86_400_000;

const keysOf = (world: TestWorld) => new Set(world.sender.sends.map(({ headers }) => headers['idempotency-key']));

const withoutLease = (world: TestWorld): void => alter(world, ROW, ({ leaMs: _gone, ...record }) => record);

describe('a claimed row that has lost its lease', () => {
  it('is never taken over: nothing is sent or written, and somebody is told [C002]', async () => {
    const world = await opened(openTestWorld());
    await killedWhileSending(world);
    withoutLease(world);
    for (const waitMs of [0, LAPSED_MS, DAY_MS]) {
      await world.clock.advance(waitMs);
      const writes = await world.writesOf(async () => {
        // 2xx or "later", as for anything that this code must leave alone; not a fault of ours.
        expect([200, 503]).toContain((await world.deliver(EVENT, PARTNER)).status);
      });
      expect(writes).toEqual([]);
    }
    expect(world.sender.sends).toHaveLength(1);
    expect(world.telemetry.counted('ledger-corrupt')).toBe(3);
  });

  it('stops no other row of its shard: a sweep passes it by [C002]', async () => {
    const world = await opened(openTestWorld());
    await killedWhileSending(world);
    withoutLease(world);
    const other = sameShard();
    world.queue.away = true;
    await world.accepted(other, PARTNER);
    world.queue.away = false;
    await world.clock.advance(LAPSED_MS);
    await world.tick();
    await world.run(0);
    expect((await world.row(other, PARTNER)).status).toBe('delivered');
  });

  it('is repaired by hand, and goes on from there [C002]', async () => {
    const world = await opened(openTestWorld());
    await killedWhileSending(world);
    const lost = world.store.writes.at(-1)?.after?.['leaMs'];
    withoutLease(world);
    await world.clock.advance(LAPSED_MS);
    alter(world, ROW, (record) => ({ ...record, leaMs: lost ?? { N: '0' } }));
    expect((await world.deliver(EVENT, PARTNER)).status).toBe(200);
    expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
  });
});

/** An event whose delivery is looked after in the same shard as the one of `order-17`. */
const sameShard = (): string => {
  const shard = (event: string) => dueShard(eventId(event), destinationId(PARTNER), DUE_SHARDS);
  for (let n = 0; ; n += 1) if (shard(`other-${n}`) === shard(EVENT)) return `other-${n}`;
};

const claims = (writes: readonly Write[]) => writes.filter(({ after }) => after?.['st']?.S === 'claimed');

describe('a claim', () => {
  it.each([0, 1, -1, -60_000, Number.NaN])(
    'is not made when %s ms are left: the push comes again, the row stands as it stood [C003]',
    async (remainingMs) => {
      const world = await opened(openTestWorld());
      const before = await world.row(EVENT, PARTNER);
      expect((await world.deliver(EVENT, PARTNER, { remainingMs })).status).toBe(503);
      expect(await world.row(EVENT, PARTNER)).toEqual(before);
    },
  );

  it.each([25_000, 30_000, 60_000, undefined])(
    'always has the whole lease of its time-out, whatever time is left: %s ms [C003]',
    async (remainingMs) => {
      const world = await opened(openTestWorld());
      const writes = await world.writesOf(() => world.deliver(EVENT, PARTNER, { remainingMs }));
      const leases = claims(writes).map(({ after }) => Number(after?.['leaMs']?.N) - world.clock.nowMs());
      expect(leases).toEqual([LEASE_MS]);
    },
  );

  it('is not made by who has read the row before another one completed it [C034]', async () => {
    const world = await opened(openTestWorld());
    const reached = Promise.withResolvers<void>();
    const go = Promise.withResolvers<void>();
    world.ledgerHooks.before = async ({ kind, ref }) => {
      if (kind !== 'replace' || ref?.item !== 'delivery') return;
      reached.resolve();
      await go.promise;
    };
    const late = world.deliver(EVENT, PARTNER);
    await reached.promise;
    delete world.ledgerHooks.before;
    await world.deliver(EVENT, PARTNER);
    const done = await world.row(EVENT, PARTNER);
    go.resolve();
    expect((await late).body).toEqual({ verdict: 'ack', note: 'done' });
    expect(world.sender.sends).toHaveLength(1);
    expect(await world.row(EVENT, PARTNER)).toEqual(done);
  });
});

describe('a delivery that was delivered', () => {
  it('is known as such for longer than any queue keeps a message: it has no end of life [C022]', async () => {
    const world = await opened(openTestWorld());
    await world.deliver(EVENT, PARTNER);
    for (const day of [3, 14, 29, 400]) {
      await world.clock.advance(Math.max(0, day * DAY_MS - (world.clock.nowMs() - 1_767_225_600_000)));
      const writes = await world.writesOf(async () => {
        const again = await world.deliver(EVENT, PARTNER, { messageId: `redriven-${day}` });
        expect(again.body).toEqual({ verdict: 'ack', note: 'done' });
      });
      expect(writes).toEqual([]);
    }
    expect(world.sender.sends).toHaveLength(1);
    const records = world.store.writes
      .map(({ after }) => after)
      .filter((after) => after?.['pk']?.S?.startsWith('event#'));
    expect(records.filter((record) => record !== undefined && TTL_ATTRIBUTE in record)).toEqual([]);
  });
});

describe('a worker that stalls past its lease', () => {
  it.each([
    ['a success', answered(200)],
    ['a failure', answered(500, { excerpt: 'down' })],
    ['a wish to wait', answered(503, { retryAfter: ['120'] })],
    ['no answer', unanswered('timeout')],
  ])(
    'changes neither status nor due time when it comes back with %s: it is a late line [C032]',
    async (_what, answer) => {
      const world = await opened(openTestWorld());
      const stalled = await sending(world);
      await world.clock.advance(2 * LEASE_MS + SKEW_MARGIN_MS);
      await world.deliver(EVENT, PARTNER);
      const before = await world.row(EVENT, PARTNER);
      expect(before).toMatchObject({ status: 'delivered', attempts: 2 });
      stalled.answer(answer);
      expect(await stalled.push).toMatchObject({ status: 200, body: { note: 'late' } });
      const { journal: journalBefore, version: _before, ...restBefore } = before;
      const { journal, version: _after, ...rest } = await world.row(EVENT, PARTNER);
      expect(rest).toEqual(restBefore);
      expect(journal.lines.slice(0, -1)).toEqual(journalBefore.lines);
      expect(journal.lines.at(-1)?.entry).toMatchObject({ kind: 'late-outcome', attempt: 1 });
    },
  );

  it('may still settle as long as nobody has taken over: the claim decides, not the clock [C032]', async () => {
    const world = await opened(openTestWorld());
    const stalled = await sending(world);
    await world.clock.advance(LAPSED_MS);
    stalled.answer(answered(200));
    await stalled.push;
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
  });
});

describe('a worker that was killed behind its claim', () => {
  it('blocks its delivery until the lease is over, and nothing has to be deleted by hand [C040]', async () => {
    const world = await opened(openTestWorld());
    await killedWhileSending(world);
    await world.clock.advance(LAPSED_MS - 1);
    expect((await world.deliver(EVENT, PARTNER)).body).toEqual({ verdict: 'ack', note: 'busy' });
    await world.clock.advance(1);
    expect((await world.deliver(EVENT, PARTNER)).body).toEqual({ verdict: 'ack', note: 'settled' });
    expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
  });

  it('is found by the sweep alone, and its age stands in the heartbeat for the alarm [C040]', async () => {
    const world = await opened(openTestWorld());
    await killedWhileSending(world);
    world.queue.loseAll();
    await world.clock.advance(90_000);
    await world.tick();
    await world.run(0);
    expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
    const ages = world.telemetry.lines
      .filter(({ name }) => name === 'sweep.passed')
      .map(({ fields }) => fields['largestOverdueMs']);
    expect(Math.max(...ages.map(Number))).toBe(90_000 - (LAPSED_MS - 1));
  });

  it('blocks no other event of the same destination [C040]', async () => {
    const world = await opened(openTestWorld());
    await killedWhileSending(world);
    await world.accepted('order-18', PARTNER);
    await world.deliver('order-18', PARTNER);
    expect((await world.row('order-18', PARTNER)).status).toBe('delivered');
  });
});

describe('a time-out after the destination has accepted', () => {
  it('does not release the claim as if nothing had happened: it is in doubt, and goes again under the same key [C180]', async () => {
    const world = await opened(openTestWorld(), { timeoutMs: 8_000 });
    const effects = new Set<string>();
    const accept = (key: string | undefined) => effects.add(key ?? '');
    world.sender.script(
      async ({ headers }) => {
        accept(headers['idempotency-key']);
        return unanswered('timeout');
      },
      async ({ headers }) => {
        accept(headers['idempotency-key']);
        return answered(200);
      },
    );
    await world.deliver(EVENT, PARTNER);
    // Redelivered at once: the plan stands, nothing goes out.
    expect((await world.deliver(EVENT, PARTNER)).body).toEqual({ verdict: 'ack', note: 'early' });
    await world.run(10_000);
    const row = await world.row(EVENT, PARTNER);
    expect(row.journal.lines.map(({ entry }) => entry.class).filter(Boolean)).toEqual(['in-doubt', 'delivered']);
    expect([row.status, effects.size, world.sender.sends.length]).toEqual(['delivered', 1, 2]);
  });

  it('is held for a person where a second request would be a second effect [C180]', async () => {
    const world = await opened(openTestWorld(), { timeoutMs: 8_000, repeatSafe: false });
    world.sender.script(unanswered('timeout'));
    await world.run(0);
    await world.deliver(EVENT, PARTNER);
    await world.run(3_600_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'in-doubt' });
    expect([world.sender.sends.length, keysOf(world).size]).toEqual([1, 1]);
  });
});
