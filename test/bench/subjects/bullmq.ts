/**
 * A BullMQ worker with its idempotent-jobs pattern (the job's id is the event's), all in one process with its producer: a
 * request is answered when its job is completed.
 */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { serve } from '../stage/child.ts';
import { eventFront, peerArgs, sendOnce } from '../stage/front.ts';

interface Job {
  readonly id: string;
  readonly data: unknown;
}
interface BullMq {
  readonly Queue: new (
    name: string,
    options: object,
  ) => {
    add(name: string, data: unknown, options: object): Promise<Job>;
    close(): Promise<void>;
  };
  readonly Worker: new (
    name: string,
    work: (job: Job) => Promise<void>,
    options: object,
  ) => {
    on(event: 'completed', heard: (job: Job) => void): void;
    on(event: 'failed', heard: (job: Job | undefined, error: Error) => void): void;
    waitUntilReady(): Promise<unknown>;
    close(): Promise<void>;
  };
}

const QUEUE = 'deliveries';

await serve(async () => {
  const { folder, rest } = peerArgs();
  const [port = '', concurrency = ''] = rest;
  const { Queue, Worker }: BullMq = createRequire(join(folder, 'package.json'))('bullmq');
  const connection = { host: '127.0.0.1', port: Number(port) };
  const queue = new Queue(QUEUE, { connection });
  let destination = '';
  const waiting = new Map<string, PromiseWithResolvers<void>>();
  const worker = new Worker(QUEUE, async ({ id, data }) => sendOnce(destination, id, data), {
    connection,
    concurrency: Number(concurrency),
  });
  worker.on('completed', ({ id }) => waiting.get(id)?.resolve());
  worker.on('failed', (job, error) => waiting.get(job?.id ?? '')?.reject(error));
  await worker.waitUntilReady();
  const front = await eventFront(async ({ id, payload }) => {
    const done = Promise.withResolvers<void>();
    waiting.set(id, done);
    await queue.add('deliver', payload, { jobId: id, attempts: 8, backoff: { type: 'exponential', delay: 1_000 } });
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
      await worker.close();
      await queue.close();
    },
  };
});
