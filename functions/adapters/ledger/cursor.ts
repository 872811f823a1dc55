/** Where a reader of a list stands, as a text that can be handed out and must come back as it was. */
import * as z from 'zod/mini';
import { BadCursor, type ListQuery } from '../../ports.ts';
import { refOfKeys } from './codec/item-keys.ts';
import type { IndexRow } from './record-store.ts';

/** Of one shard: not begun, behind this row, or at its end. */
export type Place = 'start' | 'end' | IndexRow;

export interface Cursor {
  /** Days since 1970, for the list that is kept by day. */
  readonly day?: number;
  readonly places: readonly Place[];
}

const stored = z.strictObject({
  list: z.string(),
  of: z.optional(z.string()),
  day: z.optional(z.int()),
  at: z.array(z.union([z.literal(0), z.literal(1), z.tuple([z.union([z.string(), z.int()]), z.string(), z.string()])])),
});

export const writeCursor = (query: ListQuery, cursor: Cursor): string => {
  const at = cursor.places.map((place) => {
    if (place === 'start') return 0;
    return place === 'end' ? 1 : [place.sort, place.key.pk, place.key.sk];
  });
  return Buffer.from(JSON.stringify({ list: query.list, of: ownerOf(query), day: cursor.day, at })).toString(
    'base64url',
  );
};

const SORT_TYPES: Readonly<Record<ListQuery['list'], 'number' | 'string'>> = {
  open: 'number',
  recent: 'number',
  destinations: 'number',
  operations: 'number',
  decisions: 'number',
  parked: 'string',
  quarantined: 'string',
  poison: 'string',
};

/** Throws BadCursor. */
export const readCursor = (query: ListQuery, text: string, shards: number): Cursor => {
  const raw = stored.safeParse(jsonOf(text));
  const fits =
    raw.success && raw.data.list === query.list && raw.data.of === ownerOf(query) && raw.data.at.length === shards;
  if (!fits || (raw.data.day === undefined) === (query.list === 'recent')) throw new BadCursor();
  const sortType = SORT_TYPES[query.list];
  const places = raw.data.at.map((at): Place => {
    if (at === 0) return 'start';
    if (at === 1) return 'end';
    const [sort, pk, sk] = at;
    // A place of our own names an item, and sorts as its list does: DynamoDB answers anything else with an error.
    if (typeof sort !== sortType || refOfKeys({ pk, sk }) === undefined) throw new BadCursor();
    return { sort, key: { pk, sk } };
  });
  return { ...(raw.data.day === undefined ? {} : { day: raw.data.day }), places };
};

const ownerOf = (query: ListQuery): string | undefined => ('destination' in query ? query.destination : undefined);

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
};
