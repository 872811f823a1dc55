/** Values that a JSON schema allows, and values that it does not: what a client that believes the document may send. */
import fc from 'fast-check';

export interface Schema {
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly contentEncoding?: string;
}

const CHARS_TRIED = 24;
const ITEMS_TRIED = 3;

export const allowedBy = (schema: Schema): fc.Arbitrary<unknown> => {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (schema.anyOf !== undefined) return fc.oneof(...schema.anyOf.map(allowedBy));
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
      return fc.integer({ min: lowest(schema), max: Math.min(schema.maximum ?? 1_000, 1_000_000) });
    case 'number':
      return fc.double({ min: lowest(schema), max: schema.maximum ?? 1_000, noNaN: true }).map((n) => n + 0);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return arrayOf(schema);
    case 'object':
      return objectOf(schema);
    case undefined:
      return fc.jsonValue({ maxDepth: 2 });
    default:
      throw new TypeError(`no generator for type ${schema.type}`);
  }
};

const lowest = ({ minimum, exclusiveMinimum }: Schema): number => {
  const low = minimum ?? (exclusiveMinimum === undefined ? 0 : exclusiveMinimum + 0.001);
  return Math.max(low, -1_000_000);
};

const textOf = ({ pattern, format, contentEncoding, minLength = 0, maxLength = 1_000 }: Schema) => {
  if (contentEncoding === 'base64') return fc.base64String({ maxLength: CHARS_TRIED });
  if (format === 'date-time' || format === 'date') {
    const [min, max] = [new Date('2026-01-01T00:00:00Z'), new Date('2026-06-01T00:00:00Z')];
    return fc
      .date({ min, max, noInvalidDate: true })
      .map((date) => date.toISOString().slice(0, format === 'date' ? 10 : 24));
  }
  const any = fc.string({
    unit: 'grapheme',
    minLength,
    maxLength: Math.max(minLength, Math.min(maxLength, CHARS_TRIED)),
  });
  if (pattern === undefined) return any;
  const wanted = new RegExp(pattern, 'u');
  return fc.oneof(any, fc.stringMatching(/^[ -~]{1,20}$/)).filter((text) => wanted.test(text));
};

const arrayOf = ({ items = {}, minItems = 0, maxItems = ITEMS_TRIED, uniqueItems }: Schema) => {
  const bounds = { minLength: minItems, maxLength: Math.max(minItems, Math.min(maxItems, ITEMS_TRIED)) };
  return uniqueItems === true ? fc.uniqueArray(allowedBy(items), bounds) : fc.array(allowedBy(items), bounds);
};

const objectOf = ({ properties = {}, required = [], additionalProperties }: Schema): fc.Arbitrary<unknown> => {
  const members = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, allowedBy(schema)]));
  if (Object.keys(members).length === 0 && typeof additionalProperties === 'object') {
    return fc.dictionary(fc.stringMatching(/^x-[a-z]{1,8}$/), allowedBy(additionalProperties), { maxKeys: 2 });
  }
  return fc.record(members, { requiredKeys: required.filter((name) => name in members) });
};

/** An allowed value with one thing wrong: a member too many, one too few, or one of another type or beyond its bound. */
export const spoiltBy = (schema: Schema): fc.Arbitrary<unknown> => {
  const { properties = {}, required = [] } = schema;
  const good = allowedBy(schema);
  const one = (change: (body: Readonly<Record<string, unknown>>) => unknown) =>
    good.map((body) => change(body as Readonly<Record<string, unknown>>));
  const spoilt = [
    one((body) => ({ ...body, stranger: 1 })),
    ...required.map((name) => one(({ [name]: _gone, ...rest }) => rest)),
    ...Object.entries(properties).flatMap(([name, member]) =>
      wrongFor(member).map((value) => one((body) => ({ ...body, [name]: value }))),
    ),
  ];
  return fc.oneof(...spoilt);
};

const wrongFor = (schema: Schema): readonly unknown[] => {
  const { type, enum: values, anyOf, maximum, maxLength, minLength, maxItems } = schema;
  if (values !== undefined) return ['no such value', 5];
  if (anyOf !== undefined || type === undefined) return [];
  const wrong: unknown[] = type === 'object' ? ['text'] : [{}];
  if (type === 'string') wrong.push(5, false);
  if (type === 'integer') wrong.push(1.5, 'text');
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) wrong.push(maximum + 1);
  if (maxLength !== undefined) wrong.push('x'.repeat(maxLength + 1));
  if (minLength !== undefined && minLength > 0) wrong.push('');
  if (maxItems !== undefined) wrong.push(Array(maxItems + 1).fill(type === 'array' ? '200' : 1));
  return wrong;
};
