/** The report of a destination in shadow mode, as the API gives it. */
import * as z from 'zod/mini';
import { count, text, time } from './parts.ts';

const utcDay = z.string().check(z.meta({ format: 'date' }));
const difference = z.int();

export const shadowAnswer = z.object({
  destination: text,
  mode: z.enum(['live', 'shadow']),
  from: utcDay,
  to: utcDay,
  per: z.enum(['hour', 'day']),
  acceptedSince: utcDay,
  wouldSend: count,
  quarantined: count,
  cancelled: count,
  delivered: count,
  waiting: count,
  tests: count,
  unreadable: count,
  /** Attempts that were really made. */
  requests: count,
  /** Those with nothing on either side are left out. */
  buckets: z.array(
    z.object({ at: time, wouldSend: count, given: z.optional(count), difference: z.optional(difference) }),
  ),
  /** Only where counts were given and all rows were looked at. */
  compared: z.optional(z.object({ same: z.boolean(), given: count, difference })),
  /** False: `next` goes on, and the counts are those of a part. */
  complete: z.boolean(),
  next: z.optional(text),
  /** The same in sentences. */
  words: z.array(text),
});
