/**
 * What one look at the whole needs, in a bounded number of reads, whatever the ledger holds:
 *
 *   counts 12, sweeps 4, overdue 4, look-after times 4, queue 1, destinations 1 and one for each, decisions 1 and one each
 */
import type { Heartbeat } from '../../core/items.ts';
import { DUE_SHARDS } from '../../core/limits.ts';
import type { Decided } from '../../core/operations.ts';
import type { World } from '../../ports.ts';
import { listDecisions } from './decision-list.ts';
import { type DestinationPage, listDestinations } from './destination-list.ts';
import { readStats, readSweeps, type Stats } from './stats.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'clock' | 'deadLetters' | 'telemetry'>;

/** Counted for one look: further than this a number tells nobody anything else to do. */
export const OVERVIEW_CAP = 1_000;
const DESTINATIONS_SHOWN = 25;
const DECISIONS_SHOWN = 5;
const AHEAD_OF_SHARD = 100;

export interface Overview {
  readonly stats: Stats;
  /** By shard; undefined where one was never passed. */
  readonly sweeps: readonly (Heartbeat | undefined)[];
  readonly ahead: Ahead;
  readonly destinations: DestinationPage;
  readonly decisions: readonly Decided[];
}

/** When open deliveries are next looked at by a sweep, the soonest ones. */
export interface Ahead {
  readonly lookAfterMs: readonly number[];
  /** There are more behind these. */
  readonly isCut: boolean;
}

export const readOverview = async (world: Needs): Promise<Overview> => {
  const sweeps = readSweeps(world);
  const [stats, passed, ahead, page, decided] = await Promise.all([
    readStats(world, { cap: OVERVIEW_CAP, sweeps }),
    sweeps,
    readAhead(world),
    listDestinations(world, { limit: DESTINATIONS_SHOWN }),
    listDecisions(world, { limit: DECISIONS_SHOWN }),
  ]);
  return {
    stats,
    sweeps: passed,
    ahead,
    destinations: page,
    decisions: decided.items,
  };
};

const readAhead = async ({ pages }: Needs): Promise<Ahead> => {
  const shards = await Promise.all(
    Array.from({ length: DUE_SHARDS }, (_, shard) => pages.due(shard, Number.MAX_SAFE_INTEGER, AHEAD_OF_SHARD)),
  );
  // Behind the end of a shard that was cut, the others would look as if they had all that there is.
  const ends = shards.flatMap((rows) => (rows.length < AHEAD_OF_SHARD ? [] : (rows.at(-1)?.lookAfterMs ?? [])));
  const endMs = Math.min(Number.POSITIVE_INFINITY, ...ends);
  const times = shards.flat().map(({ lookAfterMs }) => lookAfterMs);
  return { lookAfterMs: times.filter((ms) => ms <= endMs).toSorted((a, b) => a - b), isCut: ends.length > 0 };
};
