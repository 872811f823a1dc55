/**
 * How the gate of a destination changes with what its attempts come to. Pure: the gate as it is goes in, the gate as it
 * should be comes out, or undefined where nothing has to be written.
 *
 *   failure --> count + 1 --(20 in a row over 10 minutes)--> paused by the system, with the time of its first probe
 *   success --> count gone        probe taken --> its time moves on: one delivery at a time may try
 *   time-out --> crowded for ten minutes: few places, so that one hanging destination never takes all workers
 */
import type { Gate, Pause } from './items.ts';
import { BREAKER_FAILURES, BREAKER_MS, CROWDED_MS, CROWDED_STEP_MS, PROBE_EVERY_MS } from './limits.ts';

export const BREAKER_ACTOR = 'system';

export const afterFailure = (gate: Gate, timedOut: boolean, nowMs: number): Gate => {
  const sinceMs = gate.failures?.sinceMs ?? nowMs;
  const count = (gate.failures?.count ?? 0) + 1;
  const failing: Gate = { ...gate, failures: { count, sinceMs } };
  const crowded = timedOut ? crowdedFrom(failing, nowMs) : failing;
  const opens = count >= BREAKER_FAILURES && nowMs - sinceMs >= BREAKER_MS && gate.pause === undefined;
  if (!opens) return crowded;
  const minutes = Math.floor((nowMs - sinceMs) / 60_000);
  const reason = `${count} failures in a row over ${minutes} minutes`;
  return { ...crowded, pause: { by: BREAKER_ACTOR, reason, sinceMs: nowMs, probeAtMs: nowMs + PROBE_EVERY_MS } };
};

/** It only grows, and not for every time-out of a thousand. */
const crowdedFrom = (gate: Gate, nowMs: number): Gate => {
  const untilMs = nowMs + CROWDED_MS;
  return untilMs - (gate.crowdedUntilMs ?? 0) < CROWDED_STEP_MS ? gate : { ...gate, crowdedUntilMs: untilMs };
};

export const afterSuccess = (gate: Gate): Gate | undefined => {
  if (gate.failures === undefined) return undefined;
  const { failures: _over, ...rest } = gate;
  return rest;
};

/** Whoever swaps the time of the probe forward is the probe; everybody else finds it in the future. */
export const probeTaken = (gate: Gate, nowMs: number): Gate | undefined => {
  const { pause } = gate;
  if (pause?.probeAtMs === undefined || pause.probeAtMs > nowMs) return undefined;
  return { ...gate, pause: { ...pause, probeAtMs: nowMs + PROBE_EVERY_MS } };
};

export const closedUntil = (gate: Gate, untilMs: number, nowMs: number): Gate | undefined => {
  if (untilMs <= nowMs || untilMs <= (gate.closedUntilMs ?? 0)) return undefined;
  const wasClosed = (gate.closedUntilMs ?? 0) > nowMs;
  return { ...gate, closedUntilMs: untilMs, closedSinceMs: wasClosed ? (gate.closedSinceMs ?? nowMs) : nowMs };
};

/** The first pause of a person stands; one of the breaker gives way to it, so that no probe ends what a person began. */
export const paused = (gate: Gate, pause: Pause): Gate | undefined => {
  if (gate.pause !== undefined && gate.pause.probeAtMs === undefined) return undefined;
  return { ...gate, pause };
};

/** Everything open again: pause, closing and count are gone, and nobody waits behind what they had held up. */
export const resumed = (gate: Gate): Gate | undefined => {
  const { pause, closedUntilMs, closedSinceMs, failures, ...rest } = gate;
  const nothing = [pause, closedUntilMs, closedSinceMs, failures].every((member) => member === undefined);
  return nothing ? undefined : { ...rest, resumes: (gate.resumes ?? 0) + 1 };
};
