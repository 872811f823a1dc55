/**
 * The last look before the socket, with the real receiver: whatever has changed between the claim and that look, no
 * request leaves under a claim, a lease, a gate or settings that no longer hold, and the unit of the budget comes back.
 */

import { describe, expect, it } from 'vitest';
import {
  CONNECT_MS,
  KEY_END_MARGIN_MS,
  LEASE_OVER_TIMEOUT_MS,
  RECHECK_FRESH_MS,
  SKEW_MARGIN_MS,
  SLOT_GOOD_MS,
} from '../../functions/core/limits.ts';
import type { Ref } from '../../functions/ports.ts';
import { mostWithin, openFlow, sendTimes, slowly, statuses } from '../support/flow.ts';
import { destinationId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';
import { alter, EVENT, opened, PARTNER, pause, resume } from '../support/world-states.ts';

/** The claim stands in the ledger, and before its worker hears of it, `happens` takes its course. */
const behindTheClaim = (world: TestWorld, happens: () => Promise<unknown>): void => {
  world.ledgerHooks.after = async ({ kind, ref }) => {
    if (kind !== 'replace' || ref?.item !== 'delivery') return;
    world.ledgerHooks.after = undefined;
    await happens();
  };
};

/** The gate has let it pass, and before its worker claims, `happens` takes its course. */
const behindTheGate = (world: TestWorld, happens: () => Promise<unknown>): void => {
  world.ledgerHooks.before = async ({ kind, ref }) => {
    if (kind !== 'load' || ref?.item !== 'event') return;
    world.ledgerHooks.before = undefined;
    await happens();
  };
};

const outcomesOf = async (world: TestWorld) =>
  (await world.row(EVENT, PARTNER)).journal.lines
    .map(({ entry }) => entry)
    .filter(({ kind }) => kind !== 'accepted' && kind !== 'claimed')
    .map(({ kind, class: outcome, detail }) => [kind, outcome, detail]);

const spent = async (world: TestWorld): Promise<number> => {
  const row = await world.row(EVENT, PARTNER);
  return row.attempts - row.refunds;
};

describe('a worker that stalls between its claim and its request', () => {
  it('sends nothing with a lease too short for the attempt, and the delivery goes on', async () => {
    const world = await opened(openTestWorld());
    behindTheClaim(world, () => world.clock.advance(LEASE_OVER_TIMEOUT_MS + 1));
    await world.deliver(EVENT, PARTNER);
    expect(world.sender.sends).toEqual([]);
    expect(await outcomesOf(world)).toEqual([['outcome', 'withheld', 'short-lease']]);
    expect(await spent(world)).toBe(0);
    await world.run(5_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(world.sender.sends).toHaveLength(1);
  });

  it('sends with a lease that is just long enough: it is the lease that stops it', async () => {
    const world = await opened(openTestWorld());
    behindTheClaim(world, () => world.clock.advance(LEASE_OVER_TIMEOUT_MS));
    await world.deliver(EVENT, PARTNER);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
  });

  it('sends nothing so near the end of the key that the request could arrive behind it', async () => {
    const keyLifeMs = 120_000;
    const settings = { keyLifeHours: keyLifeMs / 3_600_000, schedule: [5, 30] };
    const attemptAt = async (claimMs: number, stallMs: number): Promise<TestWorld> => {
      const world = await opened(openTestWorld(), settings);
      world.sender.script(unanswered('timeout'));
      await world.deliver(EVENT, PARTNER);
      await world.clock.advance(claimMs);
      behindTheClaim(world, () => world.clock.advance(stallMs));
      await world.deliver(EVENT, PARTNER);
      return world;
    };
    const claimMs = keyLifeMs - KEY_END_MARGIN_MS - 1;
    const stalled = await attemptAt(claimMs, KEY_END_MARGIN_MS - CONNECT_MS - SKEW_MARGIN_MS + 1);
    expect(stalled.sender.sends).toHaveLength(1);
    expect((await outcomesOf(stalled)).at(-1)).toEqual(['outcome', 'withheld', 'key-ends']);
    await stalled.run(5_000);
    expect(await stalled.row(EVENT, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'key-expired' });
    expect(stalled.sender.sends).toHaveLength(1);
    // Without the stall the same attempt goes out: it is the end of the key that stops it, not the claim's own margin.
    expect((await attemptAt(claimMs, 0)).sender.sends).toHaveLength(2);
  });

  it.each([true, false])(
    'sends nothing once another one has taken over, however live that lease is: repeatSafe %s',
    async (repeatSafe) => {
      const world = await opened(openTestWorld(), { repeatSafe });
      behindTheClaim(world, async () => {
        await world.clock.advance(60_000);
        await world.deliver(EVENT, PARTNER);
      });
      expect((await world.deliver(EVENT, PARTNER)).status).toBe(200);
      expect(world.sender.sends).toHaveLength(1);
      expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
      const [first, second, late] = await outcomesOf(world);
      // Where a repeat is not safe, the missing mark says for certain that nothing had left.
      expect(first).toEqual(['outcome', repeatSafe ? 'in-doubt' : 'abandoned', 'lease-lapsed']);
      expect(second?.slice(0, 2)).toEqual(['outcome', 'delivered']);
      expect(late).toEqual(['late-outcome', 'withheld', 'lost']);
    },
  );

  it('sends nothing when the look itself took too long to be trusted', async () => {
    const world = await opened(openTestWorld());
    let looks = 0;
    world.ledgerHooks.after = async ({ kind }) => {
      // The gate is read once before the claim, and once in the last look.
      if (kind === 'loadDestination') looks += 1;
      if (kind === 'loadDestination' && looks === 2) await world.clock.advance(RECHECK_FRESH_MS + 1);
    };
    await world.deliver(EVENT, PARTNER);
    expect(await outcomesOf(world)).toEqual([['outcome', 'withheld', 'stale-recheck']]);
    expect(world.sender.sends).toEqual([]);
  });
});

describe('a worker that stalls between the gate and its claim', () => {
  it('sends nothing when what is left of its place is too short for the attempt, and the delivery goes on', async () => {
    const world = await opened(openTestWorld(), { concurrency: 1 });
    behindTheGate(world, () => world.clock.advance(LEASE_OVER_TIMEOUT_MS + 1));
    await world.deliver(EVENT, PARTNER);
    expect(world.sender.sends).toEqual([]);
    expect(await outcomesOf(world)).toEqual([['outcome', 'withheld', 'short-place']]);
    expect(await spent(world)).toBe(0);
    await world.run(5_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  it('sends with a place that is just long enough, or where no place is asked for: it is the place that stops it', async () => {
    for (const [settings, stallMs] of [
      [{ concurrency: 1 }, LEASE_OVER_TIMEOUT_MS],
      [{}, LEASE_OVER_TIMEOUT_MS + 1],
    ] as const) {
      const world = await opened(openTestWorld(), settings);
      behindTheGate(world, () => world.clock.advance(stallMs));
      await world.deliver(EVENT, PARTNER);
      expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
    }
  });

  it('never makes two requests where one place is given, though another one has taken that place meanwhile', async () => {
    const flow = openFlow({ workers: 10 });
    await flow.destination(PARTNER, { concurrency: 1, timeoutMs: 1_000 });
    flow.world.sender.always(slowly(flow, 900, answered(200)));
    behindTheGate(flow.world, () => flow.world.clock.sleep(20_000));
    const events = await flow.accept(PARTNER, 1, { prefix: 'stalled-' });
    await flow.run(19_500);
    events.push(...(await flow.accept(PARTNER, 1, { prefix: 'rival-' })));
    await flow.run(10_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 2 });
    expect(flow.inFlight(PARTNER).most).toBe(1);
  });

  it('sends nothing behind the end of its slot of the rate, and asks for another one', async () => {
    for (const [stallMs, sends] of [
      [SLOT_GOOD_MS, 1],
      [SLOT_GOOD_MS + 1, 0],
    ] as const) {
      const world = await opened(openTestWorld(), { ratePerSecond: 1 });
      behindTheGate(world, () => world.clock.advance(stallMs));
      await world.deliver(EVENT, PARTNER);
      expect(world.sender.sends).toHaveLength(sends);
      if (sends === 0) expect(await outcomesOf(world)).toEqual([['outcome', 'withheld', 'late-slot']]);
      await world.run(5_000);
      expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2 - sends });
    }
  });

  it('does not send with nineteen others that have stalled like it: their slots were one second apart', async () => {
    const flow = openFlow({
      workers: 20,
      reshape: (ports) => {
        const goesOnAtMs = ports.clock.nowMs() + 20_000;
        const load: typeof ports.ledger.load = async (ref) => {
          const leftMs = goesOnAtMs - ports.clock.nowMs();
          if (ref.item === 'event' && leftMs > 0) await ports.clock.sleep(leftMs);
          return ports.ledger.load(ref);
        };
        return { ...ports, ledger: { ...ports.ledger, load } };
      },
    });
    await flow.destination(PARTNER, { ratePerSecond: 1 });
    const events = await flow.accept(PARTNER, 20);
    await flow.run(2 * 60_000);
    expect(await statuses(flow, events, PARTNER)).toEqual({ delivered: 20 });
    expect(mostWithin(sendTimes(flow), 1_000)).toBeLessThanOrEqual(SLOT_GOOD_MS / 1_000 + 1);
    expect(mostWithin(sendTimes(flow), 10_000)).toBeLessThanOrEqual(12 + SLOT_GOOD_MS / 1_000);
  });
});

describe('a destination that closes between the claim and the request', () => {
  it('is obeyed when somebody pauses it: the delivery is parked at once, and nothing is spent', async () => {
    const world = await opened(openTestWorld());
    behindTheClaim(world, () => pause(world));
    await world.deliver(EVENT, PARTNER);
    expect(world.sender.sends).toEqual([]);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'pending', parking: { reason: 'paused' } });
    expect(await spent(world)).toBe(0);
    await resume(world);
    await world.deliver(EVENT, PARTNER);
    expect(world.sender.sends).toHaveLength(1);
  });

  it('and opens again is as good as open', async () => {
    const world = await opened(openTestWorld());
    behindTheClaim(world, async () => {
      await pause(world);
      await resume(world);
    });
    await world.deliver(EVENT, PARTNER);
    expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
  });
});

