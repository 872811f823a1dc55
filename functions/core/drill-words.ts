/** What a part of a drill has shown, as a sentence for people. */
import type { DrillPart } from './drill.ts';
import { type PartSeen, type Reading, readingOf, type Skipped } from './drill-reading.ts';

export const PART_SAYS: Readonly<Record<DrillPart, string>> = {
  repeat: 'a repeat after success',
  twins: 'two identical requests at once',
  late: 'an attempt made a minute before the first, coming behind it',
  'other-body': 'the same key with other bytes',
  stale: 'a signature ten minutes old',
  forged: 'a signature by another secret',
  burst: 'many identical requests at once',
};

const SKIPPED_SAYS: Readonly<Record<Skipped, string>> = {
  unanswered: 'a request was not answered, and the destination is left alone since',
  throttled: 'the destination asked for time, and is left alone since',
  'no-success': 'no first request was accepted',
  'no-time': 'the time of the drill was over',
  changed: 'it has been paused, closed, changed or deleted since the drill began',
  concurrency: 'its settings allow one request at a time',
};

const READING_SAYS: Readonly<Record<Reading, string>> = {
  'not-tried': 'not tried',
  'no-success': 'the first was not accepted',
  'same-answer': 'accepted again, with the same answer',
  'other-answer': 'accepted again, with another answer, which a second effect may have made',
  busy: 'the second was told that the key is in use',
  refused: 'refused',
  throttled: 'it asked for time',
  failed: 'it failed',
  unanswered: 'no answer',
  accepted: 'accepted',
  'not-throttled': 'accepted, without being asked for time',
};

/** `a repeat after success: accepted again, with the same answer (200, 200). Effects: 1.` */
export const partSays = (seen: PartSeen): string => {
  const { part, exchanges, skipped, effects } = seen;
  const answers = exchanges.map(({ status, unanswered }) => status ?? unanswered ?? 'no answer');
  const why = skipped === undefined ? '' : `, for ${SKIPPED_SAYS[skipped]}`;
  const given = answers.length === 0 ? '' : ` (${part === 'burst' ? tallyOf(answers) : answers.join(', ')})`;
  const counted = exchanges.length === 0 ? '' : ` Effects: ${effects ?? 'unproven'}.`;
  return `${PART_SAYS[part]}: ${READING_SAYS[readingOf(seen)]}${given}${why}.${counted}`;
};

/** `18 x 200, 2 x 429` */
const tallyOf = (answers: readonly (string | number)[]): string =>
  [...new Set(answers)].map((one) => `${answers.filter((other) => other === one).length} x ${one}`).join(', ');
