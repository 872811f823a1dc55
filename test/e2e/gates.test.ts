/** What a paused, closed or paced destination does to its deliveries, with queue and workers in motion. */
import { describe, expect, it } from 'vitest';
import { paused } from '../../functions/core/breaker.ts';
import { PARKED_LOOK_MS } from '../../functions/core/limits.ts';
import { type Ledger, PortUnavailable } from '../../functions/ports.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import { closeUntil, swapGate } from '../../functions/steps/gate.ts';
import { resume } from '../../functions/steps/resume.ts';
import {
  bodyOf,
  type Flow,
  mostWithin,
  openFlow,
  pausedFlow,
  pushByHand,
  requestId,
  runUntil,
  sendTimes,
  sentBehind,
  slowly,
  statuses,
  writesOf,
} from '../support/flow.ts';
import { inEveryOrder, inTurns, type Turn } from '../support/orders.ts';
import { destinationId } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

const PARTNER = 'partner';
const DESTINATION = destinationId(PARTNER);
const MINUTE_MS = 60_000;

const parkedList = async (flow: Flow) =>
  (await flow.world.ports.pages.list({ list: 'parked', destination: DESTINATION, limit: 100 })).refs;

// ---- pause --------------------------------------------------------------------------------------------------------

describe('a paused destination', () => {
  it('parks each delivery with one write, in sight, and no attempt or budget is spent', async () => {
    const flow = openFlow();
    await flow.destination(PARTNER);
    await flow.pause(PARTNER);
    const events = await flow.accept(PARTNER, 5);
    const before = await flow.rows(events, PARTNER);
    const writes = await flow.world.writesOf(() => flow.run(1_000));
    expect(writes.map(({ ref }) => ref?.item)).toEqual(Array(5).fill('delivery'));
    for (const [at, row] of (await flow.rows(events, PARTNER)).entries()) {
      const { attempts, budget, journal } = before[at] ?? row;
      expect(row).toMatchObject({ status: 'pending', attempts, budget, journal });
      expect(row).toMatchObject({ parking: { reason: 'paused' }, waits: { count: 1, reason: 'paused' } });
      expect(row).toHaveProperty('lookAfterMs', flow.world.clock.nowMs() - 1_000 + PARKED_LOOK_MS);
    }
    expect(await parkedList(flow)).toHaveLength(5);
    expect(sendTimes(flow)).toEqual([]);
  });

  it('costs a parked delivery that is met again two reads and no write, however often', async () => {
    const { flow, events } = await pausedFlow(PARTNER, 1);
    const [event = ''] = events;
    const asked = flow.world.asked.length;
    const writes = await flow.world.writesOf(async () => {
      for (let n = 0; n < 50; n += 1) {
        expect((await flow.world.deliver(event, PARTNER)).body).toEqual({ verdict: 'ack', note: 'waiting' });
      }
    });
    expect(writes).toEqual([]);
    expect(flow.world.asked.length - asked).toBe(100);
    expect(flow.queue.waiting).toBe(0);
  });

  it('keeps what is parked for as long as it is paused: a look an hour, nothing published', async () => {
    const { flow, events } = await pausedFlow(PARTNER, 3);
    flow.startTicks();
    const published = flow.queue.published.length;
    const writes = await flow.world.writesOf(() => flow.run(10 * 60 * MINUTE_MS));
    expect(flow.queue.published.slice(published).filter(({ kind }) => kind !== 'sweep')).toEqual([]);
    expect(writes.filter(({ ref }) => ref?.item === 'delivery').length).toBeLessThanOrEqual(3 * 10);
    expect(await statuses(flow, events, PARTNER)).toEqual({ parked: 3 });
    expect(await parkedList(flow)).toHaveLength(3);
  });

  it('defers a retry that falls due, and does not fail it', async () => {
    const flow = openFlow();
    await flow.destination(PARTNER);
    const [event = ''] = await flow.accept(PARTNER, 1);
    flow.world.sender.script(answered(500));
    await flow.run(1_000);
    await flow.pause(PARTNER);
    await flow.run(MINUTE_MS);
    expect(await flow.world.row(event, PARTNER)).toMatchObject({ status: 'pending', attempts: 1, refunds: 0 });
    expect(await statuses(flow, [event], PARTNER)).toEqual({ parked: 1 });
    await flow.resume(PARTNER);
    await flow.run(MINUTE_MS);
    expect(await flow.world.row(event, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2 });
  });
});

