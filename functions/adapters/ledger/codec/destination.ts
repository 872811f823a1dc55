/** What is kept of a destination that people set: its settings and its secrets. */
import * as z from 'zod/mini';
import type { Destination } from '../../../core/items.ts';
import { type Codec, checked, count, destinationId, given, instantMs, requestId } from './attributes.ts';
import type { Fields } from './stored.ts';

const destinationSchema = z.strictObject({
  v: count,
  url: z.string(),
  safe: z.boolean(),
  keyHours: z.nullable(z.number()),
  schSec: z.array(z.number()),
  timMs: count,
  rate: z.optional(z.number()),
  conc: z.optional(count),
  rej: z.array(count),
  hdr: z.record(z.string(), z.string()),
  afq: z.boolean(),
  mode: z.enum(['live', 'shadow']),
  ntc: z.optional(z.literal(true)),
  bornMs: instantMs,
  updMs: instantMs,
  delMs: z.optional(instantMs),
});

export const destinationCodec: Codec<'destination'> = {
  names: new Set(Object.keys(destinationSchema.shape)),
  encode: (item) => checked(destinationSchema, destinationFields(item)),
  decode: (ref, fields, carried) => {
    const raw = destinationSchema.parse(fields);
    return {
      item: 'destination',
      destination: ref.destination,
      version: raw.v,
      url: raw.url,
      repeatSafe: raw.safe,
      keyLifeHours: raw.keyHours,
      scheduleSec: raw.schSec,
      timeoutMs: raw.timMs,
      ...given('ratePerSecond', raw.rate),
      ...given('concurrency', raw.conc),
      rejectOn: raw.rej,
      headers: raw.hdr,
      acceptFromQueue: raw.afq,
      mode: raw.mode,
      ...given('notices', raw.ntc),
      createdAtMs: raw.bornMs,
      updatedAtMs: raw.updMs,
      ...given('deletedAtMs', raw.delMs),
      carried,
    };
  },
};

const destinationFields = ({ item: _item, destination: _ref, carried: _carried, ...fields }: Destination): Fields => {
  const { version, url, repeatSafe, keyLifeHours, scheduleSec, timeoutMs, ratePerSecond, ...others } = fields;
  const { concurrency, rejectOn, headers, acceptFromQueue, mode, createdAtMs, updatedAtMs, ...last } = others;
  const { deletedAtMs, notices, ...rest } = last;
  rest satisfies Record<string, never>;
  return {
    v: version,
    url,
    safe: repeatSafe,
    keyHours: keyLifeHours,
    schSec: scheduleSec,
    timMs: timeoutMs,
    rate: ratePerSecond,
    conc: concurrency,
    rej: rejectOn,
    hdr: headers,
    afq: acceptFromQueue,
    mode,
    ntc: notices,
    bornMs: createdAtMs,
    updMs: updatedAtMs,
    delMs: deletedAtMs,
  };
};

const secretSchema = z.strictObject({
  v: count,
  sec: z.array(z.string()),
  endMs: z.optional(z.array(instantMs)),
  req: z.optional(requestId),
  updMs: instantMs,
});

export const secretCodec: Codec<'secret'> = {
  names: new Set(Object.keys(secretSchema.shape)),
  encode: ({ item: _item, destination: _destination, carried: _carried, ...fields }) => {
    const { version, secrets, olderEndAtMs, rotatedBy, updatedAtMs, ...rest } = fields;
    rest satisfies Record<string, never>;
    return checked(secretSchema, {
      v: version,
      sec: secrets,
      endMs: olderEndAtMs,
      req: rotatedBy,
      updMs: updatedAtMs,
    });
  },
  decode: (ref, fields, carried) => {
    const raw = secretSchema.parse(fields);
    return {
      item: 'secret',
      destination: ref.destination,
      version: raw.v,
      secrets: raw.sec,
      ...given('olderEndAtMs', raw.endMs),
      ...given('rotatedBy', raw.req),
      updatedAtMs: raw.updMs,
      carried,
    };
  },
};

const noticeRegisterSchema = z.strictObject({ v: count, dests: z.array(destinationId) });

export const noticeRegisterCodec: Codec<'notice-register'> = {
  names: new Set(Object.keys(noticeRegisterSchema.shape)),
  encode: ({ item: _item, carried: _carried, ...fields }) => {
    const { version, destinations, ...rest } = fields;
    rest satisfies Record<string, never>;
    return checked(noticeRegisterSchema, { v: version, dests: destinations });
  },
  decode: (_ref, fields, carried) => {
    const raw = noticeRegisterSchema.parse(fields);
    return { item: 'notice-register', version: raw.v, destinations: raw.dests, carried };
  },
};
