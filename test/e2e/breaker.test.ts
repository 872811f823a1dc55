/** A destination that fails for long is paused by the system, tried with one delivery at a time, and opened by a success. */
import { describe, expect, it } from 'vitest';
import { BREAKER_ACTOR, paused } from '../../functions/core/breaker.ts';
import type { ClaimId } from '../../functions/core/ids.ts';
import { BREAKER_FAILURES, BREAKER_MS, PROBE_EVERY_MS, TICK_MS } from '../../functions/core/limits.ts';
import type { Answer } from '../../functions/core/outcome.ts';
import { closeUntil, swapGate } from '../../functions/steps/gate.ts';
import { takePlace } from '../../functions/steps/places.ts';
import {
  type Flow,
  type FlowOptions,
  mostWithin,
  openFlow,
  pushByHand,
  runUntil,
  sendTimes,
  sentBehind,
  slowly,
  statuses,
  tally,
  writesOf,
} from '../support/flow.ts';
import { inEveryOrder, inTurns, type Turn } from '../support/orders.ts';
import { deliverMessage, destinationId } from '../support/world.ts';
import { answered, notSent, seededDice, shuffledTurns, unanswered } from '../support/world-ports.ts';

const PARTNER = 'partner';
const DESTINATION = destinationId(PARTNER);
const MINUTE_MS = 60_000;
/** Ten minutes between attempts: the failures of one round are a burst, and the next round comes when it counts. */
const SCHEDULE = { schedule: Array(7).fill(600) };

const pausesOf = (flow: Flow) =>
  writesOf(flow.world, 'gate').filter(({ before, after }) => after.pause && before?.pause === undefined);

const slowLedger = ({ world: { clock, ledgerHooks, ports } }: Flow, ms: number): void => {
  ledgerHooks.before = () => clock.sleep(Math.floor(ports.dice.draw() * ms));
};

/** Twenty failures in a burst: the next one that comes when ten minutes are over opens the breaker. */
const failingFlow = async (options: FlowOptions = {}, settings: Readonly<Record<string, unknown>> = SCHEDULE) => {
  const flow = openFlow({ workers: 4, ...options });
  await flow.destination(PARTNER, settings);
  flow.world.sender.always(answered(500));
  const first = await flow.accept(PARTNER, BREAKER_FAILURES, { prefix: 'first-' });
  await flow.run(BREAKER_MS - 1_000);
  const gate = await flow.gate(PARTNER);
  expect([gate?.pause, (gate?.failures?.count ?? 0) >= BREAKER_FAILURES]).toEqual([undefined, true]);
  return { flow, first };
};

/** Its breaker has just opened, and so many deliveries are parked there beside those that have failed. */
const brokenFlow = async (count: number, options: FlowOptions = {}, settings?: Readonly<Record<string, unknown>>) => {
  const { flow, first } = await failingFlow(options, settings);
  await flow.run(1_000);
  await flow.accept(PARTNER, 1, { prefix: 'opening-' });
  await flow.run(0);
  const gate = await flow.gate(PARTNER);
  expect(gate?.pause?.by).toBe(BREAKER_ACTOR);
  const parked = await flow.accept(PARTNER, count, { prefix: 'parked-' });
  await flow.run(1_000);
  expect(await statuses(flow, parked, PARTNER)).toEqual({ parked: count });
  return { flow, first, parked, probeAtMs: gate?.pause?.probeAtMs ?? 0, openedMs: gate?.pause?.sinceMs ?? 0 };
};

