/**
 * The ledger of most histories: items as they are, without the codec, which is a third of the time of a history over the
 * twin. Every twentieth history runs over the twin itself, and so does every one in which the stored form matters; and both
 * give the same history, which a test holds them to.
 */
import { keyIn } from '../../functions/adapters/ledger/codec/codec.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { createMemoryPace } from '../../functions/adapters/ledger/memory-pace.ts';
import type { Item, ItemKind, ItemOf, Slot } from '../../functions/core/items.ts';
import { causeOf } from '../../functions/core/journal.ts';
import { attentionSort, dueShard } from '../../functions/core/keys.ts';
import { DUE_SHARDS } from '../../functions/core/limits.ts';
import type { Delivery } from '../../functions/core/model.ts';
import type {
  DueRow,
  Found,
  Ledger,
  ListQuery,
  Pace,
  Page,
  Pages,
  Ref,
  RefOf,
  Written,
} from '../../functions/ports.ts';

export interface RawStore {
  readonly ledger: Ledger;
  readonly pages: Pages;
  readonly pace: Pace;
  /** Past all conditions. */
  poke(item: Item): void;
}

/** Injective for the ids that are used here, which hold no blank. */
export const nameOf = (ref: Ref | Item): string => {
  switch (ref.item) {
    case 'event':
      return `event ${ref.event}`;
    case 'delivery':
      return `delivery ${ref.event} ${ref.destination}`;
    case 'conflict':
      return `conflict ${ref.event} ${ref.n}`;
    case 'destination':
    case 'gate':
    case 'secret':
      return `${ref.item} ${ref.destination}`;
    case 'token':
      return `token ${ref.hash}`;
    case 'token-register':
      return 'token-register';
    case 'notice-register':
      return 'notice-register';
    case 'poison':
      return `poison ${ref.id}`;
    case 'poison-minute':
      return `minute ${ref.minute}`;
    case 'heartbeat':
      return `heartbeat ${ref.shard}`;
    case 'slot':
      return `slot ${ref.destination} ${ref.n}`;
    case 'decision':
      return `decision ${'cause' in ref ? ref.cause : causeOf('actor', ref.request)}`;
    case 'operation':
      return `operation ${ref.operation}`;
    case 'operation-message':
      return `message ${ref.operation} ${ref.position}`;
  }
};

const isOfEvent = (item: Item, event: string): boolean =>
  (item.item === 'event' || item.item === 'delivery' || item.item === 'conflict') && item.event === event;

export const createRawStore = (indexLag: () => number): RawStore => {
  const table = new Map<string, Item>();
  /** All writes count for the lag of the indexes, also those that no index shows. */
  const writes: (Delivery | undefined)[] = [];
  const shown = new Map<string, Delivery>();
  const slots = new Map<string, Slot>();
  let upTo = 0;

  const put = (name: string, item: Item): void => {
    table.set(name, item);
    if (item.item === 'slot') slots.set(name, item);
    writes.push(item.item === 'delivery' ? item : undefined);
  };
  const found = <K extends ItemKind>(kind: K, name: string): Found<ItemOf<K>> => {
    const isAsked = (item: Item | undefined): item is ItemOf<K> => item?.item === kind;
    const item = table.get(name);
    return isAsked(item) ? { kind: 'found', item } : { kind: 'absent' };
  };
  const swap = <K extends ItemKind>(kind: K, readVersion: number | undefined, item: Item): Written<ItemOf<K>> => {
    const name = nameOf(item);
    if (readVersion !== undefined && item.version !== readVersion + 1) {
      throw new RangeError(`version ${item.version} of ${name} cannot follow version ${readVersion}`);
    }
    if (table.get(name)?.version !== readVersion) return { kind: 'refused', present: found(kind, name) };
    put(name, item);
    return { kind: 'written' };
  };
  const rows = (): Delivery[] => {
    for (const until = writes.length - indexLag(); upTo < until; upTo += 1) {
      const item = writes[upTo];
      if (item === undefined) continue;
      // What has ended stands in none of these lists, and a long run must not go through all of it each time.
      const isOver = item.status === 'delivered' || item.status === 'cancelled';
      if (isOver) shown.delete(nameOf(item));
      else shown.set(nameOf(item), item);
    }
    return [...shown.values()];
  };
  const ledger: Ledger = {
    load: async <K extends ItemKind>(ref: RefOf<K>) => found<K>(ref.item, nameOf(ref)),
    loadDestination: async (id) => ({
      config: found('destination', `destination ${id}`),
      gate: found('gate', `gate ${id}`),
    }),
    loadEvent: async (id) => [...table.values()].filter((item) => isOfEvent(item, id)),
    loadSlots: async (id) =>
      [...slots.values()].filter(({ destination }) => destination === id).toSorted((a, b) => a.n - b.n),
    loadOperationMessages: async (operation, from, limit) =>
      [...table.values()]
        .filter((item) => item.item === 'operation-message')
        .filter((item) => item.operation === operation && item.position >= from)
        .toSorted((a, b) => a.position - b.position)
        .slice(0, limit),
    create: async <T extends Item>(item: T) => swap<T['item']>(item.item, undefined, item),
    replace: async <T extends Item>(read: T, next: ItemOf<T['item']>) => swap<T['item']>(read.item, read.version, next),
  };
  return {
    ledger,
    pace: createMemoryPace(paceStore(() => void writes.push(undefined))),
    pages: {
      due: async (...query) => dueOf(rows(), ...query),
      list: async (query) => listOf(rows(), query),
      count: async (query, cap) => Math.min(cap, matching(rows(), query).length),
    },
    poke: (item) => put(nameOf(item), item),
  };
};

