/** The first state of an event and of its deliveries, and what makes a repeat the same submission. */

import { payloadHash } from './fingerprint.ts';
import type { WriteId } from './ids.ts';
import type { AcceptedEvent, Destination } from './items.ts';
import { append, emptyJournal } from './journal.ts';
import { ATTEMPTS_MAX, graceMsOf } from './limits.ts';
import { lookAfterPlanned } from './look-after.ts';
import type { Pending } from './model.ts';
import type { Submission } from './submission.ts';

export const eventOf = (
  submission: Submission,
  source: AcceptedEvent['source'],
  nowMs: number,
  traceparent: string | undefined,
): AcceptedEvent => ({
  item: 'event',
  version: 1,
  event: submission.event,
  ...(submission.type === undefined ? {} : { type: submission.type }),
  payload: submission.payload,
  contentType: submission.contentType,
  fingerprint: submission.fingerprint,
  payloadHash: payloadHash(submission.payload),
  destinations: submission.destinations,
  acceptedAtMs: nowMs,
  ...(submission.deliverAtMs === undefined ? {} : { deliverAtMs: submission.deliverAtMs }),
  source,
  ...(traceparent === undefined ? {} : { traceparent }),
  carried: {},
});

/** Same id, same content, same set of destinations; type and time are the first submission's. */
export const sameSubmission = (event: AcceptedEvent, submission: Submission): boolean =>
  event.fingerprint === submission.fingerprint &&
  event.destinations.length === submission.destinations.length &&
  new Set([...event.destinations, ...submission.destinations]).size === event.destinations.length;

export const budgetOf = (config: Pick<Destination, 'scheduleSec'>): number =>
  Math.min(config.scheduleSec.length + 1, ATTEMPTS_MAX);

export const deliveryOf = (
  event: AcceptedEvent,
  config: Destination,
  writeId: WriteId,
  cause: string,
  nowMs: number,
): Pending => {
  const ref = { event: event.event, destination: config.destination };
  const dueAtMs = Math.max(event.deliverAtMs ?? nowMs, nowMs);
  const graceMs = graceMsOf(config.timeoutMs);
  return {
    item: 'delivery',
    ...ref,
    version: 1,
    status: 'pending',
    acceptedAtMs: nowMs,
    horizonFromMs: dueAtMs,
    payloadHash: event.payloadHash,
    budget: budgetOf(config),
    attempts: 0,
    refunds: 0,
    redrives: 0,
    decisions: 0,
    doubt: 'none',
    graceMs,
    sweeps: 0,
    dueAtMs,
    lookAfterMs: lookAfterPlanned(dueAtMs, graceMs, nowMs),
    journal: append(emptyJournal(ref, event.payloadHash), {
      kind: 'accepted',
      atMs: nowMs,
      writeId,
      cause,
      grant: budgetOf(config),
    }),
    carried: {},
  };
};
