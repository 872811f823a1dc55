/**
 * The port `Pages` over the indexes of a store. A list is spread over shards; a page merges them in order:
 *
 *   cursor ──► where each shard stands ──► one query a shard ──► the first `limit` rows of all ──► where each stands now
 *
 * A place in a list is a place in the order of its index, and not a number of rows: a row that keeps its place is met
 * exactly once, whatever happens to the others in the meantime.
 */
import { utcDayOf } from '../../core/instant.ts';
import {
  attentionPartition,
  attentionPrefix,
  duePartition,
  recentListPartition,
  recentPartition,
} from '../../core/keys.ts';
import { ATTENTION_SHARDS, DUE_SHARDS, LIST_PAGE_MAX, RECENT_SHARDS, SKEW_MARGIN_MS } from '../../core/limits.ts';
import type { DeliveryRef } from '../../core/model.ts';
import {
  BadCursor,
  type Clock,
  type CountQuery,
  type DueRow,
  type ListQuery,
  type Page,
  type Pages,
  type Ref,
} from '../../ports.ts';
import { keyOf, refOfKeys } from './codec/item-keys.ts';
import { type Place, readCursor, writeCursor } from './cursor.ts';
import { compareSorts, type IndexQuery, type IndexRow, type RecordStore } from './record-store.ts';

const DAY_MS = 86_400_000;

/** The list of recent deliveries goes back this far. Older ones are found by their event. */
export const RECENT_DAYS = 30;

/** One page looks at no more days than this, with one query a shard and day: it may then be short, or empty. */
const DAYS_PER_PAGE = 7;

export const createPages = (store: RecordStore, clock: Pick<Clock, 'nowMs'>): Pages => ({
  due: async (shard, untilMs, limit, after) => {
    const { rows } = await store.index({
      index: 'due',
      partition: duePartition(shard),
      order: 'ascending',
      limit,
      within: { kind: 'until', sort: untilMs },
      ...(after === undefined
        ? {}
        : { after: { sort: after.lookAfterMs, key: keyOf({ item: 'delivery', ...refIn(after) }) } }),
    });
    return rows.flatMap(dueRef);
  },
  list: (query) =>
    query.list === 'recent' ? recentPage(store, query, clock.nowMs()) : shardedPage(store, query, shardsOf(query)),
  count: (query, cap) => counted(store, query, cap),
});

const refIn = ({ event, destination }: DueRow): DeliveryRef => ({ event, destination });

const dueRef = ({ key, sort }: IndexRow): DueRow[] => {
  const ref = refOfKeys(key);
  if (ref?.item !== 'delivery' || typeof sort !== 'number') return [];
  return [{ event: ref.event, destination: ref.destination, lookAfterMs: sort }];
};

// ---- lists --------------------------------------------------------------------------------------------------------

type Shards = Pick<IndexQuery, 'index' | 'order' | 'within'> & { readonly partitions: readonly string[] };

const shardsOf = (query: Exclude<ListQuery, { list: 'recent' }> | CountQuery): Shards => {
  switch (query.list) {
    case 'open':
      return { index: 'due', order: 'ascending', partitions: numbered(DUE_SHARDS, duePartition) };
    case 'parked':
    case 'quarantined': {
      const kind = query.list;
      return {
        index: 'attention',
        order: 'ascending',
        partitions: numbered(ATTENTION_SHARDS, (shard) => attentionPartition(kind, shard)),
        ...(query.destination === undefined
          ? {}
          : { within: { kind: 'prefix', text: attentionPrefix(query.destination) } }),
      };
    }
    case 'poison':
      return {
        index: 'attention',
        order: 'ascending',
        partitions: numbered(ATTENTION_SHARDS, (shard) => attentionPartition('poison', shard)),
      };
    case 'destinations':
      return { index: 'recent', order: 'ascending', partitions: [recentListPartition('destinations')] };
    case 'operations':
    case 'decisions':
      return { index: 'recent', order: 'descending', partitions: [recentListPartition(query.list)] };
  }
};

const numbered = (shards: number, name: (shard: number) => string): readonly string[] =>
  Array.from({ length: shards }, (_, shard) => name(shard));

