/** The real twin of the ledger, codec and all, as the store of a run. */
import { createTwin } from '../../functions/adapters/ledger/twin.ts';
import { beginningOf, itemsOf, type Scene, START_MS } from './scene.ts';
import type { Store } from './store.ts';

export const twinStore = async (scene: Scene): Promise<Store> => {
  const { ledger, pages, pace } = createTwin({ clock: { nowMs: () => START_MS } });
  for (const item of itemsOf(beginningOf(scene))) {
    const written = await ledger.create(item);
    if (written.kind !== 'written') throw new Error(`the ${item.item} could not be put into the twin`);
  }
  return { ledger, pace, due: pages.due, list: pages.list };
};
