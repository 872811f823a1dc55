/** The state of the whole in a few numbers. */
import type { Hono } from 'hono';
import { needs, type Signed } from '../../http/auth.ts';
import type { World } from '../../ports.ts';
import { readStats } from '../commands/stats.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'clock' | 'deadLetters' | 'telemetry'>;

export const addStatsRoutes = (app: Hono<Signed>, world: Needs): void => {
  app.get('/v1/stats', needs(world.ledger, 'view'), async (context) => {
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
              oldestAgeMs: queue.oldestAgeMs,
            },
    });
  });
};
