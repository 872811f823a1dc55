import type { AttributeValue } from '@aws-sdk/client-dynamodb';

/**
 * The size of an item as DynamoDB counts it for its limits and units: names and values in bytes of UTF-8, a number at a
 * byte for two digits and one more, a list or map at three bytes and one for each member.
 * Source: the DynamoDB developer guide, "DynamoDB item sizes and formats".
 */
export const itemBytes = (item: Readonly<Record<string, AttributeValue>>): number =>
  sum(Object.entries(item).map(([name, value]) => Buffer.byteLength(name) + valueBytes(value)));

const valueBytes = (value: AttributeValue): number => {
  if (value.S !== undefined) return Buffer.byteLength(value.S);
  if (value.N !== undefined) return numberBytes(value.N);
  if (value.B !== undefined) return value.B.length;
  if (value.SS !== undefined) return sum(value.SS.map((text) => Buffer.byteLength(text)));
  if (value.NS !== undefined) return sum(value.NS.map(numberBytes));
  if (value.BS !== undefined) return sum(value.BS.map((bytes) => bytes.length));
  if (value.L !== undefined) return 3 + sum(value.L.map((member) => 1 + valueBytes(member)));
  if (value.M !== undefined) return 3 + Object.keys(value.M).length + itemBytes(value.M);
  return 1;
};

const numberBytes = (text: string): number => {
  const digits = text.replace(/[-.]|e.*$/gi, '').replace(/^0+|0+$/g, '').length;
  return Math.ceil(digits / 2) + 1 + (text.startsWith('-') ? 1 : 0);
};

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
