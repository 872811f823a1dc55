/**
 * The contract can fail: each spoiled ledger breaks one promise, and the check of that promise finds it. The sound parts
 * from which they are spoiled pass every check, so that nothing else is at fault.
 */
import { describe, expect, it } from 'vitest';
import { keyIn } from '../../functions/adapters/ledger/codec/codec.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { createMemoryStore, type MemoryStore } from '../../functions/adapters/ledger/memory-store.ts';
import type { IndexQuery, RecordStore } from '../../functions/adapters/ledger/record-store.ts';
import { type Ledger, PortUnavailable } from '../../functions/ports.ts';
import { type MakeHarness, spoiledHarness } from './ledger-harness.ts';
import { eachIsFound, failing, type SpoiledCase } from './ledger-spoiled.ts';
import { UNKNOWN } from './ledger-writes.ts';

/** A store that is sound but for the members given. */
const store = (spoil: (sound: MemoryStore) => Partial<RecordStore>): MakeHarness =>
  spoiledHarness((sound) => ({ store: { ...sound, ...spoil(sound) } }));

const ledger = (spoil: (sound: Ledger) => Partial<Ledger>): MakeHarness =>
  spoiledHarness(() => ({ ledger: (sound) => ({ ...sound, ...spoil(sound) }) }));

/** Where the answer is lost, the write is lost with it. */
const losingWrites: MakeHarness = async () => {
  const sound = await spoiledHarness(() => ({}))();
  let armed = false;
  const lose = async (): Promise<void> => {
    if (!armed) return;
    armed = false;
    throw new PortUnavailable('ledger', 'the answer was lost, and the write with it');
  };
  const { ledger, pace } = sound;
  return {
    ...sound,
    loseNextAnswer: () => {
      armed = true;
    },
    ledger: {
      ...ledger,
      create: (item) => lose().then(() => ledger.create(item)),
      replace: (read, next) => lose().then(() => ledger.replace(read, next)),
    },
    pace: { take: (...slot) => lose().then(() => pace.take(...slot)) },
  };
};

const later = (record: Stored | undefined): boolean => Number(record?.['f']?.N) > 1;

