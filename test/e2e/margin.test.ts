/** Within the margin between two clocks, and where one request of ours fails, nobody waits for a look far off. */
import { describe, expect, it } from 'vitest';
import type { ClaimId } from '../../functions/core/ids.ts';
import { PROBE_EVERY_MS } from '../../functions/core/limits.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { closeUntil } from '../../functions/steps/gate.ts';
import { takePlace } from '../../functions/steps/places.ts';
import { breakerOpens, type Flow, openFlow, runUntil, sendTimes, statuses } from '../support/flow.ts';
import { openLaggingFlow } from '../support/lagging-flow.ts';
import { destinationId } from '../support/world.ts';

const PARTNER = 'partner';
const DESTINATION = destinationId(PARTNER);
const MINUTE_MS = 60_000;

describe('a drain whose next page waits behind a short closing', () => {
  it.each([0, 1_000, 3_000, 5_000])('goes on where that page meets a clock that is %d ms behind', async (behindMs) => {
    const { flow, lag } = openLaggingFlow();
    await flow.destination(PARTNER);
    await flow.pause(PARTNER);
    const events = await flow.accept(PARTNER, 20);
    await flow.run(1_000);
    await flow.resume(PARTNER);
    await closeUntil(flow.world.ports, DESTINATION, flow.world.clock.nowMs() + 30_000);
    await flow.run(10_000);
    lag.ms = behindMs;
    await flow.run(2 * MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 20 });
  });
});

/** One delivery is parked at a destination that its breaker has paused. */
const brokenAt = async (flow: Flow, settings: Readonly<Record<string, unknown>> = {}) => {
  await flow.destination(PARTNER, settings);
  const probeAtMs = await breakerOpens(flow, PARTNER);
  const events = await flow.accept(PARTNER, 1);
  await flow.run(1_000);
  return { probeAtMs, events };
};

/** One interval between probes, and the tick that finds the row. */
const NEXT_PROBE_MS = PROBE_EVERY_MS + 2 * MINUTE_MS;

describe('a probe that one row alone waits for', () => {
  it('comes at the next turn where a sweep has woken the row and a clock that is behind meets it', async () => {
    const { flow, lag } = openLaggingFlow();
    const { probeAtMs } = await brokenAt(flow);
    await runUntil(flow, probeAtMs + 1_000);
    flow.queue.loses = ({ kind }) => {
      if (kind === 'deliver') lag.ms = 3_000;
      return false;
    };
    await flow.world.tick();
    await flow.run(100);
    expect(sendTimes(flow)).toEqual([]);
    flow.queue.loses = () => false;
    lag.ms = 0;
    flow.startTicks();
    await runUntil(flow, probeAtMs + NEXT_PROBE_MS);
    expect(sendTimes(flow)).toHaveLength(1);
  });

  it('comes at the next turn where all places were taken at this one', async () => {
    const flow = openFlow();
    const { probeAtMs } = await brokenAt(flow, { concurrency: 1 });
    flow.startTicks();
    await runUntil(flow, probeAtMs - 1_000);
    await takePlace(flow.world.ports, DESTINATION, 1, 'another' as ClaimId, 90_000);
    await runUntil(flow, probeAtMs + MINUTE_MS + 1_000);
    expect(sendTimes(flow)).toEqual([]);
    await runUntil(flow, probeAtMs + MINUTE_MS + NEXT_PROBE_MS);
    expect(sendTimes(flow)).toHaveLength(1);
  });

  it('comes at the next turn where the ledger could not be asked for a place', async () => {
    let failures = 0;
    const flow = openFlow({
      reshape: (ports) => ({
        ...ports,
        ledger: {
          ...ports.ledger,
          loadSlots: async (id) => {
            failures += 1;
            if (failures === 1) throw new PortUnavailable('ledger', 'no answer');
            return ports.ledger.loadSlots(id);
          },
        },
      }),
    });
    const { probeAtMs } = await brokenAt(flow, { concurrency: 1 });
    flow.startTicks();
    await runUntil(flow, probeAtMs + MINUTE_MS + NEXT_PROBE_MS);
    expect(failures).toBeGreaterThan(1);
    expect(sendTimes(flow)).toHaveLength(1);
  });
});

describe('a probe whose destination gets new settings between its claim and its re-check', () => {
  it.each([{ mode: 'shadow' }, { url: 'https://other.example/new' }, { repeatSafe: false }])(
    'is not sent as it was: %j',
    async (change) => {
      let looks = 0;
      const flow = openFlow();
      const { probeAtMs, events } = await brokenAt(flow);
      await runUntil(flow, probeAtMs);
      const { ledger } = flow.world.ports;
      const { loadDestination } = ledger;
      Object.assign(ledger, {
        loadDestination: async (id: typeof DESTINATION) => {
          looks += 1;
          if (looks === 2) await flow.destination(PARTNER, change);
          return loadDestination(id);
        },
      });
      await flow.world.deliver(events[0] ?? '', PARTNER);
      expect(looks).toBeGreaterThanOrEqual(2);
      expect(sendTimes(flow)).toEqual([]);
    },
  );
});
