/**
 * The attributes of a delivery. All of them are flat: what newer code adds is then always an attribute of its own, and
 * is carried along. Which ones a row has follows from its status, and no other attribute of ours may stand there:
 *
 *   every status            identity is in the keys; the life; the journal (lines `j`, head `jh`) and excerpts, or all texts packed (`z`)
 *   pending                 dueMs lookMs; deferral (defMs defWhy defLn), parking (parMs parWhy), waits (waiN waiMs waiWhy)
 *   claimed                 lookMs; the claim (cid who catt staMs leaMs safe senMs): without a lease there is no claim
 *   delivered               endMs by
 *   cancelled, quarantined  endMs why
 */
import * as z from 'zod/mini';
import { QUARANTINE_REASONS } from '../../../core/model.ts';
import { bytes, claimId, count, hash, instantMs } from './attributes.ts';

const life = {
  v: count,
  bornMs: instantMs,
  horMs: instantMs,
  ph: hash,
  bud: count,
  att: count,
  ref: count,
  red: count,
  dec: count,
  keyMs: z.optional(instantMs),
  dbt: z.enum(['none', 'safe', 'unsafe']),
  graMs: count,
  swp: count,
  x1: z.optional(z.string()),
  x1n: z.optional(count),
  x2: z.optional(z.string()),
  x2n: z.optional(count),
  j: z.optional(z.array(z.string())),
  z: z.optional(bytes),
  jh: hash,
};

const pending = z.strictObject({
  ...life,
  st: z.literal('pending'),
  dueMs: instantMs,
  lookMs: instantMs,
  defMs: z.optional(instantMs),
  defWhy: z.optional(z.enum(['rate', 'closed', 'concurrency'])),
  defLn: z.optional(count),
  parMs: z.optional(instantMs),
  parWhy: z.optional(z.enum(['paused', 'closed'])),
  waiN: z.optional(count),
  waiMs: z.optional(instantMs),
  waiWhy: z.optional(z.enum(['rate', 'closed', 'concurrency', 'paused'])),
});

const claimed = z.strictObject({
  ...life,
  st: z.literal('claimed'),
  lookMs: instantMs,
  cid: claimId,
  who: z.string(),
  catt: count,
  staMs: instantMs,
  leaMs: instantMs,
  safe: z.boolean(),
  senMs: z.optional(instantMs),
});

const delivered = z.strictObject({
  ...life,
  st: z.literal('delivered'),
  endMs: instantMs,
  by: z.enum(['attempt', 'late-outcome', 'decision']),
});

const cancelled = z.strictObject({
  ...life,
  st: z.literal('cancelled'),
  endMs: instantMs,
  why: z.enum(['operator', 'shadow']),
});

const quarantined = z.strictObject({
  ...life,
  st: z.literal('quarantined'),
  endMs: instantMs,
  why: z.enum(QUARANTINE_REASONS),
});

const STATUSES = [pending, claimed, delivered, cancelled, quarantined] as const;

export const deliverySchema = z.discriminatedUnion('st', STATUSES);

export type DeliveryFields = z.output<typeof deliverySchema>;

/** Of every status: a claim left standing in a delivered row is known to be ours, and refused. */
export const DELIVERY_NAMES: ReadonlySet<string> = new Set(STATUSES.flatMap(({ shape }) => Object.keys(shape)));
