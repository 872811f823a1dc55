/** What the parts of the contract of a DynamoDB engine share: a table of their own, and short forms of the commands. */
import { randomUUID } from 'node:crypto';
import {
  type AttributeValue,
  CreateTableCommand,
  DeleteItemCommand,
  type DeleteItemCommandInput,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  type QueryCommandInput,
  UpdateItemCommand,
  type UpdateItemCommandInput,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';

export type Item = Record<string, AttributeValue>;
export type MakeClient = () => Promise<DynamoDBClient>;

type Rest<Input> = Omit<Input, 'TableName' | 'Item' | 'Key'>;

export interface Bench {
  readonly client: DynamoDBClient;
  readonly table: string;
  put(item: Item, rest?: Rest<PutItemCommandInput>): ReturnType<typeof putItem>;
  update(key: Item, rest: Rest<UpdateItemCommandInput>): ReturnType<typeof updateItem>;
  remove(key: Item, rest?: Rest<DeleteItemCommandInput>): ReturnType<typeof deleteItem>;
  get(key: Item): Promise<Item | undefined>;
  query(rest: Rest<QueryCommandInput>): ReturnType<typeof query>;
  /** All pages of a query, and how many items each had. */
  pages(rest: Rest<QueryCommandInput>): Promise<{ items: Item[]; sizes: number[] }>;
  /** All rows of the index `due` under one partition. */
  due(partition: string): Promise<Item[]>;
}

/** Text key `pk`/`sk`; index `due` (text, number) and index `bytes` (binary, binary), both with keys only. */
export async function makeBench(client: DynamoDBClient): Promise<Bench> {
  const table = `contract-${randomUUID()}`;
  await createTable(client, table, { pk: 'S', sk: 'S' }, { due: { gp: 'S', gs: 'N' }, bytes: { bp: 'B', bs: 'B' } });
  return benchOn(client, table);
}

export function benchOn(client: DynamoDBClient, table: string): Bench {
  const bench: Bench = {
    client,
    table,
    put: (item, rest) => putItem(client, { TableName: table, Item: item, ...rest }),
    update: (key, rest) => updateItem(client, { TableName: table, Key: key, ...rest }),
    remove: (key, rest) => deleteItem(client, { TableName: table, Key: key, ...rest }),
    get: async (key) =>
      (await client.send(new GetItemCommand({ TableName: table, Key: key, ConsistentRead: true }))).Item,
    query: (rest) => query(client, { TableName: table, ...rest }),
    pages: async (rest) => {
      const items: Item[] = [];
      const sizes: number[] = [];
      let from: Item | undefined;
      do {
        const page = await query(client, { TableName: table, ...rest, ExclusiveStartKey: from });
        items.push(...(page.Items ?? []));
        sizes.push(page.Items?.length ?? 0);
        from = page.LastEvaluatedKey;
      } while (from);
      return { items, sizes };
    },
    due: async (partition) => {
      const found = await bench.pages({
        IndexName: 'due',
        KeyConditionExpression: 'gp = :p',
        ExpressionAttributeValues: { ':p': { S: partition } },
      });
      return found.items;
    },
  };
  return bench;
}

type KeyTypes = Record<string, 'S' | 'N' | 'B'>;

export async function createTable(
  client: DynamoDBClient,
  table: string,
  keys: KeyTypes,
  indexes: Record<string, KeyTypes> = {},
): Promise<void> {
  const attributes = new Map([keys, ...Object.values(indexes)].flatMap((types) => Object.entries(types)));
  const schema = (of: KeyTypes) =>
    Object.keys(of).map((AttributeName, at) => ({
      AttributeName,
      KeyType: at === 0 ? ('HASH' as const) : ('RANGE' as const),
    }));
  const GlobalSecondaryIndexes = Object.entries(indexes).map(([IndexName, of]) => ({
    IndexName,
    KeySchema: schema(of),
    Projection: { ProjectionType: 'KEYS_ONLY' as const },
  }));
  await client.send(
    new CreateTableCommand({
      TableName: table,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [...attributes].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType })),
      KeySchema: schema(keys),
      ...(GlobalSecondaryIndexes.length > 0 && { GlobalSecondaryIndexes }),
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName: table });
}

export function key(pk: string, sk = 'row'): { pk: AttributeValue; sk: AttributeValue } {
  return { pk: { S: pk }, sk: { S: sk } };
}

export interface Refused {
  readonly name: string;
  readonly item: unknown;
}

/** The name of the refusal and the item on it. A request that is not refused fails the test. */
export async function refusalOf(request: Promise<unknown>): Promise<Refused> {
  const error = await request.then(
    () => {
      throw new Error('the request was not refused');
    },
    (reason: unknown) => reason,
  );
  if (!(error instanceof Error)) throw new Error('the refusal is no error');
  return { name: error.name, item: 'Item' in error ? error.Item : undefined };
}

function putItem(client: DynamoDBClient, input: PutItemCommandInput) {
  return client.send(new PutItemCommand(input));
}

function updateItem(client: DynamoDBClient, input: UpdateItemCommandInput) {
  return client.send(new UpdateItemCommand(input));
}

function deleteItem(client: DynamoDBClient, input: DeleteItemCommandInput) {
  return client.send(new DeleteItemCommand(input));
}

function query(client: DynamoDBClient, input: QueryCommandInput) {
  return client.send(new QueryCommand(input));
}
