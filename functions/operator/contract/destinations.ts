/** Destinations, as the API shows them: settings without secrets, and what stands between them and what is due. */
import * as z from 'zod/mini';
import { count, notRead, text, time } from './parts.ts';

const parked = z.object({
  count,
  /** There are so many, or more. */
  capped: z.optional(z.literal(true)),
  oldestAt: z.optional(time),
  oldestLeftMs: z.optional(count),
  oldestEndsBy: z.optional(z.enum(['key-life', 'horizon'])),
});

const destination = {
  destination: text,
  url: text,
  repeatSafe: z.boolean(),
  keyLifeHours: z.nullable(z.number()),
  schedule: z.array(count),
  timeoutMs: count,
  ratePerSecond: z.optional(z.number()),
  concurrency: z.optional(count),
  rejectOn: z.array(count),
  headers: z.record(text, text),
  acceptFromQueue: z.boolean(),
  mode: z.enum(['live', 'shadow']),
  notices: z.optional(z.boolean()),
  createdAt: time,
  updatedAt: time,
  deletedAt: z.optional(time),
  state: z.enum(['active', 'paused', 'closed', 'crowded']),
  since: z.optional(time),
  by: z.optional(text),
  reason: z.optional(text),
  probeAt: z.optional(time),
  closedUntil: z.optional(time),
  crowdedUntil: z.optional(time),
  /** In a row, since the last success. */
  failures: z.optional(z.object({ count, since: time })),
  parked: z.optional(parked),
};

export const destinationAnswer = z.object(destination);
export const destinationPageAnswer = z.object({
  items: z.array(destinationAnswer),
  unreadable: z.optional(z.array(z.object({ destination: text, reason: notRead }))),
  next: z.optional(text),
});
/** `signingSecret` is shown this once, and only where it was made here. */
export const destinationCreatedAnswer = z.object({ ...destination, signingSecret: z.optional(text) });
export const destinationDecidedAnswer = z.object({ ...destination, decision: text });
export const destinationTestedAnswer = z.object({ event: text, href: text, decision: text });
export const destinationDeletedAnswer = z.object({ destination: text, deletedAt: time, decision: text });
