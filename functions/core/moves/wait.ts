/** Waiting at a closed gate. No move here spends budget: an attempt that was not made is not an attempt. */
import { type At, type Decision, type DeferInput, keep, type ParkInput, write } from '../inputs.ts';
import type { Claimed, Delivery, Life, Pending } from '../model.ts';
import { closeLapsed, reasonFor } from './claim.ts';
import { budgetLeft, deferred, parked, pendingAt, quarantined } from './states.ts';

const again = (row: Pending): Pending => ({ ...row, version: row.version + 1 });

export const park = (row: Pending, input: ParkInput, at: At): Decision => {
  const next = parked(again(row), input.reason, at.nowMs, input.opensAtMs);
  return write(next, 'parked', [{ kind: 'reread-gate', version: next.version }]);
};

/** Met again at a closed gate: nothing is written, so a flood of repeats costs one read each. */
export const stayParked = (_row: Pending, _input: ParkInput, _at: At): Decision => keep('waiting');

export const defer = (row: Pending, input: DeferInput, at: At): Decision => {
  const next = deferred(again(row), input, at.nowMs);
  return write(next, 'deferred', [
    { kind: 'publish', version: next.version, dueAtMs: Math.max(next.dueAtMs, input.untilMs) },
  ]);
};

/** A dead worker's attempt is closed even at a closed gate: the row waits as pending, or is held for a person. */
const released = (row: Claimed, input: ParkInput | DeferInput, nowMs: number): Pending | Delivery => {
  const closed = closeLapsed(row, input, nowMs);
  const unsafe = closed.life.doubt === 'unsafe' || (closed.life.doubt === 'safe' && !input.rules.repeatSafe);
  if (unsafe) return quarantined(closed.life, nowMs, 'in-doubt');
  if (!budgetLeft(closed.life)) return quarantined(closed.life, nowMs, reasonFor('budget', closed.class));
  return pendingOf(closed.life, nowMs);
};

const pendingOf = (life: Life, nowMs: number): Pending => pendingAt(life, nowMs, nowMs);

export const parkLapsed = (row: Claimed, input: ParkInput, at: At): Decision => {
  const free = released(row, input, at.nowMs);
  if (free.status !== 'pending') return write(free, 'quarantined');
  const next = parked(free, input.reason, at.nowMs, input.opensAtMs);
  return write(next, 'parked', [{ kind: 'reread-gate', version: next.version }]);
};

export const deferLapsed = (row: Claimed, input: DeferInput, at: At): Decision => {
  const free = released(row, input, at.nowMs);
  if (free.status !== 'pending') return write(free, 'quarantined');
  const next = deferred(free, input, at.nowMs);
  return write(next, 'deferred', [{ kind: 'publish', version: next.version, dueAtMs: input.untilMs }]);
};
