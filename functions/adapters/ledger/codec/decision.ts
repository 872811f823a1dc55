/** What a person decided. `bornMs` is the time of the decision, by which it is listed. */
import * as z from 'zod/mini';
import { causeOf } from '../../../core/journal.ts';
import type { Decided } from '../../../core/operations.ts';
import {
  type Codec,
  checked,
  count,
  destinationId,
  eventId,
  given,
  hash,
  hashBytes,
  instantMs,
  requestId,
} from './attributes.ts';
import type { Fields } from './stored.ts';

const decisionSchema = z.strictObject({
  v: count,
  cmd: z.enum([
    'set',
    'pause',
    'resume',
    'test',
    'prove',
    'delete',
    'rotate-secret',
    'redrive',
    'resolve',
    'cancel',
    'replay',
    'run',
    'stop',
    'create-token',
    'revoke-token',
  ]),
  req: requestId,
  fp: hash,
  act: z.string(),
  why: z.string(),
  was: z.string(),
  chg: z.optional(z.array(z.string())),
  ev: z.optional(eventId),
  dst: z.optional(destinationId),
  op: z.optional(z.string()),
  tok: z.optional(z.string()),
  evi: z.optional(z.string()),
  bornMs: instantMs,
  res: z.optional(z.string()),
});

export const decisionCodec: Codec<'decision'> = {
  names: new Set(Object.keys(decisionSchema.shape)),
  encode: (item) => checked(decisionSchema, decisionFields(item)),
  decode: (ref, fields, carried) => {
    const raw = decisionSchema.parse(fields);
    if (causeOf('actor', raw.req) !== ref.cause) throw new TypeError('its request id is not that of its key');
    return {
      item: 'decision',
      request: raw.req,
      version: raw.v,
      command: raw.cmd,
      fingerprint: raw.fp,
      actor: raw.act,
      reason: raw.why,
      before: raw.was,
      ...given('changes', raw.chg),
      ...given('event', raw.ev),
      ...given('destination', raw.dst),
      ...given('operation', raw.op),
      ...given('token', raw.tok),
      ...given('evidence', raw.evi),
      decidedAtMs: raw.bornMs,
      ...given('result', raw.res),
      carried,
    };
  },
};

const decisionFields = ({ item: _item, carried: _carried, ...fields }: Decided): Fields => {
  const { version, request, command, fingerprint, actor, reason, before, event, destination, ...others } = fields;
  const { changes, operation, token, evidence, decidedAtMs, result, ...rest } = others;
  rest satisfies Record<string, never>;
  return {
    v: version,
    req: request,
    cmd: command,
    fp: hashBytes(fingerprint),
    act: actor,
    why: reason,
    was: before,
    chg: changes,
    ev: event,
    dst: destination,
    op: operation,
    tok: token,
    evi: evidence,
    bornMs: decidedAtMs,
    res: result,
  };
};
