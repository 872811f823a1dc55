/**
 * Records in a map, with indexes that follow every write at once, or as far behind as a test wants them. Behind the same
 * interface as DynamoDB, and held to the same contract.
 */
import { FORMAT } from '../../core/model.ts';
import type { Ref } from '../../ports.ts';
import { keyIn } from './codec/codec.ts';
import { type ItemKey, refOfKeys } from './codec/item-keys.ts';
import type { Stored } from './codec/stored.ts';
import {
  type Condition,
  compareSorts,
  type IndexPage,
  type IndexQuery,
  type IndexRow,
  type RecordStore,
} from './record-store.ts';
import { FORMAT_ATTRIBUTE, INDEXES, VERSION_ATTRIBUTE } from './schema.ts';

/** One write that took effect, as the records were. `undefined` before: created; after: removed. */
export interface Write {
  /** 1, 2, 3 ... in the order of taking effect. */
  readonly order: number;
  readonly ref: Ref | undefined;
  readonly before: Stored | undefined;
  readonly after: Stored | undefined;
}

export interface MemoryStore extends RecordStore {
  /** Empty where no history is kept. */
  readonly writes: readonly Write[];
  /** Past all conditions: what newer code, a repair by hand or the time to live does. */
  peek(key: ItemKey): Stored | undefined;
  poke(record: Stored): void;
  remove(key: ItemKey): void;
}

/**
 * Without a history it holds what stands there and nothing else: for long runs and measurements. Its indexes never lag.
 *
 * `indexLag`, asked at each query of an index: how many of the latest writes the indexes do not show yet. What they have
 * shown once they go on showing.
 */
export const createMemoryStore = (indexLag: () => number = () => 0, keepsHistory = true): MemoryStore => {
  const partitions = new Map<string, Map<string, Stored>>();
  const indexes = new Map<string, Map<string, IndexRow>>();
  const writes: Write[] = [];

  const peek = ({ pk, sk }: ItemKey): Stored | undefined => partitions.get(pk)?.get(sk);

  const set = (key: ItemKey, after: Stored | undefined): void => {
    const before = peek(key);
    if (after) member(partitions, key.pk).set(key.sk, after);
    else forget(partitions, key.pk, key.sk);
    if (keepsHistory) writes.push({ order: writes.length + 1, ref: refOfKeys(key), before, after });
    else follow(indexes, { before, after });
  };

  let shown = 0;
  const indexed = ({ index, partition }: Pick<IndexQuery, 'index' | 'partition'>): readonly IndexRow[] => {
    for (const until = writes.length - indexLag(); shown < until; shown += 1) follow(indexes, writes[shown]);
    return [...(indexes.get(placeOf(index, partition))?.values() ?? [])];
  };

  return {
    writes,
    peek,
    poke: (record) => set(keyIn(record), record),
    remove: (key) => set(key, undefined),
    get: async (key) => peek(key),
    put: async (record, condition) => {
      const key = keyIn(record);
      const present = peek(key);
      if (!holds(condition, present)) return { kind: 'refused', present };
      set(key, record);
      return { kind: 'written' };
    },
    partition: async ({ pk, between, limit }) =>
      [...(partitions.get(pk) ?? [])]
        .filter(([sk]) => !between || (compareSorts(between[0], sk) <= 0 && compareSorts(sk, between[1]) <= 0))
        .toSorted(([a], [b]) => compareSorts(a, b))
        .slice(0, limit)
        .map(([, record]) => record),
    index: async (query) => pageOf(indexed(query), query),
    count: async (query) => pageOf(indexed(query), { ...query, order: 'ascending' }).rows.length,
  };
};

const follow = (
  indexes: Map<string, Map<string, IndexRow>>,
  write: Pick<Write, 'before' | 'after'> | undefined,
): void => {
  const { before, after } = write ?? {};
  for (const { place, row } of before ? entriesOf(before) : []) forget(indexes, place, nameOf(row.key));
  for (const { place, row } of after ? entriesOf(after) : []) member(indexes, place).set(nameOf(row.key), row);
};

const holds = (condition: Condition, present: Stored | undefined): boolean => {
  if (condition.kind === 'absent') return present === undefined;
  if (present === undefined) return false;
  const number = (name: string): number => Number(present[name]?.N);
  return number(VERSION_ATTRIBUTE) === condition.version && number(FORMAT_ATTRIBUTE) <= FORMAT;
};

const pageOf = (rows: readonly IndexRow[], { order, within, after, limit }: IndexQuery): IndexPage => {
  const sign = order === 'ascending' ? 1 : -1;
  const wanted = rows
    .filter(({ sort }) => {
      if (within === undefined) return true;
      return within.kind === 'until' ? compareSorts(sort, within.sort) <= 0 : String(sort).startsWith(within.text);
    })
    .filter((row) => after === undefined || sign * compareRows(row, after) > 0)
    .toSorted((a, b) => sign * compareRows(a, b));
  return { rows: wanted.slice(0, limit), more: wanted.length > limit };
};

/** Rows with the same sort value stand in some order that does not change; here it is that of their keys. */
const compareRows = (a: IndexRow, b: IndexRow): number =>
  compareSorts(a.sort, b.sort) || compareSorts(a.key.pk, b.key.pk) || compareSorts(a.key.sk, b.key.sk);

const entriesOf = (record: Stored): readonly { place: string; row: IndexRow }[] =>
  Object.values(INDEXES).flatMap(({ name, partition, sort }) => {
    const at = record[partition.name]?.S;
    const value = record[sort.name];
    if (at === undefined || value === undefined) return [];
    const row = { key: keyIn(record), sort: value.N === undefined ? (value.S ?? '') : Number(value.N) };
    return [{ place: placeOf(name, at), row }];
  });

const placeOf = (index: string, partition: string): string => `${index} ${partition}`;

const nameOf = ({ pk, sk }: ItemKey): string => JSON.stringify([pk, sk]);

/** An empty partition is none. */
const forget = <Value>(map: Map<string, Map<string, Value>>, name: string, key: string): void => {
  const there = map.get(name);
  if (there?.delete(key) && there.size === 0) map.delete(name);
};

const member = <Value>(map: Map<string, Map<string, Value>>, name: string): Map<string, Value> => {
  const there = map.get(name) ?? new Map<string, Value>();
  map.set(name, there);
  return there;
};
