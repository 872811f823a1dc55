/**
 * Plays an answer on a real connection.
 *
 *   (delay) ──► plain, drip from body, close-keep-alive: through the HTTP server
 *          └──► hang: nothing
 *          └──► reset, garbage, drip from head: bytes written past the HTTP server, then the connection is gone
 */
import { type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { Play, Reply } from './play.ts';

/** Time as the partner needs it. `after` calls once, unless its answer is called first. */
export interface PartnerClock {
  nowMs(): number;
  after(ms: number, call: () => void): () => void;
}

export interface Exchange {
  readonly socket: Socket;
  readonly res: ServerResponse;
  readonly clock: PartnerClock;
}

/** Resolves when the answer has been handed to the system, or when the connection is gone. */
export const perform = ({ socket, res, clock }: Exchange, play: Play): Promise<void> => {
  if (socket.destroyed) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  let cancel = (): void => {};
  const wait: Wait = (ms, call) => {
    cancel = clock.after(ms, call);
  };
  res.once('finish', resolve);
  res.once('close', () => {
    cancel();
    resolve();
  });
  const act = (): void => carryOut({ socket, res, wait }, play);
  if (play.delayMs === 0) act();
  else wait(play.delayMs, act);
  return promise;
};

/** Given up when the connection is gone. */
type Wait = (ms: number, call: () => void) => void;

interface Wire {
  readonly socket: Socket;
  readonly res: ServerResponse;
  readonly wait: Wait;
}

const carryOut = (wire: Wire, { reply, manner }: Play): void => {
  const { socket, res } = wire;
  switch (manner.kind) {
    case 'plain':
      writeHead(res, reply).end(reply.body);
      return;
    case 'hang':
      return;
    case 'reset':
      if (manner.when === 'before-answer') socket.resetAndDestroy();
      else endWith(socket, rawHead(reply, Buffer.byteLength(reply.body) + 1));
      return;
    case 'garbage':
      endWith(socket, Buffer.from(manner.text));
      return;
    case 'close-keep-alive':
      res.once('finish', () => socket.destroySoon());
      writeHead(res, { ...reply, headers: { ...reply.headers, connection: 'keep-alive' } }).end(reply.body);
      return;
    case 'drip':
      if (manner.from === 'body') dripBody(wire, reply, manner.everyMs);
      else dripAll(wire, reply, manner.everyMs);
  }
};

const writeHead = (res: ServerResponse, reply: Reply): ServerResponse => {
  // The only time that is told here would be the machine's, not the clock's.
  res.sendDate = false;
  return res.writeHead(reply.status, framed(reply, Buffer.byteLength(reply.body)));
};

const dripBody = (wire: Wire, reply: Reply, everyMs: number): void => {
  const { res } = wire;
  const body = Buffer.from(reply.body);
  writeHead(res, reply).flushHeaders();
  const write = (byte: Uint8Array) => res.write(byte);
  drip(wire, { bytes: body, everyMs, write, end: () => res.end() });
};

const dripAll = (wire: Wire, reply: Reply, everyMs: number): void => {
  const { socket } = wire;
  const body = Buffer.from(reply.body);
  const bytes = Buffer.concat([rawHead(reply, body.length), body]);
  drip(wire, { bytes, everyMs, write: (byte) => socket.write(byte), end: () => socket.destroySoon() });
};

interface Dripping {
  readonly bytes: Uint8Array;
  readonly everyMs: number;
  readonly write: (byte: Uint8Array) => void;
  readonly end: () => void;
}

const drip = ({ wait }: Wire, { bytes, everyMs, write, end }: Dripping): void => {
  const next = (at: number): void => {
    wait(everyMs, () => {
      write(bytes.subarray(at, at + 1));
      if (at + 1 < bytes.length) next(at + 1);
      else end();
    });
  };
  if (bytes.length === 0) end();
  else next(0);
};

/** Sent and ended rather than reset: a reset may overtake the bytes, and the client is to see them. */
const endWith = (socket: Socket, bytes: Uint8Array): void => {
  socket.write(bytes);
  socket.destroySoon();
};

const rawHead = (reply: Reply, contentLength: number): Buffer => {
  const headers = { ...framed(reply, contentLength), connection: 'close' };
  const lines = Object.entries(headers).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}`));
  const status = `HTTP/1.1 ${reply.status} ${STATUS_CODES[reply.status] ?? 'Unknown'}`;
  return Buffer.from([status, ...lines, '', ''].join('\r\n'), 'latin1');
};

/** The headers with a length, unless the step frames its body itself or the status has none. */
const framed = ({ status, headers }: Reply, contentLength: number): Record<string, string | string[]> => {
  const own = Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]);
  const isFramed = own.some(([name]) => /^(content-length|transfer-encoding)$/i.test(String(name)));
  const isBare = status === 204 || status === 304;
  return Object.fromEntries(isFramed || isBare ? own : [...own, ['content-length', String(contentLength)]]);
};
