/** Carries out the effects of a decision. Each may fail without harm: the row's look-after time covers it. */
import { viewGate } from '../core/gate.ts';
import type { Effect } from '../core/inputs.ts';
import { publishKey } from '../core/keys.ts';
import { deliverBody } from '../core/message.ts';
import type { DeliveryRef } from '../core/model.ts';
import { PortUnavailable, type World } from '../ports.ts';
import { closeUntil, pauseFor } from './gate.ts';
import { notPublished } from './not-published.ts';

export type Effects = Pick<World, 'ledger' | 'queue' | 'telemetry' | 'clock' | 'dice' | 'notices'>;

/** A delay in whole seconds: rounded up, plus one, so that a message never comes before its time. */
export const delaySecOf = (dueAtMs: number, nowMs: number): number =>
  dueAtMs <= nowMs ? 0 : Math.ceil((dueAtMs - nowMs) / 1_000) + 1;

/** False if the queue did not take it. What lies beyond the queue's longest delay is left to the sweep. */
export const publishDelivery = async (
  world: Effects,
  ref: DeliveryRef,
  effect: Extract<Effect, { kind: 'publish' }>,
): Promise<boolean> => {
  const delaySec = delaySecOf(effect.dueAtMs, world.clock.nowMs());
  if (delaySec * 1_000 > world.queue.limits.delayMsMax) return true;
  const published = await world.queue.publish({
    key: publishKey({ ...ref, version: effect.version, ...(effect.tick === undefined ? {} : { tick: effect.tick }) }),
    body: deliverBody(ref.event, ref.destination),
    delaySec,
  });
  if (published.kind === 'published') return true;
  notPublished(world.telemetry, { event: ref.event, destination: ref.destination }, published);
  return false;
};

/** True if every effect went well. */
export const perform = async (world: Effects, ref: DeliveryRef, effects: readonly Effect[]): Promise<boolean> => {
  let well = true;
  for (const effect of effects) {
    try {
      well = (await performOne(world, ref, effect)) && well;
    } catch (error) {
      if (!(error instanceof PortUnavailable)) throw error;
      world.telemetry.line('effect.failed', { ...ref, effect: effect.kind, detail: error.message });
      well = false;
    }
  }
  return well;
};

const performOne = async (world: Effects, ref: DeliveryRef, effect: Effect): Promise<boolean> => {
  switch (effect.kind) {
    case 'publish':
      return publishDelivery(world, ref, effect);
    case 'close':
      await closeUntil(world, ref.destination, effect.untilMs);
      return true;
    case 'pause':
      await pauseFor(world, ref.destination, 'system', 'a delivery was answered 410 Gone');
      return true;
    case 'reread-gate':
      return rereadGate(world, ref, effect.version);
  }
};

/** The gate may have opened between the look at it and the parking; then nobody else would wake this row for an hour. */
const rereadGate = async (world: Effects, ref: DeliveryRef, version: number): Promise<boolean> => {
  const { config, gate } = await world.ledger.loadDestination(ref.destination);
  const nowMs = world.clock.nowMs();
  const view = viewGate(config, gate, nowMs);
  if (view.kind === 'park' || view.kind === 'newer') return true;
  const dueAtMs = view.kind === 'wait' ? view.untilMs : nowMs;
  return publishDelivery(world, ref, { kind: 'publish', version, dueAtMs });
};
