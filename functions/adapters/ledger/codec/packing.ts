/**
 * The texts of a row, its journal's lines and its excerpts, as they are stored: one by one while they are short, so that a
 * person can read them in the table, and packed together once they are long. A write costs a unit for each KB of its row,
 * and these texts are much alike: a failing destination says the same each time. The texts themselves are the same either
 * way, and the chain of the journal is taken over them.
 *
 *   up to 400 bytes ──► `j`, `x1`, `x2`     a first attempt: nothing is packed for it
 *   more ─────────────► `z`: their JSON, deflated (RFC 1951)
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import * as z from 'zod/mini';
import { EXCERPT_BYTES_MAX, JOURNAL_ENTRIES_MAX, JOURNAL_ENTRY_BYTES_MAX } from '../../../core/limits.ts';

const PLAIN_BYTES_MAX = 400;

/** Newer code may write longer texts; what unpacks to more than this was not packed by any. */
const UNPACKED_BYTES_MAX = 4 * (JOURNAL_ENTRIES_MAX * JOURNAL_ENTRY_BYTES_MAX + 2 * EXCERPT_BYTES_MAX);

/** Repairs nothing: what is mended in silence would be written back as if it had always stood there. */
const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export interface Texts {
  readonly j: readonly string[];
  readonly x1?: string | undefined;
  readonly x2?: string | undefined;
}

const textsSchema = z.strictObject({
  j: z.array(z.string()),
  x1: z.optional(z.string()),
  x2: z.optional(z.string()),
});

export const packed = (texts: Texts): Texts | { readonly z: Uint8Array } => {
  const json = JSON.stringify(texts);
  return Buffer.byteLength(json) <= PLAIN_BYTES_MAX ? texts : { z: deflateRawSync(json) };
};

/** Throws on a row that has both forms or none, and on what does not unpack to texts. */
export const unpacked = (
  fields: { readonly z?: Uint8Array | undefined } & { readonly [member in keyof Texts]?: Texts[member] | undefined },
): Texts => {
  const { z: bytes, j, x1, x2 } = fields;
  if (bytes === undefined) {
    if (j === undefined) throw new TypeError('it has no journal');
    return { j, x1, x2 };
  }
  if (j !== undefined || x1 !== undefined || x2 !== undefined)
    throw new TypeError('texts beside those that are packed');
  const json = inflateRawSync(bytes, { maxOutputLength: UNPACKED_BYTES_MAX });
  return textsSchema.parse(JSON.parse(UTF8.decode(json)));
};
