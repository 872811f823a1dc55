import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { createLedgerClient } from '../../functions/adapters/ledger/client.ts';
import { createDynamoLedger } from '../../functions/adapters/ledger/dynamodb.ts';
import { createDynamoPages } from '../../functions/adapters/ledger/pages.ts';
import { TABLE_NAME } from '../../functions/adapters/ledger/schema.ts';
import type { ListQuery } from '../../functions/ports.ts';
import { openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { ensureTable } from '../../infra/local/ledger-table.ts';
import { fillDirectory, fillTable, MANY_DESTINATIONS, manyDestination, manyRowAt } from '../support/many-rows.ts';
import { destinationIdOf, T0_MS } from '../support/rows.ts';

/** Every kind of row once for each destination. */
const COUNT = MANY_DESTINATIONS * 10;
const rowAt = (n: number) => manyRowAt(n, T0_MS);

const LISTS: readonly ListQuery[] = [
  { list: 'open', limit: 100 },
  { list: 'parked', limit: 100 },
  { list: 'quarantined', limit: 100, destination: destinationIdOf(manyDestination(3)) },
  { list: 'recent', limit: 100, destination: destinationIdOf(manyDestination(3)) },
];

const seenBy = async (client: DynamoDBClient) => {
  const at = { client, table: TABLE_NAME };
  const [ledger, pages] = [createDynamoLedger(at), createDynamoPages(at, { nowMs: () => T0_MS })];
  const rows = Array.from({ length: COUNT }, (_, n) => rowAt(n));
  return {
    lists: await Promise.all(LISTS.map((query) => pages.list(query))),
    rows: await Promise.all(
      rows.map(async ({ event, destination }) => ledger.load({ item: 'delivery', event, destination })),
    ),
  };
};

describe('a large table', () => {
  it('that was filled past the requests answers as one that was written row by row', async () => {
    const path = await mkdtemp(join(tmpdir(), 'onceward-many-'));
    await fillDirectory(path, COUNT, rowAt);
    const [filled, written] = [await openEmbeddedDynamo({ path, sync: false }), await openEmbeddedDynamo()];
    const clients = [filled, written].map(({ requestHandler }) => createLedgerClient({ requestHandler }));
    try {
      const [past, through] = clients as [DynamoDBClient, DynamoDBClient];
      await ensureTable(through, TABLE_NAME);
      await fillTable(through, TABLE_NAME, 0, COUNT, rowAt);
      const expected = await seenBy(through);
      expect(expected.lists.map(({ refs }) => refs.length)).toEqual([60, 20, 1, 10]);
      expect(await seenBy(past)).toEqual(expected);
      // A row that is changed afterwards leaves its old place in the indexes: nothing of it was kept apart.
      const ledger = createDynamoLedger({ client: past, table: TABLE_NAME });
      const row = rowAt(0);
      await ledger.replace(row, { ...row, version: row.version + 1, sweeps: 1, lookAfterMs: T0_MS } as typeof row);
      const pages = createDynamoPages({ client: past, table: TABLE_NAME }, { nowMs: () => T0_MS });
      expect(await pages.count({ list: 'open' }, 1_000)).toBe(60);
    } finally {
      for (const client of clients) client.destroy();
      await Promise.all([filled.close(), written.close()]);
      await rm(path, { recursive: true, force: true });
    }
  });
});
