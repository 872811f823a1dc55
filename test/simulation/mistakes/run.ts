/**
 * npm run mistakes -- [--histories 10000] [--seeds 5] [--seed TEXT] [--only TEXT]... [--at-once 2]
 *
 * Plants each mistake in turn and runs histories until an invariant sees it. Prints a table: which invariant, and the
 * median number of histories over the seeds. Exits 1 when a mistake survives that should not, or the other way round.
 */
import { parseArgs } from 'node:util';
import { ArgumentError, argumentsOf, wholeOption } from '../../../infra/local/arguments.ts';
import { type Hunted, hunt, isKilled, killerOf, medianOf } from './hunt.ts';
import type { Mistake } from './mistake.ts';
import { MISTAKES } from './mistakes.ts';

const USAGE =
  'npm run mistakes -- [--histories 10000] [--seeds 5] [--seed TEXT] [--only PART OF A NAME]... [--at-once 2]';

const { wanted, atOnce, ...options } = argumentsOf(USAGE, () => {
  const { values } = parseArgs({
    options: {
      histories: { type: 'string', default: '10000' },
      seeds: { type: 'string', default: '5' },
      seed: { type: 'string', default: 'mistakes' },
      only: { type: 'string', multiple: true, default: [''] },
      'at-once': { type: 'string', default: '2' },
    },
  });
  const named = MISTAKES.filter(({ name }) => values.only.some((part) => name.includes(part)));
  if (named.length === 0) {
    throw new ArgumentError(`no mistake is named so; there are: ${MISTAKES.map(({ name }) => name).join(', ')}`);
  }
  return {
    seed: values.seed,
    seeds: wholeOption('seeds', values.seeds, 1),
    historiesMax: wholeOption('histories', values.histories, 1),
    atOnce: wholeOption('at-once', values['at-once'], 1),
    wanted: named,
  };
});

const rowOf = (hunted: Hunted): string => {
  const { mistake, histories } = hunted;
  const counts = histories.map((count) => count ?? `more than ${options.historiesMax}`).join(', ');
  return `| ${mistake.name} | ${killerOf(hunted)} | ${medianOf(hunted) ?? 'survives'} | ${counts} |`;
};

/** A survivor must have been argued, and one that was argued must survive. */
const isAsItShouldBe = (hunted: Hunted): boolean => isKilled(hunted) === (hunted.mistake.survives === undefined);

const began = performance.now();
const left = [...wanted];
const all: Hunted[] = [];
console.info('| mistake | seen by | median of histories | of each seed |\n| --- | --- | --- | --- |');
const worker = async (): Promise<void> => {
  for (let next = left.shift(); next !== undefined; next = left.shift()) {
    const hunted = await hunt(next satisfies Mistake, options);
    all.push(hunted);
    console.info(rowOf(hunted));
  }
};
await Promise.all(Array.from({ length: atOnce }, worker));

const killed = all.filter(isKilled).length;
const wrong = all.filter((hunted) => !isAsItShouldBe(hunted));
console.info(`\n${killed} of ${wanted.length} are seen, ${Math.round((performance.now() - began) / 1_000)} s`);
for (const { mistake } of all.filter((one) => !isKilled(one))) {
  console.info(`survives: ${mistake.name}${mistake.survives === undefined ? '' : `: ${mistake.survives}`}`);
}
for (const { mistake } of wrong) console.error(`not as it should be: ${mistake.name}`);
process.exit(wrong.length === 0 ? 0 : 1);
