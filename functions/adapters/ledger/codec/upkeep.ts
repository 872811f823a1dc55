/** What the running of the system leaves in its ledger: tokens, senseless messages and their counts. */
import * as z from 'zod/mini';
import { TTL_ATTRIBUTE } from '../schema.ts';
import { bytes, type Codec, checked, count, given, instantMs, requestId } from './attributes.ts';

const tokenSchema = z.strictObject({
  v: count,
  name: z.string(),
  can: z.array(z.enum(['view', 'send', 'pause', 'resend', 'decide', 'admin'])),
  bornMs: instantMs,
  revMs: z.optional(instantMs),
});

export const tokenCodec: Codec<'token'> = {
  names: new Set(Object.keys(tokenSchema.shape)),
  encode: ({ item: _item, hash: _hash, carried: _carried, ...fields }) => {
    const { version, name, rights, createdAtMs, revokedAtMs, ...rest } = fields;
    rest satisfies Record<string, never>;
    return checked(tokenSchema, { v: version, name, can: rights, bornMs: createdAtMs, revMs: revokedAtMs });
  },
  decode: (ref, fields, carried) => {
    const raw = tokenSchema.parse(fields);
    return {
      item: 'token',
      hash: ref.hash,
      version: raw.v,
      name: raw.name,
      rights: raw.can,
      createdAtMs: raw.bornMs,
      ...given('revokedAtMs', raw.revMs),
      carried,
    };
  },
};

/** One token a text: the three are JSON in it, since no attribute here is a list of records. */
const registered = z.pipe(
  z.string(),
  z.pipe(
    z.transform((text: string): unknown => JSON.parse(text)),
    z.tuple([z.string(), z.string(), requestId]),
  ),
);

const registerSchema = z.strictObject({
  v: count,
  toks: z.array(registered),
});

export const tokenRegisterCodec: Codec<'token-register'> = {
  names: new Set(Object.keys(registerSchema.shape)),
  encode: ({ item: _item, carried: _carried, ...fields }) => {
    const { version, tokens, ...rest } = fields;
    rest satisfies Record<string, never>;
    const toks = tokens.map(({ name, hash, request }) => JSON.stringify([name, hash, request]));
    return checked(registerSchema, { v: version, toks });
  },
  decode: (_ref, fields, carried) => {
    const raw = registerSchema.parse(fields);
    const tokens = raw.toks.map(([name, hash, request]) => ({ name, hash, request }));
    return { item: 'token-register', version: raw.v, tokens, carried };
  },
};

const poisonSchema = z.strictObject({
  v: count,
  why: z.string(),
  exc: bytes,
  sum: z.string(),
  size: count,
  mid: z.optional(z.string()),
  seenMs: instantMs,
  [TTL_ATTRIBUTE]: count,
});

export const poisonCodec: Codec<'poison'> = {
  names: new Set(Object.keys(poisonSchema.shape)),
  encode: ({ item: _item, id: _id, carried: _carried, ...fields }) => {
    const { version, reason, excerpt, hash, bytes, messageId, seenAtMs, expiresAtSec, ...rest } = fields;
    rest satisfies Record<string, never>;
    return checked(poisonSchema, {
      v: version,
      why: reason,
      exc: excerpt,
      sum: hash,
      size: bytes,
      mid: messageId,
      seenMs: seenAtMs,
      [TTL_ATTRIBUTE]: expiresAtSec,
    });
  },
  decode: (ref, fields, carried) => {
    const raw = poisonSchema.parse(fields);
    return {
      item: 'poison',
      id: ref.id,
      version: raw.v,
      reason: raw.why,
      excerpt: raw.exc,
      hash: raw.sum,
      bytes: raw.size,
      ...given('messageId', raw.mid),
      seenAtMs: raw.seenMs,
      expiresAtSec: raw[TTL_ATTRIBUTE],
      carried,
    };
  },
};

const poisonMinuteSchema = z.strictObject({ v: count, n: count, [TTL_ATTRIBUTE]: count });

export const poisonMinuteCodec: Codec<'poison-minute'> = {
  names: new Set(Object.keys(poisonMinuteSchema.shape)),
  encode: ({ item: _item, minute: _minute, carried: _carried, ...fields }) => {
    const { version, count, expiresAtSec, ...rest } = fields;
    rest satisfies Record<string, never>;
    return checked(poisonMinuteSchema, { v: version, n: count, [TTL_ATTRIBUTE]: expiresAtSec });
  },
  decode: (ref, fields, carried) => {
    const raw = poisonMinuteSchema.parse(fields);
    return {
      item: 'poison-minute',
      minute: ref.minute,
      version: raw.v,
      count: raw.n,
      expiresAtSec: raw[TTL_ATTRIBUTE],
      carried,
    };
  },
};