describe('the breaker', () => {
  it.each([1, 2, 3, 4, 5])(
    'pauses the destination once, on record, after failures from four workers, and no re-check behind it passes: seed %d [C018]',
    async (seed) => {
      const { flow } = await failingFlow({ seed });
      slowLedger(flow, 20);
      flow.world.sender.always(slowly(flow, 50, answered(500)));
      await flow.run(1_000);
      const sent = flow.world.sender.sends.length;
      const more = await acceptSlowly(flow, 30);
      await flow.run(MINUTE_MS);
      const [pause, ...others] = pausesOf(flow);
      expect(others).toEqual([]);
      expect(pause?.after.pause).toMatchObject({ by: BREAKER_ACTOR, probeAtMs: expect.any(Number) });
      expect(pause?.after.pause?.reason).toMatch(/^2\d failures in a row over 10 minutes$/);
      expect(flow.world.telemetry.counted('breaker-opened')).toBe(1);
      expect(sentBehind(flow.pushes, pause?.order ?? 0)).toEqual([]);
      // What was past its re-check on the other workers is all that is still sent.
      expect(flow.world.sender.sends.length - sent).toBeLessThanOrEqual(4);
      expect((await statuses(flow, more, PARTNER))['parked']).toBeGreaterThanOrEqual(26);
    },
  );

  it('would be passed by where workers do not see the pause', async () => {
    const { flow } = await failingFlow({
      reshape: (ports) => {
        const look = ports.ledger.loadDestination;
        const stale: typeof look = async (id) => {
          const now = await look(id);
          return now.gate.kind === 'found' && now.gate.item.pause ? { ...now, gate: { kind: 'absent' } } : now;
        };
        return { ...ports, ledger: { ...ports.ledger, loadDestination: stale } };
      },
    });
    await flow.run(1_000);
    await flow.accept(PARTNER, 30);
    await flow.run(MINUTE_MS);
    const [pause] = pausesOf(flow);
    expect(sentBehind(flow.pushes, pause?.order ?? 0).length).toBeGreaterThan(10);
  });

  it('is not opened by a burst, nor by a row of failures with one success in it', async () => {
    const { flow } = await failingFlow();
    flow.world.sender.script(answered(200));
    await flow.accept(PARTNER, 1, { prefix: 'good-' });
    await flow.run(500);
    expect((await flow.gate(PARTNER))?.failures).toBeUndefined();
    await flow.run(5 * MINUTE_MS);
    expect((await flow.gate(PARTNER))?.failures?.count).toBe(BREAKER_FAILURES);
    expect(pausesOf(flow)).toEqual([]);
  });

  it.each([
    ['a status of failure', answered(502), true],
    ['a 503 that asks for no time', answered(503, { retryAfter: ['0'] }), true],
    ['a 503 that asks for a time nobody can read', answered(503, { retryAfter: ['soon'] }), true],
    ['a 503 that asks for time', answered(503, { retryAfter: ['30'] }), false],
    ['no answer', unanswered('reset'), true],
    ['no connection', notSent('refused'), true],
    ['an address that may not be called', notSent('blocked'), false],
    ['a plain wish to wait', answered(429), false],
    ['a refusal of the content', answered(422), false],
  ])('counts %s: %o as a failure: %s', async (_what, answer, counts) => {
    const flow = openFlow();
    await flow.destination(PARTNER);
    flow.world.sender.script(answer);
    await flow.accept(PARTNER, 1);
    await flow.run(1_000);
    expect((await flow.gate(PARTNER))?.failures?.count).toBe(counts ? 1 : undefined);
  });

  it('costs a success nothing while all goes well, and one write after a failure', async () => {
    const flow = openFlow({ workers: 1 });
    await flow.destination(PARTNER, { schedule: [3_600] });
    const gateWritesOf = async (work: () => Promise<unknown>) =>
      (await flow.world.writesOf(work)).filter(({ ref }) => ref?.item === 'gate').length;
    const sendAll = (count: number, prefix: string) => async () => {
      await flow.accept(PARTNER, count, { prefix });
      await flow.run(1_000);
    };
    expect(await gateWritesOf(sendAll(50, 'a-'))).toBe(0);
    flow.world.sender.script(answered(500));
    expect(await gateWritesOf(sendAll(1, 'b-'))).toBe(1);
    expect(await gateWritesOf(sendAll(50, 'c-'))).toBe(1);
    expect(await gateWritesOf(sendAll(50, 'd-'))).toBe(0);
  });
});

/** One after the other, so that the workers are at different steps. */
const acceptSlowly = async (flow: Flow, count: number): Promise<string[]> => {
  const { ledgerHooks } = flow.world;
  const slow = ledgerHooks.before;
  const all: string[] = [];
  for (let n = 0; n < count; n += 1) {
    delete ledgerHooks.before;
    all.push(...(await flow.accept(PARTNER, 1, { prefix: `more-${n}-` })));
    if (slow) ledgerHooks.before = slow;
    await flow.run(10);
  }
  return all;
};

