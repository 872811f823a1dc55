/**
 * One attempt of a sender at a server that plays a mix, and what every attempt has promised.
 *
 * The deadline is a signal in the hands of the server: it fires when the misbehaviour has been played and nothing more
 * will come. So an attempt that only its deadline can end takes no time, and a busy machine changes nothing.
 */
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import type { Answer } from '../../functions/core/outcome.ts';
import type { Sender } from '../../functions/ports.ts';
import { bytesOf, expectedOf, type Mix, piecesOf } from './hostile-mix.ts';
import { hostileServer } from './hostile-server.ts';
import { requestTo } from './sending.ts';
import { certificateFor, type TestCertificate } from './test-certificate.ts';

/** Turns of the event loop after which everything that was written has been read by a client that reads. */
const SETTLED_TURNS = 60;
const NAME = 'partner.example';
export const TRUSTED = certificateFor(NAME);
const OF_ANOTHER = certificateFor('other.example');
const OF_NOBODY = certificateFor(NAME, 'nobody.example');
/** Names the authorities of these tests; the caller has them trusted. */
export const AUTHORITIES: readonly TestCertificate[] = [TRUSTED, OF_ANOTHER];

export interface Seen {
  readonly mix: Mix;
  readonly answer: Answer;
  readonly connections: number;
  readonly requests: number;
  /** Of the request, by the sockets of the server. */
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** The server waited in vain for its sockets to be closed. */
  readonly leftOpen: boolean;
}

const turns = async (count: number): Promise<void> => {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

const finish = (socket: Socket, ending: Mix['ending']): void => {
  if (ending === 'closes') socket.end();
  if (ending !== 'resets') return;
  // Node resets plain connections only; a secured one breaks off without the farewell of TLS.
  if (socket instanceof TLSSocket) socket.destroy();
  else socket.resetAndDestroy();
};

const play = async (socket: Socket, mix: Mix): Promise<void> => {
  const { bytes, endless } = bytesOf(mix);
  for (const piece of piecesOf(bytes, mix.pieces)) {
    if (!socket.writable) return;
    socket.write(piece);
    if (mix.pieces > 1) await turns(1);
  }
  if (endless === undefined) return finish(socket, mix.ending);
  // As fast as it is read, for as long as anybody reads; whoever waits for the end waits for his deadline.
  for (let turn = 0; turn < SETTLED_TURNS && socket.writable; turn += 1) {
    while (!socket.writableNeedDrain && socket.writable && socket.write(endless) && endless.length > 1) {}
    await turns(1);
  }
};

const spoilHandshake = (socket: Socket, { handshake }: Mix): void => {
  const answers: Partial<Record<Mix['handshake'], (socket: Socket) => void>> = {
    'answers in plain text': (raw) => raw.end('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'),
    'answers with garbage': (raw) => raw.write(Buffer.alloc(300, 0x17)),
    'closes at the hello': (raw) => raw.end(),
    'resets at the hello': (raw) => raw.resetAndDestroy(),
  };
  const spoil = answers[handshake];
  if (spoil) socket.once('data', () => spoil(socket));
};

const certificateOf = ({ handshake }: Mix): { certificate?: TestCertificate } => {
  if (handshake === 'sound') return { certificate: TRUSTED };
  if (handshake === 'a certificate for another name') return { certificate: OF_ANOTHER };
  if (handshake === 'a certificate of nobody') return { certificate: OF_NOBODY };
  return {};
};

/** `senderWith` makes the sender under test; its times come from the given function. */
export const attemptAt = async (
  mix: Mix,
  senderWith: (signalAfter: (ms: number) => AbortSignal) => Sender,
): Promise<Seen> => {
  const over = new AbortController();
  const sockets: Socket[] = [];
  const overSoon = (): void => void turns(SETTLED_TURNS).then(() => over.abort(new Error('the deadline')));
  const server = await hostileServer(
    (socket) => void (mix.opening === 'speaks first' ? Promise.resolve() : play(socket, mix)).finally(overSoon),
    {
      ...certificateOf(mix),
      onConnection(socket) {
        sockets.push(socket);
        // Without this the second small piece waits for the acknowledgement of the first, up to 40 ms.
        socket.setNoDelay(true);
        spoilHandshake(socket, mix);
        if (mix.opening === 'closes') socket.destroy();
        if (mix.opening === 'resets') socket.resetAndDestroy();
        if (mix.opening === 'never reads') socket.pause();
        if (mix.opening === 'speaks first') void play(socket, mix).finally(overSoon);
        if (mix.opening !== 'listens' || !['plain HTTP', 'sound'].includes(mix.handshake)) overSoon();
      },
    },
  );
  try {
    const secure = mix.handshake !== 'plain HTTP';
    const url = `${secure ? 'https' : 'http'}://${NAME}:${server.port}/hook`;
    const answer = await senderWith(() => over.signal).send(requestTo(url));
    // Whoever never reads does not notice either that the other side has gone.
    for (const socket of sockets) socket.resume();
    const quiet = await Promise.race([server.quiet().then(() => true), turns(2_000).then(() => false)]);
    const sum = (of: (socket: Socket) => number): number => sockets.reduce((total, socket) => total + of(socket), 0);
    return {
      mix,
      answer,
      connections: server.connections(),
      requests: server.received.length,
      bytesRead: sum((socket) => socket.bytesRead),
      bytesWritten: sum((socket) => socket.bytesWritten),
      leftOpen: !quiet,
    };
  } finally {
    await server.close();
  }
};

/** Sockets and their buffers take this much from a server that floods before they push back. */
const TAKEN_BYTES_MAX = 16 * 1_024 * 1_024;

/** What an attempt has promised, by name; the names of those that it broke. */
export const brokenPromises = ({ mix, answer, ...seen }: Seen): readonly string[] => {
  const expected = expectedOf(mix);
  const answered = answer.kind === 'answered' ? answer.status : undefined;
  // Of a request, that is: the hello of a handshake is none.
  const nothingRead = seen.requests === 0 && (mix.handshake !== 'plain HTTP' || seen.bytesRead === 0);
  const promises: Readonly<Record<string, boolean>> = {
    'not sent is said only where it is certain':
      answer.kind !== 'not-sent' || (expected.notSent !== 'never' && nothingRead),
    'what is certain is not left in doubt': expected.notSent !== 'must' || answer.kind === 'not-sent',
    'an answer that came is reported': !expected.must || answered === expected.status,
    'no answer is made up': answered === undefined || answered === expected.status,
    'one connection, one request': seen.connections <= 1 && seen.requests <= 1,
    'no socket is left': !seen.leftOpen,
    'what is read has a bound': seen.bytesWritten <= TAKEN_BYTES_MAX,
    'what is kept has a bound':
      Buffer.byteLength(answer.kind === 'answered' ? answer.excerpt : answer.detail) <= 200 &&
      !/[\p{Cc}\u2028]/u.test(answer.kind === 'answered' ? answer.excerpt : answer.detail),
  };
  return Object.keys(promises).filter((name) => promises[name] === false);
};
