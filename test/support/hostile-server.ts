/** Loopback servers that misbehave on purpose, and count what reaches them. */

import { createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

import type { TestCertificate } from './test-certificate.ts';

export interface Received {
  readonly head: string;
  readonly body: Buffer;
}

/** Called once for each complete request; `nth` counts the requests of the whole server, from 1. */
export type Behaviour = (socket: Socket, nth: number) => void;

export interface HostileServer {
  readonly port: number;
  readonly url: string;
  readonly received: readonly Received[];
  /** TCP connections seen, whether a request came over them or not. */
  connections(): number;
  /** Resolves when no connection is open any more. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

export interface ServerOptions {
  readonly certificate?: TestCertificate;
  /** Runs as soon as a connection is there, before any request. */
  readonly onConnection?: (socket: Socket) => void;
}

export const hostileServer = async (behaviour: Behaviour, options: ServerOptions = {}): Promise<HostileServer> => {
  const received: Received[] = [];
  const open = new Set<Socket>();
  const waiting: (() => void)[] = [];
  let connections = 0;
  const { certificate } = options;
  const server: Server = certificate === undefined ? createTcpServer() : createTlsServer({ ...certificate });
  server.on('connection', (socket: Socket) => {
    connections += 1;
    open.add(socket);
    socket.on('error', ignore);
    socket.on('close', () => {
      open.delete(socket);
      if (open.size === 0) for (const resume of waiting.splice(0)) resume();
    });
    options.onConnection?.(socket);
  });
  server.on(certificate === undefined ? 'connection' : 'secureConnection', (socket: Socket) => {
    socket.on('error', ignore);
    eachRequest(socket, (request) => behaviour(socket, received.push(request)));
  });
  server.on('tlsClientError', ignore);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  return {
    port: address.port,
    url: `http://127.0.0.1:${address.port}/hook`,
    received,
    connections: () => connections,
    quiet: () => (open.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};

/** A port of this machine on which nothing listens. A port that was free a moment ago may be somebody's by now. */
export const REFUSED_PORT = 1;

// ---- behaviours ---------------------------------------------------------------------------------------------------

/** Takes the request and says nothing. */
export const silent: Behaviour = () => {};

/** Writes exactly these bytes (as Latin-1 where a text is given) and leaves the connection as it is. */
export const writes =
  (bytes: string | Buffer): Behaviour =>
  (socket) => {
    socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  };

/** Writes and then ends the connection in order. */
export const writesAndEnds =
  (bytes: string): Behaviour =>
  (socket) => {
    socket.end(Buffer.from(bytes, 'latin1'));
  };

/** Writes, waits until the bytes have left, and resets the connection. */
export const writesAndResets =
  (bytes: string): Behaviour =>
  (socket) => {
    if (bytes === '') socket.resetAndDestroy();
    else socket.write(Buffer.from(bytes, 'latin1'), () => socket.resetAndDestroy());
  };

/** Writes a beginning, then one piece after the other for as long as the connection lives. */
export const drips =
  (beginning: string, piece: string, everyMs: number): Behaviour =>
  (socket) => {
    socket.write(Buffer.from(beginning, 'latin1'));
    const timer = setInterval(() => socket.write(piece), everyMs);
    socket.on('close', () => clearInterval(timer));
  };

/** Sends as fast as it is read, without end; `sent` tells how much got away. */
export const floods = (beginning: string, piece: Buffer): { behaviour: Behaviour; sent: () => number } => {
  let sent = 0;
  const behaviour: Behaviour = (socket) => {
    socket.write(Buffer.from(beginning, 'latin1'));
    const more = (): void => {
      while (!socket.destroyed && socket.write(piece)) sent += piece.length;
    };
    socket.on('drain', more);
    more();
  };
  return { behaviour, sent: () => sent };
};

export const answer = (status: number | string, body = '', headers: readonly string[] = []): string =>
  [`HTTP/1.1 ${status} X`, `content-length: ${Buffer.byteLength(body)}`, ...headers, '', body].join('\r\n');

const eachRequest = (socket: Socket, take: (request: Received) => void): void => {
  let pending: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    pending = Buffer.concat([pending, chunk]);
    for (;;) {
      const end = pending.indexOf('\r\n\r\n');
      if (end < 0) return;
      const head = pending.toString('latin1', 0, end);
      const total = end + 4 + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
      if (pending.length < total) return;
      const request = { head, body: pending.subarray(end + 4, total) };
      pending = pending.subarray(total);
      take(request);
    }
  });
};

const ignore = (): void => {};
