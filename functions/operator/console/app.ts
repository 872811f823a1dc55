/**
 * The console: the commands of the operator as pages, made on the server. It needs no script, loads nothing from anywhere
 * else, and does nothing that the API would not do for the same token.
 *
 *   request --> headers --> asset, or log --> own origin? --> who is it? --> right? --> page, or a change and back to a page
 */
import { type Context, Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { csrf } from 'hono/csrf';
import { HTTPException } from 'hono/http-exception';
import { secureHeaders } from 'hono/secure-headers';
import type { Door } from '../../http/auth.ts';
import { type Problem, problemIn } from '../../http/problem.ts';
import { logged } from '../../http/request-log.ts';
import type { Operator } from '../operator.ts';
import { addAssets } from './assets.ts';
import { showAudit } from './audit.ts';
import { addBulk } from './changes/bulk.ts';
import { addChange } from './changes/change.ts';
import { DELIVERY_CHANGES } from './changes/delivery.ts';
import { DESTINATION_CHANGES } from './changes/destination.ts';
import { PROVE } from './changes/drill.ts';
import { REDRIVE_CHANGES } from './changes/redrives.ts';
import { REPLAY } from './changes/replay.ts';
import { showDelivery } from './delivery.ts';
import { showDestinationAt, showDestinations } from './destinations.ts';
import { judgeDrill } from './drill.ts';
import { findEvent, showEvent } from './event.ts';
import { problemPage, type Show } from './frame.ts';
import { guarded } from './guarded.ts';
import { HOME } from './links.ts';
import { showLists } from './lists.ts';
import { showOverview } from './overview.ts';
import { showQuarantine } from './quarantine.ts';
import { showRedriveAt, showRedrives } from './redrives.ts';
import { recognised, type Seen } from './session.ts';
import { showShadowReport } from './shadow.ts';
import { addSignIn, comeAgain } from './sign-in.ts';

/** A hundred ticked deliveries with the longest ids, percent-encoded twice, fit. */
const FORM_BYTES_MAX = 512 * 1_024;

const TOO_LARGE: Problem = {
  status: 413,
  code: 'body-too-large',
  detail: `the form is over ${FORM_BYTES_MAX} bytes`,
};

const PAGES: Readonly<Record<string, Show>> = {
  [HOME]: showOverview,
  [`${HOME}/find`]: findEvent,
  [`${HOME}/deliveries`]: showLists,
  [`${HOME}/quarantine`]: showQuarantine,
  [`${HOME}/events/:event`]: showEvent,
  [`${HOME}/events/:event/deliveries/:destination`]: showDelivery,
  [`${HOME}/destinations`]: showDestinations,
  [`${HOME}/destinations/:destination`]: showDestinationAt,
  [`${HOME}/destinations/:destination/shadow`]: showShadowReport,
  [`${HOME}/redrives`]: showRedrives,
  [`${HOME}/redrives/:operation`]: showRedriveAt,
  [`${HOME}/audit`]: showAudit,
};

const SELF = ["'self'"];
const NONE = ["'none'"];

/** A page may load its own style, script and icon, and send its forms home; nothing else, whatever is written in it. */
const HEADERS = secureHeaders({
  contentSecurityPolicy: {
    defaultSrc: NONE,
    styleSrc: SELF,
    scriptSrc: SELF,
    imgSrc: SELF,
    connectSrc: SELF,
    formAction: SELF,
    baseUri: NONE,
    frameAncestors: NONE,
  },
  xFrameOptions: 'DENY',
  // With `no-referrer` a form would come with the origin "null".
  referrerPolicy: 'same-origin',
  strictTransportSecurity: 'max-age=15552000',
});

const CHANGES = [...DELIVERY_CHANGES, REPLAY, ...DESTINATION_CHANGES, PROVE, ...REDRIVE_CHANGES];

export const createConsoleApp = (world: Operator, door: Door): Hono<Seen> => {
  const app = new Hono<Seen>();
  const nowMs = (): number => world.clock.nowMs();
  app.onError((error, context) => problemPage(context, problemFrom(error, world, context), nowMs()));
  app.notFound((context) => {
    const detail = `${context.req.path} is not a page of the console`;
    return problemPage(context, { status: 404, code: 'no-such-route', detail }, nowMs());
  });
  app.use(HEADERS);
  // Ahead of the log, which forbids to keep an answer: these are kept for good, and say nothing of anybody.
  addAssets(app);
  app.use(logged(world));
  app.use(csrf());
  app.use(bodyLimit({ maxSize: FORM_BYTES_MAX, onError: (context) => problemPage(context, TOO_LARGE, nowMs()) }));
  app.use(recognised(door));
  app.use((context, next) => {
    const isFromElsewhere = context.req.header('sec-fetch-site') === 'cross-site' && context.req.method === 'GET';
    return isFromElsewhere && context.get('visitor') === undefined ? Promise.resolve(comeAgain(context)) : next();
  });
  addSignIn(app, world, door);
  for (const change of CHANGES) addChange(app, world, change);
  app.post(`${PROVE.path}/effects`, guarded(world, PROVE.right, judgeDrill));
  addBulk(app, world);
  for (const [path, show] of Object.entries(PAGES)) app.get(path, guarded(world, 'view', show));
  return app;
};

const problemFrom = (error: Error, { telemetry }: Operator, context: Context): Problem => {
  if (!(error instanceof HTTPException) || error.status !== 403) return problemIn(error, context, telemetry);
  const detail = 'this request does not come from a page of this console: open the page again, and send it from there';
  return { status: 403, code: 'foreign-origin', detail };
};
