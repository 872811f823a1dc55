/** Real failures of retries that never end, come too early or never come, met with the real receiver. */

import { describe, expect, it } from 'vitest';
import { HORIZON_MS } from '../../functions/core/limits.ts';
import { deliverMessage, openTestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER } from '../support/world-states.ts';

const DAY_MS = 86_400_000;

describe('a message that names a delivery without a row', () => {
  it('ends at its first receipt: one item with the reason, one alarm, however often it comes [C014]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    for (let receipt = 0; receipt < 50; receipt += 1) {
      await world.clock.advance(30_000);
      const answer = await world.push(deliverMessage('nowhere', PARTNER), { messageId: 'm1' });
      expect(answer.body).toEqual({ verdict: 'ack', note: 'poison' });
    }
    expect(world.store.writes.filter(({ ref }) => ref?.item === 'poison')).toHaveLength(1);
    expect(world.telemetry.counted('poison')).toBe(1);
    expect(await world.records.load({ item: 'poison', id: 'message:m1' })).toMatchObject({
      item: { reason: 'names a delivery that does not exist' },
    });
    expect(world.queue.published).toEqual([]);
  });
});

describe('a destination that always refuses', () => {
  it('gets exactly as many requests as the budget allows, and then none [C023]', async () => {
    const world = await opened(openTestWorld(), { schedule: [1, 1] });
    world.sender.always(answered(403));
    await world.run(DAY_MS);
    const row = await world.row(EVENT, PARTNER);
    expect(row).toMatchObject({ status: 'quarantined', reason: 'budget', attempts: 3, budget: 3 });
    expect(row.journal.lines.filter(({ entry }) => entry.kind === 'claimed')).toHaveLength(3);
    expect((await world.deliver(EVENT, PARTNER)).body).toEqual({ verdict: 'ack', note: 'held' });
    expect(world.sender.sends).toHaveLength(3);
  });

  it('gets one request where the schedule is empty [C023]', async () => {
    const world = await opened(openTestWorld(), { schedule: [] });
    world.sender.always(answered(403));
    await world.run(DAY_MS);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'budget', attempts: 1 });
    expect(world.sender.sends).toHaveLength(1);
  });

  it('never gets one before its time, though the queue pushes every second [C023]', async () => {
    const world = await opened(openTestWorld(), { schedule: [60, 60] });
    world.sender.always(answered(500));
    for (let second = 0; second < 200; second += 1) {
      await world.deliver(EVENT, PARTNER);
      await world.clock.advance(1_000);
    }
    const times = world.sender.sends.map(({ atMs }) => atMs);
    expect(times).toHaveLength(3);
    for (const [index, atMs] of times.entries()) {
      if (index > 0) expect(atMs - (times[index - 1] ?? 0)).toBeGreaterThanOrEqual(60_000);
    }
  });
});

describe('Retry-After', () => {
  const dueAfter = async (status: number, retryAfter: readonly string[]) => {
    const world = await opened(openTestWorld(), { keyLifeHours: null });
    world.sender.script(answered(status, { retryAfter }));
    await world.run(0);
    const row = await world.row(EVENT, PARTNER);
    return { row, waitMs: row.status === 'pending' ? row.dueAtMs - world.clock.nowMs() : undefined, world };
  };

  it.each([[['5', '500']], [['500', '5']], [['nonsense', '500', '-5']]])(
    'given twice means the larger valid one: %j [C168]',
    async (values) => {
      expect((await dueAfter(503, values)).waitMs).toBe(500_000);
    },
  );

  it.each(['-3', '+3', '1.5', 'soon', '', '120, 240'])(
    'that is no time means the normal delay, five to six seconds: %j [C080]',
    async (value) => {
      const { waitMs } = await dueAfter(503, [value]);
      expect(waitMs).toBeGreaterThanOrEqual(5_000);
      expect(waitMs).toBeLessThanOrEqual(6_000);
    },
  );

  it('as a date is the due time [C182]', async () => {
    const { row } = await dueAfter(429, ['Thu, 01 Jan 2026 00:10:00 GMT']);
    expect(row).toMatchObject({ status: 'pending', dueAtMs: Date.UTC(2026, 0, 1, 0, 10) });
  });

  it('of 10,000,000 seconds is neither cut short nor slept through: the delivery is held with the reason [C182]', async () => {
    const { row, world } = await dueAfter(429, ['10000000']);
    expect(row).toMatchObject({ status: 'quarantined', reason: 'horizon' });
    expect(world.clock.waiting).toBe(0);
    await world.run(DAY_MS);
    expect(world.sender.sends).toHaveLength(1);
  });

  it('inside the horizon becomes a due time, and no request leaves before it [C182]', async () => {
    const waitSec = HORIZON_MS / 1_000 - 60;
    const { row, world } = await dueAfter(400, [String(waitSec)]);
    expect(row).toMatchObject({ status: 'pending', dueAtMs: world.clock.nowMs() + waitSec * 1_000 });
    expect(world.clock.waiting).toBe(0);
    for (let day = 0; day < 7; day += 1) {
      await world.run(DAY_MS - 15_000);
      await world.tick();
      await world.deliver(EVENT, PARTNER);
    }
    const [first, second] = world.sender.sends.map(({ atMs }) => atMs);
    expect((second ?? Number.POSITIVE_INFINITY) - (first ?? 0)).toBeGreaterThanOrEqual(waitSec * 1_000);
  });
});

describe('the delay between attempts', () => {
  it('is finite, above the floor and below the longest, over the whole life of a delivery [C082] [C083]', async () => {
    const schedule = Array.from({ length: 49 }, (_, index) => index * 100);
    const world = await opened(openTestWorld(), { schedule, keyLifeHours: null });
    world.sender.always(answered(500));
    await world.run(3 * DAY_MS);
    const times = world.sender.sends.map(({ atMs }) => atMs);
    expect(times).toHaveLength(50);
    for (const [index, seconds] of schedule.entries()) {
      const waitMs = (times[index + 1] ?? Number.NaN) - (times[index] ?? Number.NaN);
      expect(waitMs).toBeGreaterThanOrEqual(Math.max(1_000, seconds * 1_000));
      // 20 % at random, and what the queue's whole seconds add.
      expect(waitMs).toBeLessThanOrEqual(Math.max(1_000, seconds * 1_000) * 1.2 + 2_000);
    }
  });
});
