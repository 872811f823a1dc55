/**
 * Places over the twin of the ledger: many ask at the same moment, and each is stopped before every request and let go in
 * an order of the dice.
 */
import { describe, expect, it } from 'vitest';
import { createTwin, type Operation } from '../../functions/adapters/ledger/twin.ts';
import type { ClaimId } from '../../functions/core/ids.ts';
import type { Slot } from '../../functions/core/items.ts';
import { leaseMsOf, SKEW_MARGIN_MS } from '../../functions/core/limits.ts';
import { PortUnavailable } from '../../functions/ports.ts';
import { placesLeft, releasePlace, takePlace } from '../../functions/steps/places.ts';
import { losingAnswers } from '../support/lost-answers.ts';
import { claimIdOf, destinationIdOf } from '../support/machine.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { recordedTelemetry, seededDice, shuffledTurns } from '../support/world-ports.ts';

const PARTNER = destinationIdOf('partner');
const HOLD_MS = leaseMsOf(20_000) + SKEW_MARGIN_MS;

const openPlaces = (seed = 1) => {
  const clock = new VirtualClock();
  const hooks: { before?: (operation: Operation) => unknown; after?: (operation: Operation) => unknown } = {};
  const asked: Operation[] = [];
  const { ledger, store } = createTwin({
    clock,
    intercept: async (operation) => {
      asked.push(operation);
      await hooks.before?.(operation);
    },
    after: async (operation) => void (await hooks.after?.(operation)),
  });
  const telemetry = recordedTelemetry();
  const world = { ledger, clock, dice: seededDice(seed), telemetry };
  let holders = 0;
  const take = (places: number, holder?: ClaimId): Promise<Slot | undefined> => {
    holders += 1;
    return takePlace(world, PARTNER, places, holder ?? claimIdOf(`holder-${holders}`), HOLD_MS);
  };
  const takeAll = (count: number, places: number) => Promise.all(Array.from({ length: count }, () => take(places)));
  const release = (place: Slot | undefined) => (place === undefined ? undefined : releasePlace(world, place));
  const held = async () => (await ledger.loadSlots(PARTNER)).filter(({ holder }) => holder !== undefined);
  const writes = () => store.writes.filter(({ ref }) => ref?.item === 'slot').length;
  return { clock, hooks, asked, world, telemetry, store, take, takeAll, release, held, writes };
};

const SLOT = { item: 'slot', version: 1, destination: PARTNER } as const;

const given = <T>(items: readonly (T | undefined)[]): T[] => items.filter((item) => item !== undefined);

