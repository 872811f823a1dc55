/**
 * Taking the right to make the next attempt.
 *
 *   due, parked  --take-->      claimed: attempt + 1, a lease, an entry; all before the first byte leaves
 *   lapsed       --takeOver-->  the earlier attempt is closed first: `abandoned` where it is certain that nothing left,
 *                               `in-doubt` otherwise; then claimed again, or held for a person
 */
import { type At, type ClaimInput, type Decision, keep, type Rules, write } from '../inputs.ts';
import { ATTEMPTS_MAX, HORIZON_MS, KEY_END_MARGIN_MS, leaseMsOf, REFUNDS_MAX, SKEW_MARGIN_MS } from '../limits.ts';
import type { Claimed, Delivery, Entry, Life, Pending, QuarantineReason } from '../model.ts';
import type { OutcomeClass } from '../outcome.ts';
import { budgetLeft, cancelled, claimed, journaled, lifeOf, quarantined } from './states.ts';

const HOUR_MS = 3_600_000;

/** Whether an attempt that begins then, or arrives so long behind it, would rest on a key that may be forgotten. */
export const isKeyOver = (
  { keyFromMs }: Pick<Life, 'keyFromMs'>,
  { repeatSafe, keyLifeHours }: Pick<Rules, 'repeatSafe' | 'keyLifeHours'>,
  atMs: number,
  marginMs: number = KEY_END_MARGIN_MS,
): boolean =>
  repeatSafe &&
  keyLifeHours !== null &&
  keyFromMs !== undefined &&
  atMs >= keyFromMs + keyLifeHours * HOUR_MS - marginMs;

/** Why a new attempt must not be made, if so. The order is the order in which a person would want to be told. */
const obstacle = (life: Life, input: ClaimInput, nowMs: number): QuarantineReason | undefined => {
  const { rules } = input;
  if (life.doubt === 'safe' && !rules.repeatSafe) return 'in-doubt';
  if (life.doubt === 'unsafe') return 'in-doubt';
  if (isKeyOver(life, rules, nowMs)) return 'key-expired';
  if (!budgetLeft(life) || life.attempts >= ATTEMPTS_MAX) return 'budget';
  if (nowMs > life.horizonFromMs + HORIZON_MS) return 'horizon';
  return undefined;
};

const claimedEntry = (input: ClaimInput, attempt: number, nowMs: number, row: Delivery): Entry => ({
  kind: 'claimed',
  atMs: nowMs,
  writeId: input.writeId,
  cause: input.cause,
  attempt,
  ...(row.status === 'pending' && row.waits ? { waits: row.waits } : {}),
});

/** `life` is the row's next life, with everything recorded that came before this attempt. */
const begin = (row: Pending | Claimed, life: Life, input: ClaimInput, nowMs: number): Claimed => {
  const attempt = life.attempts + 1;
  const leaseMs = leaseMsOf(input.rules.timeoutMs);
  const leaseEndsAtMs = nowMs + leaseMs;
  const next: Life = {
    ...journaled(life, claimedEntry(input, attempt, nowMs, row)),
    attempts: attempt,
    sweeps: 0,
    graceMs: leaseMs + SKEW_MARGIN_MS,
  };
  const claim = {
    id: input.claimId,
    holder: input.holder,
    attempt,
    startedAtMs: nowMs,
    leaseEndsAtMs,
    repeatSafe: input.rules.repeatSafe,
  };
  // An earlier look stays where it is: moving it would cost two more units on every first attempt.
  return claimed(next, claim, Math.min(row.lookAfterMs, leaseEndsAtMs + SKEW_MARGIN_MS));
};

const stop = (life: Life, reason: QuarantineReason, input: ClaimInput, nowMs: number): Decision => {
  const entry: Entry = {
    kind: 'decision',
    atMs: nowMs,
    writeId: input.writeId,
    cause: input.cause,
    decision: 'refuse',
    detail: reason,
  };
  return write(quarantined(journaled(life, entry), nowMs, reason), 'quarantined');
};

export const take = (row: Pending, input: ClaimInput, at: At): Decision => {
  const life = lifeOf(row);
  const reason = obstacle(life, input, at.nowMs);
  if (reason) return stop(life, reason, input, at.nowMs);
  return attemptOrShadow(row, life, input, at.nowMs);
};

/** In shadow the machine runs up to here, and nothing is sent. */
const attemptOrShadow = (row: Pending | Claimed, life: Life, input: ClaimInput, nowMs: number): Decision => {
  if (input.rules.mode === 'live') {
    return input.mayAttempt === false ? keep('waiting') : write(begin(row, life, input, nowMs), 'claimed');
  }
  const entry: Entry = {
    kind: 'decision',
    atMs: nowMs,
    writeId: input.writeId,
    cause: input.cause,
    decision: 'refuse',
    detail: 'shadow',
  };
  return write(cancelled(journaled(life, entry), nowMs, 'shadow'), 'shadowed');
};

export interface Closed {
  readonly life: Life;
  readonly class: Extract<OutcomeClass, 'in-doubt' | 'abandoned'>;
}

/** Records what the attempt of a lapsed claim came to, as far as anybody can know. */
export const closeLapsed = (row: Claimed, input: Pick<ClaimInput, 'writeId' | 'cause'>, nowMs: number): Closed => {
  const { claim } = row;
  // The mark is written before the socket is touched, and only where a repeat is not safe.
  const nothingLeft = !claim.repeatSafe && claim.sendingAtMs === undefined;
  const outcome = nothingLeft ? 'abandoned' : 'in-doubt';
  const life = journaled(lifeOf(row), {
    kind: 'outcome',
    atMs: nowMs,
    writeId: input.writeId,
    cause: input.cause,
    attempt: claim.attempt,
    class: outcome,
    detail: 'lease-lapsed',
  });
  if (nothingLeft) return { class: outcome, life: { ...life, refunds: Math.min(life.refunds + 1, REFUNDS_MAX) } };
  return {
    class: outcome,
    life: {
      ...life,
      doubt: claim.repeatSafe && life.doubt !== 'unsafe' ? 'safe' : 'unsafe',
      keyFromMs: life.keyFromMs ?? claim.startedAtMs,
    },
  };
};

/** `in-doubt` outranks a spent budget: whoever looks must first learn that a request may have arrived. */
export const reasonFor = (reason: QuarantineReason, lastClass: OutcomeClass): QuarantineReason =>
  lastClass === 'in-doubt' && (reason === 'budget' || reason === 'horizon') ? 'in-doubt' : reason;

export const takeOver = (row: Claimed, input: ClaimInput, at: At): Decision => {
  const closed = closeLapsed(row, input, at.nowMs);
  const reason = obstacle(closed.life, input, at.nowMs);
  if (reason) {
    return write(quarantined(closed.life, at.nowMs, reasonFor(reason, closed.class)), 'quarantined');
  }
  return attemptOrShadow(row, closed.life, input, at.nowMs);
};
