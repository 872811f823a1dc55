/** Real failures of bounds and settings of a destination: what was ignored, exceeded, forgotten or paid for. */
import { describe, expect, it } from 'vitest';
import type { Slot } from '../../functions/core/items.ts';
import { leaseMsOf, PLACE_WAIT_MS_MAX, SKEW_MARGIN_MS, TIMEOUT_MS_DEFAULT } from '../../functions/core/limits.ts';
import { type Flow, openFlow, sendTimes, sentBehind, slowly, statuses, writesOf } from '../support/flow.ts';
import { destinationId } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

const PARTNER = 'partner';
const MINUTE_MS = 60_000;

const opened = async (settings?: Readonly<Record<string, unknown>>, options: Parameters<typeof openFlow>[0] = {}) => {
  const flow = openFlow(options);
  await flow.destination(PARTNER, settings);
  return flow;
};

const attemptsIn = async (flow: Flow, events: readonly string[]): Promise<number> =>
  (await flow.rows(events, PARTNER)).reduce((sum, row) => sum + row.attempts, 0);

// ---- breaker ------------------------------------------------------------------------------------------------------

describe('twenty failures in a row, from four workers', () => {
  it('pause the destination exactly once, with one entry, and no 21st request leaves [C018]', async () => {
    const flow = await opened({ ratePerSecond: 1 / 32, schedule: [] }, { workers: 4 });
    flow.world.sender.always(slowly(flow, 50, answered(500)));
    const events = await flow.accept(PARTNER, 40);
    await flow.run(14 * MINUTE_MS);
    const pauses = writesOf(flow.world, 'gate').filter(({ before, after }) => after.pause && !before?.pause);
    expect(pauses).toHaveLength(1);
    expect(flow.world.telemetry.lines.filter(({ name }) => name === 'destination.paused')).toHaveLength(1);
    // The twentieth came ten minutes and eight seconds behind the first.
    expect(pauses[0]?.after.failures?.count).toBe(20);
    expect(flow.world.sender.sends).toHaveLength(20);
    expect(sentBehind(flow.pushes, pauses[0]?.order ?? 0)).toEqual([]);
    await flow.run(10 * MINUTE_MS);
    const { quarantined, parked } = await statuses(flow, events, PARTNER);
    expect([quarantined, (quarantined ?? 0) + (parked ?? 0)]).toEqual([flow.world.sender.sends.length, 40]);
  });
});

// ---- rate ---------------------------------------------------------------------------------------------------------

describe('a limit of one request a minute', () => {
  it('lets one of five events go in the first minute, and gives the others times of their own at no cost [C025]', async () => {
    const flow = await opened({ ratePerSecond: 1 / 60 });
    const events = await flow.accept(PARTNER, 5);
    const startMs = flow.world.clock.nowMs();
    await flow.run(MINUTE_MS - 1);
    expect(flow.world.sender.sends).toHaveLength(1);
    expect(await attemptsIn(flow, events)).toBe(1);
    const untils = (await flow.rows(events, PARTNER)).flatMap((row) =>
      row.status === 'pending' && row.deferral ? [row.deferral.untilMs - startMs] : [],
    );
    expect(untils.toSorted((a, b) => a - b)).toEqual([1, 2, 3, 4].map((minute) => minute * MINUTE_MS));
    await flow.run(4 * MINUTE_MS + 5_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 5 });
    const times = sendTimes(flow);
    for (const [at, atMs] of times.entries()) {
      if (at > 0) expect(atMs - (times[at - 1] ?? 0)).toBeGreaterThan(MINUTE_MS - 3_000);
    }
  });
});

describe('a delivery that our own bounds hold back ten times', () => {
  it('has made one attempt when it is delivered, with its whole budget left before it [C026]', async () => {
    const flow = await opened({ concurrency: 1 });
    const [slot] = await holdThePlace(flow);
    const [event = ''] = await flow.accept(PARTNER, 1, { prefix: 'waiting-' });
    const deferrals = () => flow.pushes.filter(({ said }) => said === 'ack:deferred').length;
    for (let seconds = 0; seconds < 600 && deferrals() < 10; seconds += 1) await flow.run(1_000);
    expect(deferrals()).toBe(10);
    await flow.world.records.replace<Slot>(slot, { ...slot, version: slot.version + 1, leaseEndsAtMs: 0 });
    await flow.run(2 * MINUTE_MS);
    const row = await flow.world.row(event, PARTNER);
    expect(row).toMatchObject({ status: 'delivered', attempts: 1, refunds: 0, budget: 8 });
    expect(row.journal.lines.map(({ entry }) => entry.kind)).toEqual(['accepted', 'claimed', 'outcome']);
    expect(row.journal.lines[1]?.entry.waits).toMatchObject({ count: 10, reason: 'concurrency' });
  });
});

/** All places are taken for an hour. */
const holdThePlace = async (flow: Flow): Promise<[Slot]> => {
  const destination = destinationId(PARTNER);
  const leaseEndsAtMs = flow.world.clock.nowMs() + 60 * MINUTE_MS;
  const holder = flow.world.ports.dice.id() as NonNullable<Slot['holder']>;
  const slot: Slot = { item: 'slot', version: 1, destination, n: 0, holder, leaseEndsAtMs, carried: {} };
  await flow.world.records.create<Slot>(slot);
  return [slot];
};

