/**
 * BatchWriteItem: up to 25 puts and deletes. As in the real service each of them is atomic and the whole is not; one
 * that breaks a rule refuses the whole before anything is written.
 */
import { type Callback, engine, storeOptions } from './engine-parts.ts';
import { alreadyHeld, ignoredWrites, refusePut, writeItem } from './item-writes.ts';
import { certain, isItem, isJson, type JsonObject } from './shapes.ts';
import { type Store, tableNotFound } from './store.ts';

export async function batchWriteItem(store: Store, unchecked: JsonObject): Promise<JsonObject> {
  const request = engine.parse('batchWriteItem', unchecked);
  // dynalite's action holds the rules (keys, duplicates); played on a store without items it only judges.
  await engine.play('batchWriteItem', () => emptyView(store), request);

  const writes = writesOf(request);
  for (const { name, TableName, member } of writes) {
    const refusal = name === 'putItem' ? refusePut(member, store.table(TableName)) : undefined;
    if (refusal) throw refusal;
  }
  const asked = request['ReturnConsumedCapacity'];
  const capacity = asked === undefined ? {} : { ReturnConsumedCapacity: asked };
  const answers = await Promise.all(
    writes.map(({ name, TableName, member }) => {
      const place = name === 'putItem' ? { Item: member } : { Key: member };
      return writeItem(store, name, { TableName, ...place, ...capacity });
    }),
  );
  const consumed = answers.flatMap(({ ConsumedCapacity: units }) => (isJson(units) ? [units] : []));
  return {
    UnprocessedItems: {},
    ...(consumed.length > 0 && { ConsumedCapacity: perTable(consumed) }),
  };
}

function writesOf(request: JsonObject) {
  const tables = Object.entries(certain(request['RequestItems'], isJson, 'the requests by table'));
  return tables.flatMap(([TableName, list]) =>
    (Array.isArray(list) ? list : []).map((entry: unknown) => {
      const { PutRequest: put, DeleteRequest: del } = certain(entry, isJson, 'a write request');
      return isJson(put)
        ? {
            name: 'putItem' as const,
            TableName,
            member: certain(put['Item'], isItem, 'an item'),
          }
        : {
            name: 'deleteItem' as const,
            TableName,
            member: certain(isJson(del) && del['Key'], isItem, 'a key'),
          };
    }),
  );
}

function emptyView(store: Store): object {
  const none = {
    lock: alreadyHeld,
    get: (_key: string, done: Callback) => done(null, undefined),
    ...ignoredWrites,
  };
  return {
    options: storeOptions,
    getTable: (name: string, done: Callback) => {
      const table = store.findTable(name);
      if (table) done(null, table);
      else done(tableNotFound(name));
    },
    getItemDb: () => none,
    getIndexDb: () => none,
  };
}

function perTable(consumed: readonly JsonObject[]): JsonObject[] {
  const totals = new Map<string, number>();
  for (const { TableName, CapacityUnits } of consumed) {
    const name = String(TableName);
    totals.set(name, (totals.get(name) ?? 0) + Number(CapacityUnits));
  }
  return [...totals].map(([TableName, CapacityUnits]) => ({
    TableName,
    CapacityUnits,
  }));
}
