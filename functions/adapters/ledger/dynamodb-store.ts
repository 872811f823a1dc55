/**
 * The records on DynamoDB. Three requests are made of it: get, put under a condition, query (for rows, or their number).
 *
 *   request ──► answer
 *     │   ├──── condition not met ──► refused, with the record that stands there (ALL_OLD), in the same answer
 *     │   └──── malformed ──────────► thrown as it is: a bug of ours
 *     └──► no answer, throttled, 5xx, not allowed, no such table, after the client's tries ──► PortUnavailable
 *
 * After `PortUnavailable` nobody knows whether a write was applied. The client's own second try of a write that was
 * applied is refused by the first one, and shows the row that it wrote.
 */
import {
  ConditionalCheckFailedException,
  type ConsumedCapacity,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  type PutItemCommandInput,
  QueryCommand,
  type QueryCommandInput,
} from '@aws-sdk/client-dynamodb';
import { FORMAT } from '../../core/model.ts';
import type { ItemKey } from './codec/item-keys.ts';
import type { Stored } from './codec/stored.ts';
import { reached, untilLate } from './reached.ts';
import type {
  Condition,
  IndexPage,
  IndexQuery,
  IndexRow,
  PartitionQuery,
  PutResult,
  RecordStore,
} from './record-store.ts';
import { FORMAT_ATTRIBUTE, INDEXES, TABLE_KEY, VERSION_ATTRIBUTE } from './schema.ts';

export interface DynamoOptions {
  readonly client: DynamoDBClient;
  readonly table: string;
  /** Told what each answered request has cost, indexes included. Asked of the service only if somebody listens. */
  readonly onCapacity?: (request: 'get' | 'put' | 'query', capacity: ConsumedCapacity) => void;
}

const PK = TABLE_KEY.partition.name;
const SK = TABLE_KEY.sort.name;

export const createDynamoStore = ({ client, table, onCapacity }: DynamoOptions): RecordStore => {
  const common = { TableName: table, ...(onCapacity ? { ReturnConsumedCapacity: 'INDEXES' as const } : {}) };

  const get = async (key: ItemKey): Promise<Stored | undefined> => {
    const command = new GetItemCommand({ ...common, Key: keyRecord(key), ConsistentRead: true });
    const answer = await reached(client.send(command, untilLate()));
    if (answer.ConsumedCapacity) onCapacity?.('get', answer.ConsumedCapacity);
    return answer.Item;
  };

  const put = async (record: Stored, condition: Condition): Promise<PutResult> => {
    const command = new PutItemCommand({
      ...common,
      ...expressed(condition),
      Item: record,
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    });
    try {
      const answer = await reached(client.send(command, untilLate()));
      if (answer.ConsumedCapacity) onCapacity?.('put', answer.ConsumedCapacity);
      return { kind: 'written' };
    } catch (cause) {
      if (cause instanceof ConditionalCheckFailedException) return { kind: 'refused', present: cause.Item };
      throw cause;
    }
  };

  const query = async (input: Omit<QueryCommandInput, 'TableName'>) => {
    const answer = await reached(client.send(new QueryCommand({ ...common, ...input }), untilLate()));
    if (answer.ConsumedCapacity) onCapacity?.('query', answer.ConsumedCapacity);
    return { records: answer.Items ?? [], count: answer.Count ?? 0, last: answer.LastEvaluatedKey };
  };

  const partition = async (wanted: PartitionQuery): Promise<readonly Stored[]> => {
    const records: Stored[] = [];
    let last: Stored | undefined;
    // An event with a large payload and ten long journals can take more than the 1 MB of a page.
    do {
      const left = wanted.limit === undefined ? {} : { Limit: wanted.limit - records.length };
      const page = await query({ ...partitionInput(wanted), ...left, ...(last ? { ExclusiveStartKey: last } : {}) });
      records.push(...page.records);
      last = page.last;
    } while (last && records.length < (wanted.limit ?? Number.POSITIVE_INFINITY));
    return records;
  };

  const index = async (wanted: IndexQuery): Promise<IndexPage> => {
    const page = await query(indexInput(wanted));
    return { rows: page.records.map((record) => rowIn(wanted, record)), more: page.last !== undefined };
  };

  const count: RecordStore['count'] = async (wanted) => {
    const input = { ...indexInput({ ...wanted, order: 'ascending' }), Select: 'COUNT' as const };
    let total = 0;
    let last: Stored | undefined;
    do {
      const start = last ? { ExclusiveStartKey: last } : {};
      const page = await query({ ...input, Limit: wanted.limit - total, ...start });
      total += page.count;
      last = page.last;
    } while (last && total < wanted.limit);
    return total;
  };

  return { get, put, partition, index, count };
};