describe('the places of a destination', () => {
  it('are given one by one, each under its own number, and not one more', async () => {
    const { take, writes } = openPlaces();
    const first: (Slot | undefined)[] = [];
    for (let n = 0; n < 5; n += 1) first.push(await take(5));
    expect(
      given(first)
        .map(({ n }) => n)
        .toSorted(),
    ).toEqual([0, 1, 2, 3, 4]);
    expect(await take(5)).toBeUndefined();
    // Whoever finds all of them taken writes nothing.
    expect(writes()).toBe(5);
  });

  it('are free again once their holder gives them back', async () => {
    const { take, takeAll, release } = openPlaces();
    const [one] = given(await takeAll(5, 5));
    await release(one);
    expect((await take(5))?.n).toBe(one?.n);
    expect(await take(5)).toBeUndefined();
  });

  it.each(Array.from({ length: 20 }, (_, seed) => seed))(
    'are never more than five for fifty at once, in any order of their requests: seed %d [C128]',
    async (seed) => {
      const { hooks, takeAll, held } = openPlaces(seed);
      hooks.before = shuffledTurns(seededDice(`turns ${seed}`));
      const places = given(await takeAll(50, 5));
      delete hooks.before;
      expect(places).toHaveLength(5);
      expect(new Set(places.map(({ n }) => n)).size).toBe(5);
      expect((await held()).map(({ holder }) => holder).toSorted()).toEqual(places.map((p) => p.holder).toSorted());
    },
  );

  it('would be more over a ledger that forgets to compare: the race is a real one [C128]', async () => {
    const { hooks, takeAll, store } = openPlaces();
    store.put = async (record) => {
      store.poke(record);
      return { kind: 'written' };
    };
    hooks.before = shuffledTurns(seededDice('turns'));
    expect(given(await takeAll(50, 5)).length).toBeGreaterThan(5);
  });

  it('hold for newcomers when there are fewer of them than before: who has one keeps it', async () => {
    const { take, takeAll, release } = openPlaces();
    const before = given(await takeAll(5, 5));
    expect(await take(2)).toBeUndefined();
    for (const place of before.slice(0, 3)) await release(place);
    expect(await take(2)).toBeUndefined();
    for (const place of before.slice(3)) await release(place);
    expect((await take(2))?.n).toBeLessThan(2);
  });

  it.each(Array.from({ length: 10 }, (_, seed) => seed))(
    'hold for several that ask at the same moment when there are fewer than before: seed %d',
    async (seed) => {
      const { hooks, takeAll, release, held } = openPlaces(seed);
      const before = given(await takeAll(20, 20));
      for (const place of before.filter(({ n }) => n < 16)) await release(place);
      hooks.before = shuffledTurns(seededDice(`turns ${seed}`));
      await takeAll(10, 5);
      delete hooks.before;
      // Four are left from before, under the numbers 16 to 19.
      expect(await held()).toHaveLength(5);
    },
  );

  it.each([
    { places: 5, held: [], left: [0, 1, 2, 3, 4] },
    { places: 5, held: [1, 3], left: [0, 2, 4] },
    { places: 5, held: [0, 1, 2, 3, 4], left: [] },
    { places: 5, held: [16, 17, 18, 19], left: [0] },
    { places: 5, held: [0, 2, 7, 9], left: [1] },
    { places: 5, held: [5, 6, 7, 8, 9, 10], left: [] },
  ])(
    'that are left of $places, while $held are held, are $left: the lowest, beside all that are held',
    ({ places, held, left }) => {
      const slots = held.map(
        (n): Slot => ({ ...SLOT, n, holder: claimIdOf(`holder-${n}`), leaseEndsAtMs: 1_000, carried: {} }),
      );
      const free: Slot = { ...SLOT, n: 0, leaseEndsAtMs: 0, carried: {} };
      const all = held.includes(0) ? slots : [free, ...slots];
      expect(placesLeft(all, places, 1_000 + SKEW_MARGIN_MS)).toEqual(left);
      expect(placesLeft(all, places, 1_001 + SKEW_MARGIN_MS)).toHaveLength(places);
    },
  );

  it('are hardly fought over: fifty that ask for fifty all get one, with a fraction of the tries from one beginning', async () => {
    const { takeAll, asked } = openPlaces();
    expect(given(await takeAll(50, 50))).toHaveLength(50);
    const tries = asked.filter(({ kind }) => kind !== 'loadSlots').length;
    // If all began with the same place, the last of them would have tried all fifty: 1,275 in all.
    expect(tries).toBeLessThan(1_275 / 4);
  });
});

describe('a holder that dies', () => {
  it('keeps its place until its lease and the margin are over, and then it is free [C125]', async () => {
    const { clock, take, takeAll } = openPlaces();
    const places = given(await takeAll(5, 5));
    const endMs = (places[0]?.leaseEndsAtMs ?? 0) + SKEW_MARGIN_MS;
    await clock.advance(endMs - clock.nowMs());
    expect(await take(5)).toBeUndefined();
    await clock.advance(1);
    expect(given([await take(5), await take(5)])).toHaveLength(2);
  });

  it("gives nothing back when it comes to life again behind its lease: the place is another's by then", async () => {
    const { clock, take, takeAll, release, held } = openPlaces();
    const dead = given(await takeAll(5, 5));
    await clock.advance(HOLD_MS + SKEW_MARGIN_MS + 1);
    const heirs = given(await Promise.all(dead.map(() => take(5))));
    expect(heirs).toHaveLength(5);
    for (const place of dead) await release(place);
    expect((await held()).map(({ holder }) => holder).toSorted()).toEqual(heirs.map((p) => p.holder).toSorted());
    expect(await take(5)).toBeUndefined();
  });

  it('frees its place once: a second release of the same one takes it from nobody', async () => {
    const { take, release, held } = openPlaces();
    const mine = await take(1);
    await release(mine);
    const other = await take(1);
    await release(mine);
    expect((await held()).map(({ holder }) => holder)).toEqual([other?.holder]);
  });
});

