/**
 * Tables that are large: as many sound rows as one wants, and two ways to put them there. Into a data directory of the
 * embedded engine they go past its requests, item and index rows in one batch as its own writes make them; into any other
 * engine 25 at a time.
 */
import { BatchWriteItemCommand, type BatchWriteItemCommandInput, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createLedgerClient } from '../../functions/adapters/ledger/client.ts';
import { toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { TABLE_NAME } from '../../functions/adapters/ledger/schema.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { engine } from '../../infra/local/dynamodb/engine-parts.ts';
import { indexMoves } from '../../infra/local/dynamodb/index-rows.ts';
import type { Item } from '../../infra/local/dynamodb/shapes.ts';
import { Store } from '../../infra/local/dynamodb/store.ts';
import { ensureTable } from '../../infra/local/ledger-table.ts';
import { deliveredRow, destinationIdOf, eventIdOf, parkedRow, pendingRow, quarantinedRow } from './rows.ts';

export const MANY_DESTINATIONS = 20;
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

export const manyDestination = (n: number): string => `destination-${n % MANY_DESTINATIONS}`;

/** Of ten: six are over, two are open and due tomorrow, one is parked, one waits for a person. */
export const manyRowAt = (n: number, nowMs: number): Delivery => {
  const row = {
    event: eventIdOf(`order-${n}`),
    destination: destinationIdOf(manyDestination(n)),
    acceptedAtMs: nowMs - (n % HOUR_MS),
  };
  switch (Math.floor(n / MANY_DESTINATIONS) % 10) {
    case 0:
    case 1:
      return pendingRow({ ...row, dueAtMs: nowMs + DAY_MS + n, lookAfterMs: nowMs + DAY_MS + n });
    case 2:
      return parkedRow({ ...row, lookAfterMs: nowMs + DAY_MS + n });
    case 3:
      return quarantinedRow(row);
    default:
      return deliveredRow(row);
  }
};

const AT_ONCE = 500;

/** A directory that nobody has open; it gets the table if it is new. */
export const fillDirectory = async (path: string, count: number, rowAt: (n: number) => Delivery): Promise<void> => {
  const dynamo = await openEmbeddedDynamo({ path, sync: false });
  const client = createLedgerClient({ requestHandler: dynamo.requestHandler });
  await ensureTable(client, TABLE_NAME);
  client.destroy();
  await dynamo.close();
  const store = await Store.open({ path, sync: false });
  const table = store.table(TABLE_NAME);
  const put = (n: number): Promise<void> => {
    const item = wireOf(toItem(rowAt(n)));
    return store.writeItem(TABLE_NAME, engine.createKey(item, table), item, indexMoves(table, undefined, item));
  };
  for (let n = 0; n < count; n += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - n) }, (_, at) => put(n + at)));
  }
  await store.close();
};

/** As it goes over the wire: bytes are base64. Our own rows hold none inside of lists. */
const wireOf = (stored: Stored): Item =>
  Object.fromEntries(
    Object.entries(stored).map(([name, value]) => [
      name,
      value.B === undefined ? { ...value } : { B: Buffer.from(value.B).toString('base64') },
    ]),
  );

const BATCH = 25;
const BATCHES_AT_ONCE = 2;
const TRIES = 10;

export const fillTable = async (
  client: DynamoDBClient,
  table: string,
  from: number,
  to: number,
  rowAt: (n: number) => Delivery,
): Promise<void> => {
  let next = from;
  const lane = async (): Promise<void> => {
    for (let n = next; n < to; n = next) {
      next = Math.min(n + BATCH, to);
      const puts = Array.from({ length: next - n }, (_, at) => ({ PutRequest: { Item: toItem(rowAt(n + at)) } }));
      let asked: Record<string, typeof puts> = { [table]: puts };
      while (Object.keys(asked).length > 0) {
        asked = (await written(client, asked)) as typeof asked;
      }
    }
  };
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, lane));
};

/** A local engine is slow when it is large, and the ledger's client does not wait for long: the same puts go again. */
const written = async (client: DynamoDBClient, asked: BatchWriteItemCommandInput['RequestItems']) => {
  for (let tries = 1; ; tries += 1) {
    try {
      return (await client.send(new BatchWriteItemCommand({ RequestItems: asked }))).UnprocessedItems ?? {};
    } catch (error) {
      if (tries === TRIES || !(error instanceof Error && error.name === 'TimeoutError')) throw error;
    }
  }
};
