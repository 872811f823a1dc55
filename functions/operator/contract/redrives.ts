/** Operations over many deliveries, as the API shows them: what was found, how far the run is, what came of it. */
import * as z from 'zod/mini';
import { QUARANTINE_REASONS } from '../../core/model.ts';
import { FINDINGS } from '../../core/operations.ts';
import { count, notRead, text, time } from './parts.ts';

const finding = z.enum(FINDINGS);

const operation = {
  operation: text,
  source: z.enum(['dead-letters', 'quarantine']),
  destination: z.optional(text),
  reason: z.optional(z.enum(QUARANTINE_REASONS)),
  limit: count,
  recoveryMinutes: z.number(),
  stopAbove: z.number(),
  acceptSecondEffect: z.boolean(),
  actor: text,
  why: text,
  state: z.enum(['planning', 'planned', 'running', 'stopped', 'done']),
  startedBecause: z.optional(text),
  stoppedBecause: z.optional(text),
  stalled: z.optional(text),
  createdAt: time,
  startedAt: z.optional(time),
  endedAt: z.optional(time),
  found: z.partialRecord(finding, count),
  complete: z.boolean(),
  incomplete: z.optional(text),
  contradiction: z.optional(text),
  estimateMs: count,
  tooSlow: z.boolean(),
  deadBefore: z.optional(count),
  deadAfter: z.optional(count),
};

export const operationSummaryAnswer = z.object(operation);
export const operationPageAnswer = z.object({
  items: z.array(operationSummaryAnswer),
  unreadable: z.optional(z.array(z.object({ operation: text, reason: notRead }))),
  next: z.optional(text),
});

export const messageAnswer = z.object({
  position: count,
  messageId: z.optional(text),
  event: z.optional(text),
  destination: z.optional(text),
  finding,
  detail: text,
  plannedAs: z.optional(finding),
  last: z.optional(z.object({ class: text, status: z.optional(count), durationMs: z.optional(count) })),
  chosenAt: z.optional(time),
  action: z.optional(z.enum(['requeued', 'discarded', 'left', 'gone'])),
  actedAt: z.optional(time),
  result: z.optional(
    z.enum(['delivered', 'deduplicated', 'failed', 'in-doubt', 'open', 'dropped', 'held', 'accepted', 'gone']),
  ),
  attempt: z.optional(count),
  judgedAt: z.optional(time),
});

export const progressAnswer = z.object({
  requested: count,
  requeued: count,
  delivered: count,
  deduplicated: count,
  failed: count,
  inDoubt: count,
  open: count,
  dropped: count,
  held: count,
  accepted: count,
  gone: count,
  removed: count,
  waiting: count,
});

export const operationAnswer = z.object({
  ...operation,
  planned: count,
  progress: progressAnswer,
  mismatch: z.optional(z.object({ expected: count, counted: count, says: text })),
  messages: z.array(messageAnswer),
  next: z.optional(text),
  decision: z.optional(text),
});
