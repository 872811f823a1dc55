/** For speed the explorer keeps items as they are. What it explores must be the same over the real ledger's twin. */
import { describe, expect, it } from 'vitest';
import { explore, replay } from './explorer.ts';
import { textOf } from './log.ts';
import { ANSWERS, type AnswerName, type Scene } from './scene.ts';
import { CALM } from './scenes.ts';
import { twinStore } from './twin.ts';

const EVERY = 7;
const PATHS_MAX = 12;

const sampleOf = async (scene: Scene): Promise<(readonly string[])[]> => {
  const paths: (readonly string[])[] = [];
  await explore(scene, { schedulesMax: EVERY * PATHS_MAX, until: 'no-bug', seen: (_ended, path) => paths.push(path) });
  return paths.filter((_path, index) => index % EVERY === 0);
};

const expectSame = async (scene: Scene): Promise<number> => {
  const paths = await sampleOf(scene);
  for (const path of paths) {
    const short = await replay(scene, path);
    const real = await replay(scene, path, await twinStore(scene));
    expect(real.log.map(textOf)).toEqual(short.log.map(textOf));
    expect(real.row).toEqual(short.row);
  }
  return paths.length;
};

describe('a run over the twin of the ledger', () => {
  for (const answer of ANSWERS) {
    it(`is the same to the last line as over the short cut, with ${answer}`, async () => {
      const scene = (some: AnswerName): Scene => ({
        ...CALM,
        name: 'twin',
        repeatSafe: false,
        answer: some,
        faults: 1,
        crashes: 1,
      });
      expect(await expectSame(scene(answer))).toBe(PATHS_MAX);
    });
  }

  it('is the same with a sweep, a person who decides, and a row that was in doubt', async () => {
    const scene: Scene = { ...CALM, name: 'twin', repeatSafe: true, answer: '200', faults: 1 };
    expect(await expectSame({ ...scene, start: 'overdue', cast: ['worker', 'sweep'], pushes: 1 })).toBe(PATHS_MAX);
    expect(await expectSame({ ...scene, start: 'doubted', cast: ['worker', 'redrive'], pushes: 1 })).toBe(PATHS_MAX);
  });
});
