/**
 * The tick by URL, for a transport whose schedule calls one. Its calls are not signed, so a secret header has to do;
 * whoever knows it can only cause a tick, and a tick too many does no harm.
 */
import { createHash, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import { notFound, problem, problemOfError } from '../http/problem.ts';
import type { World } from '../ports.ts';
import { reconcile, type Watching } from './watch.ts';

export interface CronOptions {
  readonly secret: string;
  readonly header: string;
  readonly tickMs: number;
}

const same = (given: string | undefined, secret: string): boolean => {
  const digest = (text: string): Buffer => createHash('sha256').update(text, 'utf8').digest();
  return given !== undefined && timingSafeEqual(digest(given), digest(secret));
};

export const createCronApp = (world: Watching & Pick<World, 'queue'>, options: CronOptions): Hono => {
  const app = new Hono();
  app.onError(problemOfError(world.telemetry));
  app.notFound(notFound);
  app.post('/cron/reconcile', async (context) => {
    if (!same(context.req.header(options.header), options.secret)) {
      world.telemetry.count('cron-unauthentic');
      const detail = `the header ${options.header} is missing or wrong`;
      return problem(context, { status: 401, code: 'unauthentic', detail });
    }
    const ticked = await reconcile(world, options.tickMs);
    return context.json(ticked, ticked.enqueued > 0 ? 202 : 503);
  });
  return app;
};
