/** Shares scenes out over threads. Their order of arrival changes nothing: every scene is a world of its own. */
import { Worker } from 'node:worker_threads';
import type { Patch } from '../support/patched-code.ts';
import type { Explored } from './explorer.ts';
import type { OracleName } from './oracles.ts';
import type { Scene } from './scene.ts';
import type { Order, ThreadAnswer, ThreadData } from './thread.ts';

export interface SceneExplored {
  readonly scene: Scene;
  readonly explored: Explored;
  readonly told: string | undefined;
}

const start = (patches: readonly Patch[]): Worker => {
  const workerData: ThreadData = { patches };
  return new Worker(new URL('./thread.ts', import.meta.url), { workerData });
};

type Answered = Extract<ThreadAnswer, { kind: 'explored' }>;

const ask = (thread: Worker, order: Order): Promise<Answered> =>
  new Promise((resolve, reject) => {
    thread.once('error', reject);
    thread.once('message', (answer: ThreadAnswer) => {
      thread.off('error', reject);
      if (answer.kind === 'explored') resolve(answer);
      else reject(new Error(`${order.scene.name}: ${answer.message}`));
    });
    thread.postMessage(order);
  });

/** Explores every scene to its end, or to its first failure. The largest scenes come first where the caller says so. */
export const exploreAll = async (scenes: readonly Scene[], threads: number): Promise<readonly SceneExplored[]> => {
  const left = [...scenes];
  const found: SceneExplored[] = [];
  const work = async (): Promise<void> => {
    const thread = start([]);
    try {
      for (let scene = left.shift(); scene; scene = left.shift()) {
        const { explored, told } = await ask(thread, { scene, schedulesMax: Number.MAX_SAFE_INTEGER });
        found.push({ scene, explored, told });
      }
    } finally {
      await thread.terminate();
    }
  };
  await Promise.all(Array.from({ length: threads }, work));
  return found;
};

/** Searches a broken machine until this judge is not content; without a failure the mistake survives. */
export const exploreBroken = async (
  patches: readonly Patch[],
  scene: Scene,
  until: OracleName,
  schedulesMax: number,
): Promise<Explored> => {
  const thread = start(patches);
  try {
    return (await ask(thread, { scene, schedulesMax, until })).explored;
  } finally {
    await thread.terminate();
  }
};
