/** What a destination may have of the workers: its rate, its places, and few of those once it has begun to hang. */
import { describe, expect, it } from 'vitest';
import { keyOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import type { Slot } from '../../functions/core/items.ts';
import {
  CROWDED_MS,
  CROWDED_PLACES,
  CROWDED_STEP_MS,
  leaseMsOf,
  PLACE_WAIT_MS_MAX,
  SKEW_MARGIN_MS,
  TIMEOUT_MS_DEFAULT,
} from '../../functions/core/limits.ts';
import { closeUntil } from '../../functions/steps/gate.ts';
import {
  expectOneSendEach,
  FIFTEEN_MINUTES,
  type Flow,
  type FlowOptions,
  mostWithin,
  openFlow,
  sendTimes,
  slowly,
  statuses,
  writesOf,
} from '../support/flow.ts';
import { destinationId, eventId } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';

const PARTNER = 'partner';
const DESTINATION = destinationId(PARTNER);
const MINUTE_MS = 60_000;

const deferralsOf = (flow: Flow): number => flow.pushes.filter(({ said }) => said === 'ack:deferred').length;

// ---- rate ---------------------------------------------------------------------------------------------------------

describe('a rate', () => {
  const paced = async (count: number, lateMs: number) => {
    const flow = openFlow({ workers: 20, lateMs });
    await flow.destination(PARTNER, { ratePerSecond: 5 });
    const events = await flow.accept(PARTNER, count);
    await flow.run((count / 5) * 1_000 + 20_000);
    return { flow, events, deferrals: deferralsOf(flow) };
  };

  it('gives a thousand deliveries at 5/s a slot each, which it keeps: at most 1.2 deferrals each, not a poll', async () => {
    const { flow, events, deferrals } = await paced(1_000, 0);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 1_000 });
    expect(deferrals).toBeLessThanOrEqual(1_200);
    expect(mostWithin(sendTimes(flow), 10_000)).toBeLessThanOrEqual(12 * 5);
    const waits = (await flow.rows(events, PARTNER)).map(
      ({ journal }) => journal.lines.find(({ entry }) => entry.kind === 'claimed')?.entry.waits?.count ?? 0,
    );
    expect(Math.max(...waits)).toBe(1);
    expect(flow.crashes).toEqual([]);
  });

  it('would be a poll if slots were not good for the time that a message may be late', async () => {
    const { flow, events, deferrals } = await paced(100, 6_000);
    expect(deferrals).toBeGreaterThan(200);
    expect((await statuses(flow, events, PARTNER))['delivered'] ?? 0).toBeLessThan(100);
  });

  it('spends no attempt and no entry of the journal on waiting', async () => {
    const flow = openFlow();
    await flow.destination(PARTNER, { ratePerSecond: 1 });
    const events = await flow.accept(PARTNER, 10);
    await flow.run(3_000);
    for (const row of await flow.rows(events, PARTNER)) {
      const sent = row.status === 'delivered' ? 1 : 0;
      expect(row.attempts).toBe(sent);
      expect(row.journal.lines).toHaveLength(1 + 2 * sent);
    }
  });

  it('far beyond the longest delay of the queue is waited for all the same: slots hours ahead', async () => {
    const flow = openFlow({ limits: FIFTEEN_MINUTES });
    await flow.destination(PARTNER, { ratePerSecond: 0.01 });
    const events = await flow.accept(PARTNER, 100);
    flow.startTicks();
    await flow.run(100 * 100_000 + 2 * MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 100 });
    expect(mostWithin(sendTimes(flow), 1_000_000)).toBeLessThanOrEqual(12);
    expect(deferralsOf(flow)).toBeLessThanOrEqual(1.2 * 100);
  });

  // The next free slot lies where the old rate had put it: all that comes later waits behind it, for hours if need be.
  it('that is raised holds at once for what is accepted behind it', async () => {
    const flow = openFlow();
    await flow.destination(PARTNER, { ratePerSecond: 0.01 });
    await flow.accept(PARTNER, 20);
    await flow.run(1_000);
    await flow.destination(PARTNER, { ratePerSecond: 100 });
    const later = await flow.accept(PARTNER, 10, { prefix: 'later-' });
    await flow.run(MINUTE_MS);
    expect(await statuses(flow, later, PARTNER)).toEqual({ delivered: 10 });
  });

  // A request that the re-check holds back at a closed gate waits until the very end of the closing, not for a slot
  // behind it; and a row that waits for `closed` counts as being in its slot: it asks for none.
  it('holds for what the re-check has held back at a closing too', async () => {
    const flow = openFlow({ workers: 20 });
    await flow.destination(PARTNER);
    const events = await flow.accept(PARTNER, 20);
    await closeWhileClaimed(flow);
    await flow.run(2 * MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 20 });
    expect(mostWithin(sendTimes(flow), 10_000)).toBeLessThanOrEqual(12);
  });
});

