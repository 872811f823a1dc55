/** The record of a sweep's last pass, with the queue's statistics where that pass asked for them. */
import * as z from 'zod/mini';
import type { QueueSeen } from '../../../core/items.ts';
import { type Codec, checked, count, given, instantMs } from './attributes.ts';
import type { Fields } from './stored.ts';

const queueSchema = z.strictObject({
  qAva: count,
  qDel: count,
  qFly: count,
  qDead: count,
  /** Not every transport says it. */
  qOldMs: z.optional(count),
});

const heartbeatSchema = z.strictObject({
  v: count,
  who: z.string(),
  leaMs: instantMs,
  pasMs: instantMs,
  tick: z.optional(count),
  overMs: count,
  looked: count,
  pub: count,
  moved: count,
  ...z.partial(queueSchema).shape,
});

export const heartbeatCodec: Codec<'heartbeat'> = {
  names: new Set(Object.keys(heartbeatSchema.shape)),
  encode: ({ item: _item, shard: _shard, carried: _carried, ...fields }) => {
    const { version, holder, leaseEndsAtMs, passAtMs, largestOverdueMs, looked, published, moved, ...others } = fields;
    const { queue, tick, ...rest } = others;
    rest satisfies Record<string, never>;
    return checked(heartbeatSchema, {
      v: version,
      who: holder,
      leaMs: leaseEndsAtMs,
      pasMs: passAtMs,
      tick,
      overMs: largestOverdueMs,
      looked,
      pub: published,
      moved,
      ...(queue ? queueFields(queue) : {}),
    });
  },
  decode: (ref, fields, carried) => {
    const { qAva, qDel, qFly, qDead, qOldMs, ...raw } = heartbeatSchema.parse(fields);
    return {
      item: 'heartbeat',
      shard: ref.shard,
      version: raw.v,
      holder: raw.who,
      leaseEndsAtMs: raw.leaMs,
      passAtMs: raw.pasMs,
      ...given('tick', raw.tick),
      largestOverdueMs: raw.overMs,
      looked: raw.looked,
      published: raw.pub,
      moved: raw.moved,
      ...given('queue', queueOf({ qAva, qDel, qFly, qDead, qOldMs })),
      carried,
    };
  },
};

const queueFields = ({ available, delayed, inFlight, dead, oldestAgeMs, ...rest }: QueueSeen): Fields => {
  rest satisfies Record<string, never>;
  return { qAva: available, qDel: delayed, qFly: inFlight, qDead: dead, ...given('qOldMs', oldestAgeMs) };
};

/** All of the counts, or none. */
const queueOf = (fields: Readonly<Record<string, number | undefined>>): QueueSeen | undefined => {
  if (Object.values(fields).every((value) => value === undefined)) return undefined;
  const raw = queueSchema.parse(fields);
  return {
    available: raw.qAva,
    delayed: raw.qDel,
    inFlight: raw.qFly,
    dead: raw.qDead,
    ...given('oldestAgeMs', raw.qOldMs),
  };
};