describe('a probe', () => {
  it('is one delivery at a time, and its success opens the destination and lets go all the others', async () => {
    const { flow, first, parked, probeAtMs } = await brokenFlow(60);
    flow.startTicks();
    const sent = flow.world.sender.sends.length;
    await runUntil(flow, probeAtMs - 1);
    expect(flow.world.sender.sends).toHaveLength(sent);
    flow.world.sender.always(slowly(flow, 200, answered(200)));
    await flow.run(TICK_MS + 30_000);
    expect(await statuses(flow, parked, PARTNER)).toEqual({ delivered: 60 });
    expect((await flow.gate(PARTNER))?.pause).toBeUndefined();
    expect((await flow.gate(PARTNER))?.failures).toBeUndefined();
    await flow.run(20 * MINUTE_MS);
    expect(await statuses(flow, first, PARTNER)).toEqual({ delivered: 20 });
  });

  it('goes alone: nothing is sent beside it until it is answered', async () => {
    const { flow, probeAtMs } = await brokenFlow(40);
    flow.startTicks();
    await runUntil(flow, probeAtMs - 1);
    const sent = flow.world.sender.sends.length;
    const held = flow.world.sender.hold();
    await flow.run(TICK_MS);
    await held.left;
    expect(flow.world.sender.sends.length - sent).toBe(1);
    held.answer(answered(200));
    await flow.run(MINUTE_MS);
    expect(flow.world.sender.sends.length - sent).toBeGreaterThan(40);
  });

  it.each(Array.from({ length: 10 }, (_, seed) => seed))(
    'is one of a hundred that come when its time has come, in any order of their requests: seed %d',
    async (seed) => {
      const { flow, parked, probeAtMs } = await brokenFlow(100, { seed });
      await runUntil(flow, probeAtMs);
      const sent = flow.world.sender.sends.length;
      const { ledgerHooks } = flow.world;
      ledgerHooks.before = shuffledTurns(seededDice(`probe ${seed}`));
      const answers = await Promise.all(parked.map((event) => flow.world.deliver(event, PARTNER)));
      delete ledgerHooks.before;
      expect(flow.world.sender.sends.length - sent).toBe(1);
      expect(tally(answers.map(({ text }) => text))).toEqual({
        '{"verdict":"ack","note":"waiting"}': 99,
        '{"verdict":"ack","note":"settled"}': 1,
      });
      expect((await flow.gate(PARTNER))?.pause?.probeAtMs).toBe(probeAtMs + PROBE_EVERY_MS);
    },
  );

  it('would be many over a ledger that forgets to compare: the race is a real one', async () => {
    const { flow, parked, probeAtMs } = await brokenFlow(20);
    await runUntil(flow, probeAtMs);
    const sent = flow.world.sender.sends.length;
    const { store, ledgerHooks } = flow.world;
    store.put = async (record) => {
      store.poke(record);
      return { kind: 'written' };
    };
    ledgerHooks.before = shuffledTurns(seededDice('probe'));
    await Promise.all(parked.map((event) => flow.world.deliver(event, PARTNER)));
    expect(flow.world.sender.sends.length - sent).toBeGreaterThan(1);
  });

  it('that fails keeps the destination paused, by the same pause, and the next one comes', async () => {
    const { flow, parked, openedMs, probeAtMs } = await brokenFlow(10, {}, { schedule: [60, 60, 60, 60, 60, 60, 60] });
    flow.startTicks();
    await runUntil(flow, probeAtMs);
    const sent = flow.world.sender.sends.length;
    await flow.run(4 * (PROBE_EVERY_MS + TICK_MS));
    const probes = flow.world.sender.sends.slice(sent).map(({ atMs }) => atMs);
    expect(probes.length).toBeGreaterThanOrEqual(3);
    for (const [at, atMs] of probes.entries()) {
      if (at > 0) expect(atMs - (probes[at - 1] ?? 0)).toBeGreaterThanOrEqual(PROBE_EVERY_MS);
    }
    expect((await flow.gate(PARTNER))?.pause).toMatchObject({ by: BREAKER_ACTOR, sinceMs: openedMs });
    expect(pausesOf(flow)).toHaveLength(1);
    expect((await statuses(flow, parked, PARTNER))['parked']).toBeGreaterThan(0);
  });

  // A row that was published for a probe and found it taken is looked at again after 15, 30, 60, 120 minutes, and one
  // that the sweep met behind it after an hour: nobody comes when the next probe is due.
  it('that fails is followed by the next in five minutes and a tick, whatever its own retry waits for', async () => {
    const { flow, probeAtMs } = await brokenFlow(30, {}, { schedule: [14_400, 14_400] });
    flow.startTicks();
    await runUntil(flow, probeAtMs);
    const sent = flow.world.sender.sends.length;
    await flow.run(60 * MINUTE_MS);
    const probes = flow.world.sender.sends.slice(sent).length;
    expect(probes).toBeGreaterThanOrEqual(Math.floor((60 * MINUTE_MS) / (PROBE_EVERY_MS + TICK_MS)));
  });

  // At the probe's time the sweep finds the gate ready for one, and publishes every parked row, all for this moment.
  it('costs one publish, not one for every row that is parked', async () => {
    const { flow, probeAtMs } = await brokenFlow(200);
    flow.startTicks();
    await runUntil(flow, probeAtMs);
    const published = flow.queue.published.length;
    await flow.run(TICK_MS);
    const woken = flow.queue.published.slice(published).filter(({ kind }) => kind === 'deliver').length;
    expect(woken).toBeLessThanOrEqual(20);
  });

  // The same messages, met by an open gate: the success of the probe lets all of them through at once.
  it('that succeeds at once lets the others go at ten a second, not in a burst', async () => {
    const { flow, parked, probeAtMs } = await brokenFlow(300, { workers: 10 });
    slowLedger(flow, 10);
    flow.world.sender.always(slowly(flow, 50, answered(200)));
    flow.startTicks();
    await runUntil(flow, probeAtMs - 1);
    const sent = flow.world.sender.sends.length;
    await flow.run(3 * MINUTE_MS);
    delete flow.world.ledgerHooks.before;
    expect(await statuses(flow, parked, PARTNER)).toEqual({ delivered: 300 });
    expect(mostWithin(sendTimes(flow).slice(sent), 10_000)).toBeLessThanOrEqual(120);
  });

  // The gate is asked for its pause first, and for a closing only where there is none.
  it('waits for the end of a closing: no re-check behind the closing passes', async () => {
    const { flow, probeAtMs } = await brokenFlow(5);
    await closeUntil(flow.world.ports, DESTINATION, probeAtMs + 10 * MINUTE_MS);
    const sent = flow.world.sender.sends.length;
    flow.startTicks();
    await runUntil(flow, probeAtMs + 5 * MINUTE_MS);
    expect(flow.world.sender.sends).toHaveLength(sent);
  });
});

