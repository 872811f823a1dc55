/** The explorer leaves out orders that lead to nothing new: shown by a scene that it plays without leaving out any. */
import { expect, it } from 'vitest';
import { outcomesOf } from './outcomes.ts';
import type { Scene } from './scene.ts';
import { CALM } from './scenes.ts';

const SCENE: Scene = {
  ...CALM,
  name: 'reduced',
  repeatSafe: true,
  answer: '422',
  cast: ['worker', 'cancel'],
  jumps: 1,
  crashes: 1,
};

it('the explorer reaches with its reduction every outcome that it reaches without', async () => {
  const all = await outcomesOf(SCENE, false);
  expect(await outcomesOf(SCENE, true)).toEqual(all);
  expect(all.size).toBeGreaterThan(10);
});
