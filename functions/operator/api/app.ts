/** The operator's API: read what the ledger says, set up destinations, decide. Each group of routes in its own file. */
import { Hono } from 'hono';
import type { TargetPolicy } from '../../core/target.ts';
import type { Signed } from '../../http/auth.ts';
import { notFound, problemOfError } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { addDecisionRoutes } from './decisions.ts';
import { addDestinationRoutes } from './destinations.ts';
import { addEventRoutes } from './events.ts';
import { addListRoutes } from './lists.ts';
import { addRedriveRoutes } from './redrives.ts';
import { addStatsRoutes } from './stats.ts';

export type Operator = Pick<
  World,
  'ledger' | 'pages' | 'pace' | 'queue' | 'deadLetters' | 'clock' | 'dice' | 'telemetry'
>;

export const createOperatorApp = (world: Operator, policy: TargetPolicy): Hono<Signed> => {
  const app = new Hono<Signed>();
  app.onError(problemOfError(world.telemetry));
  app.notFound(notFound);
  app.get('/healthz', (context) => context.json({ ok: true }));
  addEventRoutes(app, world);
  addDestinationRoutes(app, world, policy);
  addDecisionRoutes(app, world);
  addListRoutes(app, world);
  addRedriveRoutes(app, world);
  addStatsRoutes(app, world);
  return app;
};