/** All have claimed, none has come to its re-check, and the destination closes for half a minute. */
const closeWhileClaimed = async (flow: Flow): Promise<void> => {
  const { clock, ledgerHooks, ports } = flow.world;
  const go = Promise.withResolvers<void>();
  let reads = 0;
  ledgerHooks.before = ({ kind }) => {
    if (kind !== 'loadDestination') return undefined;
    reads += 1;
    return reads > 20 ? go.promise : undefined;
  };
  await flow.run(1_000);
  delete ledgerHooks.before;
  await flow.destination(PARTNER, { ratePerSecond: 1 });
  await closeUntil(ports, DESTINATION, clock.nowMs() + 30_000);
  go.resolve();
};

// ---- concurrency --------------------------------------------------------------------------------------------------

/** Fifty deliveries for five places; every request to the ledger takes a moment, so that all of them meet. */
const contended = async (seed: number, options: FlowOptions = {}) => {
  const flow = openFlow({ seed, workers: 50, ...options });
  await flow.destination(PARTNER, { concurrency: 5 });
  const events = await flow.accept(PARTNER, 50);
  const { clock, ledgerHooks, ports, sender } = flow.world;
  ledgerHooks.before = () => clock.sleep(Math.floor(ports.dice.draw() * 30));
  sender.always(slowly(flow, 300, answered(200)));
  return { flow, events };
};

