/**
 * The data of one embedded DynamoDB, over one LevelDB:
 *
 *   meta~format                          the format of this layout
 *   table~NAME                           a table's description
 *   ttl~NAME                             its time-to-live setting
 *   item-NAME~KEY                        an item
 *   index-KIND~NAME~INDEX~KEY            a row of a secondary index
 *
 * A table's name has no `~` and the rest of a key is made of characters below it, so no range holds a stranger's rows.
 */
import type { ServiceError } from './engine-parts.ts';
import { GroupCommit } from './group-commit.ts';
import { type IndexMove, unchanged } from './index-rows.ts';
import { KeyLocks } from './key-locks.ts';
import { type Change, type KeyRange, type Level, type LevelIterator, openLevel, readAll } from './level.ts';
import { certain, type IndexKind, type Item, isItem, isJson, isTable, type JsonObject, type Table } from './shapes.ts';

const FORMAT_KEY = 'meta~format';
const FORMAT = 1;

export interface StoreOptions {
  /** The data directory; without one the data are in memory and end with the process. */
  readonly path?: string | undefined;
  /** Wait for the disk at every write, so that a power cut loses nothing. A killed process loses nothing either way. */
  readonly sync: boolean;
}

export class Store {
  readonly locks = new KeyLocks();
  readonly #level: Level;
  readonly #commits: GroupCommit;
  readonly #tables: Map<string, Table>;

  private constructor(level: Level, sync: boolean, tables: readonly Table[]) {
    this.#level = level;
    this.#commits = new GroupCommit(level, sync);
    this.#tables = new Map(tables.map((table) => [table.TableName, table]));
  }

  /** Throws, for a person to read, when the directory is in use, damaged, or not ours. */
  static async open({ path, sync }: StoreOptions): Promise<Store> {
    const level = await openLevel(path);
    try {
      await claimFormat(level, path ?? 'in memory');
      const rows = await readAll(level, prefixed('table~', {}));
      return new Store(
        level,
        sync,
        rows.map(([, row]) => certain(row, isTable, 'the description of a table')),
      );
    } catch (error) {
      await level.close();
      throw error;
    }
  }

  close(): Promise<void> {
    return this.#level.close();
  }

  tableNames(): string[] {
    return [...this.#tables.keys()].toSorted();
  }

  findTable(name: string): Table | undefined {
    return this.#tables.get(name);
  }

  /** Throws ResourceNotFoundException. */
  table(name: string): Table {
    const table = this.#tables.get(name);
    if (!table) throw tableNotFound(name);
    return table;
  }

  async addTable(table: Table): Promise<void> {
    await this.#commits.commit([{ type: 'put', key: `table~${table.TableName}`, value: table }]);
    this.#tables.set(table.TableName, table);
  }

  async timeToLive(table: string): Promise<JsonObject | undefined> {
    const setting = await this.#level.get(`ttl~${table}`);
    return isJson(setting) ? setting : undefined;
  }

  setTimeToLive(table: string, setting: JsonObject): Promise<void> {
    return this.#commits.commit([{ type: 'put', key: `ttl~${table}`, value: setting }]);
  }

  async item(table: string, key: string): Promise<Item | undefined> {
    const item = await this.#level.get(itemPrefix(table) + key);
    return item === undefined ? undefined : certain(item, isItem, 'an item');
  }

  /** Keeps an item (or its absence) and what follows for the indexes, all or nothing; resolves when it is kept. */
  writeItem(table: string, key: string, item: Item | undefined, moves: readonly IndexMove[]): Promise<void> {
    const itemKey = itemPrefix(table) + key;
    const itemChange: Change = item ? { type: 'put', key: itemKey, value: item } : { type: 'del', key: itemKey };
    return this.#commits.commit([...moves.flatMap((move) => indexChanges(table, move)), itemChange]);
  }

  items(table: string, range: KeyRange): LevelIterator {
    return this.#level.iterator(prefixed(itemPrefix(table), range));
  }

  indexRows(kind: IndexKind, table: string, index: string, range: KeyRange): LevelIterator {
    return this.#level.iterator(prefixed(indexPrefix(kind, table, index), range));
  }
}

export function itemPrefix(table: string): string {
  return `item-${table}~`;
}

export function indexPrefix(kind: IndexKind, table: string, index: string): string {
  return `index-${kind}~${table}~${index}~`;
}

export function tableNotFound(name: string): ServiceError {
  const message = `Requested resource not found: Table: ${name} not found`;
  const body = {
    __type: 'com.amazonaws.dynamodb.v20120810#ResourceNotFoundException',
    message,
  };
  return Object.assign(new Error(message), { statusCode: 400, body });
}

function indexChanges(table: string, move: IndexMove): Change[] {
  if (unchanged(move)) return [];
  const { kind, index, before, after } = move;
  const prefix = indexPrefix(kind, table, index.IndexName);
  const changes: Change[] = [];
  if (before && before.key !== after?.key) changes.push({ type: 'del', key: prefix + before.key });
  if (after) changes.push({ type: 'put', key: prefix + after.key, value: after.row });
  return changes;
}

function prefixed(prefix: string, { gt, gte, lt, lte, reverse = false, limit = -1 }: KeyRange): KeyRange {
  return {
    reverse,
    limit,
    ...(gt === undefined ? { gte: prefix + (gte ?? '') } : { gt: prefix + gt }),
    ...(lt === undefined ? { lte: prefix + (lte ?? '~') } : { lt: prefix + lt }),
  };
}

/** A new directory gets the format; one with another format, or with data but none, is left alone. */
async function claimFormat(level: Level, path: string): Promise<void> {
  const format = await level.get(FORMAT_KEY);
  if (format === FORMAT) return;
  const iterator = level.iterator({});
  const found = await iterator.nextv(1);
  await iterator.close();
  if (format !== undefined || found.length > 0) {
    throw new Error(
      `data directory ${path} holds data of another format (${JSON.stringify(format ?? 'none')}, this program knows ${FORMAT}): ` +
        'use the program that wrote it, or choose another directory',
    );
  }
  await level.batch([{ type: 'put', key: FORMAT_KEY, value: FORMAT }], {
    sync: true,
  });
}
