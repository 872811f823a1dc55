/** Events and deliveries, as the API shows them. */
import * as z from 'zod/mini';
import { count, notRead, pageOf, placed, reason, status, text, time, waits } from './parts.ts';

const summary = {
  event: text,
  destination: text,
  status,
  reason: z.optional(reason),
  attempts: count,
  budget: count,
  redrives: count,
  dueAt: z.optional(time),
  leaseEndsAt: z.optional(time),
  deliveredBy: z.optional(z.enum(['attempt', 'late-outcome', 'decision'])),
};

export const deliverySummaryAnswer = z.object(summary);

export const journalEntryAnswer = z.object({
  seq: count,
  kind: z.enum(['accepted', 'claimed', 'outcome', 'late-outcome', 'redriven', 'decision']),
  at: time,
  attempt: z.optional(count),
  cause: z.optional(text),
  class: z.optional(
    z.enum(['delivered', 'throttled', 'failed', 'rejected', 'gone', 'not-sent', 'in-doubt', 'withheld', 'abandoned']),
  ),
  status: z.optional(count),
  detail: z.optional(text),
  durationMs: z.optional(count),
  nextAt: z.optional(time),
  requestId: text,
  decision: z.optional(z.enum(['cancel', 'resolve-delivered', 'resolve-not-delivered', 'refuse'])),
  grant: z.optional(count),
  secondEffect: z.optional(z.literal(true)),
  waited: z.optional(waits),
  actor: z.optional(text),
  reason: z.optional(text),
  /** Of an operation, which `actor` has planned: who ran it, and why. */
  ranBy: z.optional(text),
  evidence: z.optional(text),
});

const excerpt = z.object({ attempt: count, text });

const delivery = {
  ...summary,
  acceptedAt: time,
  attemptsInDoubt: z.array(count),
  payloadHash: text,
  firstExcerpt: z.optional(excerpt),
  latestExcerpt: z.optional(excerpt),
  waits: z.optional(waits),
  journal: z.array(journalEntryAnswer),
  journalHead: text,
};

export const deliveryAnswer = z.object(delivery);

export const deliveryDecidedAnswer = z.object({ ...delivery, decision: text });

/** A list must not hide what this code cannot read. */
const unreadable = z.object({
  event: text,
  destination: text,
  status: z.literal('unreadable'),
  reason: notRead,
});

export const deliveryPageAnswer = pageOf(z.union([deliverySummaryAnswer, unreadable]));

export const eventAnswer = z.object({
  event: text,
  type: z.optional(text),
  acceptedAt: time,
  deliverAt: z.optional(time),
  source: z.enum(['api', 'queue']),
  replayOf: z.optional(text),
  contentType: text,
  payloadBytes: count,
  payloadHash: text,
  fingerprint: text,
  conflicts: count,
  deliveries: z.array(deliverySummaryAnswer),
});

export const replayAnswer = z.object({
  event: text,
  replayOf: text,
  deliveries: z.array(placed),
  decision: text,
});

export const acceptedAnswer = z.object({ event: text, acceptedAt: time, deliveries: z.array(placed) });
