/**
 * What a person decides, and what ends a delivery from outside. Each leaves a line in the journal; the same request
 * twice is one decision; a state that does not fit is refused by name and nothing changes.
 */
import {
  type At,
  type CancelInput,
  type Decision,
  keep,
  type RedriveInput,
  type RefusalCode,
  type RefuseInput,
  type ResolveInput,
  write,
} from '../inputs.ts';
import { ATTEMPTS_MAX, DECISIONS_MAX, GRANT_MAX, REDRIVES_MAX } from '../limits.ts';
import type { Claimed, DecisionKind, Delivery, Entry, Life, Pending, Quarantined } from '../model.ts';
import { closeLapsed } from './claim.ts';
import { budgetLeft, cancelled, delivered, journaled, lifeOf, pendingAt, quarantined, spentOf } from './states.ts';

type Person = RedriveInput | ResolveInput | CancelInput;

const refused = (code: RefusalCode): Decision => ({ kind: 'refused', code });

const known = (row: Delivery, input: Person): boolean =>
  row.journal.lines.some(
    ({ entry }) => (entry.kind === 'decision' || entry.kind === 'redriven') && entry.cause === input.cause,
  );

const entryOf = (input: Person | RefuseInput, decision: DecisionKind, nowMs: number): Entry => ({
  kind: 'decision',
  atMs: nowMs,
  writeId: input.writeId,
  cause: input.cause,
  decision,
  ...(input.kind === 'refuse' ? { detail: input.reason } : {}),
});

const decided = (life: Life, input: Person, decision: DecisionKind, nowMs: number): Life => ({
  ...journaled(life, entryOf(input, decision, nowMs)),
  decisions: life.decisions + 1,
});

// ---- refusals by state --------------------------------------------------------------------------------------------

export const refuseLive = (row: Claimed, input: Person, _at: At): Decision =>
  known(row, input)
    ? keep('repeated')
    : { kind: 'refused', code: 'live-claim', leaseEndsAtMs: row.claim.leaseEndsAtMs };

export const refuseOpen = (row: Delivery, input: Person, _at: At): Decision =>
  known(row, input) ? keep('repeated') : refused('not-quarantined');

export const refuseDelivered = (row: Delivery, input: Person, _at: At): Decision =>
  known(row, input) ? keep('repeated') : refused('already-delivered');

export const refuseCancelled = (row: Delivery, input: Person, _at: At): Decision =>
  known(row, input) ? keep('repeated') : refused('already-cancelled');

// ---- redrive, resolve, cancel -------------------------------------------------------------------------------------

export const redrive = (row: Quarantined, input: RedriveInput, at: At): Decision => {
  if (known(row, input)) return keep('repeated');
  const budget = row.budget + input.grant;
  if (!Number.isInteger(input.grant) || input.grant < 0 || input.grant > GRANT_MAX) return refused('life-bound');
  if (row.redrives >= REDRIVES_MAX || budget > ATTEMPTS_MAX || row.attempts >= ATTEMPTS_MAX) {
    return refused('life-bound');
  }
  const secondEffect = row.doubt === 'unsafe' || row.reason === 'key-expired';
  if (secondEffect && !input.acceptSecondEffect) return refused('second-effect');
  if (spentOf(row) >= budget) return refused('over-budget');
  const life = journaled(lifeOf(row), {
    kind: 'redriven',
    atMs: at.nowMs,
    writeId: input.writeId,
    cause: input.cause,
    ...(input.grant > 0 ? { grant: input.grant } : {}),
    ...(secondEffect ? { secondEffect } : {}),
  });
  const { keyFromMs, ...rest } = life;
  const next: Life = {
    ...rest,
    // The accepted second effect starts a new key life; without it the old one goes on.
    ...(input.acceptSecondEffect || keyFromMs === undefined ? {} : { keyFromMs }),
    doubt: input.acceptSecondEffect ? 'none' : life.doubt,
    budget,
    redrives: life.redrives + 1,
    horizonFromMs: at.nowMs,
  };
  return sentAgain(next, 'redriven', at.nowMs);
};

const sentAgain = (life: Life, note: 'redriven' | 'resolved', nowMs: number): Decision => {
  const next = pendingAt(life, nowMs, nowMs);
  return write(next, note, [{ kind: 'publish', version: next.version, dueAtMs: nowMs }]);
};

export const resolve = (row: Quarantined, input: ResolveInput, at: At): Decision => {
  if (known(row, input)) return keep('repeated');
  if (input.as === 'delivered') {
    return write(
      delivered(decided(lifeOf(row), input, 'resolve-delivered', at.nowMs), at.nowMs, 'decision'),
      'resolved',
    );
  }
  // The last decision of a life is kept for one that ends it: that one is never refused.
  if (row.decisions >= DECISIONS_MAX - 1) return refused('life-bound');
  // Nothing has arrived, says a person: no doubt is left, and the life of the key has not begun.
  const { keyFromMs: _never, ...told } = decided(lifeOf(row), input, 'resolve-not-delivered', at.nowMs);
  const life: Life = { ...told, doubt: 'none' };
  if (!budgetLeft(life)) return write(quarantined(life, at.nowMs, 'budget'), 'resolved');
  return sentAgain({ ...life, horizonFromMs: at.nowMs }, 'resolved', at.nowMs);
};

export const cancel = (row: Pending | Quarantined, input: CancelInput, at: At): Decision => {
  if (known(row, input)) return keep('repeated');
  return write(cancelled(decided(lifeOf(row), input, 'cancel', at.nowMs), at.nowMs, 'operator'), 'cancelled');
};

export const cancelLapsed = (row: Claimed, input: CancelInput, at: At): Decision => {
  if (known(row, input)) return keep('repeated');
  const { life } = closeLapsed(row, input, at.nowMs);
  return write(cancelled(decided(life, input, 'cancel', at.nowMs), at.nowMs, 'operator'), 'cancelled');
};

// ---- ended from outside -------------------------------------------------------------------------------------------

export const refuse = (row: Pending, input: RefuseInput, at: At): Decision => {
  const life = journaled(lifeOf(row), entryOf(input, 'refuse', at.nowMs));
  return write(quarantined(life, at.nowMs, input.reason), 'quarantined');
};

export const refuseLapsed = (row: Claimed, input: RefuseInput, at: At): Decision => {
  const { life } = closeLapsed(row, input, at.nowMs);
  const recorded = journaled(life, entryOf(input, 'refuse', at.nowMs));
  return write(quarantined(recorded, at.nowMs, input.reason), 'quarantined');
};
