/**
 * The only file that touches dynalite, an implementation of DynamoDB on LevelDB that has no types and no public
 * interface below its HTTP server. We use three of its layers (the rules for requests, the actions, the encoding of
 * keys) over a store of our own. Everything taken from it is named, typed and checked here, at load: a version that
 * moved something fails at start with a clear message, and not in the middle of a write.
 */
import { createRequire } from 'node:module';
import { certain, type Item, isJson, type JsonObject, type KeyElement, type Table } from './shapes.ts';

/** The version whose source these wrappers were written against. */
const EXPECTED_VERSION = '4.0.0';

/** DynamoDB's limit for an item: 400 KB, names and values together. */
export const MAX_ITEM_BYTES = 400 * 1024;

/** Node's callback form; `error` is often a `ServiceError`. */
export type Callback = (error: unknown, result?: unknown) => void;

/** A refusal in DynamoDB's own terms: the HTTP status and the JSON body of the answer. */
export type ServiceError = Error & {
  readonly statusCode: number;
  readonly body: JsonObject;
};

const ACTIONS = [
  'batchGetItem',
  'batchWriteItem',
  'createTable',
  'deleteItem',
  'describeTable',
  'getItem',
  'listTables',
  'putItem',
  'query',
  'scan',
  'updateItem',
] as const;

/** The operations that dynalite plays for us; what it lacks stands in this folder. */
export type ActionName = (typeof ACTIONS)[number];

type Action = (store: object, request: JsonObject, done: Callback) => void;
type Refusal = ServiceError | null | undefined;

// LevelDB is dynalite's own dependency: asked for from there, it is found wherever npm has put it.
const dynaliteRequire = createRequire(import.meta.resolve('dynalite'));
const manifest: unknown = dynaliteRequire('./package.json');
const version = isJson(manifest) ? String(manifest['version']) : 'of an unknown version';

const shared = load('./validations/index.js');
const checkTypes = functionOf<(request: JsonObject, types: JsonObject) => JsonObject>(shared, 'checkTypes');
const checkRules = functionOf<(request: JsonObject, types: JsonObject, custom: unknown, store: object) => void>(
  shared,
  'checkValidations',
);

const db = load('./db/index.js');
const createKey = functionOf<(item: Item, table: Table, schema?: readonly KeyElement[]) => string>(db, 'createKey');
const itemSize = functionOf<(item: Item) => number>(db, 'itemSize');
const validationError = functionOf<(message: string) => ServiceError>(db, 'validationError');
const validateKey = functionOf<(key: Item, table: Table) => Refusal>(db, 'validateKey');
const validateItem = functionOf<(item: Item, table: Table) => Refusal>(db, 'validateItem');

const actions = new Map(
  ACTIONS.map((name) => [name, functionOf<Action>({ [name]: required(`./actions/${name}.js`) }, name)]),
);
const rules = new Map(
  ACTIONS.map((name) => {
    const { types, custom } = load(`./validations/${name}.js`);
    return [name, { types: isJson(types) ? types : fail(`the types of ${name}`), custom }];
  }),
);

const MemoryLevel = functionOf<new (options: object) => unknown>(load('memory-level'), 'MemoryLevel');
const DiskLevel = functionOf<new (path: string, options: object) => unknown>(load('level'), 'Level');

/** What dynalite's rules and actions ask of any store. The delay is the one before a new table becomes active. */
export const storeOptions = { maxItemSize: MAX_ITEM_BYTES, createTableMs: 0 };

export const engine = {
  /**
   * Checks a request against dynalite's rules and returns what is left of it. `moreTypes` are members that dynalite
   * does not know, in its notation. Throws a `ServiceError`. The request itself is used up.
   */
  parse(name: ActionName, request: JsonObject, moreTypes: JsonObject = {}): JsonObject {
    const { types, custom } = rules.get(name) ?? fail(name);
    return parseAs({ ...types, ...moreTypes }, request, custom);
  },

  /** The same for a request that dynalite does not know at all. */
  parseAs: (types: JsonObject, request: JsonObject): JsonObject => parseAs(types, request, undefined),

  /**
   * Plays an action on the store that `viewOf` makes for it. Rejects with a `ServiceError`, or with what was thrown: an
   * action that throws inside a callback of the store is to be reported with `crash`, else it would end the process.
   */
  play(
    name: ActionName,
    viewOf: (crash: (error: unknown) => void) => object,
    request: JsonObject,
  ): Promise<JsonObject> {
    const action = actions.get(name) ?? fail(name);
    return new Promise((resolve, reject) => {
      action(viewOf(reject), request, (error, result) => {
        if (error) reject(error);
        else resolve(certain(result, isJson, `an answer from ${name}`));
      });
    });
  },

  /** Where an item stands: in its table, or with an index's schema the first part of its place there. Injective. */
  createKey,
  /** Bytes as DynamoDB counts them, except that a string counts its UTF-16 units. */
  itemSize,
  validationError,
  /** Why a key does not fit the table's schema, if it does not. */
  refuseKey: (key: Item, table: Table): ServiceError | undefined => validateKey(key, table) ?? undefined,
  /** Why an item's key attributes do not fit the table's schema, if they do not. */
  refuseItem: (item: Item, table: Table): ServiceError | undefined => validateItem(item, table) ?? undefined,
};

/** An unopened LevelDB with JSON values in the directory `path`, or without one in memory. */
export function createLevel(path: string | undefined): unknown {
  const options = { valueEncoding: 'json' };
  return path === undefined ? new MemoryLevel(options) : new DiskLevel(path, options);
}

export function isServiceError(error: unknown): error is ServiceError {
  return error instanceof Error && 'statusCode' in error && 'body' in error && isJson(error.body);
}

function parseAs(types: JsonObject, request: JsonObject, custom: unknown): JsonObject {
  const parsed = checkTypes(request, types);
  checkRules(parsed, types, custom, { options: storeOptions });
  return parsed;
}

function required(path: string): unknown {
  try {
    return dynaliteRequire(path);
  } catch (cause) {
    return fail(path, cause);
  }
}

function load(path: string): JsonObject {
  const loaded = required(path);
  return isJson(loaded) ? loaded : fail(path);
}

/** A function of a module. That it takes and gives what `Fn` says is our reading of the source; the tests hold it. */
export function functionOf<Fn>(module: JsonObject, name: string): Fn {
  const found = module[name];
  return isFunction<Fn>(found) ? found : fail(`the function ${name}`);
}

function isFunction<Fn>(value: unknown): value is Fn {
  return typeof value === 'function';
}

function fail(what: string, cause?: unknown): never {
  throw new Error(
    `dynalite ${version} does not have ${what}. The embedded DynamoDB was written for dynalite ${EXPECTED_VERSION}: ` +
      'install that version with npm ci, or adapt infra/local/dynamodb/engine-parts.ts.',
    { cause },
  );
}
