/** The state of the whole in a few numbers, each from an index, the heartbeats or the queue; nothing scans. */
import type { Destination, Heartbeat } from '../../core/items.ts';
import { DUE_SHARDS, HORIZON_MS } from '../../core/limits.ts';
import type { Pending } from '../../core/model.ts';
import type { CountQuery, QueueStats, World } from '../../ports.ts';
import { loadListed } from './lists.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'clock' | 'deadLetters' | 'telemetry'>;

/** Nobody counts further than this: a number that is reached means "so many, or more". */
export const COUNT_CAP = 10_000;

export interface Stats {
  readonly open: number;
  readonly parked: number;
  readonly quarantined: number;
  /** Names of the counts that stopped at the cap. */
  readonly capped: readonly CountQuery['list'][];
  /** Undefined where the queue did not say. */
  readonly queue: QueueStats | undefined;
  /** How long past its look-after time the row that has waited longest is, now or when a sweep last passed. */
  readonly largestOverdueMs: number;
  /** Of the shard that was passed longest ago; undefined where one was never passed. */
  readonly lastSweepAtMs: number | undefined;
}

export interface StatsOptions {
  readonly cap?: number;
  /** Where they are read already. */
  readonly sweeps?: Promise<Sweeps>;
}

/** The last pass over each shard; undefined where one was never passed. */
type Sweeps = readonly (Heartbeat | undefined)[];

export const readSweeps = (world: Pick<World, 'ledger'>): Promise<Sweeps> =>
  Promise.all(shards().map((shard) => heartbeat(world, shard)));

export const readStats = async (
  world: Needs,
  { cap = COUNT_CAP, sweeps = readSweeps(world) }: StatsOptions = {},
): Promise<Stats> => {
  const [open, parked, quarantined, dead, beats, overdueMs] = await Promise.all([
    world.pages.count({ list: 'open' }, cap),
    world.pages.count({ list: 'parked' }, cap),
    world.pages.count({ list: 'quarantined' }, cap),
    world.deadLetters.stats(),
    sweeps,
    Promise.all(shards().map((shard) => overdue(world, shard))),
  ]);
  if (dead.kind === 'failed') world.telemetry.line('queue.no-stats', { code: dead.code, detail: dead.detail });
  const counts = { open, parked, quarantined };
  const names = ['open', 'parked', 'quarantined'] as const;
  return {
    ...counts,
    capped: names.filter((name) => counts[name] >= cap),
    queue: dead.kind === 'stats' ? dead : undefined,
    largestOverdueMs: Math.max(0, ...overdueMs, ...beats.map((beat) => beat?.largestOverdueMs ?? 0)),
    lastSweepAtMs: oldestPass(beats),
  };
};

const shards = (): readonly number[] => Array.from({ length: DUE_SHARDS }, (_, shard) => shard);

const heartbeat = async ({ ledger }: Pick<World, 'ledger'>, shard: number): Promise<Heartbeat | undefined> => {
  const found = await ledger.load({ item: 'heartbeat', shard });
  return found.kind === 'found' ? found.item : undefined;
};

/** As the index has it at this moment: heartbeats alone would look best when no sweep runs any more. */
const overdue = async ({ pages, clock }: Needs, shard: number): Promise<number> => {
  const nowMs = clock.nowMs();
  const [first] = await pages.due(shard, nowMs, 1);
  return first === undefined ? 0 : nowMs - first.lookAfterMs;
};

const oldestPass = (beats: readonly (Heartbeat | undefined)[]): number | undefined => {
  const passes = beats.flatMap((beat) => beat?.passAtMs ?? []);
  return passes.length === beats.length ? Math.min(...passes) : undefined;
};

// ---- what is parked at one destination ----------------------------------------------------------------------------

export interface Parked {
  readonly count: number;
  readonly capped: boolean;
  readonly oldest?: {
    readonly sinceMs: number;
    /** From then on it can no longer be sent without a person, and why. */
    readonly endsAtMs: number;
    readonly endsBy: 'key-life' | 'horizon';
  };
}

/** The index may name rows that have left it; a few more than one are looked at. */
const OLDEST_LOOKED_AT = 5;

export const parkedOf = async (world: Pick<World, 'ledger' | 'pages'>, config: Destination): Promise<Parked> => {
  const { destination } = config;
  const [count, page] = await Promise.all([
    world.pages.count({ list: 'parked', destination }, COUNT_CAP),
    world.pages.list({ list: 'parked', destination, limit: OLDEST_LOOKED_AT }),
  ]);
  const rows = await loadListed(world, page.refs);
  const oldest = rows.flatMap((row) => oldestOf(config, row)).at(0);
  return { count, capped: count >= COUNT_CAP, ...(oldest === undefined ? {} : { oldest }) };
};

const oldestOf = (config: Destination, row: Awaited<ReturnType<typeof loadListed>>[number]) => {
  if (row.kind !== 'row' || row.row.status !== 'pending' || !row.row.parking) return [];
  return [{ sinceMs: row.row.parking.sinceMs, ...endOf(config, row.row) }];
};

const HOUR_MS = 3_600_000;

const endOf = (config: Destination, row: Pending) => {
  const horizonMs = row.horizonFromMs + HORIZON_MS;
  const { repeatSafe, keyLifeHours } = config;
  const keyed = repeatSafe && keyLifeHours !== null && row.keyFromMs !== undefined;
  const keyEndMs = keyed ? row.keyFromMs + Math.floor(keyLifeHours * HOUR_MS) : Number.POSITIVE_INFINITY;
  return keyEndMs < horizonMs
    ? ({ endsAtMs: keyEndMs, endsBy: 'key-life' } as const)
    : ({ endsAtMs: horizonMs, endsBy: 'horizon' } as const);
};