/** The pace of the twin, over a map of its own. */
const paceStore = (noteWrite: () => void) => {
  const records = new Map<string, Stored>();
  return {
    peek: ({ pk, sk }: { readonly pk: string; readonly sk: string }) => records.get(`${pk} ${sk}`),
    poke: (record: Stored): void => {
      const { pk, sk } = keyIn(record);
      records.set(`${pk} ${sk}`, record);
      noteWrite();
    },
  };
};

// ---- what the indexes show ----------------------------------------------------------------------------------------

const shards = new Map<string, number>();

const shardOf = (row: Delivery): number => {
  const name = `${row.event} ${row.destination}`;
  const known = shards.get(name) ?? dueShard(row.event, row.destination, DUE_SHARDS);
  if (shards.size < 10_000) shards.set(name, known);
  return known;
};

const dueOf = (
  rows: readonly Delivery[],
  shard: number,
  untilMs: number,
  limit: number,
  after?: DueRow,
): readonly DueRow[] => {
  const placeOf = (row: DueRow): string =>
    `${String(row.lookAfterMs).padStart(16, '0')} ${row.event} ${row.destination}`;
  const from = after === undefined ? '' : placeOf(after);
  return rows
    .flatMap((row) => {
      if (!('lookAfterMs' in row) || row.lookAfterMs > untilMs || shardOf(row) !== shard) return [];
      return [{ event: row.event, destination: row.destination, lookAfterMs: row.lookAfterMs }];
    })
    .filter((row) => placeOf(row) > from)
    .toSorted((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1))
    .slice(0, limit);
};

const matching = (
  rows: readonly Delivery[],
  query: { readonly list: ListQuery['list']; readonly destination?: string },
): readonly Delivery[] =>
  rows.filter((row) => {
    if (query.destination !== undefined && row.destination !== query.destination) return false;
    switch (query.list) {
      case 'parked':
        return row.status === 'pending' && row.parking !== undefined;
      case 'quarantined':
        return row.status === 'quarantined';
      case 'open':
        return row.status === 'pending' || row.status === 'claimed';
      default:
        throw new TypeError(`no history asks for the list of ${query.list}`);
    }
  });

/** As the index sorts: by destination and time, then shard after shard. */
const attentionPlace = (row: Delivery): string => {
  const parkedAtMs = row.status === 'pending' ? (row.parking?.sinceMs ?? 0) : 0;
  const atMs = row.status === 'quarantined' ? row.endedAtMs : parkedAtMs;
  return `${attentionSort(row.destination, atMs)} ${shardOf(row)} ${row.event}`;
};

/** The cursor is the place of the last row. */
const listOf = (rows: readonly Delivery[], query: ListQuery): Page => {
  const from = query.cursor ?? '';
  const found = matching(rows, query)
    .map((row) => ({ row, place: attentionPlace(row) }))
    .filter(({ place }) => place > from)
    .toSorted((a, b) => (a.place < b.place ? -1 : 1));
  const page = found.slice(0, query.limit);
  const last = page.at(-1);
  return {
    refs: page.map(({ row }) => ({ item: 'delivery', event: row.event, destination: row.destination })),
    ...(found.length > page.length && last !== undefined ? { next: last.place } : {}),
  };
};
