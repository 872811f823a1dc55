/** The state of the whole in a few numbers. */
import type { World } from '../../ports.ts';
import { readStats } from '../commands/stats.ts';
import type { On } from './on.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'clock' | 'deadLetters' | 'telemetry'>;

export const addStatsRoutes = (on: On, world: Needs): void => {
  on('showStats', async (context) => {
    const { queue, lastSweepAtMs, ...counted } = await readStats(world);
    return context.json({
      ...counted,
      deadLetters: queue?.dead ?? null,
      lastSweepAt: lastSweepAtMs === undefined ? null : new Date(lastSweepAtMs).toISOString(),
      queue:
        queue === undefined
          ? null
          : {
              available: queue.available,
              delayed: queue.delayed,
              inFlight: queue.inFlight,
              ...(queue.oldestAgeMs === undefined ? {} : { oldestAgeMs: queue.oldestAgeMs }),
            },
    });
  });
};
