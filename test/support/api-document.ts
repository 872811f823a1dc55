/** The document that the API serves of itself, and what it says of an answer. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { openApiDocument } from '../../functions/operator/contract/document.ts';
import type { Schema } from './json-schema.ts';
import type { Answered } from './world.ts';

interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly schema: Schema;
}

interface Content {
  readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface RawOperation {
  readonly operationId: string;
  readonly security: readonly { readonly bearer?: readonly string[] }[];
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly 'x-codes'?: readonly string[] }>>;
}

export interface Operation {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Undefined: open to all. */
  readonly right: string | undefined;
  readonly query: readonly Parameter[];
  readonly decides: boolean;
  readonly body: Schema | undefined;
  readonly raw: RawOperation;
}

/** As it comes over the wire. */
export const DOCUMENT = JSON.parse(JSON.stringify(openApiDocument())) as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, unknown>> };
};

const operationOf = (path: string, method: string, raw: RawOperation): Operation => {
  const parameters = raw.parameters ?? [];
  return {
    id: raw.operationId,
    method,
    path,
    right: raw.security[0]?.bearer?.[0],
    query: parameters.flatMap((one) => ('in' in one && one.in === 'query' ? [one] : [])),
    decides: parameters.some((one) => '$ref' in one && one.$ref.endsWith('IdempotencyKey')),
    body: raw.requestBody?.content['application/json']?.schema,
    raw,
  };
};

export const OPERATIONS: readonly Operation[] = Object.entries(DOCUMENT.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, raw]) => operationOf(path, method, raw)),
);

/** What is published is open to members that come later; here a member that is not described is a fault. */
const closed = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([name, member]) => [name, closed(member)] as const);
  const isObject = 'properties' in value && !('additionalProperties' in value);
  return { ...Object.fromEntries(entries), ...(isObject ? { additionalProperties: false } : {}) };
};

const ajv = new Ajv2020({ strict: false, allErrors: true });
formats.default(ajv);
ajv.addSchema({ $id: 'doc', components: closed(DOCUMENT.components) });

const validators = new Map<unknown, ValidateFunction>();

const validatorOf = (schema: Schema): ValidateFunction => {
  const known = validators.get(schema);
  if (known !== undefined) return known;
  const local = JSON.parse(JSON.stringify(closed(schema)).replaceAll('"#/components/', '"doc#/components/'));
  const made = ajv.compile(local);
  validators.set(schema, made);
  return made;
};

/** What is wrong with an answer by the document; nothing where it is as described. */
export const faultsOf = ({ raw, id }: Operation, { status, contentType, body }: Answered): readonly string[] => {
  const described = raw.responses[String(status)]?.content;
  if (described === undefined) return [`${id} answers ${status}, which is not described`];
  const schema = described[contentType?.split(';')[0] ?? '']?.schema;
  if (schema === undefined) return [`${id} answers ${status} as ${contentType}, which is not described`];
  const codes = raw.responses[String(status)]?.['x-codes'];
  const { code } = body as { readonly code?: string };
  if (codes !== undefined && !codes.includes(code ?? ''))
    return [`${id} is refused as ${code}, which is not described`];
  const validate = validatorOf(schema);
  if (validate(body)) return [];
  return (validate.errors ?? []).map(
    ({ instancePath, message, params }) => `${id} ${status} ${instancePath} ${message} ${JSON.stringify(params)}`,
  );
};
