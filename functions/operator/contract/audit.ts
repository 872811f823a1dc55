/** The raw material of an audit, as the API hands it out. It is checked by whoever asks for it: see `onceward audit`. */
import * as z from 'zod/mini';
import { count, pageOf, reason, status, text } from './parts.ts';

const row = z.object({
  event: text,
  destination: text,
  payloadHash: text,
  /** Of the payload's bytes as they are now; absent: its event is not there. */
  payloadHashNow: z.optional(text),
  head: text,
  /** Byte for byte as they are stored. */
  lines: z.array(text),
  status,
  reason: z.optional(reason),
  by: z.optional(z.enum(['attempt', 'late-outcome', 'decision'])),
  attempts: count,
  budget: count,
  refunds: count,
  redrives: count,
  decisions: count,
});

const fault = z.object({
  event: text,
  destination: text,
  fault: z.enum(['missing', 'written-by-newer-code', 'ledger-corrupt']),
});

export const auditItem = z.union([row, fault]);

export const auditPageAnswer = pageOf(auditItem);
