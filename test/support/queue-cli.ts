/** `onceward queue ...` with the embedded queue's app as its network. */
import type { Environment } from '../../functions/config.ts';
import type { Wire } from '../../functions/operator/cli/client.ts';
import { createQueueDesk } from '../../functions/operator/cli/infrai.ts';
import type { EmbeddedQueueOptions } from '../../infra/local/queue/embedded-queue.ts';
import { ran } from './cli.ts';
import { API_KEY, embeddedWorld, QUEUE } from './embedded-world.ts';
import { openTestWorld } from './world.ts';

export interface Requested {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

export const SETTINGS = {
  ONCEWARD_INFRAI_URL: 'http://queue.test',
  ONCEWARD_INFRAI_KEY: API_KEY,
  ONCEWARD_QUEUE: QUEUE,
  ONCEWARD_PUSH_SECRET: 'the-secret-of-the-push-side',
  ONCEWARD_CRON_SECRET: 'the-secret-of-the-cron-side',
} as const satisfies Environment;

export const openQueueCli = async (options: Partial<EmbeddedQueueOptions> = {}) => {
  const world = await embeddedWorld(options);
  const requested: Requested[] = [];
  /** Statuses instead of answers, in turn. */
  const statuses: number[] = [];
  const wire: Wire = {
    tryMs: 1_000,
    retries: async (once) => (await once(1_000)).result,
    callOnce: async ({ method, url, headers, body }) => {
      const path = new URL(url).pathname;
      requested.push({ method, path, headers, body: body === undefined ? undefined : JSON.parse(body) });
      const status = statuses.shift();
      if (status === 0) return { kind: 'none', code: 'ECONNREFUSED' };
      const response =
        status === undefined
          ? await world.embedded.app.request(path, { method, headers, ...(body === undefined ? {} : { body }) })
          : new Response('{}', { status });
      const header = (name: string) => response.headers.get(name) ?? undefined;
      const text = await response.text();
      return { kind: 'answer', status: response.status, text, contentType: header('content-type') ?? '', header };
    },
  };
  const test = openTestWorld();
  const run = (args: readonly string[], env: Environment = {}) =>
    ran(test, ['queue', ...args], { shell: { queue: createQueueDesk({ ...SETTINGS, ...env }, wire) } });
  return { ...world, requested, statuses, run };
};
