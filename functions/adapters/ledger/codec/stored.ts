/** Items in the form in which DynamoDB stores them, attribute by attribute. */
import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import type { Carried } from '../../../core/model.ts';

export type Stored = Readonly<Record<string, AttributeValue>>;

/** The values that this code's own attributes have: no maps but the headers of a destination, so nothing hides in one. */
type Scalar = string | number | boolean | null | Uint8Array;
export type Plain = Scalar | readonly string[] | readonly number[] | Readonly<Record<string, string>>;

/** Attributes by name; an absent one is `undefined`. */
export type Fields = Readonly<Record<string, Plain | undefined>>;

export const storedOf = (fields: Fields): Record<string, AttributeValue> => {
  const out: [string, AttributeValue][] = [];
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) out.push([name, attributeOf(value)]);
  }
  return Object.fromEntries(out);
};

const attributeOf = (plain: Plain): AttributeValue => {
  if (typeof plain === 'string') return { S: plain };
  if (typeof plain === 'number') return { N: String(plain) };
  if (typeof plain === 'boolean') return { BOOL: plain };
  if (plain === null) return { NULL: true };
  if (plain instanceof Uint8Array) return { B: new Uint8Array(plain) };
  if (isList(plain)) return { L: plain.map(attributeOf) };
  return { M: Object.fromEntries(Object.entries(plain).map(([name, text]) => [name, { S: text }])) };
};

const isList = (plain: Plain): plain is readonly string[] | readonly number[] => Array.isArray(plain);

/**
 * A plain value again, of whatever type: the schema of the item judges it. A set, of which we write none, stays as it is
 * stored, so that every schema refuses it: as nothing it could pass for an attribute that is not there.
 */
export const plainOf = (value: AttributeValue): unknown => {
  if (value.S !== undefined) return value.S;
  if (value.N !== undefined) return Number(value.N);
  if (value.BOOL !== undefined) return value.BOOL;
  if (value.NULL !== undefined) return null;
  if (value.B !== undefined) return new Uint8Array(value.B);
  if (value.L !== undefined) return value.L.map(plainOf);
  if (value.M !== undefined) {
    return Object.fromEntries(Object.entries(value.M).map(([name, inner]) => [name, plainOf(inner)]));
  }
  return value;
};

/** What this code does not know, raw as it was read: no number and no set of newer code changes on the way. */
export const carriedOf = (stored: Stored, isKnown: (name: string) => boolean): Carried => {
  const unknown = Object.keys(stored).filter((name) => !isKnown(name));
  return Object.fromEntries(unknown.map((name) => [name, copied(stored[name] as AttributeValue)]));
};

/** The carried attributes for writing. Anything but raw attribute values there is a bug of the caller, and throws. */
export const storedCarried = (carried: Carried, isKnown: (name: string) => boolean): Record<string, AttributeValue> => {
  const out: [string, AttributeValue][] = [];
  for (const [name, value] of Object.entries(carried)) {
    if (isKnown(name) || !isAttributeValue(value)) {
      throw new TypeError(`"${name}" is not an attribute that was carried along from the ledger`);
    }
    out.push([name, copied(value)]);
  }
  return Object.fromEntries(out);
};

const TYPES: ReadonlySet<string> = new Set(['S', 'N', 'B', 'SS', 'NS', 'BS', 'M', 'L', 'NULL', 'BOOL']);

const isAttributeValue = (value: unknown): value is AttributeValue => {
  if (typeof value !== 'object' || value === null) return false;
  const types = Object.keys(value);
  return types.length === 1 && types.every((type) => TYPES.has(type));
};

/** A copy that shares nothing: the bytes and lists of a caller and those of the store never are the same ones. */
export const copied = (value: AttributeValue): AttributeValue => {
  if (value.B !== undefined) return { B: new Uint8Array(value.B) };
  if (value.BS !== undefined) return { BS: value.BS.map((bytes) => new Uint8Array(bytes)) };
  if (value.SS !== undefined) return { SS: [...value.SS] };
  if (value.NS !== undefined) return { NS: [...value.NS] };
  if (value.L !== undefined) return { L: value.L.map(copied) };
  if (value.M !== undefined) {
    return { M: Object.fromEntries(Object.entries(value.M).map(([name, inner]) => [name, copied(inner)])) };
  }
  return { ...value };
};
