import type { Delivery } from '../../functions/core/model.ts';
import { destinationId, eventId, type TestWorld } from './world.ts';

/** The row, or undefined where there is none. */
export const deliveryIn = async (
  world: TestWorld,
  event: string,
  destination: string,
): Promise<Delivery | undefined> => {
  const ref = { item: 'delivery', event: eventId(event), destination: destinationId(destination) } as const;
  const found = await world.records.load(ref);
  return found.kind === 'found' ? found.item : undefined;
};
