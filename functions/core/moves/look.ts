/**
 * What a sweep does with a row. It never acts on the index entry that led here: an entry may be old, so a row whose
 * time to be looked at has not come is left alone. Publishing comes before moving: a failed publish is met again at
 * the next tick.
 */
import { type At, type Decision, type Effect, keep, type SweepInput } from '../inputs.ts';
import { lookAfterParked, lookAfterSwept } from '../look-after.ts';
import type { Claimed, Pending } from '../model.ts';
import { claimableFromMs, lapsesAfterMs } from '../phase.ts';
import { deferred } from './states.ts';

const moved = <R extends Pending | Claimed>(row: R, lookAfterMs: number, published: boolean): R => ({
  ...row,
  version: row.version + 1,
  sweeps: row.sweeps + (published ? 1 : 0),
  lookAfterMs,
});

const look = (next: Pending | Claimed, before: readonly Effect[]): Decision => ({
  kind: 'write',
  next,
  note: 'looked-after',
  before,
  after: [],
});

const publishNow = (row: Pending | Claimed, input: SweepInput, dueAtMs: number): Effect => ({
  kind: 'publish',
  version: row.version,
  tick: input.tick,
  dueAtMs,
});

const notYet = (row: Pending | Claimed, at: At): boolean => at.nowMs < row.lookAfterMs;

export const lookEarly = (row: Pending, input: SweepInput, at: At): Decision => {
  if (notYet(row, at)) return keep('not-due');
  const fromMs = claimableFromMs(row);
  return look(moved(row, fromMs + row.graceMs, false), [publishNow(row, input, fromMs)]);
};

export const lookDue = (row: Pending, input: SweepInput, at: At): Decision => {
  if (notYet(row, at)) return keep('not-due');
  return look(moved(row, lookAfterSwept(row.sweeps, at.nowMs), true), [publishNow(row, input, at.nowMs)]);
};

export const lookLive = (row: Claimed, _input: SweepInput, at: At): Decision => {
  // At the last instant of a lease there is nothing to move: the next look finds it lapsed.
  if (notYet(row, at) || at.nowMs >= lapsesAfterMs(row)) return keep('not-due');
  return look(moved(row, lapsesAfterMs(row), false), []);
};

export const lookLapsed = (row: Claimed, input: SweepInput, at: At): Decision => {
  if (notYet(row, at)) return keep('not-due');
  return look(moved(row, lookAfterSwept(row.sweeps, at.nowMs), true), [publishNow(row, input, at.nowMs)]);
};

export const lookParked = (row: Pending, input: SweepInput, at: At): Decision => {
  if (notYet(row, at)) return keep('not-due');
  if (input.gate !== 'open') return look(moved(row, lookAfterParked(at.nowMs, input.opensAtMs), false), []);
  if (input.slotAtMs === undefined) {
    const again = Math.min(lookAfterSwept(row.sweeps, at.nowMs), lookAfterParked(at.nowMs, input.opensAtMs));
    return look(moved(row, again, true), [publishNow(row, input, at.nowMs)]);
  }
  const untilMs = Math.max(input.slotAtMs, at.nowMs);
  const slot = { untilMs, reason: 'closed', ...(input.line === undefined ? {} : { line: input.line }) } as const;
  const next = deferred({ ...row, version: row.version + 1 }, slot, at.nowMs);
  return look(next, [publishNow(row, input, untilMs)]);
};
