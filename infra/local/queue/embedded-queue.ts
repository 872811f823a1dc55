/**
 * A push queue on this machine that speaks the HTTP contract of the real one, with what has been measured there: three
 * deliveries six seconds apart and then the dead letter queue, a delivery count that restarts at a redrive, a publish
 * that calls every message available, a list of dead letters that is empty, a bulk redrive that does nothing.
 *
 *   create ---> listen ---> pushes to every subscription ---> close: timers off, pushes broken off, server gone
 */
import type { Server } from 'node:http';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { INFRAI_LIMITS } from '../../../functions/adapters/queue/transport-facts.ts';
import { PUSH_ANSWER_MS } from '../../../functions/core/limits.ts';
import { Answers, invalid, NO_ROUTE, REFUSALS, UNAUTHORIZED } from './answers.ts';
import { CAPABILITIES, type CapabilityId, detailsOf, isCapabilityId, summaryOf } from './contract.ts';
import { CronJobs } from './cron-jobs.ts';
import { cronRoutes } from './cron-routes.ts';
import { QueueEngine, type QueueStats } from './engine.ts';
import { type Chaos, Faults, NO_CHAOS } from './faults.ts';
import { createHttpPush, PUSH_SIGNING, type PushSigning } from './http-push.ts';
import { Pusher, type PushRecord } from './pusher.ts';
import { routesOf } from './routes.ts';
import type { Timers } from './timers.ts';

export interface EmbeddedQueueOptions {
  readonly timers: Timers;
  readonly apiKey: string;
  /** Queues that are there from the start. */
  readonly queues: readonly string[];
  readonly redeliverMs?: number;
  readonly deliveriesMax?: number;
  readonly pushesAtOnce?: number;
  readonly pushTimeoutMs?: number;
  readonly signing?: PushSigning;
  readonly chaos?: Chaos;
  readonly dlqListLies?: boolean;
  /** Discovery that does not say what the routes do: what it tells of a route instead. */
  readonly discovery?: (id: CapabilityId, told: ReturnType<typeof detailsOf>) => unknown;
}

export interface EmbeddedQueue {
  /** The contract as an app, to be called in the process or mounted. */
  readonly app: Hono<{ Bindings: Partial<HttpBindings> }>;
  readonly faults: Faults;
  /** Serves on loopback; gives the base address. Port 0 takes a free one. */
  listen(port?: number): Promise<string>;
  /** False where there is no such queue. */
  subscribe(queue: string, to: { readonly url: string; readonly secret?: string }): boolean;
  stats(queue: string): QueueStats | undefined;
  /**
   * Puts a message straight to the dead letters and gives its id: for stories that begin with some. `payload` is the text
   * of a JSON object, kept as it is. Of the first queue, unless another is named; one that is not there is a mistake.
   */
  deadLetter(payload: string, queue?: string): string;
  /** The latest pushes that have ended, oldest first. */
  pushes(): readonly PushRecord[];
  /** Resolves when nothing is left to do before the clock moves on. */
  idle(): Promise<void>;
  close(): Promise<void>;
}

const REQUEST_BYTES_MAX = INFRAI_LIMITS.messageBytesMax + 64 * 1_024;

export const createEmbeddedQueue = (options: EmbeddedQueueOptions): EmbeddedQueue => {
  const { timers, pushTimeoutMs = PUSH_ANSWER_MS, dlqListLies = true } = options;
  const { redeliverMs = 6_000, deliveriesMax = 3, pushesAtOnce = 16 } = options;
  const faults = new Faults(options.chaos ?? NO_CHAOS);
  const http = createHttpPush(timers, options.signing ?? PUSH_SIGNING);
  const pusher = new Pusher(timers, http.post);
  const engine = new QueueEngine({ redeliverMs, deliveriesMax, pushesAtOnce }, timers, faults, pusher);
  const jobs = new CronJobs(timers);
  for (const name of options.queues) engine.create(name);
  const app = appOf(engine, jobs, options, { answerMs: pushTimeoutMs, dlqListLies, faults });
  let server: Server | undefined;
  return {
    app,
    faults,
    async listen(port = 0) {
      server = await serve(app, port);
      return addressOf(server);
    },
    subscribe: (queue, to) => engine.subscribe(queue, { ...to, answerMs: pushTimeoutMs }),
    stats: (queue) => engine.stats(queue),
    deadLetter: (payload, queue = options.queues[0] ?? '') => buried(engine, queue, payload),
    pushes: () => pusher.records,
    idle: async () => {
      await engine.idle();
      await jobs.idle();
    },
    async close() {
      await jobs.close();
      await engine.close();
      await http.close();
      if (server !== undefined) await stop(server);
    },
  };
};

const buried = (engine: QueueEngine, queue: string, payload: string): string => {
  const value: unknown = JSON.parse(payload);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new TypeError('a message is the text of a JSON object');
  }
  const id = engine.bury(queue, payload);
  if (id === undefined) throw new TypeError(`the queue "${queue}" is not there, or is one of dead letters itself`);
  return id;
};

const appOf = (
  engine: QueueEngine,
  jobs: CronJobs,
  options: EmbeddedQueueOptions,
  settings: Parameters<typeof routesOf>[2],
) => {
  const app = new Hono<{ Bindings: Partial<HttpBindings> }>();
  const say = new Answers();
  app.get('/v1/discovery', (c) =>
    c.json({
      version: 'v1',
      generated_at: new Date(options.timers.nowMs()).toISOString(),
      capabilities: Object.keys(CAPABILITIES).filter(isCapabilityId).map(summaryOf),
    }),
  );
  app.get('/v1/discovery/:id', (c) => {
    const id = c.req.param('id');
    if (!isCapabilityId(id)) return say.refused(c, NO_ROUTE);
    const told: unknown = options.discovery?.(id, detailsOf(id)) ?? detailsOf(id);
    return told === 'absent'
      ? say.refused(c, NO_ROUTE)
      : c.body(JSON.stringify(told), 200, { 'content-type': 'application/json' });
  });
  for (const guarded of ['/v1/queue/*', '/v1/cron/*']) {
    app.use(guarded, async (c, next) =>
      c.req.header('authorization') === `Bearer ${options.apiKey}` ? next() : say.refused(c, UNAUTHORIZED),
    );
  }
  app.use(
    '/v1/queue/*',
    bodyLimit({ maxSize: REQUEST_BYTES_MAX, onError: (c) => say.refused(c, REFUSALS['too-large']) }),
  );
  const routes = { ...routesOf(engine, say, settings), ...cronRoutes(jobs, say) };
  for (const id of Object.keys(CAPABILITIES).filter(isCapabilityId)) {
    const { method, path } = CAPABILITIES[id];
    app.on(method, path.replace(/\{(\w+)\}/g, ':$1'), routes[id]);
  }
  app.notFound((c) => say.refused(c, NO_ROUTE));
  app.onError((error, c) => say.refused(c, { ...invalid(error.message), status: 500, code: 'INTERNAL' }));
  return app;
};

const serve = (app: Pick<Hono<{ Bindings: Partial<HttpBindings> }>, 'fetch'>, port: number): Promise<Server> =>
  new Promise((resolve, reject) => {
    const server = createAdaptorServer({ fetch: app.fetch, hostname: '127.0.0.1' });
    if (!('closeAllConnections' in server)) throw new TypeError('the adapter made no HTTP/1.1 server');
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });

const addressOf = (server: Server): string => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return `http://127.0.0.1:${address.port}`;
};

const stop = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
