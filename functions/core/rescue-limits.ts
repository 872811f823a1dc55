/** The bounds of a rescue of whole events from the dead letters, and how they stand to those of a sweep, which it ends. */
import {
  LEDGER_REQUEST_MS,
  LEDGER_TRIES_MAX,
  PUBLISH_MS,
  PUSH_ANSWER_MS,
  type Relation,
  SWEEP_PAGE_MS,
} from './limits.ts';

const SECOND = 1_000;

export const RESCUE_EVERY_TICKS = 10;
/** No letter is read or looked at behind this. */
export const RESCUE_MS = 10 * SECOND;
export const RESCUE_PAGE_LETTERS = 10;
export const RESCUE_LETTERS_MAX = 1_000;
/** For so long the letters that were read are out of others' sight, where the transport cannot give them back. */
export const RESCUE_LEASE_SEC = 30;

export const rescueRelations = (): readonly Relation[] => [
  {
    says: 'the longest page of a sweep, the message of the next one and a rescue fit the answer deadline of the queue',
    holds: SWEEP_PAGE_MS + PUBLISH_MS + RESCUE_MS + LEDGER_REQUEST_MS * LEDGER_TRIES_MAX < PUSH_ANSWER_MS,
  },
  {
    says: 'a rescue ends before the lease of the first letter that it has read, or it would read in a circle',
    holds: RESCUE_MS + LEDGER_REQUEST_MS * LEDGER_TRIES_MAX < RESCUE_LEASE_SEC * SECOND,
  },
  { says: 'a rescue reads more than one page', holds: RESCUE_PAGE_LETTERS < RESCUE_LETTERS_MAX },
];

for (const relation of rescueRelations()) {
  if (!relation.holds) throw new Error(`rescue-limits.ts contradicts itself: ${relation.says}`);
}
