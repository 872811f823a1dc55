/** The body of a request as the raw bytes that came, bounded. */
import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { problem } from './problem.ts';

export const bounded = (maxBytes: number): MiddlewareHandler =>
  bodyLimit({
    maxSize: maxBytes,
    onError: (context) =>
      problem(context, {
        status: 413,
        code: 'body-too-large',
        detail: `the request body is over ${maxBytes} bytes`,
      }),
  });

/** Not `text()`: that drops a byte order mark, and a signature is taken over the bytes. */
export const rawBody = async (context: Context): Promise<Uint8Array> => new Uint8Array(await context.req.arrayBuffer());
