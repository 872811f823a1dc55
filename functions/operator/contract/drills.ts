/** What a drill has seen and what it shows, as the API answers it and as the command line keeps and reads it. */
import * as z from 'zod/mini';
import { DRILL_PARTS } from '../../core/drill.ts';
import { DESERVES } from '../../core/drill-conclusion.ts';
import { READINGS } from '../../core/drill-reading.ts';
import { count, text, time } from './parts.ts';

const exchange = z.object({
  request: text,
  status: z.optional(z.int()),
  unanswered: z.optional(
    z.enum([
      ...['dns', 'refused', 'tls', 'blocked', 'connect-timeout', 'argument'],
      ...['timeout', 'reset', 'protocol', 'header-overflow'],
    ] as const),
  ),
  retryAfterMs: z.optional(count),
  /** Beside the first answer of its part, as far as bodies were read. */
  body: z.optional(z.enum(['same', 'other'])),
  durationMs: count,
  excerpt: z.optional(text),
});

const part = {
  part: z.enum(DRILL_PARTS),
  /** Of its test event, and what was sent as `Idempotency-Key` and `webhook-id`: to look for its effects. */
  event: text,
  key: text,
  reading: z.enum(READINGS),
  skipped: z.optional(z.enum(['unanswered', 'throttled', 'no-success', 'no-time', 'changed', 'concurrency'])),
  exchanges: z.array(exchange),
  says: text,
};

const drill = {
  destination: text,
  at: time,
  /** As it is set. */
  repeatSafe: z.boolean(),
  deserves: z.enum(DESERVES),
  because: z.array(text),
  advice: z.array(text),
};

export const drillAnswer = z.object({ ...drill, parts: z.array(z.object(part)), decision: text });

/** What the command line keeps: of one drill or several, with the effects as somebody has counted them. */
export const drillReport = z.object({
  ...drill,
  parts: z.array(z.object({ ...part, effects: z.optional(count) })),
  /** An answer of the API can be kept as well. */
  decisions: z._default(z.array(text), []),
});
