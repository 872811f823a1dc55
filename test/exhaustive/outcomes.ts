/** What the runs of a scene can come to: for comparing one way of exploring with another. */
import { explore } from './explorer.ts';
import type { Ended } from './run.ts';
import type { Scene } from './scene.ts';

/** All that an outsider can see of a run. */
const outcomeOf = ({ log, row }: Ended): string => {
  const notes = log.flatMap((entry) => (entry.kind === 'verdict' ? [`${entry.by} ${entry.note}`] : []));
  const lines = row.journal.lines.map(({ entry }) => `${entry.kind} ${entry.attempt} ${entry.class} ${entry.writeId}`);
  const effects = log.filter((entry) => entry.kind === 'arrive' && entry.effect).length;
  return [...notes.toSorted(), row.status, `${effects} effects`, ...lines].join(' | ');
};

export const outcomesOf = async (scene: Scene, reduce: boolean): Promise<ReadonlySet<string>> => {
  const outcomes = new Set<string>();
  await explore(scene, { reduce, until: 'no-bug', seen: (ended) => outcomes.add(outcomeOf(ended)) });
  return outcomes;
};
