/** The kinds of attribute that several items have, as schemas, and the rule by which an item is written and read. */
import * as z from 'zod/mini';
import {
  type ClaimId,
  type DestinationId,
  type EventId,
  type IdResult,
  parseClaimId,
  parseDestinationId,
  parseEventId,
  parseRequestId,
  parseWriteId,
  type RequestId,
  type WriteId,
} from '../../../core/ids.ts';
import type { ItemKind, ItemOf } from '../../../core/items.ts';
import type { Carried } from '../../../core/model.ts';
import type { RefOf } from '../../../ports.ts';
import type { Fields } from './stored.ts';

/** How one kind of item is stored. Both ways throw on anything that the schema of the kind does not allow. */
export interface Codec<K extends ItemKind> {
  /** Every attribute that this code ever gives such an item, beside the keys, the format and the indexes. */
  readonly names: ReadonlySet<string>;
  readonly encode: (item: ItemOf<K>) => Fields;
  /** `fields` are the plain values of the known attributes; the identity comes from the keys. */
  readonly decode: (ref: RefOf<K>, fields: Readonly<Record<string, unknown>>, carried: Carried) => ItemOf<K>;
}

/** A whole number from 0, up to what a double holds exactly. */
export const count = z.int().check(z.nonnegative());

/** Epoch milliseconds. Its attribute's name ends in `Ms`; the one time in seconds is the table's own time to live. */
export const instantMs = count;

export const bytes = z.instanceof(Uint8Array);

const HASH_BYTES = 32;

/** A SHA-256 hash: 32 bytes in the table, base64url everywhere else. */
export const hash = z.pipe(
  bytes.check(z.refine((value) => value.length === HASH_BYTES, 'a SHA-256 hash has 32 bytes')),
  z.transform((value: Uint8Array<ArrayBuffer>): string => Buffer.from(value).toString('base64url')),
);

/** The bytes of a hash. Text that is not exactly the base64url of 32 bytes is a bug, and throws. */
export const hashBytes = (text: string): Uint8Array => {
  const value = Buffer.from(text, 'base64url');
  if (value.length !== HASH_BYTES || value.toString('base64url') !== text) {
    throw new TypeError(`not a SHA-256 hash in base64url: ${JSON.stringify(text)}`);
  }
  return value;
};

const idOf = <Id extends string>(parse: (value: unknown) => IdResult<Id>) =>
  z.pipe(
    z.string(),
    z.transform((text: string, context): Id => {
      const result = parse(text);
      if (result.kind === 'ok') return result.id;
      context.issues.push({ code: 'custom', message: `the id ${result.reason}`, input: text });
      return z.NEVER;
    }),
  );

export const eventId = idOf<EventId>(parseEventId);
export const destinationId = idOf<DestinationId>(parseDestinationId);
export const claimId = idOf<ClaimId>(parseClaimId);
export const requestId = idOf<RequestId>(parseRequestId);
export const writeId = idOf<WriteId>(parseWriteId);

/** The schema judges what is about to be written, so that nothing gets into the table that could not be read again. */
export const checked = (schema: z.ZodMiniType, fields: Fields): Fields => {
  schema.parse(fields);
  return fields;
};

/** Two attributes that say one thing between them. One without the other is broken data. */
export const both = <A, B>(first: A | undefined, second: B | undefined): readonly [A, B] | undefined => {
  if (first !== undefined && second !== undefined) return [first, second];
  if (first === undefined && second === undefined) return undefined;
  throw new TypeError('one half of a pair of attributes is missing');
};

/** An optional member, there only if it has a value. */
export const given = <Name extends string, Value>(
  name: Name,
  value: Value | undefined,
): { readonly [member in Name]?: Value } => {
  const members: { [member in Name]?: Value } = {};
  if (value !== undefined) members[name] = value;
  return members;
};
