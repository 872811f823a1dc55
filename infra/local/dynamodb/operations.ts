/** From the name of an operation and its JSON to an answer in DynamoDB's terms. */
import { batchWriteItem } from './batch-writes.ts';
import { type ActionName, engine, isServiceError } from './engine-parts.ts';
import { type ItemWrite, parseItemWrite, writeItem } from './item-writes.ts';
import { readView } from './read-view.ts';
import { isJson, type JsonObject } from './shapes.ts';
import type { Store } from './store.ts';
import { createTable, describeTimeToLive, updateTimeToLive } from './tables.ts';

export interface Answer {
  readonly statusCode: number;
  readonly body: JsonObject;
}

type Operation = (store: Store, request: JsonObject) => Promise<JsonObject>;

const OPERATIONS: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ['BatchGetItem', reading('batchGetItem')],
  ['BatchWriteItem', batchWriteItem],
  ['CreateTable', createTable],
  ['DeleteItem', writing('deleteItem')],
  ['DescribeTable', reading('describeTable')],
  ['DescribeTimeToLive', describeTimeToLive],
  ['GetItem', reading('getItem')],
  ['ListTables', reading('listTables')],
  ['PutItem', writing('putItem')],
  ['Query', reading('query')],
  ['Scan', reading('scan')],
  ['UpdateItem', writing('updateItem')],
  ['UpdateTimeToLive', updateTimeToLive],
]);

const TARGET = /^DynamoDB_20120810\.(\w+)$/;

/** `target` is the header `x-amz-target`. Never rejects: what breaks inside is a 500, as the real service says it. */
export async function answer(store: Store, target: string, body: string): Promise<Answer> {
  const operation = OPERATIONS.get(TARGET.exec(target)?.[1] ?? '');
  if (!operation) return refusal('com.amazon.coral.service#UnknownOperationException');
  const request = parseJson(body);
  if (!isJson(request)) return refusal('com.amazon.coral.service#SerializationException');
  try {
    return { statusCode: 200, body: await operation(store, request) };
  } catch (error) {
    if (isServiceError(error)) return { statusCode: error.statusCode, body: error.body };
    const message = error instanceof Error ? error.message : String(error);
    return {
      statusCode: 500,
      body: {
        __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError',
        message,
      },
    };
  }
}

function reading(name: ActionName): Operation {
  return (store, unchecked) => {
    const request = engine.parse(name, unchecked);
    return engine.play(name, (crash) => readView(store, request, crash), request);
  };
}

function writing(name: ItemWrite): Operation {
  return (store, unchecked) => writeItem(store, name, parseItemWrite(name, unchecked));
}

function refusal(type: string): Answer {
  return { statusCode: 400, body: { __type: type } };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
