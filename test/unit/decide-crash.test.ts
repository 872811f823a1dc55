/**
 * A request is cut off at every call of the ledger, before it has happened and after its answer was lost, and sent
 * again: what stands in the end is what stands when nothing was cut off.
 */

import { describe, expect, it } from 'vitest';
import { unpacked } from '../../functions/adapters/ledger/codec/packing.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { CALLS, decideBy, decisionOf } from '../support/decisions.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER, pause, RESTING } from '../support/world-states.ts';

type Call = keyof typeof CALLS;

/** A state in which the call changes as much as it can. */
const STATES: Readonly<Record<Call, (world: TestWorld) => Promise<unknown>>> = {
  redrive: async (world) => RESTING['quarantined as rejected']?.(world),
  resolve: async (world) => {
    await opened(world, { repeatSafe: false });
    world.sender.script(unanswered('timeout'));
    await world.deliver(EVENT, PARTNER);
  },
  cancel: async (world) => {
    await opened(world);
    world.sender.script(answered(500));
    await world.deliver(EVENT, PARTNER);
  },
  replay: async (world) => {
    await world.destination('audit');
    await world.destination(PARTNER);
    await world.submit({ id: EVENT, payload: { n: 1 }, destinations: [PARTNER, 'audit'] });
    await world.run(5_000);
  },
  pause: (world) => opened(world),
  resume: async (world) => {
    await opened(world);
    await pause(world);
    await world.deliver(EVENT, PARTNER);
  },
  test: (world) => opened(world),
  delete: (world) => opened(world),
};

const BODIES: Readonly<Partial<Record<Call, Readonly<Record<string, unknown>>>>> = {
  redrive: { grant: 2 },
  resolve: { as: 'not-delivered' },
};

const worldFor = async (call: Call): Promise<TestWorld> => {
  const world = openTestWorld();
  await STATES[call](world);
  return world;
};

const send = (world: TestWorld, call: Call) => decideBy(world, CALLS[call], 'cut-off', { body: BODIES[call] ?? {} });

