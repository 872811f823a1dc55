/** A receiver of pushes on loopback: keeps what arrives, as bytes, and answers as it is told. */

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { HeaderGetter } from '../../functions/ports.ts';

export interface ReceivedPush {
  readonly header: HeaderGetter;
  readonly body: Uint8Array;
  readonly atMs: number;
}

/** `silence`: takes the push and never answers. `break`: closes the connection instead. */
export type PushAnswer = number | 'silence' | 'break';

export interface PushReceiver {
  readonly url: string;
  readonly received: readonly ReceivedPush[];
  /** The most pushes that were being answered at one moment. */
  readonly atOnceMax: number;
  /** Answers for the pushes to come, in turn; then 200 to all. */
  answerWith(...answers: PushAnswer[]): void;
  /** Resolves as soon as so many pushes have arrived in all. */
  arrived(count: number): Promise<void>;
  /** Pushes are held unanswered from now on; the function given back answers them. */
  hold(): () => void;
  close(): Promise<void>;
}

export const pushReceiver = async (nowMs: () => number): Promise<PushReceiver> => {
  const received: ReceivedPush[] = [];
  const answers: PushAnswer[] = [];
  const waiting: { readonly count: number; readonly resolve: () => void }[] = [];
  let held: (() => void)[] | undefined;
  let atOnce = 0;
  let atOnceMax = 0;
  const server = createServer(async (request, response) => {
    atOnce += 1;
    atOnceMax = Math.max(atOnceMax, atOnce);
    response.on('close', () => {
      atOnce -= 1;
    });
    received.push({ header: headerOf(request), body: await bodyOf(request), atMs: nowMs() });
    for (const waiter of waiting) if (received.length >= waiter.count) waiter.resolve();
    const answer = answers.shift() ?? 200;
    const give = (): void => giveAnswer(response, answer);
    if (held === undefined) give();
    else held.push(give);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${portOf(server)}/push/infrai`,
    received,
    get atOnceMax() {
      return atOnceMax;
    },
    answerWith: (...more) => void answers.push(...more),
    arrived: (count) =>
      received.length >= count ? Promise.resolve() : new Promise((resolve) => waiting.push({ count, resolve })),
    hold: () => {
      const mine: (() => void)[] = [];
      held = mine;
      return () => {
        held = undefined;
        for (const give of mine) give();
      };
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
};

const giveAnswer = (response: ServerResponse, answer: PushAnswer): void => {
  if (answer === 'silence') return;
  if (answer === 'break') {
    response.destroy();
    return;
  }
  response.writeHead(answer, answer >= 300 && answer < 400 ? { location: '/elsewhere' } : {});
  response.end(answer === 204 ? undefined : 'answer');
};

const bodyOf = async (request: IncomingMessage): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return new Uint8Array(Buffer.concat(chunks));
};

const headerOf = (request: IncomingMessage): HeaderGetter => {
  return (name) => {
    const value = request.headers[name.toLowerCase()];
    return Array.isArray(value) ? value.join(', ') : value;
  };
};

const portOf = (server: Server): number => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the receiver has no port');
  return address.port;
};
