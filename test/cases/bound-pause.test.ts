/** Real failures around pause and resume: what is held must be seen, must wait at no cost, and must all go out after. */

import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import { CALLS, decideBy } from '../support/decisions.ts';
import { openFlow } from '../support/flow.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER } from '../support/world-states.ts';

const parked = async (world: TestWorld): Promise<readonly string[]> => {
  const path = `/v1/deliveries?list=parked&destination=${PARTNER}`;
  const answer = await world.call('operator', 'GET', path, { token: world.token('view') });
  const { items } = z.parse(z.object({ items: z.array(z.looseObject({ event: z.string() })) }), answer.body);
  return items.map(({ event }) => event).toSorted();
};

/** So many events come while it is paused; then it is resumed, and takes its time for each. */
const heldAndLetGo = async (count: number, settings: Readonly<Record<string, number>>) => {
  const flow = openFlow({ workers: 10 });
  const { world } = flow;
  await flow.destination(PARTNER, settings);
  world.sender.always(async () => {
    await world.clock.sleep(700);
    return answered(200);
  });
  await flow.pause(PARTNER);
  const events = await flow.accept(PARTNER, count);
  await flow.run(60_000);
  for (const row of await flow.rows(events, PARTNER)) expect(row).toMatchObject({ parking: {}, attempts: 0 });
  await flow.resume(PARTNER);
  await flow.run(600_000);
  const rows = await flow.rows(events, PARTNER);
  return { flow, delivered: rows.filter(({ status, attempts }) => status === 'delivered' && attempts === 1) };
};

const FIVE = ['e1', 'e2', 'e3', 'e4', 'e5'];

describe('a paused destination', () => {
  it('holds five events where they are seen, and delivers all five after the resume, at no cost before [C019]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    await decideBy(world, CALLS.pause, 'hold');
    for (const event of FIVE) await world.accepted(event, PARTNER);
    await world.run(600_000);
    expect(await parked(world)).toEqual(FIVE);
    for (const event of FIVE) expect(await world.row(event, PARTNER)).toMatchObject({ attempts: 0, refunds: 0 });
    expect(world.sender.sends).toEqual([]);
    await decideBy(world, CALLS.resume, 'go');
    await world.run(10_000);
    for (const event of FIVE) {
      expect(await world.row(event, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
    }
    expect(world.sender.sends).toHaveLength(FIVE.length);
    expect(await parked(world)).toEqual([]);
  });

  it('lets go of a thousand after the resume without anybody’s work, never more than two at once [C028]', async () => {
    const { flow, delivered } = await heldAndLetGo(1_000, { ratePerSecond: 4, concurrency: 2 });
    expect(delivered).toHaveLength(1_000);
    expect(flow.inFlight(PARTNER)).toEqual({ now: 0, most: 2 });
    expect(flow.crashes).toEqual([]);
  });

  it('has more than two at once where nobody has set a limit', async () => {
    const { flow, delivered } = await heldAndLetGo(40, { ratePerSecond: 4 });
    expect(delivered).toHaveLength(40);
    expect(flow.inFlight(PARTNER).most).toBeGreaterThan(2);
  });

  it('holds what is redriven to it in bulk, and sends none of it [C130]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    world.sender.always(answered(422));
    for (const event of FIVE) await world.accepted(event, PARTNER);
    await world.run(5_000);
    await decideBy(world, CALLS.pause, 'hold');
    const sent = world.sender.sends.length;
    for (const event of FIVE) {
      const path = `/v1/events/${event}/deliveries/${PARTNER}/redrive`;
      expect((await decideBy(world, CALLS.redrive, `again-${event}`, { path })).status).toBe(200);
    }
    await world.run(600_000);
    expect(world.sender.sends.length).toBe(sent);
    expect(await parked(world)).toEqual(FIVE);
    for (const event of FIVE) {
      expect(await world.row(event, PARTNER)).toMatchObject({
        status: 'pending',
        parking: { reason: 'paused' },
        attempts: 1,
      });
    }
  });

  it('puts off a retry that comes due meanwhile: it is not failed, and no attempt is spent [C131]', async () => {
    const world = await opened(openTestWorld(), { schedule: [5] });
    world.sender.script(answered(500));
    await world.run(2_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'pending', attempts: 1 });
    await decideBy(world, CALLS.pause, 'hold');
    await world.run(600_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({
      status: 'pending',
      attempts: 1,
      parking: { reason: 'paused' },
    });
    await decideBy(world, CALLS.resume, 'go');
    await world.run(10_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(world.sender.sends).toHaveLength(2);
  });
});
