/** The embedded queue on a virtual clock, with a receiver on loopback, for one test. */

import { onTestFinished } from 'vitest';
import { createEmbeddedQueue, type EmbeddedQueueOptions } from '../../infra/local/queue/embedded-queue.ts';
import { pushReceiver } from './push-receiver.ts';
import { VirtualClock } from './virtual-clock.ts';

export const API_KEY = 'ifr_test_key';
export const QUEUE = 'deliveries';

/** A JSON answer, for `toMatchObject`. */
export interface Answered {
  readonly status: number;
  readonly body: unknown;
}

export const embeddedWorld = async (options: Partial<EmbeddedQueueOptions> = {}) => {
  const clock = new VirtualClock();
  const embedded = createEmbeddedQueue({ timers: clock, apiKey: API_KEY, queues: [QUEUE], ...options });
  const receiver = await pushReceiver(clock.nowMs);
  onTestFinished(async () => {
    await embedded.close();
    await receiver.close();
  });

  const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await embedded.app.request(`/v1${path}`, {
      method,
      headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as unknown } satisfies Answered;
  };
  const post = (route: string, body?: unknown, headers?: Record<string, string>) =>
    call('POST', `/queue/${route}`, body, headers);
  return {
    clock,
    embedded,
    receiver,
    call,
    post,
    get: (path: string) => call('GET', path),
    /** Publishes `{n}` and gives the message id. */
    async publish(n: number, fields: Readonly<Record<string, unknown>> = {}): Promise<string> {
      const { body } = await post('publish', { queue: QUEUE, payload: { n }, ...fields });
      return messageIdOf(body);
    },
    subscribe: (secret?: string) => embedded.subscribe(QUEUE, { url: receiver.url, ...(secret ? { secret } : {}) }),
    async pass(ms: number): Promise<void> {
      await clock.advance(ms);
      await embedded.idle();
    },
    /** The `n` of every push that has arrived, in order. */
    numbers: (): readonly number[] => receiver.received.map(({ body }) => numberOf(Buffer.from(body).toString('utf8'))),
  };
};

export const messageIdOf = (body: unknown): string => textMatch(JSON.stringify(body), /"message_id":"([^"]+)"/);

const numberOf = (text: string): number => Number(textMatch(text, /"n":(\d+)/));

const textMatch = (text: string, pattern: RegExp): string => {
  const found = pattern.exec(text)?.[1];
  if (found === undefined) throw new Error(`${pattern} is not in ${text}`);
  return found;
};
