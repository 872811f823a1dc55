/** The quick part of the run over all orders: small scenes in full. The whole stated size is in the ci tier. */
import { describe, expect, it } from 'vitest';
import { type Explored, explore, replay } from './explorer.ts';
import { shrink, tell } from './failure.ts';
import { textOf } from './log.ts';
import { outcomesOf } from './outcomes.ts';
import { ANSWERS, type Scene } from './scene.ts';
import { CALM } from './scenes.ts';

const sceneOf = (twist: Partial<Scene>): Scene => ({
  ...CALM,
  name: 'quick',
  repeatSafe: true,
  answer: '200',
  ...twist,
});

const holds = async (scene: Scene): Promise<Explored> => {
  const explored = await explore(scene);
  if (explored.failure) expect.fail(await tell(await shrink(explored.failure)));
  return explored;
};

describe('two workers with one delivery', () => {
  for (const repeatSafe of [true, false]) {
    const where = repeatSafe ? 'where a repeat is safe' : 'where it is not';

    it(`keep every promise in every order with one call failing, ${where}`, async () => {
      for (const answer of ['200', '422'] as const) await holds(sceneOf({ repeatSafe, answer, faults: 1 }));
    });

    it(`keep every promise with a crash anywhere and every message lost, ${where}`, async () => {
      for (const answer of ['200', 'timeout'] as const) {
        await holds(sceneOf({ repeatSafe, answer, crashes: 1, messages: 'lost' }));
      }
    });

    it(`keep every promise whatever the destination answers, ${where}`, async () => {
      for (const answer of ANSWERS) await holds(sceneOf({ repeatSafe, answer }));
    });
  }

  it('keep every promise when one of them sleeps through its lease', async () => {
    const { ends } = await holds(sceneOf({ jumps: 1 }));
    // Both ways out are met: the sleeper is superseded, and its late success still counts.
    expect(Object.keys(ends).toSorted()).toEqual(['delivered by attempt', 'delivered by late-outcome']);
  });

  it('keep every promise beside a sweep whose message becomes a third push', async () => {
    const { kinds } = await holds(
      sceneOf({ start: 'overdue', cast: ['worker', 'sweep'], pushes: 1, repeatSafe: false }),
    );
    expect(kinds['200']).toBeGreaterThan(0);
  });

  it('keep every promise while a person cancels', async () => {
    const { ends } = await holds(sceneOf({ cast: ['worker', 'cancel'], jumps: 1, repeatSafe: false }));
    expect(Object.keys(ends)).toContain('cancelled: operator');
  });
});

describe('the explorer', () => {
  it('leaves out nothing but mirror images when it lets the first worker write first', async () => {
    const scene = sceneOf({ answer: '422', faults: 1 });
    const mirrored = (outcome: string) =>
      outcome.replaceAll(/\b[AB]\b|[AB](?=-)/g, (name) => (name === 'A' ? 'B' : 'A'));
    const sorted = (outcome: string) => outcome.split(' | ').toSorted().join(' | ');
    const half = [...(await outcomesOf(scene, true))];
    const whole = await outcomesOf({ ...scene, mirror: false }, true);
    const both = new Set([...half, ...half.map(mirrored)].map(sorted));
    expect(both).toEqual(new Set([...whole].map(sorted)));
    expect(half.length).toBeLessThan(whole.size);
  });

  it('makes of the same choices the same run, to the last line of the log', async () => {
    const paths: (readonly string[])[] = [];
    const scene = sceneOf({ repeatSafe: false, answer: '429', faults: 1, crashes: 1 });
    await explore(scene, { schedulesMax: 60, until: 'no-bug', seen: (_ended, path) => paths.push(path) });
    for (const path of paths) {
      const [one, other] = [await replay(scene, path), await replay(scene, path)];
      expect(other.log.map(textOf)).toEqual(one.log.map(textOf));
      expect(other.row).toEqual(one.row);
    }
  });

  it('refuses a path that does not fit the code any more', async () => {
    await expect(replay(sceneOf({}), ['A:1:ok', 'A:9:ok'])).rejects.toThrow('the path does not fit: A:9:ok');
  });
});