// ---- the race of parking and resuming -----------------------------------------------------------------------------

/** A push that parks, and a person that resumes with all that follows, in one order of their requests. */
const parkAndResume =
  (ports: (plain: Receiver) => Receiver, stranded: () => void) => async (turnOf: (n: number) => Turn) => {
    const flow = openFlow();
    // The drain is carried out by hand, once: what it misses, it misses.
    flow.queue.loses = ({ kind }) => kind === 'drain';
    await flow.destination(PARTNER);
    await swapGate(flow.world.ports, DESTINATION, (gate) => paused(gate, { by: 'ana', reason: 'r', sinceMs: 1 }));
    const [event = ''] = await flow.accept(PARTNER, 1);
    const worker = inTurns(ports(flow.world.ports), turnOf(0));
    const person = inTurns(flow.world.ports, turnOf(1));
    const body = bodyOf(flow, 'deliver');
    return {
      actors: [
        () => pushByHand(flow, body, worker),
        async () => {
          await resume(person, DESTINATION, flow.world.clock.nowMs(), requestId('resume-1'));
          await pushByHand(flow, bodyOf(flow, 'drain'), person);
        },
      ],
      judge: async () => {
        // The message that was pushed by hand is gone; only what was published since can bring the row on.
        await drainedByItself(flow, body);
        if ((await flow.world.row(event, PARTNER)).status !== 'delivered') stranded();
        expect(flow.world.sender.sends.length).toBeLessThanOrEqual(1);
      },
    };
  };

const drainedByItself = async (flow: Flow, first: string): Promise<void> => {
  const later = flow.queue.published.filter((message, at) => message.kind === 'deliver' && at > 0);
  expect(later.every(({ body }) => body === first)).toBe(true);
  for (const { body } of later) await pushByHand(flow, body);
};

describe('a row that is parked while somebody resumes', () => {
  it('is delivered without a sweep in every order of what both do', async () => {
    let stranded = 0;
    const orders = await inEveryOrder(
      parkAndResume(
        (plain) => plain,
        () => {
          stranded += 1;
        },
      ),
    );
    expect(orders).toBeGreaterThan(50);
    expect(stranded).toBe(0);
  });

  it('would be left behind in some order if the gate were not read again behind the parking', async () => {
    const blind = (plain: Receiver): Receiver => {
      let parked = false;
      const replace: Ledger['replace'] = async (read, next) => {
        const written = await plain.ledger.replace(read, next);
        parked ||= written.kind === 'written' && next.item === 'delivery';
        return written;
      };
      const loadDestination: Ledger['loadDestination'] = (id) => {
        if (parked) throw new PortUnavailable('ledger', 'no second look');
        return plain.ledger.loadDestination(id);
      };
      return { ...plain, ledger: { ...plain.ledger, replace, loadDestination } };
    };
    let stranded = 0;
    await inEveryOrder(
      parkAndResume(blind, () => {
        stranded += 1;
      }),
    );
    expect(stranded).toBeGreaterThan(0);
  });
});

