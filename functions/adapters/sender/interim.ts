/**
 * Interim answers before the final one. A client must be able to read those that it never asked for (RFC 9110, 15.2);
 * ours breaks the connection off at a 100, and what was on its way to a 200 would be in doubt. Nothing here waits for
 * one, so all of them are dropped before the client's parser sees them:
 *
 *   HTTP/1.1 100 Continue CRLF CRLF | HTTP/1.1 103 Early Hints CRLF ... CRLF CRLF | HTTP/1.1 200 OK CRLF ...
 *   '---------------------------- dropped --------------------------------------' '--- untouched from here on -->
 *
 * A 101 is none of them: it ends HTTP on this connection, and the client refuses it.
 */
import type { Socket } from 'node:net';

const INTERIM = /^HTTP\/1\.[01] 1(?:0[02-9]|[1-9][0-9])[ \r]/;
/** Any beginning of it, filled up with the rest, is still one. */
const SHORTEST = 'HTTP/1.1 100 ';
const END = '\r\n\r\n';
const NOTHING = Buffer.alloc(0);

/** Takes the bytes of one connection as they come, and gives those that are for the parser. */
export const withoutInterim = (blockBytesMax: number): ((chunk: Buffer) => Buffer) => {
  let held: Buffer | undefined = NOTHING;
  return (chunk) => {
    if (held === undefined) return chunk;
    held = Buffer.concat([held, chunk]);
    for (;;) {
      const start: string = held.toString('latin1', 0, SHORTEST.length);
      if (!INTERIM.test(start + SHORTEST.slice(start.length))) break;
      const end: number = start.length < SHORTEST.length ? -1 : held.indexOf(END);
      // Too long to be held: the parser has a bound of its own, and an answer for what is over it.
      if (end < 0 && held.length > blockBytesMax) break;
      if (end < 0) return NOTHING;
      held = held.subarray(end + END.length);
    }
    const rest = held;
    held = undefined;
    return rest;
  };
};

/** The client reads its socket by `read()` only; the contract test of the sender fails if that should change. */
export const dropInterim = (socket: Socket, blockBytesMax: number): Socket => {
  const read = socket.read.bind(socket);
  const strip = withoutInterim(blockBytesMax);
  socket.read = (size) => {
    for (let chunk = read(size); chunk !== null; chunk = read(size)) {
      const rest = strip(chunk);
      if (rest.length > 0) return rest;
    }
    return null;
  };
  return socket;
};
