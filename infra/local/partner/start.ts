import { createServer } from 'node:http';
import { createPartner, type Partner, type PartnerOptions } from './partner.ts';

export interface RunningPartner extends Partner {
  readonly port: number;
  urlOf(name: string): string;
}

export interface StartOptions extends PartnerOptions {
  /** 0, the default, takes a free one. */
  readonly port?: number;
  readonly hostname?: string;
}

/** A partner on a port of its own. `close` cuts every connection at once and resolves when the port is free. */
export const startPartner = async (options: StartOptions): Promise<RunningPartner> => {
  const { port = 0, hostname = '127.0.0.1' } = options;
  const partner = createPartner(options);
  const server = createServer((req, res) => {
    if (!partner.handle(req, res)) res.writeHead(404).end();
  });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once('error', reject).listen(port, hostname, resolve);
  await promise;
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('a listening server has a port');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    ...partner,
    port: address.port,
    urlOf: (name) => `http://${host}:${address.port}/partner/${name}`,
    async close() {
      const freed = new Promise<void>((done) => server.close(() => done()));
      await partner.close();
      server.closeAllConnections();
      await freed;
    },
  };
};
