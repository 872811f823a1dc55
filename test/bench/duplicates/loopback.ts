/** A server on a free port of 127.0.0.1 that takes whole bodies. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Loopback {
  readonly url: string;
  close(): Promise<void>;
}

/** Not called for a request that is cut off before its end. */
export const openLoopback = async (answer: (body: string, response: ServerResponse) => void): Promise<Loopback> => {
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request).catch(() => undefined);
    if (body !== undefined) answer(body, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
};

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};
