/** A worker of BullMQ with its own settings as they come, as a process. It is there to be killed. */
import { request } from 'undici';
import { peerPackages } from '../peers/packages.ts';
import { bodyOf } from './destination.ts';
import { losesAck } from './fire.ts';
import { BULL_QUEUE } from './ours-settings.ts';

const [port = '', destination = '', folder = '', seed = '', concurrency = ''] = process.argv.slice(2);

interface Job {
  readonly data: { readonly event: string; readonly isSent?: boolean };
  readonly attemptsMade: number;
  updateData(data: Job['data']): Promise<void>;
}
interface Library {
  readonly Worker: new (
    queue: string,
    process: (job: Job) => Promise<unknown>,
    options: object,
  ) => { waitUntilReady(): Promise<unknown>; on(event: 'error', hook: () => void): void };
}

const run = async (job: Job): Promise<unknown> => {
  const { event } = job.data;
  if (!job.data.isSent) {
    const answer = await request(destination, { method: 'POST', body: bodyOf(event) });
    await answer.body.dump();
    if (answer.statusCode >= 300) throw new Error(`the destination answered ${answer.statusCode}`);
    await job.updateData({ ...job.data, isSent: true });
  }
  if (losesAck(Number(seed), event, job.attemptsMade + 1)) throw new Error('the end of this run does not reach Redis');
  return {};
};

const { Worker } = (await peerPackages(folder)).load<Library>('bullmq');
const connection = { host: '127.0.0.1', port: Number(port), maxRetriesPerRequest: null };
const worker = new Worker(BULL_QUEUE, run, { connection, concurrency: Number(concurrency) });
// Redis ends before a worker does only at the end of the run.
worker.on('error', () => {});
await worker.waitUntilReady();
process.send?.(0);
process.once('disconnect', () => process.exit(0));
