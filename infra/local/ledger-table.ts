/**
 * The ledger's table on an engine of this machine, made if it is not there:
 *
 *   describe ── there ──────────────────────────────────────────► checked: the keys and indexes are ours, or it is refused
 *      └─────── missing ──► create ── somebody else was faster ──► waited for, then checked
 *
 * Without the time to live: the local engines delete nothing by it.
 */
import {
  type AttributeDefinition,
  CreateTableCommand,
  DescribeTableCommand,
  type DynamoDBClient,
  type KeySchemaElement,
  ResourceInUseException,
  ResourceNotFoundException,
  type TableDescription,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { INDEXES, type KeySchema, TABLE_KEY } from '../../functions/adapters/ledger/schema.ts';

const WAIT_SEC = 20;

/** Rejects if a table of that name has other keys or indexes than this version wants. */
export const ensureTable = async (client: DynamoDBClient, table: string): Promise<void> => {
  const found = (await describe(client, table)) ?? (await create(client, table));
  const [wanted, there] = [textOf(WANTED), textOf(shapeOf(found))];
  if (wanted !== there) {
    throw new Error(
      `the table "${table}" has other keys or indexes than this version wants. It has ${there} and should have ${wanted}. Give this version another data directory.`,
    );
  }
};

const describe = async (client: DynamoDBClient, table: string): Promise<TableDescription | undefined> => {
  try {
    return (await client.send(new DescribeTableCommand({ TableName: table }))).Table;
  } catch (cause) {
    if (cause instanceof ResourceNotFoundException) return undefined;
    throw cause;
  }
};

const create = async (client: DynamoDBClient, table: string): Promise<TableDescription | undefined> => {
  try {
    await client.send(
      new CreateTableCommand({
        TableName: table,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: definitions(),
        KeySchema: elementsOf(TABLE_KEY),
        GlobalSecondaryIndexes: Object.values(INDEXES).map((index) => ({
          IndexName: index.name,
          KeySchema: elementsOf(index),
          Projection: { ProjectionType: 'KEYS_ONLY' },
        })),
      }),
    );
  } catch (cause) {
    if (!(cause instanceof ResourceInUseException)) throw cause;
  }
  await waitUntilTableExists({ client, maxWaitTime: WAIT_SEC, minDelay: 1 }, { TableName: table });
  return describe(client, table);
};

const keysOf = ({ partition, sort }: KeySchema) => [partition, sort];

const definitions = (): AttributeDefinition[] =>
  [TABLE_KEY, ...Object.values(INDEXES)]
    .flatMap(keysOf)
    .map(({ name, type }) => ({ AttributeName: name, AttributeType: type }));

const elementsOf = ({ partition, sort }: KeySchema): KeySchemaElement[] => [
  { AttributeName: partition.name, KeyType: 'HASH' },
  { AttributeName: sort.name, KeyType: 'RANGE' },
];

// ---- what a table looks like, for comparing -----------------------------------------------------------------------

type Shape = Readonly<Record<string, readonly KeySchemaElement[]>>;

const WANTED: Shape = {
  table: elementsOf(TABLE_KEY),
  ...Object.fromEntries(Object.values(INDEXES).map((index) => [index.name, elementsOf(index)])),
};

const shapeOf = (description: TableDescription | undefined): Shape => ({
  table: description?.KeySchema ?? [],
  ...Object.fromEntries(
    (description?.GlobalSecondaryIndexes ?? []).map(({ IndexName, KeySchema }) => [IndexName ?? '', KeySchema ?? []]),
  ),
});

/** `due(dp,lookMs) table(pk,sk)`: in one order, whatever order the engine lists them in. */
const textOf = (shape: Shape): string =>
  Object.entries(shape)
    .map(([name, keys]) => `${name}(${keys.map(({ AttributeName }) => AttributeName).join(',')})`)
    .toSorted()
    .join(' ');
