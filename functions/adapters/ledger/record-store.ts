/**
 * What the ledger asks of the place where its records are: DynamoDB, or the map of the in-memory twin. The five requests
 * below are all there is: no transaction, no batch, no scan, no update expression (the pace has one, beside this).
 */
import type { ItemKey } from './codec/item-keys.ts';
import type { Stored } from './codec/stored.ts';
import type { IndexName } from './schema.ts';

export interface RecordStore {
  /** Strongly consistent. */
  get(key: ItemKey): Promise<Stored | undefined>;
  /** Writes the whole record if the condition holds in the same moment; else says what stands there. */
  put(record: Stored, condition: Condition): Promise<PutResult>;
  /** Strongly consistent: the records of one partition, in the order of their sort keys. */
  partition(query: PartitionQuery): Promise<readonly Stored[]>;
  /** Eventually consistent: one page of keys out of one partition of an index. */
  index(query: IndexQuery): Promise<IndexPage>;
  /** Eventually consistent: how many rows such a query finds. It reads `limit` rows at most, and gives none of them. */
  count(query: Omit<IndexQuery, 'after' | 'order'>): Promise<number>;
}

/** A record of a later format meets neither condition: this code cannot overwrite what it does not understand. */
export type Condition = { readonly kind: 'absent' } | { readonly kind: 'version'; readonly version: number };

export type PutResult =
  | { readonly kind: 'written' }
  | { readonly kind: 'refused'; readonly present: Stored | undefined };

export interface PartitionQuery {
  readonly pk: string;
  /** Both ends are included. */
  readonly between?: readonly [first: string, last: string];
  /** The first so many; without it, all of them. */
  readonly limit?: number;
}

export interface IndexQuery {
  readonly index: IndexName;
  readonly partition: string;
  readonly order: 'ascending' | 'descending';
  readonly limit: number;
  readonly within?:
    | { readonly kind: 'until'; readonly sort: number }
    | { readonly kind: 'prefix'; readonly text: string };
  /** The last row of the page before. It need not be there any more. */
  readonly after?: IndexRow;
}

export interface IndexRow {
  readonly sort: string | number;
  readonly key: ItemKey;
}

export interface IndexPage {
  readonly rows: readonly IndexRow[];
  /** False: this was the last page. True: there may be more. */
  readonly more: boolean;
}

/** As the table and its indexes sort: numbers by value, texts by their bytes in UTF-8. */
export const compareSorts = (a: string | number, b: string | number): number =>
  typeof a === 'number' && typeof b === 'number' ? a - b : Buffer.compare(Buffer.from(`${a}`), Buffer.from(`${b}`));
