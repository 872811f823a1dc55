/** What is needed to explain a delivery: its row, the gate as it stands, and the decisions that its journal names. */
import { type Explanation, explain } from '../../core/explain.ts';
import { viewGate } from '../../core/gate.ts';
import type { DeliveryRef } from '../../core/model.ts';
import type { World } from '../../ports.ts';
import { peopleIn } from './deliveries.ts';

export type Explained =
  | { readonly kind: 'found'; readonly explanation: Explanation }
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer' };

export const explainDelivery = async (world: Pick<World, 'ledger' | 'clock'>, ref: DeliveryRef): Promise<Explained> => {
  const found = await world.ledger.load({ item: 'delivery', ...ref });
  if (found.kind === 'absent') return { kind: 'absent' };
  if (found.kind === 'later') return { kind: 'newer' };
  const [{ config, gate }, decisions] = await Promise.all([
    world.ledger.loadDestination(ref.destination),
    peopleIn(world, found.item),
  ]);
  const nowMs = world.clock.nowMs();
  const pause = gate.kind === 'found' ? gate.item.pause : undefined;
  const explanation = explain(found.item, viewGate(config, gate, nowMs), pause, decisions, nowMs);
  return { kind: 'found', explanation };
};
