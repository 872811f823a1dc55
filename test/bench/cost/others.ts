/** The same paths through what else one could use, on the same engine. Each gives what it spends for one delivery. */
import {
  CreateTableCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type { PeerPackages } from '../peers/packages.ts';
import { powertools } from '../peers/powertools.ts';
import { metered, type Spent, together } from './meter.ts';

export interface Compared {
  readonly first: Spent;
  readonly duplicate: Spent;
  /** Eight attempts, all of them answered 500. */
  readonly failing: Spent;
}

const EIGHT = Array.from({ length: 8 }, (_, n) => n + 1);
const ID = 'e'.repeat(40);
const PAYLOAD = { S: 'x'.repeat(512) };

// ---- Powertools ---------------------------------------------------------------------------------------------------

/** Idempotency around a send: no event, no budget, no journal, and a record that is deleted where the send throws. */
export const powertoolsCost = async (packages: PeerPackages, client: DynamoDBClient): Promise<Compared> => {
  let fails = false;
  const work = async (): Promise<unknown> => {
    if (fails) throw new Error('the destination answered 500');
    return { status: 200 };
  };
  const send = await powertools(packages, { client, table: 'powertools', remainingMs: 60_000, work });
  const meter = metered(client, () => 'record');
  meter.take();
  await send({ id: ID });
  const first = meter.take();
  await send({ id: ID });
  const duplicate = meter.take();
  fails = true;
  for (const _ of EIGHT) await send({ id: `${ID}-failing` }).catch(() => {});
  return { first, duplicate, failing: meter.take() };
};

// ---- two items in a transaction ------------------------------------------------------------------------------------

const TABLE = 'transactional';
const keyOf = (id: string, sort: string) => ({ pk: { S: id }, sk: { S: sort } });

/**
 * As it is often drawn: the state of the delivery and its record of attempts are two items that change together, and an
 * index of what is due finds what was lost. Rejects where the engine has no transactions.
 */
export const transactionalCost = async (client: DynamoDBClient): Promise<Compared> => {
  await createTable(client, TABLE, true);
  const meter = metered(client, () => 'table');
  meter.take();
  await acceptBoth(client, ID);
  await claimBoth(client, ID, 1);
  await settleBoth(client, ID, 1, undefined);
  const first = meter.take();
  await client.send(new GetItemCommand({ TableName: TABLE, Key: keyOf(ID, 'delivery'), ConsistentRead: true }));
  const duplicate = meter.take();
  await acceptBoth(client, 'failing');
  for (const attempt of EIGHT) {
    await claimBoth(client, 'failing', attempt);
    await settleBoth(client, 'failing', attempt, attempt < EIGHT.length ? attempt : undefined);
  }
  return { first, duplicate, failing: meter.take() };
};

const transact = (client: DynamoDBClient, ...TransactItems: TransactWriteItem[]) =>
  client.send(new TransactWriteItemsCommand({ TransactItems }));

const acceptBoth = (client: DynamoDBClient, id: string) =>
  transact(
    client,
    { Put: { TableName: TABLE, Item: { ...keyOf(id, 'event'), payload: PAYLOAD }, ConditionExpression: ABSENT } },
    {
      Put: {
        TableName: TABLE,
        Item: {
          ...keyOf(id, 'delivery'),
          state: { S: 'pending' },
          version: { N: '1' },
          slot: { S: 'due' },
          due: { N: '0' },
        },
        ConditionExpression: ABSENT,
      },
    },
  );

const ABSENT = 'attribute_not_exists(pk)';

const claimBoth = (client: DynamoDBClient, id: string, attempt: number) =>
  transact(
    client,
    {
      Update: {
        TableName: TABLE,
        Key: keyOf(id, 'delivery'),
        UpdateExpression: 'SET #state = :claimed, attempt = :attempt ADD version :one',
        ConditionExpression: '#state = :pending',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: {
          ':claimed': { S: 'claimed' },
          ':pending': { S: 'pending' },
          ':attempt': { N: `${attempt}` },
          ':one': { N: '1' },
        },
      },
    },
    {
      Put: {
        TableName: TABLE,
        Item: { ...keyOf(id, `attempt#${attempt}`), cause: { S: 'm'.repeat(36) }, at: { N: '1767365413000' } },
        ConditionExpression: ABSENT,
      },
    },
  );

/** `again`: it is due again, at that time; without, it is over and leaves the index. */
const settleBoth = (client: DynamoDBClient, id: string, attempt: number, again: number | undefined) =>
  transact(
    client,
    {
      Update: {
        TableName: TABLE,
        Key: keyOf(id, 'delivery'),
        UpdateExpression:
          again === undefined
            ? 'SET #state = :next ADD version :one REMOVE slot, due'
            : 'SET #state = :next, due = :due ADD version :one',
        ConditionExpression: '#state = :claimed',
        ExpressionAttributeNames: { '#state': 'state' },
        ExpressionAttributeValues: {
          ':next': { S: again === undefined ? 'over' : 'pending' },
          ':claimed': { S: 'claimed' },
          ':one': { N: '1' },
          ...(again === undefined ? {} : { ':due': { N: `${again}` } }),
        },
      },
    },
    {
      Update: {
        TableName: TABLE,
        Key: keyOf(id, `attempt#${attempt}`),
        UpdateExpression: 'SET outcome = :outcome',
        ExpressionAttributeValues: { ':outcome': { N: again === undefined ? '200' : '500' } },
      },
    },
  );

// ---- the floor ----------------------------------------------------------------------------------------------------

/** One item and the three writes that no durable design can do without: taken in, begun, ended. Nothing finds what is lost. */
export const floorCost = async (client: DynamoDBClient): Promise<Compared> => {
  await createTable(client, FLOOR, false);
  const meter = metered(client, () => 'item');
  meter.take();
  await put(client, ID);
  const taken = meter.take();
  await Promise.all([state(client, ID, 'claimed'), state(client, ID, 'over')]);
  const attempt = meter.take();
  await client.send(new GetItemCommand({ TableName: FLOOR, Key: keyOf(ID, 'all'), ConsistentRead: true }));
  return {
    first: together([taken, attempt]),
    duplicate: meter.take(),
    failing: together([taken, ...EIGHT.map(() => attempt)]),
  };
};

const FLOOR = 'floor';

const put = (client: DynamoDBClient, id: string) =>
  client.send(
    new PutItemCommand({
      TableName: FLOOR,
      Item: { ...keyOf(id, 'all'), payload: PAYLOAD },
      ConditionExpression: ABSENT,
    }),
  );

const state = (client: DynamoDBClient, id: string, text: string) =>
  client.send(
    new UpdateItemCommand({
      TableName: FLOOR,
      Key: keyOf(id, 'all'),
      UpdateExpression: 'SET #state = :next',
      ExpressionAttributeNames: { '#state': 'state' },
      ExpressionAttributeValues: { ':next': { S: text } },
    }),
  );

const createTable = async (client: DynamoDBClient, name: string, indexed: boolean): Promise<void> => {
  const due = { IndexName: 'due', Projection: { ProjectionType: 'KEYS_ONLY' as const } };
  const text = (AttributeName: string) => ({ AttributeName, AttributeType: 'S' as const });
  const keys = (hash: string, range: string) => [
    { AttributeName: hash, KeyType: 'HASH' as const },
    { AttributeName: range, KeyType: 'RANGE' as const },
  ];
  await client.send(
    new CreateTableCommand({
      TableName: name,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [
        text('pk'),
        text('sk'),
        ...(indexed ? [text('slot'), { AttributeName: 'due', AttributeType: 'N' as const }] : []),
      ],
      KeySchema: keys('pk', 'sk'),
      ...(indexed ? { GlobalSecondaryIndexes: [{ ...due, KeySchema: keys('slot', 'due') }] } : {}),
    }),
  );
  await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName: name });
};
