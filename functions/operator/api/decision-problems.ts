/** Why a decision was not carried out, for people: the state, the bound, and what can be done. */
import { ATTEMPTS_MAX, DECISIONS_MAX, REDRIVES_MAX } from '../../core/limits.ts';
import type { Delivery } from '../../core/model.ts';
import type { Problem } from '../../http/problem.ts';
import { type DeliveryRefusal, stateOf, type Wish } from '../commands/deliveries.ts';
import { HEADER } from './decision-input.ts';

export const reused: Problem = {
  status: 422,
  code: 'request-reused',
  detail: `the id in the header "${HEADER}" stands for another decision already, or for that of somebody else; use a new one`,
  field: HEADER,
};

export const refusal = (code: DeliveryRefusal, row: Delivery, wish: Wish): Problem => ({
  status: 409,
  code,
  detail: `delivery of ${row.event} to ${row.destination} ${DETAILS[code](row, wish)}`,
  ...(FIELDS[code] === undefined ? {} : { field: FIELDS[code] }),
});

/** The member of the body with which it would be carried out. */
const FIELDS: Readonly<Record<DeliveryRefusal, string | undefined>> = {
  'live-claim': undefined,
  'not-quarantined': undefined,
  'already-delivered': undefined,
  'already-cancelled': undefined,
  'over-budget': 'grant',
  'second-effect': 'acceptSecondEffect',
  'life-bound': undefined,
  'no-destination': undefined,
};

const spent = (row: Delivery): number => row.attempts - row.refunds;

const DETAILS: Readonly<Record<DeliveryRefusal, (row: Delivery, wish: Wish) => string>> = {
  'live-claim': (row) =>
    row.status === 'claimed'
      ? `is claimed: an attempt is under way, its lease ends at ${new Date(row.claim.leaseEndsAtMs).toISOString()}; ask again after that`
      : `was claimed when this was decided, and is ${stateOf(row)} now; decide anew, with another request id`,
  'not-quarantined': (row) => `is ${stateOf(row)}: only a quarantined delivery can be redriven or resolved`,
  'already-delivered': (row) => `is ${stateOf(row)}: to send its content once more, replay the event`,
  'already-cancelled': (row) => `is ${stateOf(row)}, and stays so`,
  'over-budget': (row) =>
    `is ${stateOf(row)} and has spent ${spent(row)} of ${row.budget} attempts: a grant of at least ${spent(row) - row.budget + 1} is needed`,
  'second-effect': (row) =>
    `is ${stateOf(row)}: an attempt may have arrived, and another may have a second effect; that has to be accepted`,
  'life-bound': (row, wish) => `is ${stateOf(row)} and at a bound of its life: ${boundOf(row, wish)}`,
  'no-destination': (row) => `is ${stateOf(row)}: its destination is deleted, and there is nothing left to send to`,
};

const boundOf = (row: Delivery, wish: Wish): string => {
  if (wish.command !== 'redrive')
    return `at most ${DECISIONS_MAX} decisions, and the last one has to end it (cancel, or resolve as delivered)`;
  if (row.redrives >= REDRIVES_MAX) return `at most ${REDRIVES_MAX} redrives`;
  return `at most ${ATTEMPTS_MAX} attempts, and its budget is ${row.budget} before this grant of ${wish.grant}`;
};