describe('a pause while a delivery is on its way', () => {
  /** A push at an open gate, and a person that pauses. */
  const sendAndPause =
    (ports: (plain: Receiver) => Receiver, seen: (passed: boolean, kept: boolean) => void) =>
    async (turnOf: (n: number) => Turn) => {
      const flow = openFlow();
      await flow.destination(PARTNER);
      const [event = ''] = await flow.accept(PARTNER, 1);
      const { store } = flow.world;
      let recheckAt = 0;
      let sentAt: number | undefined;
      const worker = inTurns(ports(flow.world.ports), turnOf(0));
      const watched: Receiver = {
        ...worker,
        ledger: {
          ...worker.ledger,
          loadDestination: (id) => {
            recheckAt = store.writes.length;
            return worker.ledger.loadDestination(id);
          },
        },
        sender: {
          ...worker.sender,
          send: (request) => {
            sentAt = recheckAt;
            return worker.sender.send(request);
          },
        },
      };
      return {
        actors: [
          () => pushByHand(flow, bodyOf(flow, 'deliver'), watched),
          () =>
            swapGate(inTurns(flow.world.ports, turnOf(1)), DESTINATION, (gate) =>
              paused(gate, { by: 'ana', reason: 'r', sinceMs: 1 }),
            ),
        ],
        judge: async () => {
          const [pausing] = writesOf(flow.world, 'gate');
          const passed = sentAt !== undefined && sentAt >= (pausing?.order ?? Number.NaN);
          const row = await flow.world.row(event, PARTNER);
          if (sentAt !== undefined) expect(row.status).toBe('delivered');
          else expect(row).toMatchObject({ status: 'pending', parking: { reason: 'paused' } });
          expect(row.attempts - row.refunds).toBe(sentAt === undefined ? 0 : 1);
          seen(passed, sentAt === undefined);
        },
      };
    };

  it('is obeyed by every re-check that begins behind it, and gives the unit of the budget back', async () => {
    const seen = { passed: 0, kept: 0, sent: 0 };
    const orders = await inEveryOrder(
      sendAndPause(
        (plain) => plain,
        (passed, kept) => {
          seen.passed += Number(passed);
          seen[kept ? 'kept' : 'sent'] += 1;
        },
      ),
    );
    expect(orders).toBeGreaterThan(30);
    expect(seen.passed).toBe(0);
    // Both ends are met: some orders keep the request back, some let it go.
    expect(Math.min(seen.kept, seen.sent)).toBeGreaterThan(0);
  });

  it('would be passed by without a re-check of the gate', async () => {
    const stale = (plain: Receiver): Receiver => {
      let first: ReturnType<Ledger['loadDestination']> | undefined;
      const loadDestination: Ledger['loadDestination'] = (id) => {
        first ??= plain.ledger.loadDestination(id);
        return first;
      };
      return { ...plain, ledger: { ...plain.ledger, loadDestination } };
    };
    let passed = 0;
    await inEveryOrder(
      sendAndPause(stale, (one) => {
        passed += Number(one);
      }),
    );
    expect(passed).toBeGreaterThan(0);
  });

  it.each([1, 2, 3, 4, 5])('is obeyed by four workers at once: no re-check behind it passes: seed %d', async (seed) => {
    const flow = openFlow({ seed, workers: 4 });
    await flow.destination(PARTNER);
    const events = await flow.accept(PARTNER, 200);
    const { clock, ports, ledgerHooks, sender } = flow.world;
    ledgerHooks.before = () => clock.sleep(Math.floor(ports.dice.draw() * 20));
    sender.always(slowly(flow, 50, answered(200)));
    await flow.run(1_500);
    const before = sender.sends.length;
    const pausing = flow.pause(PARTNER);
    await flow.run(10_000);
    await pausing;
    const [pause] = writesOf(flow.world, 'gate').filter(({ after }) => after.pause);
    expect(pause).toBeDefined();
    expect(before).toBeGreaterThan(10);
    expect(sender.sends.length).toBeLessThan(150);
    expect(sentBehind(flow.pushes, pause?.order ?? 0)).toEqual([]);
    const left = await statuses(flow, events, PARTNER);
    expect(left).toEqual({ delivered: sender.sends.length, parked: 200 - sender.sends.length });
  });
});

// ---- closed until -------------------------------------------------------------------------------------------------

/** Sends while the destination was closed, by a re-check that began when the closing stood. */
const sentThroughClosing = (flow: Flow) => {
  const [closing] = writesOf(flow.world, 'gate').filter(({ after }) => after.closedUntilMs !== undefined);
  if (closing === undefined) throw new Error('nothing was closed');
  const untilMs = closing.after.closedUntilMs ?? 0;
  return sentBehind(flow.pushes, closing.order).filter(({ sentAtMs = 0 }) => sentAtMs < untilMs);
};

