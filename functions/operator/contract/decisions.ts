/** Decisions of people, as the API lists them. */
import * as z from 'zod/mini';
import { count, text, time } from './parts.ts';

export const decisionAnswer = z.object({
  /** The id of its request: its `Idempotency-Key`. */
  decision: text,
  at: time,
  actor: text,
  command: text,
  /** Absent where nobody has given one: only a change of settings may have none. */
  reason: z.optional(text),
  /** What it was about to change, in a few words. */
  before: text,
  changes: z.optional(z.array(text)),
  event: z.optional(text),
  destination: z.optional(text),
  operation: z.optional(text),
  token: z.optional(text),
  evidence: z.optional(text),
  /** `done`, or the code by which it was refused. Absent: it was cut off, and its request may be sent again. */
  result: z.optional(text),
});

export const decisionPageAnswer = z.object({
  items: z.array(decisionAnswer),
  /** More stand there that this code cannot read. */
  unreadable: z.optional(count),
  next: z.optional(text),
});
