/** The body of a request as the raw bytes that came, bounded. */
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { problem } from './problem.ts';

/**
 * A stated length is judged before anything is read. Only without one are the bytes counted as they come: that asks for
 * the body as a stream, which costs a request more than all else that is done with it here.
 */
export const bounded = (maxBytes: number): MiddlewareHandler => {
  const onError = (context: Context) =>
    problem(context, {
      status: 413,
      code: 'body-too-large',
      detail: `the request body is over ${maxBytes} bytes`,
    });
  const counted = bodyLimit({ maxSize: maxBytes, onError });
  return async (context, next) => {
    const stated = context.req.header('content-length');
    if (stated === undefined || context.req.header('transfer-encoding') !== undefined) return counted(context, next);
    return Number(stated) <= maxBytes ? next() : onError(context);
  };
};

/** Not `text()`: that drops a byte order mark, and a signature is taken over the bytes. */
export const rawBody = async (context: Context): Promise<Uint8Array> => new Uint8Array(await context.req.arrayBuffer());
