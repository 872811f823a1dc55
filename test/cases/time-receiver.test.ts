/** Real failures with clocks and units, met with workers whose clocks differ. */

import { describe, expect, it } from 'vitest';
import { leaseMsOf, SKEW_MARGIN_MS, TIMEOUT_MS_DEFAULT } from '../../functions/core/limits.ts';
import { remainingMsOf } from '../../functions/http/lambda.ts';
import { createReceiverApp } from '../../functions/receiver/app.ts';
import { deliverMessage, openTestWorld, PUSH_SECRET, signed, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { EVENT, killedWhileSending, opened, PARTNER, sending } from '../support/world-states.ts';

const LEASE_MS = leaseMsOf(TIMEOUT_MS_DEFAULT);
const MINUTE_MS = 60_000;

/** Another worker over the same ledger, whose clock is off by what `offMs` says at each reading. */
const worker = (world: TestWorld, offMs: () => number) => {
  const clock = { nowMs: () => world.clock.nowMs() + offMs(), sleep: world.clock.sleep };
  const app = createReceiverApp({ ...world.ports, clock }, { transport: 'infrai', remainingMs: remainingMsOf });
  const body = Uint8Array.from(
    Buffer.from(JSON.stringify({ message_id: 'm', payload: deliverMessage(EVENT, PARTNER) })),
  );
  const headers = signed(body, { secrets: [PUSH_SECRET], signatureHeader: 'x-infrai-signature', prefix: '' }, 0);
  return async () => {
    const response = await app.request('/push/infrai', { method: 'POST', body, headers });
    return { status: response.status, body: await response.json() };
  };
};

/** How often a delivery has become `delivered`, as the history of writes says. */
const successes = (world: TestWorld): number =>
  world.store.writes.filter(
    ({ before, after }) => after?.['st']?.S === 'delivered' && before?.['st']?.S !== 'delivered',
  ).length;

describe('a lease', () => {
  it.each([
    [-30_000, 'busy'],
    [-1, 'busy'],
    [0, 'busy'],
    [1, 'settled'],
    [30_000, 'settled'],
  ])(
    'can be taken over from a millisecond behind its end and margin: at %d ms it is %s [C005]',
    async (offMs, note) => {
      const world = await opened(openTestWorld());
      await killedWhileSending(world);
      await world.clock.advance(LEASE_MS + SKEW_MARGIN_MS + offMs);
      expect((await world.deliver(EVENT, PARTNER)).body).toEqual({ verdict: 'ack', note });
    },
  );
});

describe('a time in the table', () => {
  it('has its unit in its name, and is of that unit [C005]', async () => {
    const world = await opened(openTestWorld());
    await killedWhileSending(world);
    await world.accepted('order-18', PARTNER);
    world.sender.script(answered(500), answered(503, { retryAfter: ['60'] }));
    await world.pushBody('senseless');
    await world.run(200_000);
    await world.tick();
    await world.run(0);
    const times = new Map<string, number>();
    for (const { after } of world.store.writes) {
      for (const [name, value] of Object.entries(after ?? {})) {
        if (value.N !== undefined && Number(value.N) > 1e9) times.set(name, Number(value.N));
      }
    }
    expect(times.size).toBeGreaterThan(8);
    const far = world.clock.nowMs() + 400 * 86_400_000;
    for (const [name, value] of times) {
      const unitMs = name.endsWith('Ms') ? 1 : name.endsWith('Sec') ? 1_000 : Number.NaN;
      expect([name, value * unitMs > 1.7e12 && value * unitMs < far]).toEqual([name, true]);
    }
  });
});

describe('Retry-After as a date', () => {
  it.each([
    ['IMF-fixdate', 'Thu, 01 Jan 2026 00:05:00 GMT'],
    ['RFC 850', 'Thursday, 01-Jan-26 00:05:00 GMT'],
    ['asctime', 'Thu Jan  1 00:05:00 2026'],
  ])('is that instant in the form of %s [C077]', async (_form, value) => {
    const world = await opened(openTestWorld());
    world.sender.script(answered(503, { retryAfter: [value] }));
    await world.run(0);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'pending', dueAtMs: Date.UTC(2026, 0, 1, 0, 5) });
    await world.run(10 * MINUTE_MS);
    const [, second] = world.sender.sends;
    expect(second?.atMs).toBeGreaterThanOrEqual(Date.UTC(2026, 0, 1, 0, 5));
    expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
  });

  it('in the past is no reason to come before the own delay [C077]', async () => {
    const world = await opened(openTestWorld());
    world.sender.script(answered(503, { retryAfter: ['Wed, 31 Dec 2025 23:00:00 GMT'] }));
    await world.run(0);
    const row = await world.row(EVENT, PARTNER);
    expect(row.status === 'pending' && row.dueAtMs - world.clock.nowMs()).toBeGreaterThanOrEqual(5_000);
  });
});

describe('workers whose clocks differ', () => {
  it.each([-SKEW_MARGIN_MS, SKEW_MARGIN_MS])(
    'by no more than the margin (%d ms) never take over a live lease [C152]',
    async (offMs) => {
      const world = await opened(openTestWorld());
      const held = await sending(world);
      await world.clock.advance(LEASE_MS);
      expect((await worker(world, () => offMs)()).body).toEqual({ verdict: 'ack', note: 'busy' });
      held.answer(answered(200));
      await held.push;
      expect([world.sender.sends.length, successes(world)]).toEqual([1, 1]);
    },
  );

  it.each([5 * MINUTE_MS, -5 * MINUTE_MS])(
    'by far more (%d ms) still leave one recorded success, under one key [C152]',
    async (offMs) => {
      const world = await opened(openTestWorld());
      const held = await sending(world);
      await worker(world, () => offMs)();
      held.answer(answered(200));
      await held.push;
      await world.run(10 * MINUTE_MS);
      await worker(world, () => offMs)();
      expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
      expect(successes(world)).toBe(1);
      expect(new Set(world.sender.sends.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    },
  );

  it.each([5 * MINUTE_MS, -5 * MINUTE_MS, SKEW_MARGIN_MS, -SKEW_MARGIN_MS])(
    'leave a first attempt where it is: due at once is due for all of them (%d ms) [C152]',
    async (offMs) => {
      const world = await opened(openTestWorld());
      expect((await worker(world, () => offMs)()).body).toEqual({ verdict: 'ack', note: 'settled' });
      expect(successes(world)).toBe(1);
    },
  );

  it('may step back a minute during a send: the outcome is recorded, once [C152]', async () => {
    const world = await opened(openTestWorld());
    let offMs = 0;
    const held = world.sender.hold();
    const push = worker(world, () => offMs)();
    await held.left;
    offMs = -MINUTE_MS;
    held.answer(answered(200));
    expect((await push).body).toEqual({ verdict: 'ack', note: 'settled' });
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
    expect(successes(world)).toBe(1);
  });

  it('may step back a minute before a retry: it waits longer, and is not lost [C152]', async () => {
    const world = await opened(openTestWorld());
    let offMs = 0;
    world.sender.script(answered(500));
    const push = worker(world, () => offMs);
    await push();
    offMs = -MINUTE_MS;
    await world.clock.advance(10_000);
    expect((await push()).body).toEqual({ verdict: 'ack', note: 'early' });
    await world.clock.advance(MINUTE_MS);
    expect((await push()).body).toEqual({ verdict: 'ack', note: 'settled' });
    expect(successes(world)).toBe(1);
  });
});
