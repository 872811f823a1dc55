/**
 * Recording what an attempt came to.
 *
 * The claim id decides, not the clock: a holder whose lease has lapsed still settles its own claim as long as nobody
 * has taken it over. Afterwards its outcome is appended as late, and changes nothing, save that a late success ends a
 * delivery that is not final: the effect has happened.
 */
import { type At, type Decision, type Effect, keep, type MarkInput, type SettleInput, write } from '../inputs.ts';
import { carriesWrite } from '../journal.ts';
import { CLOSED_MS_MAX, DELAY_FLOOR_MS, HORIZON_MS, REFUNDS_MAX } from '../limits.ts';
import type { Claimed, Delivery, Entry, Life, Pending, Quarantined, QuarantineReason } from '../model.ts';
import { closesDestination, isGatewayAnswer } from '../outcome.ts';
import { dueAfter, nextDelayMs } from '../schedule.ts';
import { isKeyOver, reasonFor } from './claim.ts';
import {
  budgetLeft,
  deferred,
  delivered,
  journaled,
  lifeOf,
  parked,
  pendingAt,
  quarantined,
  spentOf,
} from './states.ts';

export const mark = (row: Claimed, input: MarkInput, at: At): Decision => {
  if (row.claim.id !== input.claimId) return keep('lost');
  return write({ ...row, version: row.version + 1, claim: { ...row.claim, sendingAtMs: at.nowMs } }, 'marked');
};

export const settle = (row: Claimed, input: SettleInput, at: At): Decision => {
  if (row.claim.id !== input.claimId) return late(row, input, at);
  const life = withKnowledge(lifeOf(row), row, input);
  const next = nextState(life, row, input, at);
  const nextAtMs = next.status === 'pending' ? Math.max(next.dueAtMs, next.deferral?.untilMs ?? 0) : undefined;
  const recorded = { ...next, journal: journaled(life, entryOf('outcome', input, at.nowMs, nextAtMs)).journal };
  return write(recorded, recorded.status === 'quarantined' ? 'quarantined' : 'settled', [
    ...destinationEffects(input, at.nowMs),
    ...rowEffects(recorded),
  ]);
};

/** An outcome whose claim no longer stands. */
export const late = (row: Delivery, input: SettleInput, at: At): Decision => {
  const known = row.journal.lines.some(({ entry }) => entry.kind === 'late-outcome' && entry.attempt === input.attempt);
  if (known || carriesWrite(row.journal, input.writeId)) return keep('repeated');
  const life = journaled(lifeOf(row), entryOf('late-outcome', input, at.nowMs, undefined));
  const effects = destinationEffects(input, at.nowMs);
  const final = row.status === 'delivered' || row.status === 'cancelled';
  if (input.outcome.class === 'delivered' && !final) {
    return write(delivered(life, at.nowMs, 'late-outcome'), 'late', effects);
  }
  return write({ ...row, version: life.version, journal: life.journal }, 'late', effects);
};

const entryOf = (
  kind: 'outcome' | 'late-outcome',
  input: SettleInput,
  nowMs: number,
  nextAtMs: number | undefined,
): Entry => {
  const { outcome } = input;
  return {
    kind,
    atMs: nowMs,
    writeId: input.writeId,
    attempt: input.attempt,
    class: outcome.class,
    // The class and the status say it all for a plain answer; the line stays short.
    ...(outcome.status === undefined ? { detail: outcome.detail } : { status: outcome.status }),
    ...(outcome.durationMs === undefined ? {} : { durationMs: outcome.durationMs }),
    ...(nextAtMs === undefined ? {} : { nextAtMs }),
  };
};

/** What this attempt adds to what is known: key life, doubt, excerpts, and the unit that comes back. */
const withKnowledge = (life: Life, row: Claimed, input: SettleInput): Life => {
  const { outcome } = input;
  const unsafe = !row.claim.repeatSafe || life.doubt === 'unsafe';
  // Where a repeat is safe a gateway's answer is a failure like any other; once it is not, the doubt has to be known.
  const doubtful = outcome.class === 'in-doubt' || isGatewayAnswer(outcome.status);
  const excerpt = outcome.excerpt ? { attempt: input.attempt, text: outcome.excerpt } : undefined;
  const refunded = outcome.class === 'withheld' && life.refunds < REFUNDS_MAX;
  return {
    ...life,
    refunds: life.refunds + (refunded ? 1 : 0),
    ...(outcome.mayHaveArrived ? { keyFromMs: life.keyFromMs ?? row.claim.startedAtMs } : {}),
    ...(doubtful ? { doubt: unsafe ? 'unsafe' : 'safe' } : {}),
    ...(excerpt ? { latestExcerpt: excerpt, firstExcerpt: life.firstExcerpt ?? excerpt } : {}),
  };
};

