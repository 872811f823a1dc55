/**
 * The receiver of a test world behind the embedded queue: publishes and signed pushes go over HTTP, the time of both is
 * the world's virtual clock.
 *
 *   submit --> intake --> embedded queue --HTTP push--> receiver --> sender
 *                              ^                           |
 *                              +---------- publish --------+
 */
import { createAdaptorServer } from '@hono/node-server';
import { onTestFinished } from 'vitest';
import { createInfraiQueue } from '../../functions/adapters/queue/infrai/client.ts';
import { createInfraiDeadLetters } from '../../functions/adapters/queue/infrai/dead-letters.ts';
import { INFRAI_LIMITS } from '../../functions/adapters/queue/transport-facts.ts';
import { FUNCTION_MS } from '../../functions/core/limits.ts';
import type { DeadLetters, Queue } from '../../functions/ports.ts';
import {
  createEmbeddedQueue,
  type EmbeddedQueue,
  type EmbeddedQueueOptions,
} from '../../infra/local/queue/embedded-queue.ts';
import { openTestWorld, PUSH_SECRET, type TestWorld } from './world.ts';
import { seededDice } from './world-ports.ts';

const API_KEY = 'ifr_test_key';

export interface QueuedWorld {
  readonly world: TestWorld;
  readonly embedded: EmbeddedQueue;
  readonly queue: Queue;
  readonly deadLetters: DeadLetters;
  /** The notes with which the receiver answered pushes, in order. */
  readonly notes: readonly string[];
  /** Puts a message straight to the dead letters; gives its id. */
  bury(payload: string): string;
  /** A request to the queue itself. */
  call(method: string, path: string, body?: unknown): Promise<unknown>;
  /** Lets that much time pass. No time passes while a push is underway. */
  pass(ms: number): Promise<void>;
}

export interface QueuedWorldOptions extends Partial<EmbeddedQueueOptions> {
  /** Made before it is used, of this type. */
  readonly type?: 'standard' | 'fifo';
}

const QUEUE = 'deliveries';
const STEP_MS = 1_000;

export const openQueuedWorld = async ({
  type = 'standard',
  ...options
}: QueuedWorldOptions = {}): Promise<QueuedWorld> => {
  // The queue runs on the clock of the world, and the world publishes to the queue: one of them has to come later.
  const publisher = Promise.withResolvers<Queue>();
  const world = openTestWorld({
    reshape: (plain) => ({
      ...plain,
      queue: { limits: INFRAI_LIMITS, publish: async (publication) => (await publisher.promise).publish(publication) },
    }),
  });
  const { clock } = world;
  const embedded = createEmbeddedQueue({ timers: clock, apiKey: API_KEY, queues: [], ...options });
  const call: QueuedWorld['call'] = async (method, path, body) => {
    const init = { method, headers: { authorization: `Bearer ${API_KEY}` } };
    const response = await embedded.app.request(
      `/v1/queue/${path}`,
      body ? { ...init, body: JSON.stringify(body) } : init,
    );
    return response.json();
  };
  await call('POST', 'create', { name: QUEUE, type });
  const at = { baseUrl: await embedded.listen(), apiKey: API_KEY, queue: QUEUE };
  const queue = createInfraiQueue({ ...at, publishMs: 2_000 });
  const deadLetters = createInfraiDeadLetters({ ...at, clock, dice: seededDice(1) });
  publisher.resolve(queue);
  const notes: string[] = [];
  const front = await serve(world, notes);
  embedded.subscribe(QUEUE, { url: `${front.url}/push/infrai`, secret: PUSH_SECRET });
  onTestFinished(async () => {
    await embedded.close();
    await Promise.all([queue.close(), deadLetters.close(), front.close()]);
  });
  const pass = async (ms: number): Promise<void> => {
    const endMs = clock.nowMs() + ms;
    await embedded.idle();
    for (let leftMs = ms; leftMs > 0; leftMs = endMs - clock.nowMs()) {
      await clock.advance(Math.min(leftMs, STEP_MS));
      await embedded.idle();
    }
  };
  const bury = (payload: string): string => embedded.deadLetter(payload, QUEUE);
  return { world, embedded, queue, deadLetters, notes, bury, call, pass };
};

const serve = async (world: TestWorld, notes: string[]): Promise<{ readonly url: string; close(): Promise<void> }> => {
  const env = { lambdaContext: { getRemainingTimeInMillis: () => FUNCTION_MS } };
  const server = createAdaptorServer({
    fetch: async (request: Request) => {
      const init = { method: request.method, headers: request.headers, body: await request.arrayBuffer() };
      const response = await world.apps.receiver.request(new URL(request.url).pathname, init, env);
      notes.push(noteOf(await response.clone().text()));
      return response;
    },
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        if ('closeAllConnections' in server) server.closeAllConnections();
      }),
  };
};

/** `{"verdict":"ack","note":"settled"}`, or a problem. */
const noteOf = (text: string): string => /"(?:note|code)":"([^"]*)"/.exec(text)?.[1] ?? text;
