/** Do a table and its indexes say the same? Compared entry by entry, in both directions. */
import { isDeepStrictEqual } from 'node:util';
import { DescribeTableCommand, type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import type { Item } from './dynamodb-kill-model.ts';

/** One line for each row that an index lacks, and for each that it should not have. Empty when all agree. */
export async function disagreements(client: DynamoDBClient, TableName: string): Promise<string[]> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const items = await scanAll(client, TableName);
  const tableKeys = namesOf(Table?.KeySchema);
  const found: string[] = [];
  for (const { IndexName = '', KeySchema } of Table?.GlobalSecondaryIndexes ?? []) {
    const indexKeys = namesOf(KeySchema);
    const due = items
      .filter((item) => indexKeys.every((name) => item[name] !== undefined))
      .map((item) => textOf(item, [...tableKeys, ...indexKeys]));
    const rows = (await scanAll(client, TableName, IndexName)).map((row) => textOf(row, Object.keys(row)));
    for (const text of without(due, rows)) found.push(`${IndexName} lacks ${text}`);
    for (const text of without(rows, due)) found.push(`${IndexName} should not have ${text}`);
  }
  return found;
}

export async function scanAll(client: DynamoDBClient, TableName: string, IndexName?: string): Promise<Item[]> {
  const items: Item[] = [];
  let from: Item | undefined;
  do {
    const page = await client.send(new ScanCommand({ TableName, IndexName, ExclusiveStartKey: from }));
    items.push(...(page.Items ?? []));
    from = page.LastEvaluatedKey;
  } while (from);
  return items;
}

export function sameItem(one: Item | undefined, other: Item | undefined): boolean {
  return isDeepStrictEqual(one && textOf(one, Object.keys(one)), other && textOf(other, Object.keys(other)));
}

/** What is in `list` more often than in `other`. */
function without(list: readonly string[], other: readonly string[]): string[] {
  const left = [...other];
  return list.filter((text) => {
    const at = left.indexOf(text);
    if (at < 0) return true;
    left.splice(at, 1);
    return false;
  });
}

function textOf(item: Item, names: readonly string[]): string {
  const value = (inner: unknown): unknown => (inner instanceof Uint8Array ? Buffer.from(inner).toString('hex') : inner);
  const parts = names.toSorted().map((name) => {
    const [[type, inner] = []] = Object.entries(item[name] ?? {});
    return [name, type, value(inner)];
  });
  return JSON.stringify(parts);
}

function namesOf(schema: readonly { AttributeName?: string | undefined }[] | undefined): string[] {
  return (schema ?? []).map(({ AttributeName = '' }) => AttributeName);
}
