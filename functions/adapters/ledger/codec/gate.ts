/** What stands between a due delivery and its destination: the gate, and the slots of its concurrency. */
import * as z from 'zod/mini';
import type { Failures, Pause } from '../../../core/items.ts';
import { both, type Codec, checked, claimId, count, given, instantMs, requestId, writeId } from './attributes.ts';
import type { Fields } from './stored.ts';

const gateSchema = z.strictObject({
  v: count,
  pauBy: z.optional(z.string()),
  pauWhy: z.optional(z.string()),
  pauMs: z.optional(instantMs),
  prbMs: z.optional(instantMs),
  cloMs: z.optional(instantMs),
  sinMs: z.optional(instantMs),
  flN: z.optional(count),
  flMs: z.optional(instantMs),
  crwMs: z.optional(instantMs),
  resN: z.optional(count),
  req: z.optional(z.array(requestId)),
  wid: z.optional(z.array(writeId)),
});

type GateFields = z.output<typeof gateSchema>;

export const gateCodec: Codec<'gate'> = {
  names: new Set(Object.keys(gateSchema.shape)),
  encode: ({ item: _item, destination: _destination, carried: _carried, ...fields }) => {
    const { version, pause, closedUntilMs, closedSinceMs, failures, crowdedUntilMs, resumes, ...others } = fields;
    const { decided, writes, ...rest } = others;
    rest satisfies Record<string, never>;
    return checked(gateSchema, {
      v: version,
      ...(pause ? pauseFields(pause) : {}),
      cloMs: closedUntilMs,
      sinMs: closedSinceMs,
      ...(failures ? failureFields(failures) : {}),
      crwMs: crowdedUntilMs,
      resN: resumes,
      req: decided,
      wid: writes,
    });
  },
  decode: (ref, fields, carried) => {
    const raw = gateSchema.parse(fields);
    const failures = both(raw.flN, raw.flMs);
    return {
      item: 'gate',
      destination: ref.destination,
      version: raw.v,
      ...given('pause', pauseOf(raw)),
      ...given('closedUntilMs', raw.cloMs),
      ...given('closedSinceMs', raw.sinMs),
      ...given('failures', failures && { count: failures[0], sinceMs: failures[1] }),
      ...given('crowdedUntilMs', raw.crwMs),
      ...given('resumes', raw.resN),
      ...given('decided', raw.req),
      ...given('writes', raw.wid),
      carried,
    };
  },
};

const pauseFields = ({ by, reason, sinceMs, probeAtMs, ...rest }: Pause): Fields => {
  rest satisfies Record<string, never>;
  return { pauBy: by, pauWhy: reason, pauMs: sinceMs, prbMs: probeAtMs };
};

const pauseOf = (raw: GateFields): Pause | undefined => {
  const pause = both(both(raw.pauBy, raw.pauWhy), raw.pauMs);
  if (pause === undefined) {
    if (raw.prbMs !== undefined) throw new TypeError('a probe without a pause');
    return undefined;
  }
  const [[by, reason], sinceMs] = pause;
  return { by, reason, sinceMs, ...given('probeAtMs', raw.prbMs) };
};

const failureFields = ({ count, sinceMs, ...rest }: Failures): Fields => {
  rest satisfies Record<string, never>;
  return { flN: count, flMs: sinceMs };
};

const slotSchema = z.strictObject({ v: count, cid: z.optional(claimId), leaMs: instantMs });

export const slotCodec: Codec<'slot'> = {
  names: new Set(Object.keys(slotSchema.shape)),
  encode: ({ item: _item, destination: _destination, n: _n, carried: _carried, ...fields }) => {
    const { version, holder, leaseEndsAtMs, ...rest } = fields;
    rest satisfies Record<string, never>;
    return checked(slotSchema, { v: version, cid: holder, leaMs: leaseEndsAtMs });
  },
  decode: (ref, fields, carried) => {
    const raw = slotSchema.parse(fields);
    return {
      item: 'slot',
      destination: ref.destination,
      n: ref.n,
      version: raw.v,
      ...given('holder', raw.cid),
      leaseEndsAtMs: raw.leaMs,
      carried,
    };
  },
};