describe('settings that change between the claim and the request', () => {
  it('are not mixed: nothing leaves under the old ones, and the next attempt has the new ones', async () => {
    const world = await opened(openTestWorld());
    behindTheClaim(world, () => world.destination(PARTNER, { url: 'https://partner.example/other' }));
    await world.deliver(EVENT, PARTNER);
    expect(await outcomesOf(world)).toEqual([['outcome', 'withheld', 'settings-changed']]);
    await world.run(5_000);
    expect(world.sender.sends.map(({ url }) => url)).toEqual(['https://partner.example/other']);
    expect(await spent(world)).toBe(1);
  });

  it.each<[what: string, settings: Record<string, unknown>, sends: number]>([
    ['none at all', {}, 1],
    ['the rate', { ratePerSecond: 5 }, 1],
    ['the schedule', { schedule: [60] }, 1],
    ['what is never tried again', { rejectOn: [404] }, 1],
    ['a header', { headers: { authorization: 'Bearer new-one' } }, 0],
    ['the time-out', { timeoutMs: 5_000 }, 0],
    ['the life of the key', { keyLifeHours: 48 }, 0],
    ['whether a repeat is safe', { repeatSafe: false }, 0],
    ['the mode', { mode: 'shadow' }, 0],
  ])('withhold the attempt only where the claim or the request rests on them: %s', async (_what, settings, sends) => {
    const world = await opened(openTestWorld());
    behindTheClaim(world, () => world.destination(PARTNER, settings));
    await world.deliver(EVENT, PARTNER);
    expect(world.sender.sends).toHaveLength(sends);
    expect((await outcomesOf(world)).map((one) => one[1])).toEqual([sends === 1 ? 'delivered' : 'withheld']);
  });
});

