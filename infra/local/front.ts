/**
 * One port for everything: the functions that are apart in the cloud, the partner and the queue stand behind it.
 *
 *   /push/...        receiver        the queue's own pushes come here over HTTP, as from outside
 *   /cron/...        reconciler      a tick by URL
 *   /v1/events       intake
 *   /v1/...          operator
 *   /partner/...     a destination that misbehaves on request
 *   /v1/queue/...    the embedded queue listens on a port of its own: it is somebody else's service
 *
 *   open --> refusing (503, only the partner goes on) --> closed
 */
import { createServer, type Server } from 'node:http';
import { getRequestListener } from '@hono/node-server';
import { problemBody } from '../../functions/http/problem.ts';
import type { Partner } from './partner/partner.ts';

type Fetch = (request: Request) => Response | Promise<Response>;

export interface Faces {
  readonly intake: Fetch;
  /** Where pushes come by HTTP. */
  readonly receiver?: Fetch;
  readonly operator: Fetch;
  readonly cron: Fetch;
  readonly partner: Partner;
}

const HOSTNAME = '127.0.0.1';
const HEADERS_BYTES_MAX = 16 * 1_024;
const STOPPING = JSON.stringify(
  problemBody({
    status: 503,
    code: 'stopping',
    detail: 'this process is ending; repeat the request after its restart',
  }),
);

const faceOf = (faces: Faces, request: Request): Fetch => {
  const { pathname } = new URL(request.url);
  if (pathname.startsWith('/push/') && faces.receiver !== undefined) return faces.receiver;
  if (pathname.startsWith('/cron/')) return faces.cron;
  if (pathname === '/v1/events') return faces.intake;
  return faces.operator;
};

export interface Front {
  readonly url: string;
  /** From now on nothing new comes in: an event that could not be published any more is refused, not accepted. */
  refuse(): void;
  close(): Promise<void>;
}

/** Rejects with a message for a person when the port is taken. */
export const openFront = async (faces: Faces, port: number): Promise<Front> => {
  const listener = getRequestListener((request) => faceOf(faces, request)(request), { hostname: HOSTNAME });
  let refusing = false;
  const server = createServer({ maxHeaderSize: HEADERS_BYTES_MAX }, (req, res) => {
    if (faces.partner.handle(req, res)) return;
    if (refusing) res.writeHead(503, { 'content-type': 'application/problem+json', connection: 'close' }).end(STOPPING);
    else void listener(req, res);
  });
  await listen(server, port);
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a server without a port');
  return {
    url: `http://${HOSTNAME}:${address.port}`,
    refuse() {
      refusing = true;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const listen = (server: Server, port: number): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'EADDRINUSE'
          ? new Error(`port ${port} is in use: end the program that has it, or set PORT to another one`)
          : error,
      ),
    );
    server.listen(port, HOSTNAME, resolve);
  });
