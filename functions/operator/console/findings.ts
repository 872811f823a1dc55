/** What a plan says of a message, and what a run would do about it. */
import type { FindingKind } from '../../core/operations.ts';
import type { Tone } from './states.ts';

export const FINDING_SAYS: Readonly<Record<FindingKind, string>> = {
  redrive: 'sent again, under its key and within its budget',
  accept: 'a whole event, accepted as intake would',
  drop: 'over already, nothing is sent; a dead letter is removed',
  'in-flight': 'left alone, somebody is at it',
  'over-budget': 'held for a person: the budget is spent, and a redrive never adds to it',
  'key-expired': 'held, unless a second effect is accepted: the key is forgotten there',
  'second-effect': 'held, unless a second effect is accepted: an attempt may have arrived',
  poison: 'filed as poison: it makes no sense',
  foreign: 'left: not a message of ours',
  unknown: 'left: of a kind or format that this version does not know',
  paused: 'left: its destination is paused',
};

export const FINDING_TONES: Readonly<Record<FindingKind, Tone>> = {
  redrive: 'live',
  accept: 'live',
  drop: 'off',
  'in-flight': 'wait',
  'over-budget': 'bad',
  'key-expired': 'bad',
  'second-effect': 'bad',
  poison: 'bad',
  foreign: 'off',
  unknown: 'off',
  paused: 'wait',
};
