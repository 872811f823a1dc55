/** The explorer runs one order of many that are alike. Here every order is run, to show that nothing is left out. */
import { describe, expect, it } from 'vitest';
import { explore } from './explorer.ts';
import { outcomesOf } from './outcomes.ts';
import type { Scene } from './scene.ts';
import { CALM } from './scenes.ts';

const sceneOf = (twist: Partial<Scene>): Scene => ({
  ...CALM,
  name: 'whole',
  repeatSafe: true,
  answer: '200',
  ...twist,
});

const SCENES: Readonly<Record<string, Scene>> = {
  'two workers and a crash': sceneOf({ crashes: 1, answer: '422' }),
  'two workers behind a dead one, and a pause': sceneOf({ start: 'dead-sent', jumps: 1 }),
  'two workers where a repeat is not safe': sceneOf({ start: 'dead-unsent', repeatSafe: false }),
  'a worker, a person who opens the gate, and the drain': sceneOf({
    start: 'shut',
    cast: ['worker', 'resume'],
    pushes: 1,
  }),
};

describe('one schedule for many orders that are alike', () => {
  for (const [name, scene] of Object.entries(SCENES)) {
    it(`comes to every outcome that all orders come to: ${name}`, async () => {
      expect(await outcomesOf(scene, true)).toEqual(await outcomesOf(scene, false));
      const [few, all] = [await explore(scene), await explore(scene, { reduce: false })];
      console.info(`${name}: ${few.schedules} schedules stand for ${all.schedules} orders`);
      expect(few.schedules).toBeLessThan(all.schedules / 20);
    });
  }

  it('comes to all of the many outcomes of a worker that may crash beside a person who cancels', async () => {
    const scene = sceneOf({ answer: '422', cast: ['worker', 'cancel'], jumps: 1, crashes: 1 });
    const all = await outcomesOf(scene, false);
    expect(await outcomesOf(scene, true)).toEqual(all);
    expect(all.size).toBeGreaterThan(10);
  });
});
