/**
 * DynamoDB's rules for items that dynalite leaves out: keys of secondary indexes are judged like keys of the table
 * (never empty, limited in size), and sizes are counted in bytes of UTF-8, not in characters.
 * Source: the DynamoDB developer guide, "Constraints in Amazon DynamoDB".
 */
import { engine, MAX_ITEM_BYTES, type ServiceError } from './engine-parts.ts';
import {
  type AttributeValue,
  type Index,
  type Item,
  indexesOf,
  isJson,
  type KeyElement,
  type Table,
} from './shapes.ts';

const MAX_PARTITION_KEY_BYTES = 2048;
const MAX_SORT_KEY_BYTES = 1024;

/** The refusal of an item that the real service would not store, or `undefined`. */
export function refuseItem(item: Item, table: Table): ServiceError | undefined {
  const said =
    refuseKeys(item, table.KeySchema) ??
    indexesOf(table)
      .map(({ index }) => refuseKeys(item, index.KeySchema, index))
      .find((refusal) => refusal !== undefined) ??
    (itemBytes(item) > MAX_ITEM_BYTES ? 'Item size has exceeded the maximum allowed size' : undefined);
  return said === undefined ? undefined : engine.validationError(said);
}

/** The item's size in bytes, as DynamoDB counts it for limits and units. */
export function itemBytes(item: Item): number {
  return engine.itemSize(item) + extraBytes({ M: item });
}

function refuseKeys(item: Item, schema: readonly KeyElement[], index?: Index): string | undefined {
  for (const { AttributeName: name, KeyType: type } of schema) {
    const bytes = keyBytes(item[name]);
    if (bytes === undefined) continue;
    const where = index ? `IndexName: ${index.IndexName}, IndexKey: ${name}` : `Key: ${name}`;
    if (bytes === 0) {
      return `One or more parameter values are not valid. A key attribute cannot contain an empty value. ${where}`;
    }
    const limit = type === 'HASH' ? MAX_PARTITION_KEY_BYTES : MAX_SORT_KEY_BYTES;
    if (bytes > limit) return `One or more parameter values were invalid: a key is limited to ${limit} bytes. ${where}`;
  }
  return undefined;
}

/** Numbers have no size limit of their own as keys, and an absent attribute keeps the item out of the index. */
function keyBytes(value: AttributeValue | undefined): number | undefined {
  if (typeof value?.['S'] === 'string') return Buffer.byteLength(value['S']);
  if (typeof value?.['B'] === 'string') return Buffer.byteLength(value['B'], 'base64');
  return undefined;
}

/** How much longer the text in a value is in UTF-8 than in the UTF-16 units that dynalite counts. */
function extraBytes(value: unknown): number {
  if (!isJson(value)) return 0;
  const { S: text, SS: texts, L: list, M: map } = value;
  if (typeof text === 'string') return extraInText(text);
  if (Array.isArray(texts)) return sum(texts.map((member) => (typeof member === 'string' ? extraInText(member) : 0)));
  if (Array.isArray(list)) return sum(list.map(extraBytes));
  if (isJson(map)) return sum(Object.entries(map).map(([name, inner]) => extraInText(name) + extraBytes(inner)));
  return 0;
}

function extraInText(text: string): number {
  return Buffer.byteLength(text) - text.length;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
