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

export interface Route {
  readonly method: 'get' | 'post' | 'put' | 'delete';
  /** Ids are segments, such as `/v1/events/:event`. */
  readonly path: string;
  /** The one right that it needs; `admin` has them all. */
  readonly right: Right;
  /** A decision of a person: it takes an `Idempotency-Key`. */
  readonly decides?: true;
  readonly query?: z.ZodMiniType;
  readonly body?: z.ZodMiniType;
}

export type Handler = (context: Context<Signed>) => Response | Promise<Response>;

export const addRoute = (app: Hono<Signed>, guard: Guard, route: Route, handler: Handler): void => {
  const sized = route.body === undefined ? [] : [bounded(API_BODY_BYTES_MAX)];
  app.on(route.method.toUpperCase(), [route.path], guard(route.right), ...sized, handler);
};
