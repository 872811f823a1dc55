/** One thread of a run: takes stretches of histories one by one, with the code as it is or with pieces of it replaced. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Patch, patchCode } from '../support/patched-code.ts';
import type { HistoriesDone, HistoriesOptions } from './histories.ts';

export interface ThreadData {
  readonly patches: readonly Patch[];
}

export type ThreadAnswer =
  | { readonly kind: 'done'; readonly done: HistoriesDone }
  | { readonly kind: 'error'; readonly message: string };

if (!parentPort) throw new Error('this file is the inside of a thread');
const port = parentPort;
const data: ThreadData = workerData;
// A ledger that is away is an error a thousand times over, and nobody reads where each came from.
Error.stackTraceLimit = 2;
// Nothing of the code under test may be loaded before it has been patched.
const unmet = patchCode(data.patches);

const run = async (options: HistoriesOptions): Promise<ThreadAnswer> => {
  try {
    const { runHistories } = await import('./histories.ts');
    const missed = unmet();
    if (missed.length > 0) throw new Error(`no import has met ${missed.map(({ file }) => file).join(', ')}`);
    return { kind: 'done', done: await runHistories(options) };
  } catch (error) {
    return { kind: 'error', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
};

port.on('message', (options: HistoriesOptions) => {
  void run(options).then((answer) => port.postMessage(answer));
});
