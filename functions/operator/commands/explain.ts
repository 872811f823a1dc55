/** What is needed to explain a delivery: its row, the gate as it stands, and the decisions that its journal names. */
import { type Decisions, type Explanation, explain } from '../../core/explain.ts';
import { viewGate } from '../../core/gate.ts';
import type { Delivery, DeliveryRef } from '../../core/model.ts';
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
  const { explanation } = await explainRow(world, found.item);
  return { kind: 'found', explanation };
};

/** Of a row that was read already. */
export const explainRow = async (
  world: Pick<World, 'ledger' | 'clock'>,
  row: Delivery,
): Promise<{ readonly explanation: Explanation; readonly decisions: Decisions }> => {
  const [{ config, gate }, decisions] = await Promise.all([
    world.ledger.loadDestination(row.destination),
    peopleIn(world, row),
  ]);
  const nowMs = world.clock.nowMs();
  const pause = gate.kind === 'found' ? gate.item.pause : undefined;
  return { explanation: explain(row, viewGate(config, gate, nowMs), pause, decisions, nowMs), decisions };
};
