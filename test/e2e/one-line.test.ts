/**
 * All deliveries of a destination stand in one line, whatever they wait for: what goes out in any ten seconds is bounded
 * by its rate, and by 10/s behind a closing, through closings that grow and settings that change.
 */
import { describe, expect, it } from 'vitest';
import type { Ledger, Pace } from '../../functions/ports.ts';
import { type Flow, type FlowOptions, mostWithin, openFlow, sendTimes, statuses } from '../support/flow.ts';
import { answered } from '../support/world-ports.ts';

const PARTNER = 'partner';
const MINUTE_MS = 60_000;

/** The bound that is promised: a second's worth at once, and a second of the queue's rounding, over any ten seconds. */
const expectPaced = (times: readonly number[], perSecond: number): void => {
  expect(times.length).toBeGreaterThan(0);
  expect(mostWithin(times, 10_000)).toBeLessThanOrEqual(12 * perSecond);
};

const withPace = (take: (pace: Pace) => Pace['take']): FlowOptions => ({
  reshape: (ports) => ({ ...ports, pace: { take: take(ports.pace) } }),
});

// ---- a closing that grows -----------------------------------------------------------------------------------------

/** The first requests are answered one second after another, and each answer closes the destination a second longer. */
const closedAgainAndAgain = async (closings: number, settings: object, options: FlowOptions = {}) => {
  const flow = openFlow({ workers: 20, ...options });
  await flow.destination(PARTNER, { ...settings });
  let sent = 0;
  flow.world.sender.always(async () => {
    sent += 1;
    if (sent > closings) return answered(200);
    await flow.world.clock.sleep(sent * 1_000);
    return answered(429, { retryAfter: ['50'] });
  });
  const events = await flow.accept(PARTNER, closings, { prefix: 'first-' });
  const startMs = flow.world.clock.nowMs();
  await flow.run(1_100);
  for (let batch = 0; batch < 40; batch += 1) {
    events.push(...(await flow.accept(PARTNER, 20, { prefix: `batch-${batch}-` })));
    await flow.run(200);
  }
  await flow.run(5 * MINUTE_MS);
  return { flow, events, behind: sendTimes(flow).filter((atMs) => atMs > startMs + 30_000) };
};

describe('a closing that grows while deliveries wait behind it', () => {
  it.each([1, 2, 4, 8])('lets all of them go at ten a second together: %d closings', async (closings) => {
    const { flow, events, behind } = await closedAgainAndAgain(closings, {});
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: events.length });
    expectPaced(behind, 10);
  });

  it('lets them go at the rate of the destination, where it has one', async () => {
    const { flow, events, behind } = await closedAgainAndAgain(4, { ratePerSecond: 5 });
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: events.length });
    expectPaced(behind, 5);
  });

  it('would let them go many times as fast if each end of the closing had a line of its own', async () => {
    const lines = new Map<string, number>();
    const oneEach = withPace(() => async (_destination, { kind }, fromMs, stepMs) => {
      const slotMs = lines.get(`${kind} ${fromMs}`) ?? fromMs;
      lines.set(`${kind} ${fromMs}`, slotMs + stepMs);
      return slotMs;
    });
    const { behind } = await closedAgainAndAgain(8, {}, oneEach);
    expect(mostWithin(behind, 10_000)).toBeGreaterThan(2 * 120);
  });
});

// ---- settings that change -----------------------------------------------------------------------------------------

const backlogAt = async (ratePerSecond: number, count: number, options: FlowOptions = {}): Promise<Flow> => {
  const flow = openFlow({ workers: 20, ...options });
  await flow.destination(PARTNER, { ratePerSecond });
  await flow.accept(PARTNER, count);
  await flow.run(5_000);
  return flow;
};

const sentSince = (flow: Flow, sinceMs: number) => sendTimes(flow).filter((atMs) => atMs > sinceMs);

describe('a rate that is lowered', () => {
  it('binds what waits already, from the moment on at which it is set', async () => {
    const flow = await backlogAt(10, 500);
    const setMs = flow.world.clock.nowMs();
    await flow.destination(PARTNER, { ratePerSecond: 1 });
    await flow.run(2 * MINUTE_MS);
    expectPaced(sentSince(flow, setMs), 1);
    // And what comes now stands in the same line.
    await flow.accept(PARTNER, 50, { prefix: 'later-' });
    await flow.run(MINUTE_MS);
    expectPaced(sentSince(flow, setMs), 1);
    expect(sentSince(flow, setMs).length).toBeGreaterThan(3 * 60 * 0.9);
  });

  it('and put back again lets nobody go twice as fast: slots of the first time are void', async () => {
    const flow = await backlogAt(10, 1_000);
    const setMs = flow.world.clock.nowMs();
    await flow.destination(PARTNER, { ratePerSecond: 1 });
    await flow.run(3_000);
    await flow.destination(PARTNER, { ratePerSecond: 10 });
    await flow.run(2 * MINUTE_MS);
    expectPaced(sentSince(flow, setMs), 10);
  });

  it('would not bind them if slots were good whatever line had given them', async () => {
    const oneVersion = (ledger: Ledger): Ledger => ({
      ...ledger,
      loadDestination: async (id) => {
        const { config, gate } = await ledger.loadDestination(id);
        return { config: config.kind === 'found' ? { ...config, item: { ...config.item, version: 1 } } : config, gate };
      },
    });
    const flow = await backlogAt(10, 500, {
      reshape: (ports) => ({ ...ports, ledger: oneVersion(ports.ledger) }),
    });
    const setMs = flow.world.clock.nowMs();
    await flow.destination(PARTNER, { ratePerSecond: 1 });
    await flow.run(MINUTE_MS);
    expect(mostWithin(sentSince(flow, setMs), 10_000)).toBeGreaterThan(60);
  });
});

describe('a rate that is raised', () => {
  it('holds for what comes from now on, beside what keeps coming at the slower one', async () => {
    const flow = await backlogAt(1, 100);
    await flow.destination(PARTNER, { ratePerSecond: 5 });
    const setMs = flow.world.clock.nowMs();
    const later = await flow.accept(PARTNER, 100, { prefix: 'later-' });
    await flow.run(30_000);
    expect(await statuses(flow, later, PARTNER)).toEqual({ delivered: 100 });
    expectPaced(sentSince(flow, setMs), 5);
  });
});

describe('a closing that a person lifts', () => {
  it('holds up nobody who comes behind it, though slots behind its end had been given out', async () => {
    const flow = openFlow({ workers: 20 });
    await flow.destination(PARTNER, { ratePerSecond: 5 });
    flow.world.sender.script(answered(429, { retryAfter: ['50'] }));
    await flow.accept(PARTNER, 1, { prefix: 'first-' });
    await flow.run(100);
    await flow.accept(PARTNER, 20);
    await flow.run(2_000);
    await flow.resume(PARTNER);
    const later = await flow.accept(PARTNER, 20, { prefix: 'later-' });
    await flow.run(10_000);
    expect(await statuses(flow, later, PARTNER)).toEqual({ delivered: 20 });
  });
});
