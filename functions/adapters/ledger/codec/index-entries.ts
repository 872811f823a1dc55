/**
 * In which indexes an item stands. Made from the item on every write and never read back: an index can lag, but no
 * write of ours can leave it wrong.
 *
 *   pending, claimed     due
 *   parked               due and attention
 *   quarantined          attention
 *   every delivery       recent, by destination and the UTC day on which it was accepted: the same for its whole life
 *   destinations, operations, decisions    recent, each kind under its own fixed name
 *   poison               attention
 */
import { utcDayOf } from '../../../core/instant.ts';
import type { Item } from '../../../core/items.ts';
import {
  attentionPartition,
  attentionSort,
  duePartition,
  dueShard,
  recentListPartition,
  recentPartition,
  shardOf,
  timeSort,
} from '../../../core/keys.ts';
import { ATTENTION_SHARDS, DUE_SHARDS, RECENT_SHARDS } from '../../../core/limits.ts';
import type { Delivery } from '../../../core/model.ts';
import { INDEXES } from '../schema.ts';
import type { Fields } from './stored.ts';

const DUE = INDEXES.due.partition.name;
const ATTENTION = INDEXES.attention.partition.name;
const ATTENTION_SORT = INDEXES.attention.sort.name;
const RECENT = INDEXES.recent.partition.name;

/** The attributes that exist for the indexes alone. */
export const INDEX_ATTRIBUTES: readonly string[] = [DUE, ATTENTION, ATTENTION_SORT, RECENT];

/** `lookMs` and `bornMs`, the sort attributes of `due` and `recent`, are written by the codecs of the items. */
export const indexEntries = (item: Item): Fields => {
  switch (item.item) {
    case 'delivery':
      return {
        [DUE]:
          item.status === 'pending' || item.status === 'claimed' ? duePartition(shardIn(DUE_SHARDS, item)) : undefined,
        [RECENT]: recentPartition(item.destination, utcDayOf(item.acceptedAtMs), shardIn(RECENT_SHARDS, item)),
        ...attentionEntry(item),
      };
    case 'destination':
      return { [RECENT]: recentListPartition('destinations') };
    case 'operation':
      return { [RECENT]: recentListPartition('operations') };
    case 'decision':
      return { [RECENT]: recentListPartition('decisions') };
    case 'poison':
      return {
        [ATTENTION]: attentionPartition('poison', shardOf(item.id, ATTENTION_SHARDS)),
        [ATTENTION_SORT]: timeSort(item.seenAtMs),
      };
    case 'event':
    case 'conflict':
    case 'gate':
    case 'slot':
    case 'secret':
    case 'operation-message':
    case 'token':
    case 'token-register':
    case 'notice-register':
    case 'poison-minute':
    case 'heartbeat':
      return {};
  }
};

const attentionEntry = (row: Delivery): Fields => {
  if (row.status === 'quarantined') return attention('quarantined', row, row.endedAtMs);
  if (row.status === 'pending' && row.parking) return attention('parked', row, row.parking.sinceMs);
  return {};
};

const attention = (kind: 'quarantined' | 'parked', row: Delivery, atMs: number): Fields => ({
  [ATTENTION]: attentionPartition(kind, shardIn(ATTENTION_SHARDS, row)),
  [ATTENTION_SORT]: attentionSort(row.destination, atMs),
});

const shardIn = (shards: number, row: Delivery): number => dueShard(row.event, row.destination, shards);
