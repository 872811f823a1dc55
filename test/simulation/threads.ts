/** Shares histories out over threads. Who runs which makes no difference: every history is a world of its own. */
import { Worker } from 'node:worker_threads';
import type { Patch } from '../support/patched-code.ts';
import { type HistoriesDone, type HistoriesOptions, NOTHING_DONE, together } from './histories.ts';
import type { ThreadAnswer, ThreadData } from './thread.ts';

export interface ThreadsOptions extends HistoriesOptions {
  readonly threads: number;
  /** Pieces of the code under functions/ that are replaced, in these threads only. */
  readonly patches?: readonly Patch[];
  /** Told after each stretch. */
  readonly progress?: (sofar: HistoriesDone) => void;
}

const STRETCH = 250;

/** With `until`, threads end after the stretch in which the first of them has found what is looked for. */
export const simulate = async ({
  threads,
  patches = [],
  progress,
  ...options
}: ThreadsOptions): Promise<HistoriesDone> => {
  const { seed, from = 0, histories, until } = options;
  let next = from;
  let sofar = NOTHING_DONE;
  let found = false;
  const work = async (): Promise<void> => {
    const workerData: ThreadData = { patches };
    const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData });
    try {
      while (next < from + histories && !found) {
        const stretch = { seed, from: next, histories: Math.min(STRETCH, from + histories - next) };
        next += stretch.histories;
        const done = await ask(thread, until === undefined ? stretch : { ...stretch, until });
        sofar = together(sofar, done);
        found ||= until !== undefined && done.violations.some(({ violations }) => violations.some(isWanted(until)));
        progress?.(sofar);
      }
    } finally {
      await thread.terminate();
    }
  };
  await Promise.all(Array.from({ length: threads }, work));
  return sofar;
};

const isWanted =
  (until: NonNullable<HistoriesOptions['until']>) =>
  ({ oracle }: HistoriesDone['violations'][number]['violations'][number]): boolean =>
    until === 'any' || until.includes(oracle);

const ask = (thread: Worker, options: HistoriesOptions): Promise<HistoriesDone> =>
  new Promise((resolve, reject) => {
    thread.once('error', reject);
    thread.once('message', (answer: ThreadAnswer) => {
      thread.off('error', reject);
      if (answer.kind === 'done') resolve(answer.done);
      else reject(new Error(answer.message));
    });
    thread.postMessage(options);
  });
