/** The port `Pace` over the map of the twin: each take in one step. */
import { FORMAT } from '../../core/model.ts';
import { type Pace, PortUnavailable } from '../../ports.ts';
import type { MemoryStore } from './memory-store.ts';
import { LINE_ATTRIBUTE, NEXT_ATTRIBUTE, paceKey, stepOf, wholeMs } from './pace.ts';
import { FORMAT_ATTRIBUTE, TABLE_KEY } from './schema.ts';

export const createMemoryPace = (store: Pick<MemoryStore, 'peek' | 'poke'>): Pace => ({
  take: async (destination, line, fromMs, stepMs) => {
    const step = stepOf(fromMs, stepMs);
    const { pk, sk } = paceKey(destination, line.kind);
    const present = store.peek({ pk, sk });
    const next = present ? Number(present[NEXT_ATTRIBUTE]?.N) : fromMs;
    const standing = present ? Number(present[LINE_ATTRIBUTE]?.N) : line.number;
    if (Number.isNaN(next) || Number.isNaN(standing) || Number(present?.[FORMAT_ATTRIBUTE]?.N ?? FORMAT) > FORMAT) {
      throw new PortUnavailable('ledger', `the item "${pk}" / "${sk}" gives no slot`);
    }
    const isAhead = next > fromMs && standing >= line.number;
    const slotMs = isAhead ? next : fromMs;
    store.poke({
      ...present,
      [TABLE_KEY.partition.name]: { S: pk },
      [TABLE_KEY.sort.name]: { S: sk },
      [FORMAT_ATTRIBUTE]: { N: String(FORMAT) },
      [LINE_ATTRIBUTE]: { N: String(isAhead ? standing : line.number) },
      [NEXT_ATTRIBUTE]: { N: String(slotMs + step) },
    });
    return wholeMs(slotMs);
  },
});
