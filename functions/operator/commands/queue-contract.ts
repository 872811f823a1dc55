/**
 * One discovery document held against what this code sends and reads, field by field.
 *
 *   agrees   the document says what this code does
 *   differs  it says otherwise: this code would be refused, or misread the answer
 *   unknown  it does not say, or says it in a way that is not understood here; nobody guesses
 */
import * as z from 'zod/mini';
import type { JsonType, ReadField, SentField, Use } from './queue-use.ts';

export type ContractVerdict = 'agrees' | 'differs' | 'unknown';

export interface ContractRow {
  readonly capability: string;
  readonly what: 'route' | 'sends' | 'wants' | 'reads' | 'promises';
  readonly field: string;
  readonly ours: string;
  readonly theirs: string;
  readonly verdict: ContractVerdict;
}

/** What came for one document. `absent`: the queue knows no such capability. */
export type Discovered =
  | { readonly kind: 'document'; readonly document: unknown }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly detail: string };

const Schema = z.record(z.string(), z.unknown());
type Schema = z.infer<typeof Schema>;

const Document = z.object({
  method: z.optional(z.string()),
  path: z.optional(z.string()),
  available: z.optional(z.boolean()),
  idempotent: z.optional(z.boolean()),
  params: z.optional(Schema),
});

/** Under which member a document describes the answer is not documented: these are looked for. */
const ANSWER_MEMBERS = ['response', 'returns', 'result', 'output', 'response_schema'];

type Say = (row: Omit<ContractRow, 'capability'>) => ContractRow;

export const compareContract = (use: Use, discovered: Discovered): readonly ContractRow[] => {
  const say: Say = (row) => ({ capability: use.capability, ...row });
  const route = `${use.method} ${use.path}`;
  const whole = (theirs: string, verdict: ContractVerdict): readonly ContractRow[] => [
    say({ what: 'route', field: 'document', ours: route, theirs, verdict }),
  ];
  if (discovered.kind === 'absent') return whole('there is no such capability', 'differs');
  if (discovered.kind === 'failed') return whole(discovered.detail, 'unknown');
  const read = Document.safeParse(discovered.document);
  if (!read.success) return whole('a document that is not understood', 'unknown');
  const { params } = read.data;
  return [
    ...routeRows(say, use, read.data),
    ...use.sends.map((field) => sentRow(say, field, params)),
    ...wantedRows(say, use, params),
    ...use.reads.map((field) => readRow(say, field, answerSchemaOf(discovered.document))),
  ];
};

/** The same route under other names of its parameters is the same route. */
const shapeOf = (path: string): string => path.replace(/\{[^}]*\}|:[A-Za-z_]+/g, '{}').replace(/\/+$/, '');

const routeRows = (say: Say, use: Use, document: z.infer<typeof Document>): readonly ContractRow[] => {
  const { method, path, available, idempotent } = document;
  const equal = (same: boolean | undefined): ContractVerdict =>
    same === undefined ? 'unknown' : same ? 'agrees' : 'differs';
  const rows = [
    say({
      what: 'route',
      field: 'method',
      ours: use.method,
      theirs: method ?? 'not said',
      verdict: equal(method === undefined ? undefined : method.toUpperCase() === use.method),
    }),
    say({
      what: 'route',
      field: 'path',
      ours: use.path,
      theirs: path ?? 'not said',
      verdict: equal(path === undefined ? undefined : shapeOf(path) === shapeOf(use.path)),
    }),
    say({
      what: 'promises',
      field: 'available',
      ours: 'true',
      theirs: String(available ?? 'not said'),
      verdict: equal(available),
    }),
  ];
  if (use.idempotent !== true) return rows;
  const promise = { what: 'promises', field: 'idempotent', ours: 'true' } as const;
  return [...rows, say({ ...promise, theirs: String(idempotent ?? 'not said'), verdict: equal(idempotent) })];
};

// ---- what is sent -------------------------------------------------------------------------------------------------

const propertiesOf = (schema: Schema | undefined): Schema | undefined => {
  const read = Schema.safeParse(schema?.['properties']);
  return read.success ? read.data : undefined;
};

const oursOf = ({ type, most, longest }: SentField): string =>
  [
    type,
    ...(most === undefined ? [] : [`up to ${most}`]),
    ...(longest === undefined ? [] : [`up to ${longest} characters`]),
  ].join(', ');

