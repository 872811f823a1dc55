/** Every request gets an id: it stands in the header of the answer and in the one line that the log has of it. */
import type { MiddlewareHandler } from 'hono';
import { routePath } from 'hono/route';
import type { World } from '../ports.ts';
import type { Signed } from './auth.ts';

export const REQUEST_ID_HEADER = 'x-request-id';

type Needs = Pick<World, 'clock' | 'dice' | 'telemetry'>;

/** The path stands in the line as its route has it: an id in it may be anything, and says more than a log should. */
export const logged =
  ({ clock, dice, telemetry }: Needs): MiddlewareHandler<Signed> =>
  async (context, next) => {
    const requestId = dice.id();
    const beganMs = clock.nowMs();
    context.set('requestId', requestId);
    await next();
    context.res.headers.set(REQUEST_ID_HEADER, requestId);
    // JSON is not to be guessed at by a browser, and nobody on the way keeps what only the owner of a token may see.
    context.res.headers.set('x-content-type-options', 'nosniff');
    context.res.headers.set('cache-control', 'no-store');
    telemetry.line('api.request', {
      requestId,
      method: context.req.method,
      route: routePath(context, -1),
      actor: context.get('actor'),
      status: context.res.status,
      code: context.get('code'),
      durationMs: clock.nowMs() - beganMs,
    });
  };
