/** An explanation, as the API gives it: in words, and as the structure that the words are made from. */
import * as z from 'zod/mini';
import { count, reason, status, text, time } from './parts.ts';

const outcome = z.enum([
  'delivered',
  'throttled',
  'failed',
  'rejected',
  'gone',
  'not-sent',
  'in-doubt',
  'withheld',
  'abandoned',
]);

const attempt = z.object({
  seq: count,
  attempt: count,
  at: time,
  cause: z.optional(text),
  outcome: z.optional(outcome),
  status: z.optional(count),
  detail: z.optional(text),
  durationMs: z.optional(count),
  endedAt: z.optional(time),
  late: z.optional(z.object({ seq: count, at: time, outcome, status: z.optional(count) })),
  arrival: z.enum(['answered', 'not-sent', 'unknown', 'told', 'under-way']),
  waited: z.optional(z.object({ count, since: time, reason: text })),
});

const act = z.object({
  seq: count,
  at: time,
  what: z.enum(['redriven', 'cancelled', 'resolved-delivered', 'resolved-not-delivered', 'refused']),
  grant: z.optional(count),
  cause: z.optional(text),
  actor: z.optional(text),
  reason: z.optional(text),
  ranBy: z.optional(text),
  evidence: z.optional(text),
  decision: z.optional(text),
});

const next = z.object({
  kind: z.enum(['nothing', 'attempt', 'parked', 'under-way', 'worker-lost', 'person']),
  /** Not before then. */
  from: z.optional(time),
  /** A sweep looks then, whatever has become of the messages. */
  lookAfter: z.optional(time),
  leaseEndsAt: z.optional(time),
  /** What comes of it if its worker never comes back. */
  ifLost: z.optional(z.enum(['again', 'again-unsent', 'held'])),
  since: z.optional(time),
  reason: z.optional(text),
  gate: z.optional(
    z.object({
      kind: z.enum(['open', 'probe', 'closed', 'no-destination', 'newer']),
      reason: z.optional(text),
      opensAt: z.optional(time),
      pausedBy: z.optional(text),
      pausedBecause: z.optional(text),
      pausedSince: z.optional(time),
    }),
  ),
});

export const explanationAnswer = z.object({
  event: text,
  destination: text,
  status,
  reason: z.optional(reason),
  since: z.optional(time),
  effect: z.enum(['one', 'one-by-key', 'one-or-more', 'none', 'unknown', 'said']),
  requests: z.object({ made: count, answered: count, unknown: count, told: count, notSent: count, underWay: count }),
  recordedSuccesses: z.union([z.literal(0), z.literal(1)]),
  mayHaveArrived: z.boolean(),
  pushes: count,
  attempts: z.array(attempt),
  acts: z.array(act),
  acceptedAt: time,
  payloadHash: text,
  budget: z.object({ allowed: count, spent: count, givenBack: count, granted: count }),
  keyFrom: z.optional(time),
  next,
  words: z.array(z.object({ title: text, lines: z.array(text) })),
});