// ---- places -------------------------------------------------------------------------------------------------------

describe('sixty deliveries of a destination that is at its cap', () => {
  it('are woken a bounded number of times in ten seconds, with chance in their waits, and no entry is written [C124]', async () => {
    const flow = await opened({ concurrency: 1 });
    await holdThePlace(flow);
    const events = await flow.accept(PARTNER, 60, { prefix: 'waiting-' });
    await flow.run(10_000);
    // At once, then after 1, 2, 4 and 8 seconds, each rounded up by the queue: no more than four times each.
    expect(flow.pushes.length).toBeLessThanOrEqual(4 * 60);
    const waits = writesOf(flow.world, 'delivery').flatMap(({ before, after }) =>
      after.status === 'pending' && after.deferral && before ? [after.deferral.untilMs] : [],
    );
    expect(new Set(waits).size).toBeGreaterThan(100);
    for (const { message, publishedAtMs } of flow.pushes.map((push) => ({ ...push, ...push.message }))) {
      if (message.delaySec > 0) expect(message.atMs - publishedAtMs).toBeGreaterThanOrEqual(1_000);
    }
    for (const row of await flow.rows(events, PARTNER)) {
      expect(row).toMatchObject({ status: 'pending', attempts: 0 });
      expect(row.journal.lines).toHaveLength(1);
    }
  });
});

describe('five places whose holders were killed', () => {
  const killed = async () => {
    const flow = await opened({ concurrency: 5 }, { workers: 20 });
    flow.world.sender.script(...Array.from({ length: 5 }, () => () => new Promise<never>(() => {})));
    const events = await flow.accept(PARTNER, 25);
    flow.startTicks();
    await flow.run(1_000);
    expect(flow.inFlight(PARTNER).now).toBe(5);
    return { flow, events };
  };

  it('are back after lease and margin: everything that waited is delivered, and nothing has to be done by hand [C125]', async () => {
    const { flow, events } = await killed();
    await flow.run(leaseMsOf(TIMEOUT_MS_DEFAULT) + 2 * SKEW_MARGIN_MS + PLACE_WAIT_MS_MAX * 1.2 + MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 25 });
    expect(flow.world.sender.sends).toHaveLength(30);
  });

  // A delivery that finds no place writes its wait into its own row, and nothing is counted: whoever waits is never
  // late by its look-after time either, so no alarm can stand on it.
  it('are told to somebody while all are taken and nothing moves [C125]', async () => {
    const { flow } = await killed();
    await flow.run(30_000);
    expect(flow.world.telemetry.counted('places-full')).toBeGreaterThan(0);
  });
});

describe('fifty claims at the same moment for five places', () => {
  it.each([1, 2, 3])('are never more than five requests in flight: seed %d [C128]', async (seed) => {
    const flow = await opened({ concurrency: 5 }, { seed, workers: 50 });
    const { clock, ledgerHooks, ports, sender } = flow.world;
    const events = await flow.accept(PARTNER, 50);
    ledgerHooks.before = () => clock.sleep(Math.floor(ports.dice.draw() * 25));
    sender.always(slowly(flow, 200, answered(200)));
    await flow.run(2 * MINUTE_MS);
    expect(flow.inFlight(PARTNER).most).toBe(5);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 50 });
  });
});

// ---- settings -----------------------------------------------------------------------------------------------------

describe('a time setting that is none', () => {
  it.each(['timeoutMs', 'keyLifeHours', 'schedule'])(
    'is refused by its name, and the destination stays as it was: %s [C156]',
    async (field) => {
      const flow = await opened();
      const before = await flow.world.records.loadDestination(destinationId(PARTNER));
      const wrap = (value: unknown) => (field === 'schedule' ? [value] : value);
      // NaN cannot be written in JSON: it comes as null, which says "for ever" only where that is a value.
      const values = [
        9_999_999,
        -1,
        '30',
        ...(field === 'keyLifeHours' ? [] : [null]),
        ...(field === 'schedule' ? [] : [0]),
      ];
      for (const value of values) {
        const answer = await flow.world.destination(PARTNER, { [field]: wrap(value) });
        expect([value, answer.status]).toEqual([value, 422]);
        expect(answer.body).toMatchObject({ field: expect.stringMatching(new RegExp(`^${field}`)) });
      }
      expect(await flow.world.records.loadDestination(destinationId(PARTNER))).toEqual(before);
    },
  );

  it('cannot turn a delay into none: the shortest one is a second [C156]', async () => {
    const flow = await opened({ schedule: [0, 0, 0] });
    flow.world.sender.always(answered(500));
    await flow.accept(PARTNER, 1);
    await flow.run(MINUTE_MS);
    const times = sendTimes(flow);
    expect(times).toHaveLength(4);
    for (const [at, atMs] of times.entries()) {
      if (at > 0) expect(atMs - (times[at - 1] ?? 0)).toBeGreaterThanOrEqual(1_000);
    }
  });
});
