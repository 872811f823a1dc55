/**
 * The port `Ledger` over any store of records: codec in, condition, codec out.
 *
 *   load     record ──► found, absent, or of a later format
 *   create   if nothing stands there ─────────────────────────► written
 *   replace  if the version that was read still stands ────────► written
 *            otherwise, both ──► refused, with what stands there in the same moment
 *
 * What a row becomes is decided in the core; nothing is computed here. Every way out of a read is strict: a record that
 * our writer could not have made is `LedgerCorrupt`, and is neither served nor overwritten by guess.
 */
import type { DestinationId, EventId } from '../../core/ids.ts';
import type { Item, ItemKind, ItemOf } from '../../core/items.ts';
import {
  CONFIG_SORT,
  destinationPartition,
  eventPartition,
  GATE_SORT,
  messageSort,
  operationPartition,
  POSITION_MAX,
  SLOT_SORTS,
} from '../../core/keys.ts';
import type { Found, Ledger, RefOf, Written } from '../../ports.ts';
import { fromItem, keyIn, toItem } from './codec/codec.ts';
import { keyOf, refOf, refOfKeys } from './codec/item-keys.ts';
import type { Stored } from './codec/stored.ts';
import type { PutResult, RecordStore } from './record-store.ts';

export const createLedger = (store: RecordStore): Ledger => ({
  load: async <K extends ItemKind>(ref: RefOf<K>): Promise<Found<ItemOf<K>>> =>
    foundAs<K>(ref.item, await store.get(keyOf(ref))),

  loadDestination: async (id: DestinationId) => {
    const records = await store.partition({ pk: destinationPartition(id), between: [CONFIG_SORT, GATE_SORT] });
    const at = (sort: string) => records.find((record) => keyIn(record).sk === sort);
    return { config: foundAs('destination', at(CONFIG_SORT)), gate: foundAs('gate', at(GATE_SORT)) };
  },

  loadEvent: async (id: EventId): Promise<readonly Item[]> =>
    knownOf(await store.partition({ pk: eventPartition(id) })),

  loadSlots: async (id: DestinationId) => {
    const items = knownOf(await store.partition({ pk: destinationPartition(id), between: SLOT_SORTS }));
    // As texts, 10 stands before 2.
    return items.filter((item) => item.item === 'slot').toSorted((a, b) => a.n - b.n);
  },

  loadOperationMessages: async (operation: string, from: number, limit: number) => {
    const pk = operationPartition(operation);
    if (limit < 1 || from > POSITION_MAX) return [];
    const records = await store.partition({ pk, between: [messageSort(from), messageSort(POSITION_MAX)], limit });
    return knownOf(records).filter((item) => item.item === 'operation-message');
  },

  create: async <T extends Item>(item: T): Promise<Written<ItemOf<T['item']>>> =>
    writtenAs<T['item']>(item.item, await store.put(toItem(item), { kind: 'absent' })),

  replace: async <T extends Item>(read: T, next: ItemOf<T['item']>): Promise<Written<ItemOf<T['item']>>> => {
    assertFollows(read, next);
    return writtenAs<T['item']>(read.item, await store.put(toItem(next), { kind: 'version', version: read.version }));
  },
});

/** What this code knows of several records: nothing is said of those that only later code knows. */
const knownOf = (records: readonly Stored[]): readonly Item[] =>
  records.flatMap((record) => {
    if (refOfKeys(keyIn(record)) === undefined) return [];
    const found = fromItem(record);
    return found.kind === 'found' ? [found.item] : [];
  });

const foundAs = <K extends ItemKind>(kind: K, record: Stored | undefined): Found<ItemOf<K>> => {
  if (record === undefined) return { kind: 'absent' };
  const found = fromItem(record);
  if (found.kind !== 'found') return found;
  const isAsked = (item: Item): item is ItemOf<K> => item.item === kind;
  // The kind follows from the key, and the record came back under the key that was asked for.
  if (!isAsked(found.item)) throw new TypeError(`asked for ${kind}, got ${found.item.item}`);
  return { kind: 'found', item: found.item };
};

const writtenAs = <K extends ItemKind>(kind: K, result: PutResult): Written<ItemOf<K>> =>
  result.kind === 'written' ? result : { kind: 'refused', present: foundAs(kind, result.present) };

/** A replace of one item by another, or past a version, is a bug of the caller. */
const assertFollows = (read: Item, next: Item): void => {
  const from = keyOf(refOf(read));
  const to = keyOf(refOf(next));
  if (from.pk !== to.pk || from.sk !== to.sk)
    throw new TypeError(`${to.pk} ${to.sk} cannot replace ${from.pk} ${from.sk}`);
  if (next.version !== read.version + 1) {
    throw new RangeError(`version ${next.version} of ${to.pk} ${to.sk} cannot follow version ${read.version}`);
  }
};
