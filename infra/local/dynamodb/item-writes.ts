/**
 * PutItem, UpdateItem and DeleteItem:
 *
 *   check the request ─▶ wait for the key ─▶ read the item ─▶ let dynalite play the action on that one item
 *     ─▶ work out what moves in the indexes ─▶ keep item and index rows in one batch ─▶ free the key ─▶ answer
 *
 * dynalite writes index rows and item one after the other, so that a kill leaves them apart. Here nothing is written
 * while the action runs: it works on a view that holds one item, and everything is kept, or nothing, when it is done.
 */
import { type Callback, engine, isServiceError, type ServiceError, storeOptions } from './engine-parts.ts';
import { type IndexMove, indexMoves, indexWriteUnits } from './index-rows.ts';
import { itemBytes, refuseItem } from './item-rules.ts';
import { certain, type Item, isItem, isJson, type JsonObject, type Table } from './shapes.ts';
import type { Store } from './store.ts';

export type ItemWrite = 'putItem' | 'updateItem' | 'deleteItem';

/** The member of these requests that dynalite does not know, in its notation. */
const ON_FAILURE = {
  ReturnValuesOnConditionCheckFailure: {
    type: 'String',
    enum: ['ALL_OLD', 'NONE'],
  },
};

export function parseItemWrite(name: ItemWrite, request: JsonObject): JsonObject {
  return engine.parse(name, request, ON_FAILURE);
}

/** Plays a checked request. Rejects with a `ServiceError`. */
export async function writeItem(store: Store, name: ItemWrite, request: JsonObject): Promise<JsonObject> {
  const table = store.table(String(request['TableName']));
  const place = certain(name === 'putItem' ? request['Item'] : request['Key'], isItem, 'an item or a key');
  const refusal = name === 'putItem' ? refusePut(place, table) : engine.refuseKey(place, table);
  if (refusal) throw refusal;
  const key = engine.createKey(place, table);

  return store.locks.hold(`${table.TableName}~${key}`, async () => {
    const before = await store.item(table.TableName, key);
    const { answer, after } = await playOn(table, name, request, before);
    // What an update comes to is known only now; a put has been judged before.
    const late = name === 'updateItem' && after ? refusePut(after, table) : undefined;
    if (late) throw late;
    const moves = indexMoves(table, before, after);
    if (before || after) await store.writeItem(table.TableName, key, after, moves);
    return withUnits(answer, request, table, [before, after], moves);
  });
}

export function refusePut(item: Item, table: Table): ServiceError | undefined {
  return engine.refuseItem(item, table) ?? refuseItem(item, table);
}

async function playOn(table: Table, name: ItemWrite, request: JsonObject, before: Item | undefined) {
  let after = before;
  const put = (_key: string, item: Item, done: Callback) => {
    after = item;
    done(null);
  };
  const del = (_key: string, done: Callback) => {
    after = undefined;
    done(null);
  };
  const view = {
    options: storeOptions,
    getTable: (_name: string, done: Callback) => done(null, table),
    getItemDb: () => ({
      lock: alreadyHeld,
      get: (_key: string, done: Callback) => done(null, before),
      put,
      del,
    }),
    getIndexDb: () => ignoredWrites,
  };
  try {
    const { Attributes: attributes, ...answer } = await engine.play(name, () => view, request);
    const some = isJson(attributes) && Object.keys(attributes).length > 0;
    // The real service leaves them out when there are none to return.
    return { answer: some ? { ...answer, Attributes: attributes } : answer, after };
  } catch (error) {
    throw withOldItem(error, request, before);
  }
}

/** For views of actions that take a lock themselves where it is held by us. */
export function alreadyHeld(_key: string, work: (release: (done: Callback) => Callback) => void): void {
  work((done) => done);
}

/** The rows of the indexes follow from the item before and after; what the action would write there is not needed. */
export const ignoredWrites = {
  put: (_key: string, _row: unknown, done: Callback) => done(null),
  del: (_key: string, done: Callback) => done(null),
};

/** The real service gives the item that stood in the way, if one did and the request asked for it. */
function withOldItem(error: unknown, request: JsonObject, before: Item | undefined): unknown {
  const asked = request['ReturnValuesOnConditionCheckFailure'] === 'ALL_OLD';
  if (!asked || !before || !isServiceError(error)) return error;
  if (!String(error.body['__type']).endsWith('#ConditionalCheckFailedException')) return error;
  return Object.assign(new Error(error.message), {
    statusCode: error.statusCode,
    body: { ...error.body, Item: before },
  });
}

/** dynalite counts the table alone; the real service counts the indexes as well. */
function withUnits(
  answer: JsonObject,
  request: JsonObject,
  table: Table,
  items: readonly (Item | undefined)[],
  moves: readonly IndexMove[],
): JsonObject {
  const asked = request['ReturnConsumedCapacity'];
  if (asked !== 'TOTAL' && asked !== 'INDEXES') return answer;
  const tableUnits = Math.max(1, ...items.map((item) => (item ? Math.ceil(itemBytes(item) / 1024) : 0)));
  const ofIndexes = moves
    .map((move) => ({
      kind: move.kind,
      name: move.index.IndexName,
      units: indexWriteUnits(move),
    }))
    .filter(({ units }) => units > 0);
  const unitsOf = (kind: 'local' | 'global') => {
    const found = ofIndexes.filter((index) => index.kind === kind);
    return found.length > 0
      ? Object.fromEntries(found.map(({ name, units }) => [name, { CapacityUnits: units }]))
      : undefined;
  };
  const ConsumedCapacity = {
    TableName: table.TableName,
    CapacityUnits: ofIndexes.reduce((total, { units }) => total + units, tableUnits),
    ...(asked === 'INDEXES' && {
      Table: { CapacityUnits: tableUnits },
      LocalSecondaryIndexes: unitsOf('local'),
      GlobalSecondaryIndexes: unitsOf('global'),
    }),
  };
  return { ...answer, ConsumedCapacity };
}
