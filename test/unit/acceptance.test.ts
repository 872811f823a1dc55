import { describe, expect, it } from 'vitest';
import { budgetOf, deliveryOf, eventOf, sameSubmission } from '../../functions/core/acceptance.ts';
import { payloadHash } from '../../functions/core/fingerprint.ts';
import { verifyChain } from '../../functions/core/journal.ts';
import { ATTEMPTS_MAX, SCHEDULE_LENGTH_MAX } from '../../functions/core/limits.ts';
import type { Submission } from '../../functions/core/submission.ts';
import {
  acceptedRow,
  DAY_MS,
  destinationIdOf,
  destinationOf,
  entriesOf,
  HOUR_MS,
  SAFE,
  START_MS,
  submissionOf,
  writeIdOf,
} from '../support/machine.ts';

const [a, b, c] = ['a', 'b', 'c'].map(destinationIdOf);
const to = (...ids: (typeof a)[]): Partial<Submission> => ({ destinations: ids.filter((id) => id !== undefined) });
const eventFor = (over: Partial<Submission> = {}) => eventOf(submissionOf(over), 'api', START_MS, undefined);

describe('an accepted event', () => {
  it('holds what was handed in, byte for byte, and the hash of exactly these bytes', () => {
    const submission = submissionOf({ type: 'order.paid', deliverAtMs: START_MS + HOUR_MS });
    const event = eventOf(submission, 'queue', START_MS, '00-trace');
    expect(event).toMatchObject({ ...submission, item: 'event', version: 1, source: 'queue', traceparent: '00-trace' });
    expect(event.payload).toBe(submission.payload);
    expect(event.payloadHash).toBe(payloadHash(submission.payload));
    expect(event.acceptedAtMs).toBe(START_MS);
  });

  it('has no member for what was not given', () => {
    const names = Object.keys(eventFor());
    for (const name of ['type', 'deliverAtMs', 'traceparent']) expect(names).not.toContain(name);
  });
});

describe('a repeat', () => {
  it('is the same submission with the same content and the same set of destinations, in any order', () => {
    const event = eventFor(to(a, b));
    expect(sameSubmission(event, submissionOf(to(a, b)))).toBe(true);
    expect(sameSubmission(event, submissionOf(to(b, a)))).toBe(true);
  });

  it("may differ in type and time: those are the first submission's", () => {
    const event = eventFor({ type: 'order.paid' });
    expect(sameSubmission(event, submissionOf({ type: 'other', deliverAtMs: START_MS + DAY_MS }))).toBe(true);
  });

  it.each<[string, Partial<Submission>]>([
    ['content', { ...to(a, b), fingerprint: 'fingerprint-2' }],
    ['one destination less', to(a)],
    ['one destination more', to(a, b, c)],
    ['another destination', to(a, c)],
    ['none of the destinations', to(c)],
  ])('is a conflict with other %s', (_name, over) => {
    expect(sameSubmission(eventFor(to(a, b)), submissionOf(over))).toBe(false);
  });
});

describe('an accepted delivery', () => {
  it('is due at once, pending, with nothing spent, and looked after at due + grace', () => {
    expect(acceptedRow()).toMatchObject({
      item: 'delivery',
      version: 1,
      status: 'pending',
      acceptedAtMs: START_MS,
      dueAtMs: START_MS,
      horizonFromMs: START_MS,
      lookAfterMs: START_MS + 35_000,
      graceMs: 35_000,
      ...{ budget: 8, attempts: 0, refunds: 0, redrives: 0, decisions: 0, sweeps: 0, doubt: 'none' },
    });
  });

  it('has one entry that names its write and its cause, in a chain of its own', () => {
    const row = acceptedRow();
    expect(entriesOf(row)).toEqual([
      { kind: 'accepted', atMs: START_MS, writeId: writeIdOf('accept'), cause: 'i:r-1', grant: 8 },
    ]);
    expect(verifyChain(row, row.payloadHash, row.journal)).toBe(true);
    expect(verifyChain({ ...row, destination: destinationIdOf('other') }, row.payloadHash, row.journal)).toBe(false);
  });

  it('is due at its time where one is wished for, and counts its horizon from there', () => {
    const row = acceptedRow({ deliverAtMs: START_MS + 30 * DAY_MS });
    expect(row).toMatchObject({ dueAtMs: START_MS + 30 * DAY_MS, horizonFromMs: START_MS + 30 * DAY_MS });
    expect(row.lookAfterMs).toBe(START_MS + 30 * DAY_MS - 600_000);
  });

  it('is due now where the wished time is past', () => {
    expect(acceptedRow({ deliverAtMs: START_MS - DAY_MS })).toMatchObject({ dueAtMs: START_MS });
  });

  it('that a repeat completes later is due then, not in the past of the event', () => {
    const row = deliveryOf(eventFor(), destinationOf(), writeIdOf('w'), 'i:r', START_MS + HOUR_MS);
    expect(row).toMatchObject({ acceptedAtMs: START_MS + HOUR_MS, dueAtMs: START_MS + HOUR_MS });
  });
});

describe('the budget', () => {
  it('is the length of the schedule and one: empty means one attempt', () => {
    expect(budgetOf({ scheduleSec: [] })).toBe(1);
    expect(budgetOf({ scheduleSec: [0] })).toBe(2);
    expect(budgetOf(SAFE)).toBe(8);
  });

  it('is never more than the attempts of a life', () => {
    expect(budgetOf({ scheduleSec: Array(SCHEDULE_LENGTH_MAX).fill(5) })).toBe(ATTEMPTS_MAX);
    expect(budgetOf({ scheduleSec: Array(1_000).fill(5) })).toBe(ATTEMPTS_MAX);
  });
});
