/** The only place that opens a socket to a destination. */

import { connect as connectTcp, isIP, type LookupFunction, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { buildConnector } from 'undici';

import { dropInterim } from './interim.ts';

/** How far an attempt has come. Up to `securing` no byte of the request can have left. */
export type Phase = 'connecting' | 'securing' | 'open';

interface Line {
  readonly secure: boolean;
  readonly host: string;
  readonly port: number;
  /** Judged already; no other address is ever tried. */
  readonly addresses: readonly string[];
  /** Ends the connect, the TLS handshake included. */
  readonly signal: AbortSignal;
  readonly onPhase: (phase: Phase) => void;
}

/** Of one head of an answer, final or interim. */
export const HEADER_BYTES_MAX = 16 * 1_024;

/** Among several addresses the next one is tried after this long; the last one has all the time that is left. */
const NEXT_ADDRESS_AFTER_MS = 500;

/**
 * A connector for one attempt. What the client asks for is ignored: the name, the port and the addresses are those that
 * were vetted. It connects once, so that a client which wants to open a second socket for the same request fails.
 */
export const vettedConnector = (line: Line): buildConnector.connector => {
  let used = false;
  return (_asked, callback) => {
    if (used) return callback(new Error('an attempt opens one socket'), null);
    used = true;
    const socket = open(line);
    // The listener for errors stays for the life of the socket: a late error must not end the process.
    let waiting = true;
    const settle = (error: Error | null): void => {
      if (!waiting) return;
      waiting = false;
      line.signal.removeEventListener('abort', onAbort);
      if (error !== null) {
        callback(error, null);
        return;
      }
      line.onPhase('open');
      callback(null, dropInterim(socket, HEADER_BYTES_MAX));
    };
    const onAbort = (): void => {
      const error = new Error('the connection was not there in time');
      socket.destroy(error);
      settle(error);
    };
    socket.on('error', settle);
    socket.once('connect', () => (line.secure ? line.onPhase('securing') : settle(null)));
    if (line.secure) socket.once('secureConnect', () => settle(null));
    if (line.signal.aborted) onAbort();
    else line.signal.addEventListener('abort', onAbort, { once: true });
  };
};

const open = (line: Line): Socket => {
  const target = {
    host: line.host,
    port: line.port,
    lookup: vettedLookup(line.addresses),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: NEXT_ADDRESS_AFTER_MS,
    noDelay: true,
  };
  if (!line.secure) return connectTcp(target);
  // Stated, since an environment variable (NODE_TLS_REJECT_UNAUTHORIZED) would otherwise turn the check off.
  const identity = { rejectUnauthorized: true, ALPNProtocols: ['http/1.1'] };
  return connectTls(
    isIP(line.host) === 0 ? { ...target, ...identity, servername: line.host } : { ...target, ...identity },
  );
};

/** node:net asks for all addresses or for one, depending on its version and options; both forms get the vetted ones. */
export const vettedLookup =
  (addresses: readonly string[]): LookupFunction =>
  (_host, options, callback) => {
    const answers = addresses.map((address) => ({ address, family: isIP(address) }));
    const [first] = answers;
    // Never in the same turn: the caller has not finished setting up its socket.
    queueMicrotask(() => {
      if (first === undefined) callback(new Error('no vetted address'), '', 0);
      else if (options.all === true) callback(null, answers);
      else callback(null, first.address, first.family);
    });
  };
