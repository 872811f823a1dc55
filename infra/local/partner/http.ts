/** The small parts of HTTP that the partner's routes share. */
import type { IncomingMessage, ServerResponse } from 'node:http';

export const BODY_BYTES_MAX = 2 * 1_024 * 1_024;
/** A body that goes on beyond this is cut off; up to here it is read to its end, so that the client sees the 413. */
const BODY_BYTES_READ_MAX = 4 * BODY_BYTES_MAX;

export interface Problem {
  readonly status: number;
  readonly code: string;
  readonly title: string;
  readonly detail: string;
  readonly field?: string;
}

export const answerJson = (res: ServerResponse, status: number, value: unknown): void => {
  res.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
};

/** RFC 9457. */
export const answerProblem = (
  res: ServerResponse,
  problem: Problem,
  headers: Readonly<Record<string, string>> = {},
): void => {
  res.writeHead(problem.status, { ...headers, 'content-type': 'application/problem+json' });
  res.end(JSON.stringify({ type: 'about:blank', ...problem }));
};

export type Body =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | { readonly kind: 'too-large' }
  | { readonly kind: 'gone' };

/** Reads a request to its end. `gone`: the client went away, or was sent away, before that. */
export const readBody = async (req: IncomingMessage): Promise<Body> => {
  // A request that is left in the middle loses its socket without closing it.
  const { socket } = req;
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of req) {
      bytes += chunk.length;
      if (bytes > BODY_BYTES_READ_MAX) {
        socket.destroy();
        return { kind: 'gone' };
      }
      if (bytes > BODY_BYTES_MAX) chunks.length = 0;
      else chunks.push(chunk);
    }
  } catch {
    return { kind: 'gone' };
  }
  return bytes > BODY_BYTES_MAX ? { kind: 'too-large' } : { kind: 'whole', bytes: Buffer.concat(chunks) };
};
