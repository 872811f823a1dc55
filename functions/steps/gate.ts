/** Changing the gate of a destination: by swap, from what stands there, until it stands as wanted. */
import { afterFailure, afterSuccess, closedUntil, paused, probeTaken } from '../core/breaker.ts';
import type { DestinationId, WriteId } from '../core/ids.ts';
import type { Outcome } from '../core/inputs.ts';
import type { Gate } from '../core/items.ts';
import { CLOSED_ALARM_MS, GATE_SWAP_TRIES_MAX, GATE_WRITES_KEPT } from '../core/limits.ts';
import { type Found, PortUnavailable, type World } from '../ports.ts';

/** Gives the gate as it should be, or undefined where it already is. */
export type Change = (gate: Gate) => Gate | undefined;

const openGate = (destination: DestinationId): Gate => ({ item: 'gate', version: 0, destination, carried: {} });

/**
 * The gate that was written, or undefined where nothing had to be, or newer code has the say. A lost answer is not a
 * lost race: what this swap has written bears its id, and is not done a second time.
 */
export const swapGate = async (
  world: Pick<World, 'ledger' | 'dice'>,
  destination: DestinationId,
  change: Change,
): Promise<Gate | undefined> => {
  const writeId = world.dice.id() as WriteId;
  let found: Found<Gate> = await world.ledger.load({ item: 'gate', destination });
  for (let tries = 0; tries < GATE_SWAP_TRIES_MAX; tries += 1) {
    // Newer code has written it, and knows more than this code about when it may open or close.
    if (found.kind === 'later') return undefined;
    const read = found.kind === 'found' ? found.item : openGate(destination);
    const changed = change(read);
    if (changed === undefined) return undefined;
    const writes = [...(read.writes ?? []), writeId].slice(-GATE_WRITES_KEPT);
    const next: Gate = { ...changed, version: read.version + 1, writes };
    const written =
      found.kind === 'found' ? await world.ledger.replace<Gate>(read, next) : await world.ledger.create<Gate>(next);
    if (written.kind === 'written') return next;
    found = written.present;
    if (found.kind === 'found' && found.item.writes?.includes(writeId)) return next;
  }
  throw new PortUnavailable('ledger', `the gate of destination ${destination} kept changing`);
};

type Needs = Pick<World, 'ledger' | 'clock' | 'dice' | 'telemetry'>;

/** It only grows: an earlier end never shortens a later one. */
export const closeUntil = async (world: Needs, destination: DestinationId, untilMs: number): Promise<void> => {
  const nowMs = world.clock.nowMs();
  const written = await swapGate(world, destination, (gate) => closedUntil(gate, untilMs, nowMs));
  if (written === undefined) return;
  world.telemetry.line('destination.closed', { destination, untilMs, forMs: untilMs - nowMs });
  if (untilMs - nowMs > CLOSED_ALARM_MS) world.telemetry.count('destination-closed-over-an-hour');
};

/** The first pause stands with its reason until somebody resumes. */
export const pauseFor = async (world: Needs, destination: DestinationId, by: string, reason: string): Promise<void> => {
  const sinceMs = world.clock.nowMs();
  const written = await swapGate(world, destination, (gate) => paused(gate, { by, reason, sinceMs }));
  if (written !== undefined) world.telemetry.line('destination.paused', { destination, by, reason });
};

/** True for the one worker that may try a destination which its breaker has paused. */
export const takeProbe = async (world: Needs, destination: DestinationId): Promise<boolean> => {
  const nowMs = world.clock.nowMs();
  return (await swapGate(world, destination, (gate) => probeTaken(gate, nowMs))) !== undefined;
};

/** Failures of the destination, whatever they cost the delivery. A plain "later" or "no" is an answer, and none. */
const isFailure = (outcome: Outcome): boolean => {
  if (outcome.class === 'failed' || outcome.class === 'in-doubt') return true;
  return outcome.class === 'not-sent' && outcome.detail !== 'blocked' && outcome.detail !== 'argument';
};

const timedOut = (outcome: Outcome): boolean => outcome.detail === 'timeout' || outcome.detail === 'connect-timeout';

/**
 * What an attempt says of its destination, and the gate as a failure has left it. A success writes only where the re-check
 * saw failures before it.
 */
export const noteOutcome = async (
  world: Needs,
  destination: DestinationId,
  outcome: Outcome,
  sawFailures: boolean,
): Promise<Gate | undefined> => {
  const nowMs = world.clock.nowMs();
  if (outcome.class === 'delivered') {
    if (sawFailures) await swapGate(world, destination, afterSuccess);
    return undefined;
  }
  if (!isFailure(outcome)) return undefined;
  let before: Gate | undefined;
  const after = await swapGate(world, destination, (gate) => {
    before = gate;
    return afterFailure(gate, timedOut(outcome), nowMs);
  });
  if (after?.pause && before?.pause === undefined) {
    world.telemetry.line('destination.paused', { destination, by: after.pause.by, reason: after.pause.reason });
    world.telemetry.count('breaker-opened');
  }
  return after;
};
