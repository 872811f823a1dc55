/** A ledger under test, with ways to look behind it and to break its wire. */
import { DeleteItemCommand, type DynamoDBClient, GetItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import type { ItemKey } from '../../functions/adapters/ledger/codec/item-keys.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { createDynamoLedger } from '../../functions/adapters/ledger/dynamodb.ts';
import { createLedger } from '../../functions/adapters/ledger/ledger.ts';
import { createPages } from '../../functions/adapters/ledger/lists.ts';
import { createMemoryPace } from '../../functions/adapters/ledger/memory-pace.ts';
import { createMemoryStore, type MemoryStore } from '../../functions/adapters/ledger/memory-store.ts';
import { createDynamoPace } from '../../functions/adapters/ledger/pace.ts';
import { createDynamoPages } from '../../functions/adapters/ledger/pages.ts';
import type { RecordStore } from '../../functions/adapters/ledger/record-store.ts';
import { createTwin } from '../../functions/adapters/ledger/twin.ts';
import { type Ledger, type Pace, type Pages, PortUnavailable } from '../../functions/ports.ts';
import { ensureTable } from '../../infra/local/ledger-table.ts';
import { T0_MS } from '../support/rows.ts';

export interface LedgerHarness {
  readonly ledger: Ledger;
  readonly pages: Pages;
  readonly pace: Pace;
  /** What the lists take for the present. */
  readonly clock: { ms: number };
  /** Past the port: what newer code, a repair by hand or the time to live does. */
  peek(key: ItemKey): Promise<Stored | undefined>;
  poke(record: Stored): Promise<void>;
  remove(key: ItemKey): Promise<void>;
  /** The next write is applied, and its answer does not come back. */
  loseNextAnswer(): void;
}

export type MakeHarness = () => Promise<LedgerHarness>;

export const twinHarness: MakeHarness = async () => {
  const clock = { ms: T0_MS };
  let lost = false;
  const twin = createTwin({
    clock: { nowMs: () => clock.ms },
    after: ({ kind }) => {
      if (!lost || (kind !== 'create' && kind !== 'replace' && kind !== 'take')) return;
      lost = false;
      throw new PortUnavailable('ledger', 'the answer was lost');
    },
  });
  return {
    ledger: twin.ledger,
    pages: twin.pages,
    pace: twin.pace,
    clock,
    ...behind(twin.store),
    loseNextAnswer: () => {
      lost = true;
    },
  };
};

const behind = (store: MemoryStore) => ({
  peek: async (key: ItemKey) => store.peek(key),
  poke: async (record: Stored) => store.poke(record),
  remove: async (key: ItemKey) => store.remove(key),
});

export interface Spoiled {
  readonly store?: RecordStore;
  readonly ledger?: (sound: Ledger) => Ledger;
  readonly pace?: (sound: Pace) => Pace;
}

/** The parts of the twin, some of them spoiled. */
export const spoiledHarness =
  (spoil: (sound: MemoryStore) => Spoiled): MakeHarness =>
  async () => {
    const clock = { ms: T0_MS };
    const sound = createMemoryStore();
    const spoiled = spoil(sound);
    const store = spoiled.store ?? sound;
    let lost = false;
    const losing = async <Result>(write: Promise<Result>): Promise<Result> => {
      const result = await write;
      if (!lost) return result;
      lost = false;
      throw new PortUnavailable('ledger', 'the answer was lost');
    };
    const lossy: RecordStore = { ...store, put: (...args) => losing(store.put(...args)) };
    const ledger = createLedger(lossy);
    const pace = spoiled.pace?.(createMemoryPace(sound)) ?? createMemoryPace(sound);
    return {
      ledger: spoiled.ledger?.(ledger) ?? ledger,
      pages: createPages(lossy, { nowMs: () => clock.ms }),
      pace: { take: (...slot) => losing(pace.take(...slot)) },
      clock,
      ...behind(sound),
      loseNextAnswer: () => {
        lost = true;
      },
    };
  };

const WRITES: ReadonlySet<string> = new Set(['PutItemCommand', 'UpdateItemCommand']);

/** A fresh table for every harness; `clientOf` gives a client of its own, for its wire is cut. */
export const dynamoHarness = (clientOf: () => DynamoDBClient): MakeHarness => {
  let tables = 0;
  return async () => {
    tables += 1;
    const table = `contract-${process.pid}-${tables}`;
    const outside = clientOf();
    await ensureTable(outside, table);
    const client = clientOf();
    const clock = { ms: T0_MS };
    let lost = false;
    // Outside the client's own retries: the caller sees the loss.
    client.middlewareStack.add(
      (next, context) => async (args) => {
        const answer = await next(args);
        if (lost && WRITES.has(String(context.commandName))) {
          lost = false;
          throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
        }
        return answer;
      },
      { step: 'initialize', name: 'loseAnswer' },
    );
    const keyOf = ({ pk, sk }: ItemKey) => ({ pk: { S: pk }, sk: { S: sk } });
    return {
      ledger: createDynamoLedger({ client, table }),
      pages: createDynamoPages({ client, table }, { nowMs: () => clock.ms }),
      pace: createDynamoPace({ client, table }),
      clock,
      peek: async (key) =>
        (await outside.send(new GetItemCommand({ TableName: table, Key: keyOf(key), ConsistentRead: true }))).Item,
      poke: async (record) => {
        await outside.send(new PutItemCommand({ TableName: table, Item: record }));
      },
      remove: async (key) => {
        await outside.send(new DeleteItemCommand({ TableName: table, Key: keyOf(key) }));
      },
      loseNextAnswer: () => {
        lost = true;
      },
    };
  };
};