describe('a person', () => {
  const pauseByAna = (flow: Flow, ports = flow.world.ports) =>
    swapGate(ports, DESTINATION, (gate) =>
      paused(gate, { by: 'ana', reason: 'their maintenance', sinceMs: flow.world.clock.nowMs() }),
    );

  it("may pause while a probe is under way: its success does not end the person's pause, and nothing is let go", async () => {
    const { flow, parked, probeAtMs } = await brokenFlow(10);
    await runUntil(flow, probeAtMs);
    const held = flow.world.sender.hold();
    const [event = ''] = parked;
    const probe = flow.world.deliver(event, PARTNER);
    await held.left;
    await pauseByAna(flow);
    held.answer(answered(200));
    await probe;
    expect((await flow.world.row(event, PARTNER)).status).toBe('delivered');
    expect((await flow.gate(PARTNER))?.pause).toMatchObject({ by: 'ana' });
    const sent = flow.world.sender.sends.length;
    flow.startTicks();
    await flow.run(5 * 60 * MINUTE_MS);
    expect(flow.world.sender.sends).toHaveLength(sent);
    expect(flow.queue.published.filter(({ kind }) => kind === 'drain')).toEqual([]);
    expect(await statuses(flow, parked, PARTNER)).toEqual({ delivered: 1, parked: 9 });
  });

  it('may resume while a probe is under way: the probe holds one of the places, and the others keep to what is left', async () => {
    const { flow, probeAtMs, parked } = await brokenFlow(10, {}, { ...SCHEDULE, concurrency: 2 });
    await runUntil(flow, probeAtMs);
    flow.world.sender.always(answered(200));
    const held = flow.world.sender.hold();
    const [event = ''] = parked;
    const probe = flow.world.deliver(event, PARTNER);
    await held.left;
    const { promise: answer, resolve } = Promise.withResolvers<Answer>();
    flow.world.sender.always(() => answer);
    await flow.resume(PARTNER);
    await flow.run(10_000);
    expect(flow.inFlight(PARTNER)).toEqual({ now: 2, most: 2 });
    resolve(answered(200));
    held.answer(answered(200));
    await probe;
    await flow.run(MINUTE_MS);
    expect(await statuses(flow, parked, PARTNER)).toEqual({ delivered: 10 });
  });

  it('waits for the next probe where every place is taken, and that one gets through', async () => {
    const { flow, probeAtMs, parked } = await brokenFlow(1, {}, { ...SCHEDULE, concurrency: 1 });
    flow.world.sender.always(answered(200));
    await runUntil(flow, probeAtMs - 1_000);
    const [event = ''] = parked;
    const place = await takePlace(flow.world.ports, DESTINATION, 1, 'another' as ClaimId, 5_000);
    if (place === undefined) throw new Error('the place was taken');
    await flow.run(1_000);
    const sent = flow.world.sender.sends.length;
    expect((await flow.world.deliver(event, PARTNER)).body).toEqual({ verdict: 'ack', note: 'waiting' });
    expect(flow.world.sender.sends).toHaveLength(sent);
    flow.startTicks();
    await flow.run(PROBE_EVERY_MS + 2 * MINUTE_MS);
    expect((await flow.world.row(event, PARTNER)).status).toBe('delivered');
  });

  it('is obeyed by a probe in every order of their requests, and the pause stands at the end', async () => {
    let sends = 0;
    let kept = 0;
    const orders = await inEveryOrder(async (turnOf: (n: number) => Turn) => {
      const flow = openFlow();
      await flow.destination(PARTNER);
      const nowMs = flow.world.clock.nowMs();
      const breaker = { by: BREAKER_ACTOR, reason: 'failures', sinceMs: nowMs - PROBE_EVERY_MS, probeAtMs: nowMs };
      await swapGate(flow.world.ports, DESTINATION, (gate) => ({ ...gate, pause: breaker }));
      const parked = await flow.accept(PARTNER, 1);
      const worker = inTurns(flow.world.ports, turnOf(0));
      const [event = ''] = parked;
      let recheckAt = 0;
      let sentAt: number | undefined;
      const watched = {
        ...worker,
        ledger: {
          ...worker.ledger,
          loadDestination: (id: typeof DESTINATION) => {
            recheckAt = flow.world.store.writes.length;
            return worker.ledger.loadDestination(id);
          },
        },
        sender: {
          ...worker.sender,
          send: (request: Parameters<typeof worker.sender.send>[0]) => {
            sentAt = recheckAt;
            return worker.sender.send(request);
          },
        },
      };
      return {
        actors: [
          () => pushByHand(flow, JSON.stringify(deliverMessage(event, PARTNER)), watched),
          () => pauseByAna(flow, inTurns(flow.world.ports, turnOf(1))),
        ],
        judge: async () => {
          const gate = await flow.gate(PARTNER);
          expect(gate?.pause?.by).toBe('ana');
          const pause = writesOf(flow.world, 'gate').find(({ after }) => after.pause?.by === 'ana');
          expect(sentAt === undefined || sentAt < (pause?.order ?? 0)).toBe(true);
          sends += flow.world.sender.sends.length;
          kept += Number(sentAt === undefined);
        },
      };
    });
    expect(orders).toBeGreaterThan(30);
    expect(Math.min(sends, kept)).toBeGreaterThan(0);
  });

  it('may resume a destination that its breaker has paused, and all of it goes out', async () => {
    const { flow, parked } = await brokenFlow(20);
    flow.world.sender.always(answered(200));
    await flow.resume(PARTNER);
    await flow.run(10_000);
    expect(await statuses(flow, parked, PARTNER)).toEqual({ delivered: 20 });
    expect((await flow.gate(PARTNER))?.failures).toBeUndefined();
  });

  it('finds the failing deliveries delivered once each when all is over: no request was made twice by the probes', async () => {
    const { flow, first, parked, probeAtMs } = await brokenFlow(20);
    flow.startTicks();
    await runUntil(flow, probeAtMs - 1);
    flow.world.sender.always(answered(200));
    const before = flow.world.sender.sends.length;
    await flow.run(60 * MINUTE_MS);
    const all = [...first, ...parked, 'opening-0'];
    expect(await statuses(flow, all, PARTNER)).toEqual({ delivered: all.length });
    expect(flow.world.sender.sends.length - before).toBe(all.length);
  });
});
