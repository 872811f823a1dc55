/** A world over the embedded table, with a hand that can write to the table behind the back of the product. */
import {
  type AttributeValue,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
} from '@aws-sdk/client-dynamodb';
import { createLedgerClient } from '../../functions/adapters/ledger/client.ts';
import { keyOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { createDynamoLedger } from '../../functions/adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../../functions/adapters/ledger/pace.ts';
import { createDynamoPages } from '../../functions/adapters/ledger/pages.ts';
import { TABLE_KEY, TABLE_NAME } from '../../functions/adapters/ledger/schema.ts';
import { createLedgerSecrets } from '../../functions/adapters/secrets.ts';
import type { Token } from '../../functions/core/items.ts';
import { tokenHash } from '../../functions/http/auth.ts';
import type { Ref } from '../../functions/ports.ts';
import { openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { ensureTable } from '../../infra/local/ledger-table.ts';
import { openTestWorld, type TestWorld } from './world.ts';

export type Record = { [name: string]: AttributeValue };

export interface AuditWorld {
  readonly world: TestWorld;
  /** Reads the item as it is stored, and writes what becomes of it, past all code of ours. */
  alter(ref: Ref, change: (record: Record) => Record): Promise<void>;
  remove(ref: Ref): Promise<void>;
  close(): Promise<void>;
}

const keyIn = (ref: Ref): Record => {
  const { pk, sk } = keyOf(ref);
  return { [TABLE_KEY.partition.name]: { S: pk }, [TABLE_KEY.sort.name]: { S: sk } };
};

export const openAuditWorld = async (): Promise<AuditWorld> => {
  const engine = await openEmbeddedDynamo();
  const client: DynamoDBClient = createLedgerClient({ requestHandler: engine.requestHandler });
  await ensureTable(client, TABLE_NAME);
  const table = { client, table: TABLE_NAME };
  const ledger = createDynamoLedger(table);
  const world = openTestWorld({
    reshape: (ports) => ({
      ...ports,
      ledger,
      pages: createDynamoPages(table, ports.clock),
      pace: createDynamoPace(table),
      secrets: createLedgerSecrets(ledger, ports.clock),
    }),
  });
  for (const right of ['view', 'send', 'admin', 'decide', 'resend'] as const) {
    const named = { hash: tokenHash(world.token(right)), name: `holder-of-${right}`, rights: [right] };
    await ledger.create<Token>({ item: 'token', version: 1, ...named, createdAtMs: world.clock.nowMs(), carried: {} });
  }
  return {
    world,
    alter: async (ref, change) => {
      const { Item } = await client.send(new GetItemCommand({ TableName: TABLE_NAME, Key: keyIn(ref) }));
      if (Item === undefined) throw new Error(`nothing stands under ${JSON.stringify(ref)}`);
      await client.send(new PutItemCommand({ TableName: TABLE_NAME, Item: change(Item) }));
    },
    remove: async (ref) => {
      await client.send(new DeleteItemCommand({ TableName: TABLE_NAME, Key: keyIn(ref) }));
    },
    close: async () => {
      client.destroy();
      await engine.close();
    },
  };
};
