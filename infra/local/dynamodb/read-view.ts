/** The store as dynalite's reading actions see it. */
import { type Callback, storeOptions } from './engine-parts.ts';
import { indexKey } from './index-rows.ts';
import type { KeyRange } from './level.ts';
import { RowStream } from './row-stream.ts';
import { certain, type IndexKind, type Item, indexesOf, isItem, type JsonObject } from './shapes.ts';
import { type Store, tableNotFound } from './store.ts';

type Crash = (error: unknown) => void;

/** `request` is the checked request of the action, `crash` takes what the action throws in a callback of ours. */
export function readView(store: Store, request: JsonObject, crash: Crash): object {
  return {
    options: storeOptions,
    tableDb: {
      createKeyStream: () => new RowStream(listIterator(store.tableNames())),
    },
    getTable: (name: string, statusOrDone: boolean | Callback, done?: Callback) => {
      const answer = typeof statusOrDone === 'function' ? statusOrDone : done;
      const table = store.findTable(name);
      if (table) answer?.(null, table);
      else answer?.(tableNotFound(name));
    },
    getItemDb: (table: string) => ({
      get: (key: string, done: Callback) => {
        store
          .item(table, key)
          .then((item) => done(null, item), done)
          .catch(crash);
      },
      createValueStream: (range: KeyRange) => new RowStream(store.items(table, range), range.limit),
    }),
    getIndexDb: (kind: IndexKind, table: string, index: string) => ({
      createValueStream: (range: KeyRange) => {
        const from = continued(store, table, index, range, request['ExclusiveStartKey']);
        return new RowStream(store.indexRows(kind, table, index, from), range.limit);
      },
    }),
  };
}

/** dynalite's own bound ends in a hash of the table's key, our rows in the key itself: the bound is made anew. */
function continued(store: Store, tableName: string, indexName: string, range: KeyRange, start: unknown): KeyRange {
  if (start === undefined) return range;
  const table = store.table(tableName);
  const index = indexesOf(table).find(({ index }) => index.IndexName === indexName)?.index;
  if (!index) throw new Error(`the table ${tableName} has no index ${indexName}`);
  const after: Item = certain(start, isItem, 'a key');
  const bound = indexKey(table, index, after);
  return range.reverse ? { ...range, lt: bound } : { ...range, gt: bound };
}

function listIterator(names: readonly string[]) {
  const rest = [...names];
  return {
    nextv: async (size: number): Promise<[string, unknown][]> => rest.splice(0, size).map((name) => [name, name]),
    close: async () => {},
  };
}
