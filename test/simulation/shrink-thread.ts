/** Looks for a failure of patched code that has much beside it, and makes it small. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Patch, patchCode } from '../support/patched-code.ts';

export interface Shrinking {
  readonly patches: readonly Patch[];
  readonly seed: string;
  readonly histories: number;
  /** At least so many things go wrong in the history that is taken. */
  readonly richer: number;
}

export interface ShrunkThere {
  readonly oracle: string;
  readonly before: number;
  readonly keep: readonly string[];
  readonly told: string;
}

const { patches, seed, histories, richer }: Shrinking = workerData;
patchCode(patches);
const { runOne } = await import('./histories.ts');
const { judge } = await import('./oracles.ts');
const { shrink, tellShrunk } = await import('./shrink.ts');

for (let history = 0; history < histories; history += 1) {
  const ended = await runOne(seed, history);
  const violations = judge(ended);
  if (violations.length === 0 || ended.faultIds.length < richer) continue;
  const shrunk = await shrink({ seed, history, violations });
  const answer: ShrunkThere = {
    oracle: shrunk.oracle,
    before: ended.faultIds.length,
    keep: shrunk.keep,
    told: tellShrunk(shrunk),
  };
  parentPort?.postMessage(answer);
  break;
}