/** Write ids and what follows from them differ from run to run; everything else must not. */
const NAMES_OF_WRITES = /"(?:w|requestId|journalHead)":"[^"]*"|\\"w\\":\\"[^"\\]*\\"/g;
const withoutNames = (text: string): string => text.replaceAll(NAMES_OF_WRITES, '');

const recordsOf = (world: TestWorld): readonly string[] => {
  const latest = new Map(world.store.writes.map(({ ref, after }) => [JSON.stringify(ref), after]));
  return [...latest].map(([ref, record]) => {
    const { jh: _head, wid: _writes, z, ...rest } = record ?? {};
    // Packed, the names in a journal could not be told from the rest of it.
    const texts = z?.B === undefined ? {} : unpacked({ z: z.B });
    return withoutNames(`${ref} ${JSON.stringify({ ...rest, ...texts })}`);
  });
};

/** What the decision came to: the answer, every record, and every message that is on its way. */
const endOf = async (world: TestWorld, call: Call) => {
  const answer = await send(world, call);
  return {
    status: answer.status,
    text: withoutNames(answer.text),
    records: recordsOf(world).toSorted(),
    keys: new Set(world.queue.published.map(({ key }) => key)),
  };
};

type End = Awaited<ReturnType<typeof endOf>>;

/** An event that stands is not published a second time by its repeat: a message that was lost there is the sweep's. */
const LEFT_TO_THE_SWEEP: ReadonlySet<Call> = new Set(['replay', 'test']);

const expectSame = (call: Call, end: End, wanted: End, hint: string): void => {
  const keys = LEFT_TO_THE_SWEEP.has(call) ? new Set([...wanted.keys, ...end.keys]) : end.keys;
  expect({ ...end, keys }, hint).toEqual(wanted);
};

const cutOff = (world: TestWorld, when: 'before' | 'after', at: number): (() => boolean) => {
  let calls = 0;
  world.ledgerHooks[when] = () => {
    calls += 1;
    if (calls === at) throw new PortUnavailable('ledger', `cut off ${when} call ${at}`);
  };
  return () => {
    delete world.ledgerHooks[when];
    return calls >= at;
  };
};

const CALL_NAMES = Object.keys(CALLS) as Call[];

describe.each(CALL_NAMES)('%s', (call) => {
  it.each(['before', 'after'] as const)('cut off %s any call, comes to the same in the end', async (when) => {
    const calm = await worldFor(call);
    await send(calm, call);
    const wanted = await endOf(calm, call);
    expect(wanted.status).toBeLessThan(300);
    let cuts = 0;
    for (let at = 1; ; at += 1) {
      const world = await worldFor(call);
      const restore = cutOff(world, when, at);
      const torn = await send(world, call);
      const wasCut = restore();
      if (!wasCut) break;
      cuts += 1;
      expect([200, 202, 503], `call ${at}`).toContain(torn.status);
      expectSame(call, await endOf(world, call), wanted, `cut off ${when} call ${at}`);
      expect(await decisionOf(world, 'cut-off')).toMatchObject({ version: 2, result: 'done' });
    }
    // The token, the decision, the state, the act, the result: the loop has met them.
    expect(cuts).toBeGreaterThan(6);
  });

  it('cut off twice in a row, at any two calls, comes to the same in the end', async () => {
    const calm = await worldFor(call);
    await send(calm, call);
    const wanted = await endOf(calm, call);
    for (let at = 2; at <= 12; at += 1) {
      const world = await worldFor(call);
      for (const [when, call_] of [
        ['after', at],
        ['before', Math.ceil(at / 2) + 1],
      ] as const) {
        const restore = cutOff(world, when, call_);
        await send(world, call);
        restore();
      }
      expectSame(call, await endOf(world, call), wanted, `calls ${at}`);
    }
  });
});

describe('what a cut leaves to the sweep', () => {
  it.each([...LEFT_TO_THE_SWEEP])('is delivered once, within a tick of its grace: %s', async (call) => {
    for (let at = 1; ; at += 1) {
      const world = await worldFor(call);
      const sent = world.sender.sends.length;
      const restore = cutOff(world, 'after', at);
      await send(world, call);
      if (!restore()) break;
      await send(world, call);
      await world.run(36_000);
      await world.tick();
      await world.run(5_000);
      // Of the replay, two destinations; of the test, one, and the event that was there before.
      expect(world.sender.sends.length - sent, `cut off after call ${at}`).toBe(2);
    }
  });
});

describe('a request that was cut off at its result', () => {
  it('publishes nothing when it is sent again after its delivery has gone on: it waits for something else', async () => {
    const world = await worldFor('redrive');
    world.ledgerHooks.before = ({ kind, ref }) => {
      if (kind === 'replace' && ref?.item === 'decision') throw new PortUnavailable('ledger', 'cut off at the result');
    };
    expect((await send(world, 'redrive')).status).toBe(503);
    world.ledgerBack();
    await pause(world);
    await world.run(5_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'pending', parking: { reason: 'paused' } });
    const published = world.queue.published.length;
    expect((await send(world, 'redrive')).body).toMatchObject({ status: 'pending', reason: 'paused' });
    expect(world.queue.published.length).toBe(published);
  });
});

describe('a queue that is away', () => {
  it('keeps a resume from being told as done; the same request again lets go what is parked', async () => {
    const world = await worldFor('resume');
    world.queue.away = true;
    const torn = await send(world, 'resume');
    expect(torn.body).toMatchObject({ status: 503, code: 'queue-unavailable' });
    world.queue.away = false;
    expect((await send(world, 'resume')).body).toMatchObject({ state: 'active' });
    await world.run(10_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered' });
  });

  it('does not keep a redrive from standing: the sweep finds it', async () => {
    const world = await worldFor('redrive');
    world.queue.away = true;
    expect((await send(world, 'redrive')).status).toBe(200);
    world.queue.away = false;
    await world.clock.advance(60_000);
    await world.tick();
    await world.run(60_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered' });
  });

  it('and an answer that was lost with it: the repeat publishes what had been planned, under its own key', async () => {
    const world = await worldFor('redrive');
    world.queue.away = true;
    world.ledgerHooks.before = ({ kind, ref }) => {
      if (kind === 'replace' && ref?.item === 'decision') throw new PortUnavailable('ledger', 'cut off at the result');
    };
    expect((await send(world, 'redrive')).status).toBe(503);
    world.ledgerBack();
    world.queue.away = false;
    const before = world.queue.published.length;
    await send(world, 'redrive');
    expect(world.queue.published.length).toBe(before + 1);
    await world.run(5_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', redrives: 1 });
  });
});
