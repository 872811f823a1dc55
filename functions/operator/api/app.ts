/** The operator's API: read what the ledger says, set up destinations, decide. Each group of routes in its own file. */
import { type Handler, Hono } from 'hono';
import type { TargetPolicy } from '../../core/target.ts';
import { createDoor, createGuard, type Door, type Signed } from '../../http/auth.ts';
import { notFound, problemOfError } from '../../http/problem.ts';
import { logged } from '../../http/request-log.ts';
import { addRoute, refuseOtherMethods } from '../../http/route.ts';
import type { Seen } from '../console/session.ts';
import { ROUTES } from '../contract/routes.ts';
import type { Operator } from '../operator.ts';
import { addAuditRoutes } from './audit.ts';
import { addDecisionRoutes } from './decisions.ts';
import { addDestinationRoutes } from './destinations.ts';
import { addDrillRoutes } from './drills.ts';
import { addEventRoutes } from './events.ts';
import { addListRoutes } from './lists.ts';
import type { On } from './on.ts';
import { addRedriveRoutes } from './redrives.ts';
import { addShadowRoutes } from './shadow.ts';
import { addStatsRoutes } from './stats.ts';
import { addTokenRoutes } from './tokens.ts';

export const createOperatorApp = (world: Operator, policy: TargetPolicy): Hono<Signed> => {
  const app = new Hono<Signed>();
  app.onError(problemOfError(world.telemetry));
  app.notFound(notFound);
  const door = createDoor(world);
  // Ahead of the rest: the console logs its requests and answers its errors in its own way.
  const pages = pagesOf(world, door);
  app.all('/console', pages);
  app.all('/console/*', pages);
  app.use(logged(world));
  app.get('/healthz', (context) => context.json({ ok: true }));
  app.get('/openapi.json', async (context) => context.json(await apiDocument()));
  const guard = createGuard(world, door);
  const on: On = (name, handler) => addRoute(app, guard, ROUTES[name], handler);
  addEventRoutes(on, world);
  addDestinationRoutes(on, world, policy);
  addShadowRoutes(on, world);
  addDecisionRoutes(on, world);
  addDrillRoutes(on, world);
  addListRoutes(on, world);
  addRedriveRoutes(on, world);
  addStatsRoutes(on, world);
  addTokenRoutes(on, world);
  addAuditRoutes(on, world);
  refuseOtherMethods(app, Object.values(ROUTES));
  return app;
};

/** Made when somebody asks for it, and not at every cold start: the schemas of all answers are in it. */
const apiDocument = async (): Promise<unknown> => (await import('../contract/document.ts')).openApiDocument();

/** Loaded when somebody looks at a page, and not with the API. */
const pagesOf = (world: Operator, door: Door): Handler => {
  let made: Promise<Hono<Seen>> | undefined;
  return async (context) => {
    made ??= import('../console/app.ts').then(({ createConsoleApp }) => createConsoleApp(world, door));
    return (await made).fetch(context.req.raw, context.env);
  };
};
