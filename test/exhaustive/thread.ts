/** One thread of the search: takes scenes one by one, each with the code as it is or with pieces of it broken. */
import { parentPort, workerData } from 'node:worker_threads';
import { type Patch, patchCode } from '../support/patched-code.ts';
import type { Explored } from './explorer.ts';
import type { OracleName } from './oracles.ts';
import type { Scene } from './scene.ts';

export interface ThreadData {
  readonly patches: readonly Patch[];
}

export interface Order {
  readonly scene: Scene;
  readonly schedulesMax: number;
  readonly until?: OracleName;
}

export type ThreadAnswer =
  /** `told`: the failure, made as small as it gets, for people. */
  | { readonly kind: 'explored'; readonly explored: Explored; readonly told?: string }
  | { readonly kind: 'error'; readonly message: string };

if (!parentPort) throw new Error('this file is the inside of a thread');
const port = parentPort;
const data: ThreadData = workerData;
// Nothing of the code under test may be loaded before it has been patched.
const unmet = patchCode(data.patches);

const search = async ({ scene, ...options }: Order): Promise<ThreadAnswer> => {
  try {
    const { explore } = await import('./explorer.ts');
    const missed = unmet();
    if (missed.length > 0) throw new Error(`no import has met ${missed.map(({ file }) => file).join(', ')}`);
    const explored = await explore(scene, options);
    if (!explored.failure || options.until) return { kind: 'explored', explored };
    const { shrink, tell } = await import('./failure.ts');
    return { kind: 'explored', explored, told: await tell(await shrink(explored.failure)) };
  } catch (error) {
    return { kind: 'error', message: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
};

port.on('message', (order: Order) => {
  void search(order).then((answer) => port.postMessage(answer));
});
