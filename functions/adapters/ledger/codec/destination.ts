/** What is kept of a destination: its settings, the gate in front of it, and its secrets. */
import * as z from 'zod/mini';
import type { Destination, Pause } from '../../../core/items.ts';
import { both, type Codec, checked, count, given, instantMs } from './attributes.ts';
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
  const { deletedAtMs, ...rest } = last;
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
    bornMs: createdAtMs,
    updMs: updatedAtMs,
    delMs: deletedAtMs,
  };
};

const gateSchema = z.strictObject({
  v: count,
  pauBy: z.optional(z.string()),
  pauWhy: z.optional(z.string()),
  pauMs: z.optional(instantMs),
  cloMs: z.optional(instantMs),
  sinMs: z.optional(instantMs),
});

export const gateCodec: Codec<'gate'> = {
  names: new Set(Object.keys(gateSchema.shape)),
  encode: ({ item: _item, destination: _destination, carried: _carried, ...fields }) => {
    const { version, pause, closedUntilMs, closedSinceMs, ...rest } = fields;
    rest satisfies Record<string, never>;
    return checked(gateSchema, {
      v: version,
      ...(pause ? pauseFields(pause) : {}),
      cloMs: closedUntilMs,
      sinMs: closedSinceMs,
    });
  },
  decode: (ref, fields, carried) => {
    const raw = gateSchema.parse(fields);
    const pause = both(both(raw.pauBy, raw.pauWhy), raw.pauMs);
    return {
      item: 'gate',
      destination: ref.destination,
      version: raw.v,
      ...given('pause', pause && { by: pause[0][0], reason: pause[0][1], sinceMs: pause[1] }),
      ...given('closedUntilMs', raw.cloMs),
      ...given('closedSinceMs', raw.sinMs),
      carried,
    };
  },
};

const pauseFields = ({ by, reason, sinceMs, ...rest }: Pause): Fields => {
  rest satisfies Record<string, never>;
  return { pauBy: by, pauWhy: reason, pauMs: sinceMs };
};

const secretSchema = z.strictObject({ v: count, sec: z.array(z.string()), updMs: instantMs });

export const secretCodec: Codec<'secret'> = {
  names: new Set(Object.keys(secretSchema.shape)),
  encode: ({ item: _item, destination: _destination, carried: _carried, ...fields }) => {
    const { version, secrets, updatedAtMs, ...rest } = fields;
    rest satisfies Record<string, never>;
    return checked(secretSchema, { v: version, sec: secrets, updMs: updatedAtMs });
  },
  decode: (ref, fields, carried) => {
    const raw = secretSchema.parse(fields);
    return {
      item: 'secret',
      destination: ref.destination,
      version: raw.v,
      secrets: raw.sec,
      updatedAtMs: raw.updMs,
      carried,
    };
  },
};