describe('an item of the ledger that cannot be read between the claim and the request', () => {
  const SECRET: Ref = { item: 'secret', destination: destinationId(PARTNER) };
  const CONFIG: Ref = { item: 'destination', destination: destinationId(PARTNER) };
  /** As no code of ours writes them: a number where a list or a time belongs. */
  const breakItem = (world: TestWorld, ref: Ref, attribute: string): void =>
    alter(world, ref, (record) => ({ ...record, [attribute]: { BOOL: true } }));

  it.each([true, false])(
    'holds the delivery where it is the signing secret, as if there were none: %s',
    async (safe) => {
      const world = await opened(openTestWorld(), { repeatSafe: safe });
      breakItem(world, SECRET, 'sec');
      expect((await world.deliver(EVENT, PARTNER)).status).toBe(200);
      expect(await world.row(EVENT, PARTNER)).toMatchObject({
        status: 'quarantined',
        reason: 'blocked',
        doubt: 'none',
      });
      expect(await outcomesOf(world)).toEqual([['outcome', 'not-sent', 'argument']]);
      expect(world.sender.sends).toEqual([]);
      expect(world.telemetry.counted('ledger-corrupt')).toBe(1);
    },
  );

  it('withholds the attempt where it is the settings or the gate, and nothing is in doubt', async () => {
    const world = await opened(openTestWorld());
    behindTheClaim(world, async () => breakItem(world, CONFIG, 'url'));
    expect((await world.deliver(EVENT, PARTNER)).status).toBe(200);
    expect(await outcomesOf(world)).toEqual([['outcome', 'withheld', 'no-recheck']]);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'pending', refunds: 1, doubt: 'none' });
    expect(world.telemetry.counted('ledger-corrupt')).toBe(1);
  });

  it('would be in doubt once the lease has lapsed, had the worker not recorded what it knew', async () => {
    const dies = async (): Promise<never> => {
      throw new Error('the worker dies here');
    };
    const world = await opened(openTestWorld({ reshape: (ports) => ({ ...ports, secrets: { signing: dies } }) }));
    await world.deliver(EVENT, PARTNER);
    await world.clock.advance(60_000);
    await world.deliver(EVENT, PARTNER);
    expect((await outcomesOf(world))[0]).toEqual(['outcome', 'in-doubt', 'lease-lapsed']);
  });
});

describe('a request that leaves', () => {
  it('has one deadline of its own, and a connect time inside it', async () => {
    for (const timeoutMs of [1_000, 4_000, 20_000]) {
      const world = await opened(openTestWorld(), { timeoutMs });
      await world.deliver(EVENT, PARTNER);
      const connectMs = Math.min(CONNECT_MS, timeoutMs);
      expect(world.sender.sends[0]).toMatchObject({ deadlineMs: timeoutMs, connectMs });
    }
  });

  it('is withheld at most five times at no cost: a life that never sends comes to an end', async () => {
    const world = await opened(openTestWorld(), { schedule: [1] });
    for (let pushes = 0; pushes < 20; pushes += 1) {
      behindTheClaim(world, () => world.clock.advance(LEASE_OVER_TIMEOUT_MS + 1));
      await world.deliver(EVENT, PARTNER);
      await world.clock.advance(5_000);
    }
    expect(world.sender.sends).toEqual([]);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({
      status: 'quarantined',
      reason: 'budget',
      attempts: 7,
      refunds: 5,
    });
  });
});
