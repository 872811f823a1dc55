/** The state of the whole in a few numbers, as the API shows it. */
import * as z from 'zod/mini';
import { count, time } from './parts.ts';

export const statsAnswer = z.object({
  open: count,
  parked: count,
  quarantined: count,
  /** Names of the counts that stopped at their cap: so many, or more. */
  capped: z.array(z.enum(['open', 'parked', 'quarantined'])),
  /** `null` where the queue did not say. */
  deadLetters: z.nullable(count),
  largestOverdueMs: count,
  /** Of the part of the ledger that was swept longest ago; `null` where one never was. */
  lastSweepAt: z.nullable(time),
  /** The age is left out where the transport does not tell it. */
  queue: z.nullable(z.object({ available: count, delayed: count, inFlight: count, oldestAgeMs: z.optional(count) })),
});