// ---- requests -----------------------------------------------------------------------------------------------------

const keyRecord = ({ pk, sk }: ItemKey): Record<string, { S: string }> => ({ [PK]: { S: pk }, [SK]: { S: sk } });

const expressed = (condition: Condition): Partial<PutItemCommandInput> => {
  if (condition.kind === 'absent') {
    return { ConditionExpression: 'attribute_not_exists(#pk)', ExpressionAttributeNames: { '#pk': PK } };
  }
  return {
    ConditionExpression: '#v = :read AND #f <= :format',
    ExpressionAttributeNames: { '#v': VERSION_ATTRIBUTE, '#f': FORMAT_ATTRIBUTE },
    ExpressionAttributeValues: { ':read': { N: String(condition.version) }, ':format': { N: String(FORMAT) } },
  };
};

const partitionInput = ({ pk, between }: PartitionQuery): Omit<QueryCommandInput, 'TableName'> => {
  const whole = { ConsistentRead: true, KeyConditionExpression: '#pk = :pk' };
  if (between === undefined) {
    return { ...whole, ExpressionAttributeNames: { '#pk': PK }, ExpressionAttributeValues: { ':pk': { S: pk } } };
  }
  return {
    ...whole,
    KeyConditionExpression: '#pk = :pk AND #sk BETWEEN :first AND :last',
    ExpressionAttributeNames: { '#pk': PK, '#sk': SK },
    ExpressionAttributeValues: { ':pk': { S: pk }, ':first': { S: between[0] }, ':last': { S: between[1] } },
  };
};

const indexInput = (wanted: IndexQuery): Omit<QueryCommandInput, 'TableName'> => {
  const { name, partition, sort } = INDEXES[wanted.index];
  const input = {
    IndexName: name,
    ScanIndexForward: wanted.order === 'ascending',
    Limit: wanted.limit,
    ...(wanted.after ? { ExclusiveStartKey: startAfter(wanted, wanted.after) } : {}),
  };
  const names = { '#p': partition.name };
  const values = { ':p': { S: wanted.partition } };
  const { within } = wanted;
  if (within === undefined) {
    return {
      ...input,
      KeyConditionExpression: '#p = :p',
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    };
  }
  return {
    ...input,
    KeyConditionExpression: `#p = :p AND ${within.kind === 'until' ? '#s <= :s' : 'begins_with(#s, :s)'}`,
    ExpressionAttributeNames: { ...names, '#s': sort.name },
    ExpressionAttributeValues: { ...values, ':s': sortValue(within.kind === 'until' ? within.sort : within.text) },
  };
};

const startAfter = ({ index, partition }: IndexQuery, row: IndexRow): Stored => ({
  ...keyRecord(row.key),
  [INDEXES[index].partition.name]: { S: partition },
  [INDEXES[index].sort.name]: sortValue(row.sort),
});

const sortValue = (sort: string | number) => (typeof sort === 'number' ? { N: String(sort) } : { S: sort });

const rowIn = ({ index }: IndexQuery, record: Stored): IndexRow => {
  const sort = record[INDEXES[index].sort.name];
  return {
    key: { pk: record[PK]?.S ?? '', sk: record[SK]?.S ?? '' },
    sort: sort?.N === undefined ? (sort?.S ?? '') : Number(sort.N),
  };
};
