/**
 * Opening the gate of a destination again, and letting go what has been parked there.
 *
 *   a person  --> pause, closing and count gone, named in the gate --> drain enqueued
 *   a probe   --> the pause of the breaker and the count gone      --> drain enqueued
 */
import { resumed } from '../core/breaker.ts';
import { decidedBy, hasDecided } from '../core/decision.ts';
import type { DestinationId, RequestId } from '../core/ids.ts';
import type { Gate } from '../core/items.ts';
import { publishKeyOf } from '../core/keys.ts';
import { drainBody } from '../core/message.ts';
import type { World } from '../ports.ts';
import { swapGate } from './gate.ts';
import { notPublished } from './not-published.ts';

type Needs = Pick<World, 'ledger' | 'queue' | 'clock' | 'dice' | 'telemetry'>;

/**
 * `drain` is the time of the decision: it names the drain, so that a repeat enqueues nothing new. Without a request it
 * is the success of a probe that opens the gate. False if the queue did not take the drain: the gate is open all the
 * same, and what is parked goes out within the hour in which a sweep looks at it.
 */
export const resume = async (
  world: Needs,
  destination: DestinationId,
  drain: number,
  request?: RequestId,
): Promise<boolean> => {
  let held = false;
  const written = await swapGate(world, destination, (gate) => {
    if (request !== undefined) return resumedBy(gate, request);
    held = gate.pause !== undefined && gate.pause.probeAtMs === undefined;
    return held ? undefined : probed(gate);
  });
  if (held) return true;
  if (written !== undefined) {
    const by = request === undefined ? 'probe' : 'person';
    world.telemetry.line('destination.resumed', { destination, by, request });
  }
  return enqueueDrain(world, destination, drain);
};

const resumedBy = (gate: Gate, request: RequestId): Gate | undefined => {
  if (hasDecided(gate, request)) return undefined;
  const open = resumed(gate);
  return open && decidedBy(open, request);
};

/**
 * Only what the breaker did. A person may have paused the destination while the probe was under way, and that holds; and
 * a closing is what the destination itself has asked for, which one success does not take back.
 */
const probed = (gate: Gate): Gate | undefined => {
  const { pause, failures, ...rest } = gate;
  return pause === undefined && failures === undefined ? undefined : rest;
};

const enqueueDrain = async (world: Needs, destination: DestinationId, drain: number): Promise<boolean> => {
  const published = await world.queue.publish({
    key: publishKeyOf('drain', destination, drain, 0),
    body: drainBody({ kind: 'drain', destination, drain, page: 0, fromMs: drain, sent: 0 }),
    delaySec: 0,
  });
  if (published.kind === 'published') return true;
  notPublished(world.telemetry, { destination }, published);
  return false;
};
