/**
 * graphile-worker on Postgres, one job for each event (the job's key is the event's id), all in one process with its
 * producer: a request is answered when its job is done and gone from the table.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { serve } from '../stage/child.ts';
import { eventFront, peerArgs, sendOnce } from '../stage/front.ts';

interface Job {
  readonly key: string | null;
}
interface Payload {
  readonly id: string;
  readonly payload: unknown;
}
interface Graphile {
  readonly run: (options: object) => Promise<{
    addJob(task: string, payload: Payload, options: object): Promise<Job>;
    readonly events: {
      on(event: 'job:success', heard: (said: { job: Job }) => void): void;
      on(event: 'job:error', heard: (said: { job: Job; error: Error }) => void): void;
    };
    stop(): Promise<void>;
  }>;
  readonly Logger: new (make: () => () => void) => object;
}

await serve(async () => {
  const { folder, rest } = peerArgs();
  const [port = '', concurrency = ''] = rest;
  const { run, Logger }: Graphile = createRequire(join(folder, 'package.json'))('graphile-worker');
  let destination = '';
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const runner = await run({
    connectionString: `postgres://postgres@127.0.0.1:${port}/postgres`,
    concurrency: Number(concurrency),
    maxPoolSize: Number(concurrency) + 2,
    noHandleSignals: true,
    logger: new Logger(() => () => {}),
    taskList: { deliver: ({ id, payload }: Payload) => sendOnce(destination, id, payload) },
  });
  runner.events.on('job:success', ({ job }) => waiting.get(job.key ?? '')?.resolve());
  runner.events.on('job:error', ({ job, error }) => waiting.get(job.key ?? '')?.reject(error));
  const front = await eventFront(async ({ id, payload }) => {
    const done = Promise.withResolvers<void>();
    waiting.set(id, done);
    await runner.addJob('deliver', { id, payload }, { jobKey: id });
    await done.promise;
    waiting.delete(id);
  });
  return {
    url: front.url,
    prepare: async ({ destinationUrl }) => {
      destination = destinationUrl;
    },
    close: async () => {
      await front.close();
      await runner.stop();
    },
  };
});
