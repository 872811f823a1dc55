/**
 * The table and its indexes by name: what the adapter, the stack and the local world must agree on.
 *
 *   pk, sk       key of every item; the texts are made by core/keys.ts
 *   dp, lookMs   `due`: open deliveries, spread over shards, in order of their look-after time
 *   ap, as       `attention`: parked and quarantined deliveries and poison, by destination and time
 *   rp, bornMs   `recent`: deliveries by destination and UTC day; destinations, operations and decisions under fixed names
 *
 * The indexes hold keys only. An item stands in an index exactly if it bears the partition attribute of it; `lookMs` and
 * `bornMs` are at the same time the row's own look-after time and time of creation.
 */

/** The local world's name of the table; a stack may give its own. */
export const TABLE_NAME = 'onceward';

export type AttributeType = 'S' | 'N';

export interface KeySchema {
  readonly partition: { readonly name: string; readonly type: AttributeType };
  readonly sort: { readonly name: string; readonly type: AttributeType };
}

export interface IndexSchema extends KeySchema {
  readonly name: IndexName;
}

export type IndexName = 'due' | 'attention' | 'recent';

export const TABLE_KEY = {
  partition: { name: 'pk', type: 'S' },
  sort: { name: 'sk', type: 'S' },
} as const satisfies KeySchema;

export const INDEXES = {
  due: { name: 'due', partition: { name: 'dp', type: 'S' }, sort: { name: 'lookMs', type: 'N' } },
  attention: { name: 'attention', partition: { name: 'ap', type: 'S' }, sort: { name: 'as', type: 'S' } },
  recent: { name: 'recent', partition: { name: 'rp', type: 'S' }, sort: { name: 'bornMs', type: 'N' } },
} as const satisfies Readonly<Record<IndexName, IndexSchema>>;

/** Format and version of an item: all that a condition of ours ever looks at. */
export const FORMAT_ATTRIBUTE = 'f';
export const VERSION_ATTRIBUTE = 'v';

/** The table's time to live, in epoch seconds. Borne by garbage only: poison, and the counts that bound it. */
export const TTL_ATTRIBUTE = 'ttlSec';
