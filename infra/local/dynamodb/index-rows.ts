/**
 * What an index holds of an item, and what a write costs there. A row of an index stands under the index's keys
 * followed by the item's whole key in its table: dynalite itself appends only 24 bits of a hash, under which two items
 * with equal index keys can take each other's place.
 */
import { engine } from './engine-parts.ts';
import { itemBytes } from './item-rules.ts';
import { type Index, type IndexKind, type Item, indexesOf, type Table } from './shapes.ts';

export interface IndexRow {
  readonly key: string;
  readonly row: Item;
}

export interface IndexMove {
  readonly kind: IndexKind;
  readonly index: Index;
  readonly before: IndexRow | undefined;
  readonly after: IndexRow | undefined;
}

/** What a write does to every index of the table; `undefined` stands for no item. */
export function indexMoves(table: Table, before: Item | undefined, after: Item | undefined): IndexMove[] {
  return indexesOf(table).map(({ kind, index }) => ({
    kind,
    index,
    before: before && indexRow(table, index, before),
    after: after && indexRow(table, index, after),
  }));
}

/** Where a page of the index starts that continues after this item (an ExclusiveStartKey: it has all key attributes). */
export function indexKey(table: Table, index: Index, item: Item): string {
  return engine.createKey(item, table, index.KeySchema) + engine.createKey(item, table);
}

/** Is it the same row, at the same place? Then the real service writes nothing there. */
export function unchanged({ before, after }: IndexMove): boolean {
  return before?.key === after?.key && JSON.stringify(before?.row) === JSON.stringify(after?.row);
}

/**
 * The write units that an index takes: none if its row stays as it is, one for each KB put, changed or taken out; a
 * moved row is taken out and put. Source: the DynamoDB developer guide, "Provisioned throughput considerations for
 * Global Secondary Indexes".
 */
export function indexWriteUnits(move: IndexMove): number {
  const { before, after } = move;
  if (unchanged(move)) return 0;
  if (before?.key === after?.key) return Math.max(units(before), units(after));
  return units(before) + units(after);
}

function units(row: IndexRow | undefined): number {
  return row ? Math.ceil(itemBytes(row.row) / 1024) : 0;
}

function indexRow(table: Table, index: Index, item: Item): IndexRow | undefined {
  const keys = index.KeySchema.map(({ AttributeName }) => AttributeName);
  if (keys.some((name) => item[name] === undefined)) return undefined;
  return {
    key: indexKey(table, index, item),
    row: projection(table, index, keys, item),
  };
}

/** The attributes that the index shows, in a fixed order, so that rows can be compared as text. */
function projection(table: Table, index: Index, keys: readonly string[], item: Item): Item {
  const names =
    index.Projection.ProjectionType === 'ALL'
      ? Object.keys(item)
      : [
          ...table.KeySchema.map(({ AttributeName }) => AttributeName),
          ...keys,
          ...(index.Projection.NonKeyAttributes ?? []),
        ];
  const kept = [...new Set(names)].toSorted().flatMap((name) => {
    const value = item[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(kept);
}
