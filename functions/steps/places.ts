/**
 * The places that a destination gives to attempts at the same time.
 *
 *   free --take--> held by one claim until its lease ends --release, by its holder only--> free
 *                          |
 *                          +-- lease over, margin gone --> may be taken by another
 */
import type { ClaimId, DestinationId } from '../core/ids.ts';
import type { Slot } from '../core/items.ts';
import { SKEW_MARGIN_MS } from '../core/limits.ts';
import { PortUnavailable, type World } from '../ports.ts';

type Needs = Pick<World, 'ledger' | 'clock' | 'dice'>;

const isFree = (slot: Slot | undefined, nowMs: number): boolean =>
  slot?.holder === undefined || nowMs > slot.leaseEndsAtMs + SKEW_MARGIN_MS;

/**
 * The places that may be given out: of the free numbers the lowest, as many as are left beside all that are held. A
 * holder from before the limit was lowered counts, whatever its number: without it, several that ask at once would each
 * find room, and all take it.
 */
export const placesLeft = (slots: readonly Slot[], places: number, nowMs: number): number[] => {
  const held = new Set(slots.filter((slot) => !isFree(slot, nowMs)).map(({ n }) => n));
  const free = Array.from({ length: places }, (_, n) => n).filter((n) => !held.has(n));
  return free.slice(0, Math.max(0, places - held.size));
};

/** A place, or undefined where all are taken. Limit after limit is asked for, so a lower one holds for newcomers. */
export const takePlace = async (
  world: Needs,
  destination: DestinationId,
  places: number,
  holder: ClaimId,
  leaseMs: number,
): Promise<Slot | undefined> => {
  const taken = await world.ledger.loadSlots(destination);
  const nowMs = world.clock.nowMs();
  const numbers = placesLeft(taken, places, nowMs);
  // Everybody begins somewhere else, so that many at once do not fight over the same place.
  const start = Math.floor(world.dice.draw() * numbers.length);
  for (const n of [...numbers.slice(start), ...numbers.slice(0, start)]) {
    const read = taken.find((slot) => slot.n === n);
    const next: Slot = {
      item: 'slot',
      version: (read?.version ?? 0) + 1,
      destination,
      n,
      holder,
      leaseEndsAtMs: nowMs + leaseMs,
      carried: read?.carried ?? {},
    };
    const written = read ? await world.ledger.replace<Slot>(read, next) : await world.ledger.create<Slot>(next);
    if (written.kind === 'written') return next;
    // A lost answer is not a lost race: who stands there may be this very holder, who asks once in its life.
    const { present } = written;
    if (present.kind === 'found' && present.item.holder === holder) return present.item;
  }
  return undefined;
};

/** Only the holder gives a place back; if that fails, its lease does. */
export const releasePlace = async (world: Pick<World, 'ledger' | 'telemetry'>, mine: Slot): Promise<void> => {
  const { holder: _free, ...rest } = mine;
  try {
    await world.ledger.replace<Slot>(mine, { ...rest, version: mine.version + 1, leaseEndsAtMs: 0 });
  } catch (error) {
    if (!(error instanceof PortUnavailable)) throw error;
    world.telemetry.count('place-not-released');
  }
};
