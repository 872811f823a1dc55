/**
 * What a person gets to see of a failure: the smallest history that still shows it, as a table, and the one command that
 * runs it again.
 *
 *   all that was there and all that went wrong --half of it left out, still fails?--> the rest --...--> nothing can be left out
 */
import { START_MS } from './clockwork.ts';
import { FAULTS, type FaultName } from './fault-classes.ts';
import { type Failed, runOne } from './histories.ts';
import type { Ended } from './history.ts';
import { tableOf } from './log.ts';
import { judge, type OracleName } from './oracles.ts';
import type { Plan, Without } from './plan.ts';

/** How many smaller histories are tried. */
const TRIES_MAX = 600;

export interface Shrunk {
  readonly seed: string;
  readonly history: number;
  readonly oracle: OracleName;
  /** Events, acts and faults that are needed; everything else is left out. */
  readonly keep: readonly string[];
  readonly ended: Ended;
}

const isDrawnAtCalls = (name: string): boolean =>
  Object.hasOwn(FAULTS, name) && FAULTS[name as FaultName].site !== 'plan';

/** Everything is left out but this. Faults that fall upon single calls are named one by one, so their classes stay. */
export const allBut = (keep: Iterable<string>): Without => {
  const kept = new Set(keep);
  return { has: (name) => !isDrawnAtCalls(name) && !kept.has(name) };
};

const partsOf = (plan: Plan): readonly string[] => [
  ...plan.events.map(({ id }) => id),
  ...[...plan.acts, ...plan.strangers, ...plan.outages].map(({ name }) => name),
  ...[...plan.shares.keys()].filter((name) => !isDrawnAtCalls(name)),
];

/** Leaves out halves, quarters, single things, as long as the same oracle is still not content. */
export const shrink = async ({ seed, history, violations }: Failed): Promise<Shrunk> => {
  const oracle = violations[0]?.oracle;
  if (oracle === undefined) throw new Error('nothing is wrong with this history');
  let ended = await runOne(seed, history);
  let keep: readonly string[] = [...new Set([...partsOf(ended.plan), ...ended.faultIds])];
  let tries = 0;
  for (let size = Math.ceil(keep.length / 2); size >= 1 && tries < TRIES_MAX; ) {
    let smaller = false;
    for (let at = 0; at < keep.length && tries < TRIES_MAX; ) {
      const fewer = keep.toSpliced(at, size);
      const tried = await runOne(seed, history, allBut(fewer));
      tries += 1;
      if (judge(tried).some((violation) => violation.oracle === oracle)) {
        keep = fewer;
        ended = tried;
        smaller = true;
      } else at += size;
    }
    if (size === 1 && !smaller) break;
    size = size === 1 ? 1 : Math.ceil(size / 2);
  }
  return { seed, history, oracle, keep, ended };
};

const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

export const KEEP_SEPARATOR = ';';

export const commandOf = ({ seed, history, keep }: Pick<Shrunk, 'seed' | 'history' | 'keep'>): string =>
  `npm run simulate -- --seed ${quoted(seed)} --history ${history} --keep ${quoted(keep.join(KEEP_SEPARATOR))}`;

export const tellShrunk = (shrunk: Shrunk): string =>
  [
    `history ${shrunk.history} of seed ${quoted(shrunk.seed)} breaks ${shrunk.oracle}:`,
    ...judge(shrunk.ended).map(({ oracle, invariant, message }) => `  ${invariant} ${oracle}: ${message}`),
    tableOf(shrunk.ended.log, START_MS),
    'run it again, as small as this:',
    commandOf(shrunk),
  ].join('\n');
