/**
 * A route of the API as data: what it takes and which right it needs. An app is put together from these, and the document
 * at `/openapi.json` is made of the same.
 *
 *   request --> right --> size of the body --> handler, which reads query and body by the schemas of its route
 */
import type { Context, Hono } from 'hono';
import type * as z from 'zod/mini';
import type { Right } from '../core/items.ts';
import { API_BODY_BYTES_MAX } from '../core/limits.ts';
import type { Guard, Signed } from './auth.ts';
import { bounded } from './body.ts';
import { problem } from './problem.ts';

export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** Ids are segments, such as `/v1/events/:event`. */
  readonly path: string;
  /** The one right that it needs; `admin` has them all. */
  readonly right: Right;
  /** A decision of a person: it takes an `Idempotency-Key`. */
  readonly decides?: true;
  /** The same, but it may come without one: then the decision has the id of the request, `X-Request-Id`. */
  readonly mayDecide?: true;
  readonly query?: z.ZodMiniType;
  readonly body?: z.ZodMiniType;
}

export type Handler = (context: Context<Signed>) => Response | Promise<Response>;

export const addRoute = (app: Hono<Signed>, guard: Guard, route: Route, handler: Handler): void => {
  const sized = route.body === undefined ? [] : [bounded(API_BODY_BYTES_MAX)];
  app.on(route.method.toUpperCase(), [route.path], guard(route.right), ...sized, handler);
};

/** To be called behind all `addRoute`: a known path under another method is told which ones there are (RFC 9110, 15.5.6). */
export const refuseOtherMethods = (app: Hono<Signed>, routes: readonly Pick<Route, 'method' | 'path'>[]): void => {
  const methods = new Map<string, readonly string[]>();
  for (const { method, path } of routes) methods.set(path, [...(methods.get(path) ?? []), method.toUpperCase()]);
  for (const [path, known] of methods) {
    app.all(path, (context) => {
      const allow = known.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ');
      context.header('allow', allow);
      const detail = `${context.req.path} takes ${allow}, not ${context.req.method}`;
      return problem(context, { status: 405, code: 'wrong-method', detail });
    });
  }
};
