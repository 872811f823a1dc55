/** Real failures of stores like this one, in the class of the database, and why each cannot happen here. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLedgerClient } from '../../functions/adapters/ledger/client.ts';
import { toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { refOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { createDynamoLedger } from '../../functions/adapters/ledger/dynamodb.ts';
import { createLedger } from '../../functions/adapters/ledger/ledger.ts';
import { createPages } from '../../functions/adapters/ledger/lists.ts';
import { createMemoryStore } from '../../functions/adapters/ledger/memory-store.ts';
import { INDEXES } from '../../functions/adapters/ledger/schema.ts';
import type { Gate } from '../../functions/core/items.ts';
import { append } from '../../functions/core/journal.ts';
import { dueShard } from '../../functions/core/keys.ts';
import {
  ATTEMPTS_MAX,
  DELIVERY_ITEM_BYTES_MAX,
  DUE_SHARDS,
  EXCERPT_BYTES_MAX,
  LEDGER_CONNECT_MS,
  LEDGER_REQUEST_MS,
  LEDGER_TRIES_MAX,
  PUSH_ANSWER_MS,
} from '../../functions/core/limits.ts';
import { decide } from '../../functions/core/machine.ts';
import type { Written } from '../../functions/ports.ts';
import { type DynamoStub, refusedWith, startDynamoStub } from '../support/dynamo-stub.ts';
import { itemBytes } from '../support/item-bytes.ts';
import { claimInput, moved, settleInput } from '../support/moves.ts';
import {
  acceptedEntry,
  claimedRow,
  deliveredRow,
  eventIdOf,
  fullRow,
  gateItem,
  parkedRow,
  pendingRow,
  poisonItem,
  quarantinedRow,
  T0_MS,
} from '../support/rows.ts';

const UNAVAILABLE = { name: 'PortUnavailable', port: 'ledger' };

// ---- transactions: there are none ---------------------------------------------------------------------------------

const FUNCTIONS = fileURLToPath(new URL('../../functions', import.meta.url));
const MANY_AT_ONCE = /Transact(Write|Get)|ExecuteTransaction|Batch(Write|Get|Execute)|ClientRequestToken/;

const sources = (): readonly (readonly [path: string, text: string])[] =>
  readdirSync(FUNCTIONS, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => [path, readFileSync(`${FUNCTIONS}/${path}`, 'utf8')]);

describe('there are no transactions: state and journal of a delivery are one item, changed by one write', () => {
  it('so no token of one can mismatch, be in progress, or be assumed to hold (C054, C055)', () => {
    expect(sources().length).toBeGreaterThan(30);
    expect(sources().filter(([, text]) => MANY_AT_ONCE.test(text))).toStrictEqual([]);
  });

  it('and the look through the sources would find one', () => {
    expect(MANY_AT_ONCE.test("import { TransactWriteItemsCommand } from '@aws-sdk/client-dynamodb'")).toBe(true);
  });

  it('and two writers of one counter settle it by the row that comes back: nobody is cancelled unheard (C056)', async () => {
    const ledger = createLedger(createMemoryStore());
    const gate = gateItem({ closedUntilMs: 0, closedSinceMs: 0 });
    await ledger.create(gate);
    const addOne = async (): Promise<number> => {
      let read: Gate = gate;
      for (let tries = 1; ; tries += 1) {
        const next = { ...read, version: read.version + 1, closedUntilMs: (read.closedUntilMs ?? 0) + 1 };
        const result: Written<Gate> = await ledger.replace(read, next);
        if (result.kind === 'written') return tries;
        if (result.present.kind !== 'found') throw new Error('it is gone');
        read = result.present.item;
      }
    };
    const tries = await Promise.all([addOne(), addOne()]);
    expect(tries.toSorted()).toStrictEqual([1, 2]);
    const end = await ledger.load(refOf(gate));
    expect(end).toMatchObject({ kind: 'found', item: { closedUntilMs: 2, version: 3 } });
  });
});

// ---- answers of the store -----------------------------------------------------------------------------------------

describe('what DynamoDB answers', () => {
  let stub: DynamoStub;
  beforeEach(async () => {
    stub = await startDynamoStub();
  });
  afterEach(() => stub.close());
  const ledger = () => {
    const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
    const client = createLedgerClient({ region: 'local', endpoint: stub.endpoint, credentials });
    return createDynamoLedger({ client, table: 'onceward' });
  };

  it.each([
    ['ThrottlingException', LEDGER_TRIES_MAX],
    ['TransactionConflictException', 1],
  ])(
    'as %s says nothing about the row: asked at most %i times, then "later", never "done" (C056, C057)',
    async (name, tries) => {
      stub.answer = () => refusedWith(name);
      await expect(ledger().replace(pendingRow(), claimedRow())).rejects.toMatchObject(UNAVAILABLE);
      expect(stub.requests).toHaveLength(tries);
    },
  );

  it('as a failed condition is an answer of the domain, asked once (C056, C057)', async () => {
    stub.answer = () => refusedWith('ConditionalCheckFailedException');
    const result = await ledger().replace(pendingRow(), claimedRow());
    expect(result).toStrictEqual({ kind: 'refused', present: { kind: 'absent' } });
    expect(stub.requests).toHaveLength(1);
  });

  it('in the course of a hang is waited for no longer than a push has time (C068)', () => {
    const longestMs = LEDGER_TRIES_MAX * Math.max(LEDGER_REQUEST_MS, LEDGER_CONNECT_MS);
    expect(longestMs).toBeLessThan(PUSH_ANSWER_MS);
  });
});

// ---- reads that lag -----------------------------------------------------------------------------------------------

describe('a read that lags behind', () => {
  it('of the row decides nothing: the write that follows from it is refused, and shows the truth (C060)', async () => {
    const store = createMemoryStore();
    const row = pendingRow();
    const ledger = createLedger({ ...store, get: async () => toItem(row) });
    await ledger.create(row);
    const claimed = moved(row, claimInput(), T0_MS + 1_000);
    const done = moved(claimed, settleInput(), T0_MS + 2_000);
    await ledger.replace(row, claimed);
    await ledger.replace(claimed, done);
    const stale = await ledger.load(refOf(row));
    expect(stale).toStrictEqual({ kind: 'found', item: row });
    const late = await ledger.replace(row, moved(row, claimInput(), T0_MS + 3_000));
    expect(late).toStrictEqual({ kind: 'refused', present: { kind: 'found', item: done } });
  });

  it('of an index costs one read: the row says that it is done, and nothing is written (C061)', async () => {
    const lagging = createMemoryStore();
    const store = createMemoryStore();
    const ledger = createLedger(store);
    const pages = createPages({ ...store, index: lagging.index }, { nowMs: () => T0_MS });
    await createLedger(lagging).create(pendingRow());
    await ledger.create(deliveredRow());
    const written = store.writes.length;
    const [due] = await pages.due(
      dueShard(pendingRow().event, pendingRow().destination, DUE_SHARDS),
      T0_MS + 60_000,
      10,
    );
    expect(due).toBeDefined();
    const read = await ledger.load({ item: 'delivery', ...(due ?? pendingRow()) });
    if (read.kind !== 'found') throw new Error('it is gone');
    for (const input of [claimInput(), { kind: 'sweep', tick: 1 } as const]) {
      expect(decide(read.item, input, T0_MS + 60_000, 0)).toStrictEqual({ kind: 'keep', note: 'done' });
    }
    expect(store.writes).toHaveLength(written);
  });
});

// ---- size and spread ----------------------------------------------------------------------------------------------

describe('what grows', () => {
  it('in a delivery ends: 50 attempts, excerpts of 512 bytes, a journal that refuses more (C063)', () => {
    const row = fullRow();
    expect(row.firstExcerpt?.text).toHaveLength(EXCERPT_BYTES_MAX);
    expect(itemBytes(toItem(row))).toBeLessThan(DELIVERY_ITEM_BYTES_MAX);
    expect(() => append(row.journal, acceptedEntry())).toThrow(RangeError);
    const atEnd = pendingRow({ attempts: ATTEMPTS_MAX, budget: 500 });
    expect(decide(atEnd, claimInput(), T0_MS, 0)).toMatchObject({ kind: 'write', note: 'quarantined' });
  });

  it.each([
    ['due', pendingRow],
    ['attention', parkedRow],
    ['attention', quarantinedRow],
    ['recent', deliveredRow],
  ] as const)('for one busy destination is spread over the shards of the index %s (C064)', (index, make) => {
    const counts = new Map<string, number>();
    for (let n = 0; n < 3_000; n += 1) {
      const partition = toItem(make({ event: eventIdOf(`event-${n}`) }))[INDEXES[index].partition.name]?.S ?? '';
      counts.set(partition, (counts.get(partition) ?? 0) + 1);
    }
    expect(counts.size).toBe(4);
    expect(Math.max(...counts.values())).toBeLessThan(3_000 * 0.3);
  });
});

// ---- the stand-in -------------------------------------------------------------------------------------------------

describe('the twin that tests use in place of the table', () => {
  // It is held to the contract of test/contract/ledger.ts like the engines, and spoiled twins fail it.
  it('shows what stands there with a refusal, and keeps an item whose time to live has passed (C171)', async () => {
    const ledger = createLedger(createMemoryStore());
    const poison = poisonItem({ expiresAtSec: 1 });
    await ledger.create(poison);
    const refused = { kind: 'refused', present: { kind: 'found', item: poison } };
    expect(await ledger.create(poisonItem({ reason: 'other' }))).toStrictEqual(refused);
    expect(await ledger.load(refOf(poison))).toStrictEqual({ kind: 'found', item: poison });
  });
});
