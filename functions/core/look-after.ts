/**
 * When a sweep should look at a row, in case nobody else does.
 *
 *   due soon                       due + grace
 *   due in more than ten minutes   due - 10 minutes (the sweep then publishes with the delay that is left)
 *   claimed                        lease end + margin, unless an earlier look is planned already
 *   published by a sweep           now + 15 min, 30 min, 1 h, 2 h, 2 h ...
 *   parked                         in an hour, or at the probe
 */
import { LOOK_AHEAD_MS, PARKED_LOOK_MS, SWEEP_STEP_MS, SWEEP_STEP_MS_MAX } from './limits.ts';

export const lookAfterPlanned = (dueAtMs: number, graceMs: number, nowMs: number): number =>
  dueAtMs - nowMs > LOOK_AHEAD_MS ? dueAtMs - LOOK_AHEAD_MS : dueAtMs + graceMs;

/** `sweeps` counts the publishes that sweeps have made for this row since its last step forward. */
export const lookAfterSwept = (sweeps: number, nowMs: number): number =>
  nowMs + Math.min(SWEEP_STEP_MS * 2 ** Math.min(sweeps, 8), SWEEP_STEP_MS_MAX);

export const lookAfterParked = (nowMs: number, opensAtMs: number | undefined): number =>
  Math.min(nowMs + PARKED_LOOK_MS, Math.max(opensAtMs ?? Number.POSITIVE_INFINITY, nowMs));
