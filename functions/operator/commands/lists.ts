/** Lists of deliveries that an index answers. The index says where to look; what is shown is the row. */
import type { Delivery, DeliveryRef } from '../../core/model.ts';
import type { ListQuery, Ref, World } from '../../ports.ts';
import { readable, type Unread } from './readable.ts';

type Needs = Pick<World, 'ledger' | 'pages'>;

export type DeliveryList = Extract<ListQuery, { list: 'open' | 'parked' | 'quarantined' | 'recent' }>;

export type Listed =
  | { readonly kind: 'row'; readonly row: Delivery }
  /** It is there, but not for this code to read: written by newer code, or broken. A list must not hide it. */
  | {
      readonly kind: 'unreadable';
      readonly ref: DeliveryRef;
      readonly why: Unread;
    };

export interface DeliveryPage {
  readonly items: readonly Listed[];
  readonly next?: string;
}

/** A page may hold fewer rows than asked for and still have a next one: rows that have left the list are not shown. */
export const listDeliveries = async (world: Needs, query: DeliveryList): Promise<DeliveryPage> => {
  const page = await world.pages.list(query);
  const listed = await loadListed(world, page.refs);
  const items = listed.filter((one) => one.kind === 'unreadable' || BELONGS[query.list](one.row));
  return { items, ...(page.next === undefined ? {} : { next: page.next }) };
};

const BELONGS: Readonly<Record<DeliveryList['list'], (row: Delivery) => boolean>> = {
  open: ({ status }) => status === 'pending' || status === 'claimed',
  parked: (row) => row.status === 'pending' && row.parking !== undefined,
  quarantined: ({ status }) => status === 'quarantined',
  recent: () => true,
};

/** The deliveries among these, in their order; what has vanished since is left out. */
export const loadListed = async (world: Pick<World, 'ledger'>, refs: readonly Ref[]): Promise<readonly Listed[]> => {
  const deliveries = refs.filter((ref) => ref.item === 'delivery');
  return (await Promise.all(deliveries.map((ref) => loadOne(world, ref)))).flat();
};

const loadOne = async (
  { ledger }: Pick<World, 'ledger'>,
  ref: Extract<Ref, { item: 'delivery' }>,
): Promise<readonly Listed[]> => {
  const found = await readable<Delivery>(() => ledger.load(ref));
  if (found.kind === 'unreadable') return [{ kind: 'unreadable', ref, why: found.reason }];
  return found.kind === 'found' ? [{ kind: 'row', row: found.item }] : [];
};