const shardedPage = async (store: RecordStore, query: ListQuery, shards: Shards): Promise<Page> => {
  const from =
    query.cursor === undefined ? starts(shards) : readCursor(query, query.cursor, shards.partitions.length).places;
  const { rows, places } = await walk(store, shards, from, limitOf(query));
  return { refs: refsOf(rows), ...(places.every(isEnd) ? {} : { next: writeCursor(query, { places }) }) };
};

/** Shard after shard, so that no more rows than `cap` are read in all. */
const counted = async (store: RecordStore, query: CountQuery, cap: number): Promise<number> => {
  const { partitions, order: _order, ...shards } = shardsOf(query);
  let total = 0;
  for (const partition of partitions) {
    if (total >= cap) break;
    total += await store.count({ ...shards, partition, limit: cap - total });
  }
  return total;
};

/** Newest first, day by day. An intake's clock may run ahead of ours by the margin. */
const recentPage = async (
  store: RecordStore,
  query: Extract<ListQuery, { list: 'recent' }>,
  nowMs: number,
): Promise<Page> => {
  const latest = Math.floor((nowMs + SKEW_MARGIN_MS) / DAY_MS);
  const [newest, oldest] =
    query.day === undefined ? [latest, latest - RECENT_DAYS] : [dayNumberOf(query.day), dayNumberOf(query.day)];
  const cursor = query.cursor === undefined ? undefined : readCursor(query, query.cursor, RECENT_SHARDS);
  let day = cursor?.day ?? newest;
  if (day > newest) throw new BadCursor();
  let places = cursor?.places;
  const rows: IndexRow[] = [];
  for (let days = 0; days < DAYS_PER_PAGE && day >= oldest && rows.length < limitOf(query); days += 1) {
    const shards = shardsOfDay(query.destination, utcDayOf(day * DAY_MS));
    const step = await walk(store, shards, places ?? starts(shards), limitOf(query) - rows.length);
    rows.push(...step.rows);
    places = step.places;
    if (!places.every(isEnd)) break;
    day -= 1;
    places = undefined;
  }
  if (day < oldest) return { refs: refsOf(rows) };
  return {
    refs: refsOf(rows),
    next: writeCursor(query, { day, places: places ?? Array.from({ length: RECENT_SHARDS }, () => 'start') }),
  };
};

const dayNumberOf = (utcDay: string): number => Math.floor(new Date(`${utcDay}T00:00:00Z`).getTime() / DAY_MS);

const shardsOfDay = (destination: DeliveryRef['destination'], utcDay: string): Shards => ({
  index: 'recent',
  order: 'descending',
  partitions: numbered(RECENT_SHARDS, (shard) => recentPartition(destination, utcDay, shard)),
});

const limitOf = (query: ListQuery): number => Math.min(query.limit, LIST_PAGE_MAX);

const refsOf = (rows: readonly IndexRow[]): readonly Ref[] => rows.flatMap(({ key }) => refOfKeys(key) ?? []);

// ---- merging ------------------------------------------------------------------------------------------------------

const starts = ({ partitions }: Shards): readonly Place[] => partitions.map(() => 'start');

const isEnd = (place: Place): boolean => place === 'end';

/** The next rows of all shards in one order, and where each shard stands behind them. */
const walk = async (
  store: RecordStore,
  { partitions, ...query }: Shards,
  from: readonly Place[],
  limit: number,
): Promise<{ rows: readonly IndexRow[]; places: readonly Place[] }> => {
  const pages = await Promise.all(
    partitions.map(async (partition, shard) => {
      const place = from[shard] ?? 'start';
      if (place === 'end') return { place, rows: [], more: false };
      const after = place === 'start' ? {} : { after: place };
      return { place, ...(await store.index({ ...query, partition, limit, ...after })) };
    }),
  );
  const sign = query.order === 'ascending' ? 1 : -1;
  const taken = pages
    .flatMap(({ rows }, shard) => rows.map((row) => ({ row, shard })))
    .toSorted((a, b) => sign * compareSorts(a.row.sort, b.row.sort))
    .slice(0, limit);
  const places = pages.map(({ place, rows, more }, shard): Place => {
    const mine = taken.filter((one) => one.shard === shard);
    if (mine.length === rows.length && !more) return 'end';
    return mine.at(-1)?.row ?? place;
  });
  return { rows: taken.map(({ row }) => row), places };
};
