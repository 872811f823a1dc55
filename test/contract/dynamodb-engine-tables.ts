import { randomUUID } from 'node:crypto';
import {
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  ListTablesCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { type Bench, benchOn, createTable, key, refusalOf } from './dynamodb-engine-bench.ts';

export function tableFacts(bench: () => Bench): void {
  describe('tables', () => {
    it('describes a table as active, with its keys and its indexes', async () => {
      const { Table } = await bench().client.send(new DescribeTableCommand({ TableName: bench().table }));
      expect(Table).toMatchObject({
        TableName: bench().table,
        TableStatus: 'ACTIVE',
        BillingModeSummary: { BillingMode: 'PAY_PER_REQUEST' },
        KeySchema: [
          { AttributeName: 'pk', KeyType: 'HASH' },
          { AttributeName: 'sk', KeyType: 'RANGE' },
        ],
      });
      const indexes = Table?.GlobalSecondaryIndexes?.map(({ IndexName, IndexStatus, Projection }) => ({
        IndexName,
        IndexStatus,
        ProjectionType: Projection?.ProjectionType,
      }));
      expect(indexes).toEqual(
        expect.arrayContaining([
          { IndexName: 'due', IndexStatus: 'ACTIVE', ProjectionType: 'KEYS_ONLY' },
          { IndexName: 'bytes', IndexStatus: 'ACTIVE', ProjectionType: 'KEYS_ONLY' },
        ]),
      );
    });

    it('lists tables, page by page', async () => {
      await createTable(bench().client, `contract-${randomUUID()}`, { pk: 'S' });
      const names: string[] = [];
      let from: string | undefined;
      do {
        const page = await bench().client.send(new ListTablesCommand({ Limit: 1, ExclusiveStartTableName: from }));
        names.push(...(page.TableNames ?? []));
        from = page.LastEvaluatedTableName;
      } while (from);
      expect(names).toContain(bench().table);
      expect(new Set(names).size).toBe(names.length);
    });

    it('refuses a second table of the same name', async () => {
      const again = createTable(bench().client, bench().table, { pk: 'S' });
      expect((await refusalOf(again)).name).toBe('ResourceInUseException');
    });

    it('keeps the items of tables with similar names apart', async () => {
      const name = `contract-${randomUUID()}`;
      const tables = [name, `${name}-`, `${name}.index`];
      await Promise.all(tables.map((table) => createTable(bench().client, table, { pk: 'S', sk: 'S' })));
      await Promise.all(
        tables.map((table) => benchOn(bench().client, table).put({ ...key('same'), in: { S: table } })),
      );
      for (const table of tables) {
        const found = await benchOn(bench().client, table).query({
          KeyConditionExpression: 'pk = :p',
          ExpressionAttributeValues: { ':p': { S: 'same' } },
        });
        expect(found.Items).toEqual([{ ...key('same'), in: { S: table } }]);
      }
    });

    it('says that an unknown table is not found', async () => {
      const none = benchOn(bench().client, `contract-${randomUUID()}`);
      const query = { KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { S: 'x' } } };
      const requests = [none.put(key('x')), none.get(key('x')), none.remove(key('x')), none.query(query)];
      const describe = none.client.send(new DescribeTableCommand({ TableName: none.table }));
      const names = (await Promise.all([...requests, describe].map(refusalOf))).map(({ name }) => name);
      expect(new Set(names)).toEqual(new Set(['ResourceNotFoundException']));
    });

    it('remembers the setting of time to live', async () => {
      const TableName = `contract-${randomUUID()}`;
      await createTable(bench().client, TableName, { pk: 'S' });
      const read = async () =>
        (await bench().client.send(new DescribeTimeToLiveCommand({ TableName }))).TimeToLiveDescription;
      expect((await read())?.TimeToLiveStatus).toBe('DISABLED');
      const TimeToLiveSpecification = { AttributeName: 'expiresAtSec', Enabled: true };
      await bench().client.send(new UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }));
      expect(await read()).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expiresAtSec' });
    });
  });
}