describe('the places of a destination', () => {
  it.each([1, 2, 3, 4, 5])('are never exceeded at any instant by fifty claims at once: seed %d', async (seed) => {
    const { flow, events } = await contended(seed);
    await flow.run(2 * MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 50 });
    expect(flow.inFlight(PARTNER).most).toBe(5);
    expectOneSendEach(flow, events);
    expect(flow.crashes).toEqual([]);
  });

  it('would be exceeded if a place could be written over another', async () => {
    const { flow } = await contended(1, {
      reshape: (ports) => ({
        ...ports,
        ledger: {
          ...ports.ledger,
          create: async (item) => (item.item === 'slot' ? { kind: 'written' } : ports.ledger.create(item)),
        },
      }),
    });
    await flow.run(2_000);
    expect(flow.inFlight(PARTNER).most).toBeGreaterThan(5);
  });

  it('are waited for 1, 2, 4 ... 30 seconds with up to a fifth added, and a wait spends no attempt', async () => {
    const { flow, event } = await waitingForOnePlace();
    await flow.run(3 * MINUTE_MS);
    const untils = writesOf(flow.world, 'delivery').flatMap(({ after }) =>
      after.event === event && after.status === 'pending' && after.deferral ? [after.deferral.untilMs] : [],
    );
    const steps = untils.map((untilMs, at) => untilMs - askedAtMs(flow, event, at));
    expect(steps.length).toBeGreaterThan(6);
    for (const [at, stepMs] of steps.entries()) {
      const plainMs = Math.min(1_000 * 2 ** at, PLACE_WAIT_MS_MAX);
      expect(stepMs).toBeGreaterThanOrEqual(plainMs);
      expect(stepMs).toBeLessThanOrEqual(plainMs * 1.2 + 1);
    }
    const row = await flow.world.row(event, PARTNER);
    expect(row).toMatchObject({ status: 'pending', attempts: 0 });
    expect(row.journal.lines).toHaveLength(1);
  });

  it('come back when their holders were killed: after lease, margin and one wait everything flows again', async () => {
    const flow = openFlow({ workers: 20 });
    await flow.destination(PARTNER, { concurrency: 5 });
    flow.world.sender.script(...Array.from({ length: 5 }, () => () => new Promise<never>(() => {})));
    const events = await flow.accept(PARTNER, 30);
    flow.startTicks();
    await flow.run(2_000);
    const slots = await flow.world.records.loadSlots(DESTINATION);
    expect(slots.map(({ holder }) => holder !== undefined)).toEqual(Array(5).fill(true));
    const backMs = Math.max(...slots.map(({ leaseEndsAtMs }) => leaseEndsAtMs)) + SKEW_MARGIN_MS;
    // A place outlives the claim by the margin, so that a claim made a little later cannot outlive its place.
    expect(backMs - flow.world.clock.nowMs()).toBeLessThanOrEqual(leaseMsOf(TIMEOUT_MS_DEFAULT) + 2 * SKEW_MARGIN_MS);
    await flow.run(backMs - flow.world.clock.nowMs());
    expect(flow.world.sender.sends).toHaveLength(5);
    await flow.run(PLACE_WAIT_MS_MAX * 1.2 + MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 30 });
    expect(flow.world.sender.sends).toHaveLength(35);
  });

  it('are given back whatever the attempt came to, and when none was made', async () => {
    const flow = openFlow({ workers: 1 });
    await flow.destination(PARTNER, { concurrency: 1, schedule: [] });
    const held = async (): Promise<readonly Slot[]> =>
      (await flow.world.records.loadSlots(DESTINATION)).filter(({ holder }) => holder !== undefined);
    const outcomes = [answered(200), answered(500), answered(410), unanswered('timeout'), answered(422)];
    for (const [at, outcome] of outcomes.entries()) {
      const destination = `partner-${at}`;
      await flow.destination(destination, { concurrency: 1, schedule: [] });
      flow.world.sender.script(outcome);
      await flow.accept(destination, 1);
      await flow.run(1_000);
      const slots = await flow.world.records.loadSlots(destinationId(destination));
      expect(slots.map(({ holder }) => holder)).toEqual([undefined]);
    }
    // Its event is gone when it comes to claim: there will be no attempt.
    const [event = ''] = await flow.accept(PARTNER, 1);
    flow.world.ledgerHooks.before = async ({ kind, ref }) => {
      if (kind !== 'load' || ref?.item !== 'event') return;
      delete flow.world.ledgerHooks.before;
      expect(await held()).toHaveLength(1);
      flow.world.store.remove(keyOf({ item: 'event', event: eventId(event) }));
    };
    await flow.run(1_000);
    expect(await flow.world.row(event, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'payload-changed' });
    expect(await held()).toEqual([]);
  });
});

/** One place, taken for good by a worker that hangs; another delivery waits for it. */
const waitingForOnePlace = async () => {
  const flow = openFlow({ workers: 5 });
  await flow.destination(PARTNER, { concurrency: 1 });
  flow.world.sender.script(() => new Promise<never>(() => {}));
  await flow.accept(PARTNER, 1, { prefix: 'first-' });
  await flow.run(0);
  // The place is held for as long as the test needs it.
  const [slot] = await flow.world.records.loadSlots(DESTINATION);
  if (slot === undefined) throw new Error('no place was taken');
  const leaseEndsAtMs = slot.leaseEndsAtMs + 60 * MINUTE_MS;
  await flow.world.records.replace<Slot>(slot, { ...slot, version: slot.version + 1, leaseEndsAtMs });
  const [event = ''] = await flow.accept(PARTNER, 1, { prefix: 'second-' });
  return { flow, event };
};

const askedAtMs = (flow: Flow, event: string, nth: number): number =>
  flow.pushes.filter(({ message, said }) => message.event === event && said === 'ack:deferred')[nth]?.atMs ??
  Number.NaN;

// ---- a destination that hangs -------------------------------------------------------------------------------------

