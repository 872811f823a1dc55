/**
 * The machine: phase x input, every cell written. The table below is the one in SPEC.md; a test holds them together.
 *
 * `decide` is pure: the row, the input, the instant and one throw of the dice go in; the next row, the effects and a
 * note come out. Whoever calls it writes the row under the version that was read, and on a refusal decides again from
 * the row that came back.
 */

import type { ClaimId, WriteId } from './ids.ts';
import {
  type At,
  type Decision,
  type Effect,
  type Input,
  type InputKind,
  type InputOf,
  keep,
  type Rules,
} from './inputs.ts';
import { carriesWrite } from './journal.ts';
import type { Delivery } from './model.ts';
import { take, takeOver } from './moves/claim.ts';
import {
  cancel,
  cancelLapsed,
  redrive,
  refuse,
  refuseCancelled,
  refuseDelivered,
  refuseLapsed,
  refuseLive,
  refuseOpen,
  resolve,
} from './moves/decisions.ts';
import { lookDue, lookEarly, lookLapsed, lookLive, lookParked } from './moves/look.ts';
import { effectsOfSettled, late, mark, settle } from './moves/settle.ts';
import { defer, deferLapsed, park, parkLapsed, stayParked } from './moves/wait.ts';
import { type Phase, phaseOf, type RowOf } from './phase.ts';

export type Cell<P extends Phase, I extends InputKind> = (row: RowOf[P], input: InputOf<I>, at: At) => Decision;
export type Table = { readonly [P in Phase]: { readonly [I in InputKind]: Cell<P, I> } };

// Moves that change nothing, each with its own name: an empty cell would hide whether somebody has thought about it.
const tooEarly = (): Decision => keep('early');
const busy = (): Decision => keep('busy');
const done = (): Decision => keep('done');
const held = (): Decision => keep('held');
const lost = (): Decision => keep('lost');

export const TABLE: Table = {
  early: {
    claim: tooEarly,
    park: tooEarly,
    defer: tooEarly,
    mark: lost,
    settle: late,
    sweep: lookEarly,
    refuse: tooEarly,
    redrive: refuseOpen,
    resolve: refuseOpen,
    cancel,
  },
  due: {
    claim: take,
    park,
    defer,
    mark: lost,
    settle: late,
    sweep: lookDue,
    refuse,
    redrive: refuseOpen,
    resolve: refuseOpen,
    cancel,
  },
  parked: {
    claim: take,
    park: stayParked,
    defer,
    mark: lost,
    settle: late,
    sweep: lookParked,
    refuse,
    redrive: refuseOpen,
    resolve: refuseOpen,
    cancel,
  },
  live: {
    claim: busy,
    park: busy,
    defer: busy,
    mark,
    settle,
    sweep: lookLive,
    refuse: busy,
    redrive: refuseLive,
    resolve: refuseLive,
    cancel: refuseLive,
  },
  lapsed: {
    claim: takeOver,
    park: parkLapsed,
    defer: deferLapsed,
    mark: lost,
    settle,
    sweep: lookLapsed,
    refuse: refuseLapsed,
    redrive: refuseOpen,
    resolve: refuseOpen,
    cancel: cancelLapsed,
  },
  delivered: {
    claim: done,
    park: done,
    defer: done,
    mark: lost,
    settle: late,
    sweep: done,
    refuse: done,
    redrive: refuseDelivered,
    resolve: refuseDelivered,
    cancel: refuseDelivered,
  },
  cancelled: {
    claim: done,
    park: done,
    defer: done,
    mark: lost,
    settle: late,
    sweep: done,
    refuse: done,
    redrive: refuseCancelled,
    resolve: refuseCancelled,
    cancel: refuseCancelled,
  },
  quarantined: {
    claim: held,
    park: held,
    defer: held,
    mark: lost,
    settle: late,
    sweep: held,
    refuse: held,
    redrive,
    resolve,
    cancel,
  },
};

export const decide = (row: Delivery, input: Input, nowMs: number, draw: number): Decision => {
  const cell = TABLE[phaseOf(row, nowMs)][input.kind];
  // The phase has chosen the cell, and by `phaseOf` a phase implies the status of its row: one cast instead of eighty.
  return (cell as (row: Delivery, input: Input, at: At) => Decision)(row, input, { nowMs, draw });
};

/** A claim that nobody makes: what it would write is looked at, and thrown away. */
const UNMADE = { claimId: 'unmade' as ClaimId, writeId: 'unmade' as WriteId, holder: 'nobody', cause: 'nobody' };

/** Whether a claim would hold or end this row, and begin no attempt. */
export const endsUnsent = (row: Delivery, rules: Rules, nowMs: number): boolean =>
  decide(row, { kind: 'claim', ...UNMADE, rules, mayAttempt: false }, nowMs, 0).kind === 'write';

/** What a write can be recognised by, after an answer to it was lost. */
export interface Signature {
  readonly writeId?: WriteId;
  readonly claimId?: ClaimId;
}

export const signatureOf = (input: Input): Signature => {
  switch (input.kind) {
    case 'claim':
      return { writeId: input.writeId, claimId: input.claimId };
    case 'mark':
      return { claimId: input.claimId };
    case 'settle':
    case 'refuse':
    case 'redrive':
    case 'resolve':
    case 'cancel':
    case 'park':
    case 'defer':
      return { writeId: input.writeId };
    case 'sweep':
      return {};
  }
};

/**
 * Whether a refused write had been applied all the same. Any line of the journal may prove it, since a rival may have
 * written behind it. A claim, or its mark, is ours if the row's claim is ours.
 */
export const isOurs = (present: Delivery, input: Input): boolean => {
  const { writeId, claimId } = signatureOf(input);
  if (writeId !== undefined && carriesWrite(present.journal, writeId)) return true;
  if (claimId === undefined || present.status !== 'claimed' || present.claim.id !== claimId) return false;
  return input.kind !== 'mark' || present.claim.sendingAtMs !== undefined;
};

/** What is still to be done for a write that had been applied, and whose effects may never have been carried out. */
export const effectsAgain = (present: Delivery, input: Input, nowMs: number): readonly Effect[] => {
  if (input.kind === 'settle') return effectsOfSettled(present, input, nowMs);
  // What else plans a message leaves a look-after time behind, and that is enough.
  return [];
};
