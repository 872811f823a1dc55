import { CreateTableCommand, DescribeTableCommand, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, it } from 'vitest';
import { INDEXES } from '../../functions/adapters/ledger/schema.ts';
import { openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { ensureTable } from '../../infra/local/ledger-table.ts';

const engine = await openEmbeddedDynamo();
const client = engine.client();
afterAll(() => engine.close());

describe('the table of the ledger on an engine', () => {
  it('is made once, whoever asks first and however many ask at once', async () => {
    await Promise.all(Array.from({ length: 5 }, () => ensureTable(client, 'made-once')));
    await ensureTable(client, 'made-once');
    expect((await client.send(new ListTablesCommand())).TableNames).toStrictEqual(['made-once']);
  });

  it('has the keys of the schema, and indexes of keys only', async () => {
    await ensureTable(client, 'by-schema');
    const { Table } = await client.send(new DescribeTableCommand({ TableName: 'by-schema' }));
    expect(Table?.KeySchema?.map(({ AttributeName }) => AttributeName)).toStrictEqual(['pk', 'sk']);
    const indexes = Table?.GlobalSecondaryIndexes ?? [];
    expect(indexes.map(({ IndexName }) => IndexName).toSorted()).toStrictEqual(Object.keys(INDEXES).toSorted());
    expect(indexes.map(({ Projection }) => Projection?.ProjectionType)).toStrictEqual(indexes.map(() => 'KEYS_ONLY'));
  });

  it('is refused where it stands with other keys, and says what it has and what it should have', async () => {
    await client.send(
      new CreateTableCommand({
        TableName: 'strange',
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      }),
    );
    await expect(ensureTable(client, 'strange')).rejects.toThrow(
      /It has table\(id\) and should have .*due\(dp,lookMs\)/,
    );
  });
});