const hangingBeside = async (options: FlowOptions & { readonly hanging: number }) => {
  const flow = openFlow({ workers: 20, ...options });
  await flow.destination('hanging');
  await flow.destination('healthy');
  const { clock, sender } = flow.world;
  sender.always(async ({ url }) => {
    const hangs = url.endsWith('hanging');
    await clock.sleep(hangs ? TIMEOUT_MS_DEFAULT : 100);
    return hangs ? unanswered('timeout') : answered(200);
  });
  await flow.accept('hanging', options.hanging);
  await flow.run(TIMEOUT_MS_DEFAULT + 1_000);
  const healthy: string[] = [];
  let most = 0;
  for (let second = 0; second < 120; second += 1) {
    healthy.push(...(await flow.accept('healthy', 2, { prefix: `healthy-${second}-` })));
    await flow.run(1_000);
    most = Math.max(most, flow.inFlight('hanging').now);
  }
  await flow.run(MINUTE_MS);
  const tookMs = (await flow.rows(healthy, 'healthy'))
    .map((row) => (row.status === 'delivered' ? row.endedAtMs - row.acceptedAtMs : Number.POSITIVE_INFINITY))
    .toSorted((a, b) => a - b);
  return { flow, most, p95: tookMs[Math.floor(tookMs.length * 0.95)] ?? Number.NaN };
};

describe('a destination that hangs', () => {
  it('has five places after its first time-out, and healthy ones are served as if it were not there', async () => {
    const without = await hangingBeside({ hanging: 0 });
    const beside = await hangingBeside({ hanging: 200 });
    expect(without.most).toBe(0);
    expect(beside.most).toBe(CROWDED_PLACES);
    expect(beside.p95).toBeLessThanOrEqual(1.5 * without.p95);
    expect(beside.flow.crashes).toEqual([]);
  });

  it('would take all workers, and the healthy ones with it, if nobody saw that it is crowded', async () => {
    const without = await hangingBeside({ hanging: 0 });
    const blind = await hangingBeside({
      hanging: 200,
      reshape: (ports) => ({
        ...ports,
        ledger: {
          ...ports.ledger,
          loadDestination: async (id) => {
            const { config, gate } = await ports.ledger.loadDestination(id);
            if (gate.kind !== 'found') return { config, gate };
            const { crowdedUntilMs: _unseen, ...item } = gate.item;
            return { config, gate: { kind: 'found', item } };
          },
        },
      }),
    });
    expect(blind.most).toBe(20);
    expect(blind.p95).toBeGreaterThan(10 * without.p95);
  });

  it('is as before ten minutes after its latest time-out', async () => {
    const flow = openFlow({ workers: 20 });
    await flow.destination(PARTNER, { schedule: [1, 1] });
    flow.world.sender.script(unanswered('timeout'));
    await flow.accept(PARTNER, 1);
    await flow.run(5_000);
    const untilMs = (await flow.gate(PARTNER))?.crowdedUntilMs ?? 0;
    const timedOutMs = flow.world.clock.nowMs() - 5_000;
    expect(untilMs).toBe(timedOutMs + CROWDED_MS);
    flow.world.sender.always(slowly(flow, 2_000, answered(200)));
    await flow.accept(PARTNER, 15, { prefix: 'crowded-' });
    await flow.run(1_000);
    expect(flow.inFlight(PARTNER).now).toBe(CROWDED_PLACES);
    await flow.run(untilMs - flow.world.clock.nowMs());
    await flow.accept(PARTNER, 15, { prefix: 'free-' });
    await flow.run(1_000);
    expect(flow.inFlight(PARTNER).now).toBe(15);
  });

  it('writes to its gate for a time-out only what the count needs: its end moves once a minute at most', async () => {
    const { flow } = await hangingBeside({ hanging: 50 });
    const ends = writesOf(flow.world, 'gate').map(({ after }) => after.crowdedUntilMs ?? 0);
    const moves = [...new Set(ends)].toSorted((a, b) => a - b);
    for (const [at, endMs] of moves.entries()) {
      if (at > 0) expect(endMs - (moves[at - 1] ?? 0)).toBeGreaterThanOrEqual(CROWDED_STEP_MS);
    }
    expect(moves.length).toBeGreaterThan(1);
  });
});
