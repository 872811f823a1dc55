/** CreateTable, and the time-to-live setting: accepted and remembered. Nothing is ever deleted by it here. */
import { type Callback, engine } from './engine-parts.ts';
import { alreadyHeld } from './item-writes.ts';
import { certain, isJson, isTable, type JsonObject, type Table } from './shapes.ts';
import type { Store } from './store.ts';

const TTL_TYPES = {
  TableName: {
    type: 'String',
    required: true,
    tableName: true,
    regex: '[a-zA-Z0-9_.-]+',
  },
  TimeToLiveSpecification: {
    type: 'FieldStruct<TimeToLiveSpecification>',
    notNull: true,
    children: {
      AttributeName: {
        type: 'String',
        notNull: true,
        lengthGreaterThanOrEqual: 1,
        lengthLessThanOrEqual: 255,
      },
      Enabled: { type: 'Boolean', notNull: true },
    },
  },
};

/** The table is active at once, and in one write: a kill never leaves one that is being created for ever. */
export async function createTable(store: Store, unchecked: JsonObject): Promise<JsonObject> {
  const request = engine.parse('createTable', unchecked);
  const name = String(request['TableName']);
  return store.locks.hold(`table~${name}`, async () => {
    let made: Table | undefined;
    const tableDb = {
      awsRegion: 'local',
      awsAccountId: '000000000000',
      lock: alreadyHeld,
      get: (_name: string, done: Callback) => done(null, store.findTable(name)),
      // dynalite puts it a second time, from a timer, when it is to become active: there is nothing left to do then.
      put: (_name: string, table: unknown, done: Callback) => {
        made ??= active(certain(table, isTable, 'a table'));
        done(null);
      },
    };
    await engine.play('createTable', () => ({ options: { createTableMs: 0 }, tableDb }), request);
    const table = certain(made, isTable, 'a new table');
    await store.addTable(table);
    return { TableDescription: table };
  });
}

/** As the real service: to ask for what is already set is refused. */
export async function updateTimeToLive(store: Store, unchecked: JsonObject): Promise<JsonObject> {
  const request = engine.parseAs(TTL_TYPES, unchecked);
  const { TableName } = store.table(String(request['TableName']));
  const wanted = certain(request['TimeToLiveSpecification'], isJson, 'a time-to-live setting');
  return store.locks.hold(`ttl~${TableName}`, async () => {
    const enabled = (await store.timeToLive(TableName))?.['Enabled'] === true;
    if (enabled === wanted['Enabled']) {
      throw engine.validationError(`TimeToLive is already ${enabled ? 'enabled' : 'disabled'}`);
    }
    await store.setTimeToLive(TableName, wanted);
    return { TimeToLiveSpecification: wanted };
  });
}

export async function describeTimeToLive(store: Store, unchecked: JsonObject): Promise<JsonObject> {
  const request = engine.parseAs({ TableName: TTL_TYPES.TableName }, unchecked);
  const { TableName } = store.table(String(request['TableName']));
  const setting = await store.timeToLive(TableName);
  const TimeToLiveDescription =
    setting?.['Enabled'] === true
      ? { TimeToLiveStatus: 'ENABLED', AttributeName: setting['AttributeName'] }
      : { TimeToLiveStatus: 'DISABLED' };
  return { TimeToLiveDescription };
}

function active(table: Table): Table {
  const copy = structuredClone(table);
  const indexes = copy.GlobalSecondaryIndexes?.map((index) => ({
    ...index,
    IndexStatus: 'ACTIVE',
  }));
  return {
    ...copy,
    TableStatus: 'ACTIVE',
    ...(indexes && { GlobalSecondaryIndexes: indexes }),
  };
}