const closedFlow = async (retryAfterSec: number, count: number, settings?: Readonly<Record<string, unknown>>) => {
  const flow = openFlow({ workers: 1 });
  await flow.destination(PARTNER, settings);
  flow.world.sender.script(answered(429, { retryAfter: [String(retryAfterSec)] }));
  const events = await flow.accept(PARTNER, count);
  const closedAtMs = flow.world.clock.nowMs();
  flow.startTicks();
  await flow.run(5_000);
  return { flow, events, untilMs: closedAtMs + retryAfterSec * 1_000 };
};

describe('one 429 with Retry-After', () => {
  it.each([1, 2, 3, 4, 5])(
    'closes the destination for all workers: no re-check behind it passes: seed %d',
    async (seed) => {
      const flow = openFlow({ seed, workers: 4 });
      await flow.destination(PARTNER);
      const events = await flow.accept(PARTNER, 150);
      const { clock, ports, ledgerHooks, sender } = flow.world;
      ledgerHooks.before = () => clock.sleep(Math.floor(ports.dice.draw() * 20));
      const plenty = Array.from({ length: 20 }, () => slowly(flow, 50, answered(200)));
      sender.script(...plenty, slowly(flow, 50, answered(429, { retryAfter: ['120'] })));
      sender.always(slowly(flow, 50, answered(200)));
      await flow.run(60_000);
      const [closing] = writesOf(flow.world, 'gate');
      expect(sender.sends.length).toBeGreaterThanOrEqual(21);
      expect(sentThroughClosing(flow)).toEqual([]);
      // Only what was past its re-check is still let go, and that leaves at once.
      const late = sendTimes(flow).filter((atMs) => atMs > (closing?.after.closedSinceMs ?? 0));
      expect(late.length).toBeLessThanOrEqual(4);
      for (const atMs of late) expect(atMs - (closing?.after.closedSinceMs ?? 0)).toBeLessThan(1_000);
      await flow.run(120_000);
      expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 150 });
      expect(sender.sends).toHaveLength(151);
    },
  );

  it('would be passed by if its write to the gate got lost', async () => {
    const flow = openFlow({
      workers: 4,
      reshape: (ports) => ({
        ...ports,
        ledger: {
          ...ports.ledger,
          create: async (item) => (item.item === 'gate' ? { kind: 'written' } : ports.ledger.create(item)),
        },
      }),
    });
    await flow.destination(PARTNER);
    flow.world.sender.script(answered(429, { retryAfter: ['120'] }));
    await flow.accept(PARTNER, 50);
    await flow.run(10_000);
    expect(flow.world.sender.sends).toHaveLength(50);
  });

  it.each([
    ['ten a second', {}, 10],
    ['the rate of the destination', { ratePerSecond: 2 }, 2],
  ])('gives each delivery one slot behind its end, at %s', async (_what, settings, rate) => {
    const { flow, events, untilMs } = await closedFlow(60, 60, settings);
    expect(flow.world.sender.sends).toHaveLength(1);
    await runUntil(flow, untilMs - 1);
    expect(flow.world.sender.sends).toHaveLength(1);
    await flow.run(60_000 / rate + 10_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 60 });
    expect(mostWithin(sendTimes(flow).slice(1), 10_000)).toBeLessThanOrEqual(12 * rate);
    const deferred = flow.pushes.filter(({ said }) => said === 'ack:deferred').length;
    expect(deferred).toBeLessThanOrEqual(1.2 * 60);
  });

  it('parks what comes when it closes for over fifteen minutes, with the reason, in sight, at no cost', async () => {
    const { flow, events } = await closedFlow(1_200, 20);
    expect(await statuses(flow, events, PARTNER)).toEqual({ pending: 1, parked: 19 });
    const parked = (await flow.rows(events, PARTNER)).filter((row) => row.status === 'pending' && row.parking);
    for (const row of parked) expect(row).toMatchObject({ attempts: 0, parking: { reason: 'closed' } });
    expect(await parkedList(flow)).toHaveLength(19);
    const writes = await flow.world.writesOf(() => flow.world.deliver(events.at(-1) ?? '', PARTNER));
    expect(writes).toEqual([]);
  });

  it('lets go what it has parked at its end, in slots, within a tick', async () => {
    const { flow, events, untilMs } = await closedFlow(1_200, 60);
    await runUntil(flow, untilMs - 1);
    expect(flow.world.sender.sends).toHaveLength(1);
    await flow.run(MINUTE_MS + 10_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 60 });
    expect(mostWithin(sendTimes(flow).slice(1), 1_000)).toBeLessThanOrEqual(20);
  });

  // The sweep moves what is parked by a whole hour at a closed gate, whatever its end: half an hour is lost here.
  it('lets go what it has parked at its end, when that lies between two hours', async () => {
    const { flow, events, untilMs } = await closedFlow(5_400, 20);
    await runUntil(flow, untilMs + MINUTE_MS + 10_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 20 });
  });

  // As above: the closing has grown, the sweep comes at its first end, and moves the rows an hour from there.
  it('lets go what it has parked at its end, when that has moved meanwhile', async () => {
    const { flow, events, untilMs } = await closedFlow(1_200, 20);
    await closeUntil(flow.world.ports, DESTINATION, untilMs + 5 * MINUTE_MS);
    await runUntil(flow, untilMs + 6 * MINUTE_MS + 10_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 20 });
  });

  // The sweep takes a slot for each parked row and publishes it there; at its gate each asks for another one, behind
  // all of those: nothing goes out before as many slots have passed unused as there were rows.
  it('lets go what it has parked in the slots that it was given, where there is a rate', async () => {
    const { flow, events, untilMs } = await closedFlow(1_200, 40, { ratePerSecond: 1 });
    await runUntil(flow, untilMs + 40_000 + 20_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 40 });
  });

  it('lets go what it has parked by the rate all the same: nothing is lost and nothing goes out in a burst', async () => {
    const { flow, events, untilMs } = await closedFlow(1_200, 40, { ratePerSecond: 1 });
    await runUntil(flow, untilMs + 3 * MINUTE_MS);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 40 });
    expect(mostWithin(sendTimes(flow), 10_000)).toBeLessThanOrEqual(12);
  });

  it.each([
    ['3601', 1],
    ['3600', 0],
  ])('of %s seconds tells somebody %d times', async (seconds, alarms) => {
    const { flow } = await closedFlow(Number(seconds), 10);
    expect(flow.world.telemetry.counted('destination-closed-over-an-hour')).toBe(alarms);
  });

  it('never shortens a longer closing, and a longer one takes over', async () => {
    const flow = openFlow({ workers: 1 });
    await flow.destination(PARTNER);
    const held = [flow.world.sender.hold(), flow.world.sender.hold(), flow.world.sender.hold()];
    const events = await flow.accept(PARTNER, 3);
    const pushes = events.map((event) => flow.world.deliver(event, PARTNER));
    for (const { left } of held) await left;
    const untilMs = async () => (await flow.gate(PARTNER))?.closedUntilMs;
    const startMs = flow.world.clock.nowMs();
    const seen: unknown[] = [];
    for (const [at, seconds] of ['100', '60', '200'].entries()) {
      held[at]?.answer(answered(503, { retryAfter: [seconds] }));
      await pushes[at];
      seen.push(((await untilMs()) ?? 0) - startMs);
    }
    expect(seen).toEqual([100_000, 100_000, 200_000]);
  });

  it('counts from an attempt that has lost its claim as well', async () => {
    const flow = openFlow();
    await flow.destination(PARTNER);
    const [event = ''] = await flow.accept(PARTNER, 1);
    const held = flow.world.sender.hold();
    const stalled = flow.world.deliver(event, PARTNER);
    await held.left;
    await flow.world.clock.advance(36_000);
    await flow.world.deliver(event, PARTNER);
    expect((await flow.world.row(event, PARTNER)).status).toBe('delivered');
    held.answer(answered(429, { retryAfter: ['60'] }));
    expect((await stalled).body).toEqual({ verdict: 'ack', note: 'late' });
    expect((await flow.gate(PARTNER))?.closedUntilMs).toBe(flow.world.clock.nowMs() + 60_000);
  });

  it('is over when a person resumes', async () => {
    const { flow, events } = await closedFlow(1_200, 20);
    await flow.resume(PARTNER);
    expect((await flow.gate(PARTNER))?.closedUntilMs).toBeUndefined();
    await flow.run(30_000);
    // The one that was answered waits as long as it was asked to.
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 19, pending: 1 });
  });
});