const SPOILED: readonly SpoiledCase[] = [
  {
    ledger: 'forgets its conditions',
    make: store((sound) => ({
      put: async (record) => {
        sound.poke(record);
        return { kind: 'written' };
      },
    })),
    foundBy: /^lets exactly one of 100 rivals replace/,
  },
  {
    ledger: 'forgets the condition of a create',
    make: store((sound) => ({
      put: async (record, condition) => {
        if (condition.kind !== 'absent') return sound.put(record, condition);
        sound.poke(record);
        return { kind: 'written' };
      },
    })),
    foundBy: /^refuses a create where something stands/,
  },
  {
    ledger: 'checks a condition in one moment and writes in another',
    make: store((sound) => ({
      put: async (record, condition) => {
        const present = sound.peek(keyIn(record));
        await undefined;
        const stands = condition.kind === 'absent' ? undefined : String(condition.version);
        if (present?.['v']?.N !== stands || later(present))
          return { kind: 'refused', present: sound.peek(keyIn(record)) };
        sound.poke(record);
        return { kind: 'written' };
      },
    })),
    foundBy: /^lets exactly one of 100 rivals create/,
  },
  {
    ledger: 'does not say what stands there when it refuses',
    make: store((sound) => ({
      put: async (record, condition) => {
        const result = await sound.put(record, condition);
        return result.kind === 'written' ? result : { kind: 'refused', present: undefined };
      },
    })),
    foundBy: /^refuses a replace of a version that has passed/,
  },
  {
    ledger: 'loses attributes that it does not know',
    make: store((sound) => ({ put: (record, condition) => sound.put(withoutUnknown(record), condition) })),
    foundBy: /^carries attributes that this code does not know/,
  },
  {
    ledger: 'overwrites later formats',
    make: store((sound) => ({
      put: async (record, condition) => {
        const present = sound.peek(keyIn(record));
        if (!later(present) || condition.kind === 'absent') return sound.put(record, condition);
        sound.poke(record);
        return { kind: 'written' };
      },
    })),
    foundBy: /^reports an item of a later format/,
  },
  {
    ledger: 'applies a write and calls it refused',
    make: store((sound) => ({
      put: async (record, condition) => {
        const present = sound.peek(keyIn(record));
        const result = await sound.put(record, condition);
        return result.kind === 'written' && present ? { kind: 'refused', present } : result;
      },
    })),
    foundBy: /^writes a replace of the version that stands/,
  },
  {
    ledger: 'loses a write whose answer is lost',
    make: losingWrites,
    foundBy: /^has created an item whose answer was lost/,
  },
  {
    ledger: 'reads what was there before the latest write',
    make: store((sound) => ({
      get: async (key) => {
        const [latest, ...older] = sound.writes.filter(({ after }) => after && same(keyIn(after), key)).reverse();
        return older.length > 0 ? older[0]?.after : latest?.after;
      },
    })),
    foundBy: /^writes a replace of the version that stands, and shows it/,
  },
  {
    ledger: 'does not follow a replace in its indexes',
    make: spoiledHarness((sound) => {
      const first = createMemoryStore();
      return {
        store: {
          ...sound,
          put: async (record, condition) => {
            if (condition.kind === 'absent') await first.put(record, condition);
            return sound.put(record, condition);
          },
          index: (query) => first.index(query),
        },
      };
    }),
    foundBy: /^keeps a row in the lists of its status/,
  },
  {
    ledger: 'gives due rows in no order',
    make: store((sound) => ({ index: (query) => sound.index(query.index === 'due' ? backwards(query) : query) })),
    foundBy: /^gives the due rows of one shard, oldest first/,
  },
  {
    ledger: 'does not keep to the time until which rows are due',
    make: store((sound) => ({
      index: ({ within, ...query }) => sound.index(within?.kind === 'prefix' ? { ...query, within } : query),
    })),
    foundBy: /^gives the due rows of one shard, oldest first/,
  },
  {
    ledger: 'does not keep to one destination',
    make: store((sound) => ({
      index: ({ within, ...query }) => sound.index(within?.kind === 'until' ? { ...query, within } : query),
    })),
    foundBy: /^gives the parked and quarantined rows of one destination alone/,
  },
  {
    ledger: 'counts rows instead of keeping a place',
    make: store((sound) => counting(sound)),
    foundBy: /^has a cursor that keeps its place/,
  },
  {
    ledger: 'reads one page of a partition',
    make: store((sound) => ({ partition: async (query) => (await sound.partition(query)).slice(0, 3) })),
    foundBy: /^reads it whole where it is larger than a page/,
  },
  {
    ledger: 'reads a partition beyond what was asked for',
    make: store((sound) => ({ partition: ({ between: _between, ...query }) => sound.partition(query) })),
    foundBy: /^reads the messages of an operation from a position on/,
  },
  {
    ledger: 'reads more of a partition than was asked for',
    make: store((sound) => ({ partition: ({ limit: _limit, ...query }) => sound.partition(query) })),
    foundBy: /^reads the messages of an operation from a position on, in their order, and so many at most/,
  },
  {
    ledger: 'gives slots in the order of their texts',
    make: ledger((sound) => ({
      loadSlots: async (id) => (await sound.loadSlots(id)).toSorted((a, b) => (`${a.n}` < `${b.n}` ? -1 : 1)),
    })),
    foundBy: /^reads the slots of a destination in the order of their numbers/,
  },
  {
    ledger: 'shows slots as they were first',
    make: spoiledHarness((sound) => ({
      store: {
        ...sound,
        partition: async (query) =>
          (await sound.partition(query)).map(
            (record) => sound.writes.find(({ after }) => after && same(keyIn(after), keyIn(record)))?.after ?? record,
          ),
      },
    })),
    foundBy: /^shows a slot as it is taken and released/,
  },
  {
    ledger: 'gives the newest ones last',
    make: store((sound) => ({ index: (query) => sound.index({ ...query, order: 'ascending' }) })),
    foundBy: /^lists decisions newest first/,
  },
  {
    ledger: 'counts beyond the cap',
    make: store((sound) => ({ count: (query) => sound.count({ ...query, limit: 1_000 }) })),
    foundBy: /^counts no further than the cap/,
  },
  {
    ledger: 'counts one shard',
    make: store((sound) => ({
      count: async (query) => (query.partition.endsWith('#0') ? sound.count(query) : 0),
    })),
    foundBy: /^counts the rows of a list over all shards/,
  },
  {
    ledger: 'counts all destinations for one',
    make: store((sound) => ({ count: ({ within: _within, ...query }) => sound.count(query) })),
    foundBy: /^counts the rows of a list over all shards, and those of one destination alone/,
  },
  {
    ledger: 'ends its key texts at the first mark',
    make: store((sound) => ({
      put: (record, condition) => sound.put({ ...record, pk: { S: cut(record) } }, condition),
    })),
    foundBy: /^keeps items apart whose ids look like each other/,
  },
];

const same = (a: { pk: string; sk: string }, b: { pk: string; sk: string }): boolean => a.pk === b.pk && a.sk === b.sk;

const withoutUnknown = (record: Stored): Stored =>
  Object.fromEntries(Object.entries(record).filter(([name]) => !(name in UNKNOWN)));

const backwards = (query: IndexQuery): IndexQuery => ({ ...query, order: 'descending' });

const cut = (record: Stored): string => keyIn(record).pk.split('#').slice(0, 2).join('#');

/** An offset for a place: as many rows are left out as were given out before. */
const counting = (sound: MemoryStore): Partial<RecordStore> => {
  const given = new Map<string, number>();
  return {
    index: async ({ after, ...query }) => {
      const skip = after ? (given.get(query.partition) ?? 0) : 0;
      const { rows } = await sound.index({ ...query, limit: 1_000 });
      const page = rows.slice(skip, skip + query.limit);
      given.set(query.partition, skip + page.length);
      return { rows: page, more: rows.length > skip + page.length };
    },
  };
};

describe('the contract of the ledger', () => {
  it('is met by the sound parts', async () => {
    expect(await failing(spoiledHarness(() => ({})))).toStrictEqual([]);
  });

  eachIsFound(SPOILED);
});
