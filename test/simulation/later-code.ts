/**
 * What a newer version of this code would see and leave in the table while both run side by side: an attribute that we
 * do not know on every row that it writes, and now and then a later format. To it a row of the later format is a row like
 * any other, so here it is shown as one of ours.
 */
import { keyIn } from '../../functions/adapters/ledger/codec/codec.ts';
import type { ItemKey } from '../../functions/adapters/ledger/codec/item-keys.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import type { MemoryStore } from '../../functions/adapters/ledger/memory-store.ts';
import type { RecordStore } from '../../functions/adapters/ledger/record-store.ts';
import { FORMAT_ATTRIBUTE, VERSION_ATTRIBUTE } from '../../functions/adapters/ledger/schema.ts';
import { FORMAT } from '../../functions/core/model.ts';
import type { Draws } from './draws.ts';

/** Of newer code: whoever meets it carries it along. */
export const NEW_ATTRIBUTE = 'zzNew';

const LATER = { N: String(FORMAT + 1) };

export const isLater = (record: Stored | undefined): boolean => record?.[FORMAT_ATTRIBUTE]?.N === LATER.N;

const asOurs = (record: Stored): Stored =>
  isLater(record) ? { ...record, [FORMAT_ATTRIBUTE]: { N: String(FORMAT) } } : record;

const isMovable = (record: Stored): boolean => {
  const { pk, sk } = keyIn(record);
  return sk.startsWith('delivery#') || sk === 'gate' || pk.startsWith('heartbeat#');
};

/** `moved` gets the keys of what stands in the later format from then on: older code has to leave that alone. */
export const laterStore = (store: MemoryStore, draws: Draws, moved: Map<string, ItemKey>): RecordStore => ({
  get: async (key) => {
    const record = store.peek(key);
    return record && asOurs(record);
  },
  put: async (record, condition) => {
    const present = store.peek(keyIn(record));
    const fits =
      condition.kind === 'absent'
        ? present === undefined
        : present !== undefined && Number(present[VERSION_ATTRIBUTE]?.N) === condition.version;
    if (!fits) return { kind: 'refused', present: present && asOurs(present) };
    const moves = isLater(present) || (isMovable(record) && draws.happens('later format', 0.25));
    const key = keyIn(record);
    if (moves) moved.set(`${key.pk} ${key.sk}`, key);
    store.poke({ ...record, [NEW_ATTRIBUTE]: { S: 'kept' }, ...(moves ? { [FORMAT_ATTRIBUTE]: LATER } : {}) });
    return { kind: 'written' };
  },
  partition: async (query) => (await store.partition(query)).map(asOurs),
  index: (query) => store.index(query),
  count: (query) => store.count(query),
});
