/** A plain HTTP server on loopback, for what has no front of its own. */
import { createServer, type RequestListener } from 'node:http';

export interface Front {
  readonly url: string;
  close(): Promise<void>;
}

export const openFront = async (listener: RequestListener): Promise<Front> => {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 4_096, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('a server without a port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
};

/** An event comes in as JSON; the answer is 200 when the work is done, 500 where it failed. */
export const eventFront = (
  work: (event: { readonly id: string; readonly payload: unknown }) => Promise<void>,
): Promise<Front> =>
  openFront((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      Promise.resolve()
        .then(() => work(JSON.parse(Buffer.concat(chunks).toString('utf8'))))
        .then(
          () => response.end('{"ok":true}'),
          (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.stack : String(error)),
        );
    });
  });

/** What a worker of a peer does with an event: the platform's own `fetch`, with its pool of sockets. */
export const sendOnce = async (url: string, id: string, payload: unknown): Promise<void> => {
  const answer = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'idempotency-key': id },
    body: JSON.stringify(payload),
  });
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`the destination answered ${answer.status}`);
};

/** `require` of the folder in which the peers' packages are. */
export const peerArgs = (): { folder: string; rest: readonly string[] } => {
  const [folder = '', ...rest] = process.argv.slice(2);
  return { folder, rest };
};
