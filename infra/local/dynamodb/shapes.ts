/** The shapes that the parts of the embedded DynamoDB hand to each other: DynamoDB's own JSON, narrowed no further than needed. */

export type JsonObject = { readonly [member: string]: unknown };

/** One attribute value in wire form, such as `{"S": "text"}`; binary is base64 text. */
export type AttributeValue = JsonObject;

/** An item, or a key, in wire form. */
export type Item = { readonly [attribute: string]: AttributeValue };

export interface KeyElement {
  readonly AttributeName: string;
  readonly KeyType: string;
}

export interface Index {
  readonly IndexName: string;
  readonly KeySchema: readonly KeyElement[];
  readonly Projection: {
    readonly ProjectionType: string;
    readonly NonKeyAttributes?: readonly string[];
  };
}

/** A table's description as it is stored and as DescribeTable shows it. */
export interface Table {
  readonly TableName: string;
  readonly TableStatus: string;
  readonly AttributeDefinitions: readonly {
    readonly AttributeName: string;
    readonly AttributeType: string;
  }[];
  readonly KeySchema: readonly KeyElement[];
  readonly LocalSecondaryIndexes?: readonly Index[];
  readonly GlobalSecondaryIndexes?: readonly Index[];
}

export type IndexKind = 'local' | 'global';

export function isJson(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isItem(value: unknown): value is Item {
  return isJson(value) && Object.values(value).every(isJson);
}

export function isTable(value: unknown): value is Table {
  return (
    isJson(value) &&
    typeof value['TableName'] === 'string' &&
    typeof value['TableStatus'] === 'string' &&
    Array.isArray(value['AttributeDefinitions']) &&
    Array.isArray(value['KeySchema'])
  );
}

/** For what a check just before has made certain; a throw here is a bug of ours. */
export function certain<Shape>(value: unknown, is: (value: unknown) => value is Shape, what: string): Shape {
  if (!is(value)) throw new Error(`the embedded DynamoDB expected ${what}`);
  return value;
}

/** All indexes of a table with their kind, in the order of the description. */
export function indexesOf(table: Table): { kind: IndexKind; index: Index }[] {
  return [
    ...(table.LocalSecondaryIndexes ?? []).map((index) => ({
      kind: 'local' as const,
      index,
    })),
    ...(table.GlobalSecondaryIndexes ?? []).map((index) => ({
      kind: 'global' as const,
      index,
    })),
  ];
}
