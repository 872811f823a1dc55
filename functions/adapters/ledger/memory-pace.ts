/** The port `Pace` over the map of the twin: each take in one step. */
import { FORMAT } from '../../core/model.ts';
import { type Pace, PortUnavailable } from '../../ports.ts';
import type { MemoryStore } from './memory-store.ts';
import { NEXT_ATTRIBUTE, paceKey, stepOf, wholeMs } from './pace.ts';
import { FORMAT_ATTRIBUTE, TABLE_KEY } from './schema.ts';

export const createMemoryPace = (store: Pick<MemoryStore, 'peek' | 'poke'>): Pace => ({
  take: async (destination, line, fromMs, stepMs) => {
    const step = stepOf(fromMs, stepMs);
    const { pk, sk } = paceKey(destination, line, step);
    const present = store.peek({ pk, sk });
    const next = present ? Number(present[NEXT_ATTRIBUTE]?.N) : fromMs;
    if (Number.isNaN(next) || Number(present?.[FORMAT_ATTRIBUTE]?.N ?? FORMAT) > FORMAT) {
      throw new PortUnavailable('ledger', `the item "${pk}" / "${sk}" gives no slot`);
    }
    const slotMs = Math.max(next, fromMs);
    store.poke({
      ...present,
      [TABLE_KEY.partition.name]: { S: pk },
      [TABLE_KEY.sort.name]: { S: sk },
      [FORMAT_ATTRIBUTE]: { N: String(FORMAT) },
      [NEXT_ATTRIBUTE]: { N: String(slotMs + step) },
    });
    return wholeMs(slotMs);
  },
});
