/** Pieces that several answers of the API share. Each is written once here, for the document and for our own clients. */
import * as z from 'zod/mini';
import { QUARANTINE_REASONS } from '../../core/model.ts';

/** ISO 8601 in UTC, with milliseconds. */
export const time = z.string().check(z.meta({ format: 'date-time' }));
export const count = z.int().check(z.nonnegative());
export const text = z.string();

export const STATUSES = ['pending', 'claimed', 'delivered', 'cancelled', 'quarantined'] as const;

/** Of a row, or `unreadable` in a list: written by newer code, or broken. */
export const status = z.enum(STATUSES);

/** Why it is quarantined or cancelled, or why it waits parked. */
export const reason = z.enum([...QUARANTINE_REASONS, 'operator', 'shadow', 'paused', 'closed']);

export const waits = z.object({ count, since: time, reason: z.enum(['rate', 'closed', 'concurrency', 'paused']) });

/** A page of a list. `next` is the cursor of the page behind it; without it, this was the last one. */
export const pageOf = <Item extends z.ZodMiniType>(item: Item) =>
  z.object({ items: z.array(item), next: z.optional(text) });

/** Why something that is there cannot be read here. */
export const notRead = z.enum(['written-by-newer-code', 'ledger-corrupt']);

/** Where something is to be seen. */
export const placed = z.object({ destination: text, href: text });
