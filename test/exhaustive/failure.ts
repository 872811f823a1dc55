/** What a person gets to see of a failure: the smallest scene that still shows it, as a table, and how to run it again. */
import { explore, type Failure, replay } from './explorer.ts';
import { tableOf } from './log.ts';
import { type Scene, START_MS } from './scene.ts';

/** How far a smaller scene is searched for the same failure. */
const SEARCH_MAX = 3_000;

/** One thing less that goes wrong, or that happens at all. */
const smaller = (scene: Scene): Scene[] => {
  const less = (name: 'jumps' | 'crashes' | 'faults' | 'pushes'): Scene[] =>
    scene[name] > 0 ? [{ ...scene, [name]: scene[name] - 1 }] : [];
  const fewer =
    scene.cast.length > 1 ? scene.cast.map((_, at) => ({ ...scene, cast: scene.cast.toSpliced(at, 1) })) : [];
  return [
    ...less('faults'),
    ...less('crashes'),
    ...less('jumps'),
    ...less('pushes'),
    ...(scene.skewMs === 0 ? [] : [{ ...scene, skewMs: 0 }]),
    ...fewer,
  ];
};

/** The same judge is still not content in what comes back, and nothing can be taken away from it. */
export const shrink = async (failure: Failure): Promise<Failure> => {
  const oracle = failure.verdicts[0]?.oracle;
  if (oracle === undefined) return failure;
  for (const scene of smaller(failure.scene)) {
    const found = (await explore(scene, { until: oracle, schedulesMax: SEARCH_MAX })).failure;
    if (found) return shrink(found);
  }
  return failure;
};

export const tell = async ({ scene, path, verdicts }: Failure): Promise<string> => {
  const { log } = await replay(scene, path);
  const again = JSON.stringify({ scene, path: path.join(' ') });
  return [
    `scene "${scene.name}" breaks ${verdicts.map(({ oracle, message }) => `${oracle}: ${message}`).join('; ')}`,
    `choices: ${path.join(' ')}`,
    tableOf(log, START_MS),
    'run it again with this in the environment, and test/exhaustive/replay.test.ts:',
    `ONCEWARD_TEST_REPLAY='${again}'`,
  ].join('\n');
};
