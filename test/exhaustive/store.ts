/**
 * A ledger for many runs: one event, one destination, one delivery; items are kept as they are, without a codec. A
 * sample of runs is made over the real twin as well, so that this short cut cannot hide a difference.
 */
import type { Item, ItemKind, ItemOf, Slot } from '../../functions/core/items.ts';
import type { Found, Ledger, Pace, Pages, RefOf, Written } from '../../functions/ports.ts';

export interface Store {
  readonly ledger: Ledger;
  readonly pace: Pace;
  readonly due: Pages['due'];
  readonly list: Pages['list'];
}

/** Only of slots are there several here. */
export const nameOf = (item: { readonly item: ItemKind; readonly n?: number }): string =>
  item.n === undefined ? item.item : `${item.item} ${item.n}`;

export const rawStore = (items: readonly Item[]): Store => {
  const table = new Map<string, Item>(items.map((item) => [nameOf(item), item]));
  const found = <K extends ItemKind>(kind: K, name: string): Found<ItemOf<K>> => {
    const isAsked = (item: Item | undefined): item is ItemOf<K> => item?.item === kind;
    const item = table.get(name);
    return isAsked(item) ? { kind: 'found', item } : { kind: 'absent' };
  };
  const put = <K extends ItemKind>(kind: K, readVersion: number | undefined, item: Item): Written<ItemOf<K>> => {
    const name = nameOf(item);
    if (table.get(name)?.version !== readVersion) return { kind: 'refused', present: found(kind, name) };
    table.set(name, item);
    return { kind: 'written' };
  };
  const ledger: Ledger = {
    load: async <K extends ItemKind>(ref: RefOf<K>) => found<K>(ref.item, nameOf(ref)),
    loadDestination: async () => ({ config: found('destination', 'destination'), gate: found('gate', 'gate') }),
    loadEvent: async () => [...table.values()],
    loadSlots: async () => [...table.values()].filter((item): item is Slot => item.item === 'slot'),
    loadOperationMessages: async () => [],
    create: async <T extends Item>(item: T) => put<T['item']>(item.item, undefined, item),
    replace: async <T extends Item>(read: T, next: ItemOf<T['item']>) => put<T['item']>(read.item, read.version, next),
  };
  const due: Pages['due'] = async (_shard, untilMs, _limit, after) => {
    if (after !== undefined) return [];
    const row = found('delivery', 'delivery');
    if (row.kind !== 'found' || !('lookAfterMs' in row.item) || row.item.lookAfterMs > untilMs) return [];
    return [{ event: row.item.event, destination: row.item.destination, lookAfterMs: row.item.lookAfterMs }];
  };
  const list: Pages['list'] = async () => {
    const row = found('delivery', 'delivery');
    const parked = row.kind === 'found' && row.item.status === 'pending' && row.item.parking !== undefined;
    return { refs: parked ? [{ item: 'delivery', event: row.item.event, destination: row.item.destination }] : [] };
  };
  return { ledger, pace: rawPace(), due, list };
};

const rawPace = (): Pace => {
  let freeAtMs = 0;
  return {
    take: async (_destination, _line, fromMs, stepMs) => {
      const slotMs = Math.max(fromMs, freeAtMs);
      freeAtMs = slotMs + stepMs;
      return slotMs;
    },
  };
};
