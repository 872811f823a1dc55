/** Opening a destination again: what was parked there goes out at its rate, once each, whatever gets lost or repeated. */
import { describe, expect, it } from 'vitest';
import { DRAIN_PAGE_ROWS, PARKED_LOOK_MS, TICK_MS } from '../../functions/core/limits.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { closeUntil } from '../../functions/steps/gate.ts';
import {
  bodyOf,
  expectOneSendEach,
  FIFTEEN_MINUTES,
  type Flow,
  mostWithin,
  openFlow,
  pausedFlow,
  pushByHand,
  sendTimes,
  slowly,
  statuses,
} from '../support/flow.ts';
import { destinationId } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

const PARTNER = 'partner';
const DESTINATION = destinationId(PARTNER);
const MINUTE_MS = 60_000;

const parkedList = async (flow: Flow) =>
  (await flow.world.ports.pages.list({ list: 'parked', destination: DESTINATION, limit: 100 })).refs;

// ---- resume -------------------------------------------------------------------------------------------------------

describe('a resume', () => {
  it.each([
    ['ten a second where there is no rate', {}, 10],
    ['the rate of the destination', { ratePerSecond: 5 }, 5],
  ])('lets go what was parked, page by page, at %s, each once', async (_what, settings, rate) => {
    const count = 2 * DRAIN_PAGE_ROWS + 50;
    const { flow, events } = await pausedFlow(PARTNER, count, settings);
    expect(await statuses(flow, events, PARTNER)).toEqual({ parked: count });
    await flow.resume(PARTNER);
    await flow.run((count / rate) * 1_000 + 10_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: count });
    expectOneSendEach(flow, events);
    expect(mostWithin(sendTimes(flow), 10_000)).toBeLessThanOrEqual(12 * rate);
    expect(flow.queue.published.filter(({ kind }) => kind === 'drain')).toHaveLength(3);
    expect(await parkedList(flow)).toEqual([]);
    expect(flow.crashes).toEqual([]);
  });

  it('is one drain, however often its request and its pages are repeated: same keys, nothing new on the queue', async () => {
    const { flow, events } = await pausedFlow(PARTNER, DRAIN_PAGE_ROWS + 20, { ratePerSecond: 1 });
    for (let n = 0; n < 3; n += 1) await flow.resume(PARTNER, 'resume-once');
    await flow.run(0);
    const pages = flow.queue.published.filter(({ kind }) => kind === 'drain');
    expect(pages).toHaveLength(2);
    // The second page comes shortly before its rows are due; by hand it may come earlier.
    for (const { body } of pages) await pushByHand(flow, body);
    const published = flow.queue.published.length;
    for (const { body } of [...pages, ...pages]) await pushByHand(flow, body);
    expect(flow.queue.published.length).toBe(published);
    expect(flow.queue.repeated).toBeGreaterThanOrEqual(2 * events.length);
    await flow.run(200_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: events.length });
    expectOneSendEach(flow, events);
  });

  it('is stopped by pausing again: what has not left is parked as it was, and the next resume lets it go', async () => {
    const { flow, events } = await pausedFlow(PARTNER, 100);
    await flow.resume(PARTNER);
    await flow.run(4_000);
    const sent = flow.world.sender.sends.length;
    expect(sent).toBeGreaterThan(10);
    expect(sent).toBeLessThan(90);
    await flow.pause(PARTNER);
    const writes = await flow.world.writesOf(() => flow.run(5 * MINUTE_MS));
    expect(writes).toEqual([]);
    expect(flow.world.sender.sends).toHaveLength(sent);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: sent, parked: 100 - sent });
    await flow.resume(PARTNER);
    await flow.run(MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 100 });
    expectOneSendEach(flow, events);
  });

  it('stops between two pages as well', async () => {
    const { flow, events } = await pausedFlow(PARTNER, DRAIN_PAGE_ROWS + 20);
    flow.queue.loses = ({ kind }) => kind === 'drain';
    await flow.resume(PARTNER);
    const [page] = flow.queue.published.filter(({ kind }) => kind === 'drain');
    await pushByHand(flow, page?.body ?? '');
    await flow.pause(PARTNER);
    const verdict = await pushByHand(flow, bodyOf(flow, 'drain'));
    expect(verdict).toEqual({ kind: 'ack', note: 'waiting' });
    await flow.run(MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ parked: events.length });
  });

  it('whose drain got lost is made good by the sweep within an hour and a tick, at the same rate', async () => {
    const { flow, events } = await pausedFlow(PARTNER, 50);
    flow.startTicks();
    flow.queue.loses = ({ kind }) => kind === 'drain';
    await flow.resume(PARTNER);
    await flow.run(PARKED_LOOK_MS - 2_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ parked: 50 });
    await flow.run(TICK_MS + 10_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 50 });
    expectOneSendEach(flow, events);
    expect(mostWithin(sendTimes(flow), 1_000)).toBeLessThanOrEqual(20);
  });

  it('whose drain is refused by the queue is known to who asked, and a repeat of the request completes it', async () => {
    const { flow, events } = await pausedFlow(PARTNER, 3);
    flow.queue.away = true;
    await expect(flow.resume(PARTNER, 'resume-once')).rejects.toThrow(PortUnavailable);
    flow.queue.away = false;
    await flow.resume(PARTNER, 'resume-once');
    await flow.run(MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 3 });
  });

  it('keeps to the places of the destination: never more at once, and all of it goes out by itself', async () => {
    const { flow, events } = await pausedFlow(PARTNER, 150, { concurrency: 2 });
    await flow.resume(PARTNER);
    const { clock, ledgerHooks, sender } = flow.world;
    ledgerHooks.before = () => clock.sleep(5);
    sender.always(slowly(flow, 100, answered(200)));
    await flow.run(2 * MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 150 });
    expect(flow.inFlight(PARTNER).most).toBe(2);
    expectOneSendEach(flow, events);
  });

  it('lets go what the destination will only see after the longest delay of the queue, none of it lost', async () => {
    const flow = openFlow({ limits: FIFTEEN_MINUTES });
    await flow.destination(PARTNER, { ratePerSecond: 0.1 });
    await flow.pause(PARTNER);
    const events = await flow.accept(PARTNER, 120);
    await flow.run(1_000);
    await flow.resume(PARTNER);
    flow.startTicks();
    await flow.run(3 * 60 * MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 120 });
    expectOneSendEach(flow, events);
    expect(mostWithin(sendTimes(flow), 100_000)).toBeLessThanOrEqual(12);
  });

  // A page publishes nothing beyond the queue's longest delay; those rows wait parked for the hourly look, and then
  // for slots that the sweep takes and the gate takes again. At 10/s that begins with the 9,000th row.
  it('goes on at the rate behind the longest delay of the queue as well', async () => {
    const flow = openFlow({ limits: FIFTEEN_MINUTES });
    await flow.destination(PARTNER, { ratePerSecond: 0.1 });
    await flow.pause(PARTNER);
    const events = await flow.accept(PARTNER, 120);
    await flow.run(1_000);
    await flow.resume(PARTNER);
    flow.startTicks();
    await flow.run(1_200_000 + 5 * MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 120 });
  });

  // A drain that meets a closed gate is dropped, and nobody enqueues another one when the closing ends by itself.
  it('goes on behind a short closing that comes between it and its drain', async () => {
    const { flow, events } = await pausedFlow(PARTNER, 10);
    flow.queue.loses = ({ kind }) => kind === 'drain';
    await flow.resume(PARTNER);
    await closeFor(flow, 5_000);
    flow.queue.loses = () => false;
    await pushByHand(flow, bodyOf(flow, 'drain'));
    flow.startTicks();
    await flow.run(5 * MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 10 });
  });
});

const closeFor = (flow: Flow, ms: number) => closeUntil(flow.world.ports, DESTINATION, flow.world.clock.nowMs() + ms);