describe('a ledger that goes away', () => {
  const away = (): never => {
    throw new PortUnavailable('ledger', 'away');
  };

  it('while a place is given back: the worker goes on, the lease frees it, and it is counted', async () => {
    const { clock, hooks, telemetry, take, release } = openPlaces();
    const mine = await take(1);
    hooks.before = away;
    await release(mine);
    delete hooks.before;
    expect(telemetry.counted('place-not-released')).toBe(1);
    expect(await take(1)).toBeUndefined();
    await clock.advance(HOLD_MS + SKEW_MARGIN_MS + 1);
    expect(await take(1)).toBeDefined();
  });

  it('while a place is taken, its write done: nobody has it until its lease is over, and never two', async () => {
    const { clock, hooks, take } = openPlaces();
    hooks.after = ({ kind }) => (kind === 'create' ? away() : undefined);
    await expect(take(1)).rejects.toThrow(PortUnavailable);
    delete hooks.after;
    expect(await take(1)).toBeUndefined();
    await clock.advance(HOLD_MS + SKEW_MARGIN_MS + 1);
    expect(await take(1)).toBeDefined();
  });
});

describe('a place whose write has lost its answer', () => {
  it('is had all the same, for the first time and again, and can be given back', async () => {
    const { world, held, take } = openPlaces();
    const lossy = { ...world, ledger: losingAnswers(world.ledger) };
    for (const name of ['first', 'second']) {
      const mine = await takePlace(lossy, PARTNER, 1, claimIdOf(name), HOLD_MS);
      expect(mine?.holder).toBe(claimIdOf(name));
      expect(await take(1)).toBeUndefined();
      await releasePlace(lossy, mine as Slot);
      expect(await held()).toEqual([]);
    }
  });

  it("is not taken from a rival who was faster: the holder's name decides, not the refusal", async () => {
    const { hooks, take, held } = openPlaces();
    hooks.before = async ({ kind }) => {
      if (kind !== 'create') return;
      delete hooks.before;
      await take(1, claimIdOf('rival'));
    };
    expect(await take(1)).toBeUndefined();
    expect((await held()).map(({ holder }) => holder)).toEqual([claimIdOf('rival')]);
  });
});

describe('many that take, hold and give back', () => {
  it.each([1, 2, 3, 4, 5])(
    'are never more than there are places at any instant, and all get their turn: seed %d',
    async (seed) => {
      const { clock, hooks, take, release } = openPlaces(seed);
      const dice = seededDice(`holding ${seed}`);
      const turn = shuffledTurns(seededDice(`turns ${seed}`));
      hooks.before = turn;
      let holding = 0;
      let most = 0;
      let done = 0;
      const work = async (): Promise<void> => {
        for (let place = await take(5); ; place = await take(5)) {
          if (place !== undefined) {
            holding += 1;
            most = Math.max(most, holding);
            await clock.sleep(1 + Math.floor(dice.draw() * 50));
            holding -= 1;
            await release(place);
            done += 1;
            return;
          }
          await clock.sleep(1 + Math.floor(dice.draw() * 200));
        }
      };
      const all = Promise.all(Array.from({ length: 40 }, work));
      while (done < 40) {
        for (let turns = 0; turns < 50; turns += 1) await turn();
        await clock.advance(10);
      }
      await all;
      expect(most).toBe(5);
    },
  );
});
