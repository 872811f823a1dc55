/**
 * Runs one schedule again, as a failure of the explorer prints it:
 *
 *   ONCEWARD_TEST_REPLAY='{"scene":{...},"path":"A:1:ok B:1:ok ..."}' npx vitest run --config test/vitest.config.ts test/exhaustive/replay.test.ts
 */
import { describe, expect, it } from 'vitest';
import { explore, replay } from './explorer.ts';
import { tell } from './failure.ts';
import { tableOf } from './log.ts';
import { judge } from './oracles.ts';
import { type Scene, START_MS } from './scene.ts';
import { CALM } from './scenes.ts';

interface Asked {
  readonly scene: Scene;
  readonly path: string;
}

const SCENE: Scene = { ...CALM, name: 'sleeper', repeatSafe: true, answer: '200', jumps: 1 };

/** A schedule in which the first worker sleeps through its lease with the answer in its hand. */
const sleeper = async (): Promise<Asked> => {
  const paths: (readonly string[])[] = [];
  await explore(SCENE, {
    seen: ({ row }, path) => {
      if (row.status === 'delivered' && row.by === 'late-outcome') paths.push(path);
    },
  });
  const path = paths.toSorted((a, b) => a.length - b.length)[0] ?? [];
  return { scene: SCENE, path: path.join(' ') };
};

const asked = async (): Promise<Asked> => {
  const text = process.env['ONCEWARD_TEST_REPLAY'];
  return text === undefined ? sleeper() : JSON.parse(text);
};

describe('a schedule that is run again', () => {
  it('keeps every promise', async () => {
    const { scene, path } = await asked();
    const ended = await replay(scene, path.split(' '));
    if (process.env['ONCEWARD_TEST_REPLAY'] !== undefined) console.info(tableOf(ended.log, START_MS));
    expect(judge(ended)).toEqual([]);
  });

  it('is told so that it can be run once more', async () => {
    const { scene, path } = await sleeper();
    const told = await tell({ scene, path: path.split(' '), verdicts: [{ oracle: 'one-effect', message: 'made up' }] });
    const line = /ONCEWARD_TEST_REPLAY='(.*)'$/.exec(told)?.[1] ?? '';
    expect(JSON.parse(line)).toEqual({ scene, path });
    expect(told).toContain('36 s pass');
  });
});