const nextState = (life: Life, before: Life, input: SettleInput, at: At): Delivery => {
  const hold = (reason: QuarantineReason): Quarantined => quarantined(life, at.nowMs, reason);
  switch (input.outcome.class) {
    case 'delivered':
      return delivered(life, at.nowMs, 'attempt');
    case 'gone':
      return hold('gone');
    case 'rejected':
      return hold('rejected');
    case 'withheld':
      return withhold(life, input, at, life.refunds > before.refunds);
    case 'in-doubt':
      return life.doubt === 'unsafe' ? hold('in-doubt') : retry(life, input, at);
    case 'not-sent': {
      const ours = input.outcome.detail === 'blocked' || input.outcome.detail === 'argument';
      return ours ? hold('blocked') : retry(life, input, at);
    }
    case 'throttled':
    case 'failed':
    case 'abandoned':
      return retry(life, input, at);
  }
};

const retry = (life: Life, input: SettleInput, at: At): Pending | Quarantined => {
  const { outcome, rules } = input;
  const hold = (reason: QuarantineReason): Quarantined => quarantined(life, at.nowMs, reasonFor(reason, outcome.class));
  if (!budgetLeft(life)) return hold('budget');
  const due = dueAfter({
    nowMs: at.nowMs,
    delayMs: nextDelayMs({ scheduleSec: rules.scheduleSec, spent: spentOf(life), draw: at.draw }),
    retryAfterMs: outcome.retryAfterMs,
    horizonEndMs: life.horizonFromMs + HORIZON_MS,
  });
  if (due.kind === 'horizon') return hold('horizon');
  // The claim would refuse it then: a row that only waits for that is better held where somebody looks.
  return isKeyOver(life, rules, due.dueAtMs) ? hold('key-expired') : pendingAt(life, due.dueAtMs, at.nowMs);
};

/** A unit that does not come back is not spent in a second: whatever holds the attempts up has the schedule's time. */
const withhold = (life: Life, input: SettleInput, at: At, refunded: boolean): Pending | Quarantined => {
  const { nowMs } = at;
  if (!budgetLeft(life)) return quarantined(life, nowMs, 'budget');
  const plan = input.withheld ?? { kind: 'again' };
  switch (plan.kind) {
    case 'again':
      return refunded ? pendingAt(life, nowMs + DELAY_FLOOR_MS, nowMs) : retry(life, input, at);
    case 'park':
      return parked(pendingAt(life, nowMs, nowMs), plan.reason, nowMs, plan.opensAtMs);
    case 'defer':
      return deferred(pendingAt(life, nowMs, nowMs), plan, nowMs);
  }
};

/**
 * The effects of a settle that was found applied after its answer had been lost. They were planned and never carried
 * out; from the row as it stands they follow once more, and none of them does harm when it happens twice.
 */
export const effectsOfSettled = (row: Delivery, input: SettleInput, nowMs: number): readonly Effect[] => [
  ...destinationEffects(input, nowMs),
  ...rowEffects(row),
];

/** What an answer means for the whole destination counts from any attempt, superseded or not. */
const destinationEffects = (input: SettleInput, nowMs: number): Effect[] => {
  const { outcome } = input;
  if (outcome.class === 'gone') return [{ kind: 'pause', reason: 'gone' }];
  const { status, retryAfterMs = 0 } = outcome;
  if (!closesDestination(status, retryAfterMs)) return [];
  return [{ kind: 'close', untilMs: nowMs + Math.min(retryAfterMs, CLOSED_MS_MAX) }];
};

const rowEffects = (next: Delivery): Effect[] => {
  if (next.status !== 'pending') return [];
  if (next.parking) return [{ kind: 'reread-gate', version: next.version }];
  return [{ kind: 'publish', version: next.version, dueAtMs: Math.max(next.dueAtMs, next.deferral?.untilMs ?? 0) }];
};
