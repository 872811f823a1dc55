/** What a producer sent: the event itself, and what came in later under its id with other content. */
import * as z from 'zod/mini';
import {
  bytes,
  type Codec,
  checked,
  count,
  destinationId,
  eventId,
  given,
  hash,
  hashBytes,
  instantMs,
} from './attributes.ts';

const source = z.enum(['api', 'queue']);

const eventSchema = z.strictObject({
  v: count,
  typ: z.optional(z.string()),
  pay: bytes,
  ct: z.string(),
  fp: hash,
  ph: hash,
  dst: z.array(destinationId),
  bornMs: instantMs,
  delMs: z.optional(instantMs),
  src: source,
  tp: z.optional(z.string()),
  rep: z.optional(eventId),
});

export const eventCodec: Codec<'event'> = {
  names: new Set(Object.keys(eventSchema.shape)),
  encode: ({ item: _item, event: _event, carried: _carried, ...fields }) => {
    const { version, type, payload, contentType, fingerprint, payloadHash, ...others } = fields;
    const { destinations, acceptedAtMs, deliverAtMs, source, traceparent, replayOf, ...rest } = others;
    rest satisfies Record<string, never>;
    return checked(eventSchema, {
      v: version,
      typ: type,
      pay: payload,
      ct: contentType,
      fp: hashBytes(fingerprint),
      ph: hashBytes(payloadHash),
      dst: destinations,
      bornMs: acceptedAtMs,
      delMs: deliverAtMs,
      src: source,
      tp: traceparent,
      rep: replayOf,
    });
  },
  decode: (ref, fields, carried) => {
    const raw = eventSchema.parse(fields);
    return {
      item: 'event',
      event: ref.event,
      version: raw.v,
      ...given('type', raw.typ),
      payload: raw.pay,
      contentType: raw.ct,
      fingerprint: raw.fp,
      payloadHash: raw.ph,
      destinations: raw.dst,
      acceptedAtMs: raw.bornMs,
      ...given('deliverAtMs', raw.delMs),
      source: raw.src,
      ...given('traceparent', raw.tp),
      ...given('replayOf', raw.rep),
      carried,
    };
  },
};

const conflictSchema = z.strictObject({
  v: count,
  fp: hash,
  dst: z.array(destinationId),
  seenMs: instantMs,
  src: source,
});

export const conflictCodec: Codec<'conflict'> = {
  names: new Set(Object.keys(conflictSchema.shape)),
  encode: ({ item: _item, event: _event, n: _n, carried: _carried, ...fields }) => {
    const { version, fingerprint, destinations, seenAtMs, source, ...rest } = fields;
    rest satisfies Record<string, never>;
    return checked(conflictSchema, {
      v: version,
      fp: hashBytes(fingerprint),
      dst: destinations,
      seenMs: seenAtMs,
      src: source,
    });
  },
  decode: (ref, fields, carried) => {
    const raw = conflictSchema.parse(fields);
    return {
      item: 'conflict',
      event: ref.event,
      n: ref.n,
      fingerprint: raw.fp,
      version: raw.v,
      destinations: raw.dst,
      seenAtMs: raw.seenMs,
      source: raw.src,
      carried,
    };
  },
};
