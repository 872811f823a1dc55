/** Changing the gate of a destination: by swap, from what stands there, until it stands as wanted. */
import type { DestinationId } from '../core/ids.ts';
import type { Gate } from '../core/items.ts';
import { CLOSED_ALARM_MS, SWAP_TRIES_MAX } from '../core/limits.ts';
import { type Found, PortUnavailable, type World } from '../ports.ts';

/** Gives the gate as it should be, or undefined where it already is. */
type Change = (gate: Gate) => Gate | undefined;

const openGate = (destination: DestinationId): Gate => ({ item: 'gate', version: 0, destination, carried: {} });

const swapGate = async (world: Pick<World, 'ledger'>, destination: DestinationId, change: Change): Promise<boolean> => {
  let found: Found<Gate> = await world.ledger.load({ item: 'gate', destination });
  for (let tries = 0; tries < SWAP_TRIES_MAX; tries += 1) {
    // Newer code has written it, and knows more than this code about when it may open or close.
    if (found.kind === 'later') return false;
    const read = found.kind === 'found' ? found.item : openGate(destination);
    const changed = change(read);
    if (changed === undefined) return false;
    const next: Gate = { ...changed, version: read.version + 1 };
    const written =
      found.kind === 'found' ? await world.ledger.replace(read, next) : await world.ledger.create<Gate>(next);
    if (written.kind === 'written') return true;
    found = written.present;
  }
  throw new PortUnavailable('ledger', `the gate of destination ${destination} kept changing`);
};

/** It only grows: an earlier end never shortens a later one. */
export const closeUntil = async (
  world: Pick<World, 'ledger' | 'clock' | 'telemetry'>,
  destination: DestinationId,
  untilMs: number,
): Promise<void> => {
  const nowMs = world.clock.nowMs();
  const changed = await swapGate(world, destination, (gate) => {
    if (untilMs <= nowMs || untilMs <= (gate.closedUntilMs ?? 0)) return undefined;
    const wasClosed = (gate.closedUntilMs ?? 0) > nowMs;
    return { ...gate, closedUntilMs: untilMs, closedSinceMs: wasClosed ? (gate.closedSinceMs ?? nowMs) : nowMs };
  });
  if (!changed) return;
  world.telemetry.line('destination.closed', { destination, untilMs, forMs: untilMs - nowMs });
  if (untilMs - nowMs > CLOSED_ALARM_MS) world.telemetry.count('destination-closed-over-an-hour');
};

/** The first pause stands with its reason until somebody resumes. */
export const pauseFor = async (
  world: Pick<World, 'ledger' | 'clock' | 'telemetry'>,
  destination: DestinationId,
  by: string,
  reason: string,
): Promise<void> => {
  const sinceMs = world.clock.nowMs();
  const changed = await swapGate(world, destination, (gate) =>
    gate.pause ? undefined : { ...gate, pause: { by, reason, sinceMs } },
  );
  if (changed) world.telemetry.line('destination.paused', { destination, by, reason });
};