const sentRow = (say: Say, field: SentField, params: Schema | undefined): ContractRow => {
  const { name } = field;
  const row = (theirs: string, verdict: ContractVerdict) =>
    say({ what: 'sends', field: name, ours: oursOf(field), theirs, verdict });
  const properties = propertiesOf(params);
  if (properties === undefined) return row('the document describes no fields', 'unknown');
  const property = Schema.safeParse(properties[name]);
  if (!property.success) {
    return name in properties ? row('not understood', 'unknown') : row('no such field is described', 'differs');
  }
  const fault = faultOf(field, property.data);
  return fault === undefined
    ? row(typesOf(property.data).join(' or ') || 'any', verdictOf(property.data))
    : row(fault, 'differs');
};

const typesOf = ({ type }: Schema): readonly string[] =>
  typeof type === 'string' ? [type] : Array.isArray(type) ? type.filter((one) => typeof one === 'string') : [];

/** Without a plain type, what it takes is written in a way that is not followed here. */
const verdictOf = (property: Schema): ContractVerdict => (typesOf(property).length === 0 ? 'unknown' : 'agrees');

const TAKES: Readonly<Record<JsonType, readonly string[]>> = {
  string: ['string'],
  integer: ['integer', 'number'],
  object: ['object'],
};

const faultOf = ({ type, most, longest }: SentField, property: Schema): string | undefined => {
  const types = typesOf(property);
  if (types.length > 0 && !types.some((one) => TAKES[type].includes(one))) return types.join(' or ');
  const { maximum, exclusiveMaximum, maxLength } = property;
  if (most !== undefined && typeof maximum === 'number' && maximum < most) return `at most ${maximum}`;
  if (most !== undefined && typeof exclusiveMaximum === 'number' && exclusiveMaximum <= most)
    return `under ${exclusiveMaximum}`;
  if (longest !== undefined && typeof maxLength === 'number' && maxLength < longest)
    return `at most ${maxLength} characters`;
  return undefined;
};

/** What the queue insists on and this code never sends. */
const wantedRows = (say: Say, use: Use, params: Schema | undefined): readonly ContractRow[] => {
  const required = params?.['required'];
  if (!Array.isArray(required)) return [];
  const sent = new Set(use.sends.map(({ name }) => name));
  // What stands in the path may be described among the fields.
  const inPath = new Set([...use.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name));
  return required
    .filter((name): name is string => typeof name === 'string' && !sent.has(name) && !inPath.has(name))
    .map((name) => say({ what: 'wants', field: name, ours: 'not sent', theirs: 'required', verdict: 'differs' }));
};

// ---- what is read -------------------------------------------------------------------------------------------------

/** Of the data of an answer: the envelope around it is taken off where the document describes it. */
const answerSchemaOf = (document: unknown): Schema | undefined => {
  const whole = Schema.safeParse(document);
  if (!whole.success) return undefined;
  for (const name of ANSWER_MEMBERS) {
    const schema = Schema.safeParse(whole.data[name]);
    if (!schema.success || propertiesOf(schema.data) === undefined) continue;
    const data = Schema.safeParse(propertiesOf(schema.data)?.['data']);
    return data.success && propertiesOf(data.data) !== undefined ? data.data : schema.data;
  }
  return undefined;
};

const readRow = (say: Say, { names, needed, inside }: ReadField, answer: Schema | undefined): ContractRow => {
  const field = inside === undefined ? names.join(' or ') : `${inside.join(' or ')}[].${names.join(' or ')}`;
  const row = (theirs: string, verdict: ContractVerdict) =>
    say({ what: 'reads', field, ours: needed ? 'needed' : 'read where it is there', theirs, verdict });
  const properties = propertiesOf(inside === undefined ? answer : memberOf(answer, inside));
  if (properties === undefined) return row('the document does not describe the answer', 'unknown');
  const found = names.find((name) => name in properties);
  if (found !== undefined) return row(found, 'agrees');
  return row('not described', needed ? 'differs' : 'unknown');
};

/** The schema of the members of a list. */
const memberOf = (answer: Schema | undefined, lists: readonly string[]): Schema | undefined => {
  const properties = propertiesOf(answer);
  const list = Schema.safeParse(lists.map((name) => properties?.[name]).find((one) => one !== undefined));
  const items = list.success ? Schema.safeParse(list.data['items']) : undefined;
  return items?.success === true ? items.data : undefined;
};
