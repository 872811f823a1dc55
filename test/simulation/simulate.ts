/**
 * npm run simulate -- --histories N --seed S [--from N] [--threads N]
 * npm run simulate -- --seed S --history N [--keep WHAT] [--reads]
 *
 * Runs histories of the real code under everything that may go wrong, and judges each. Prints how often each class of
 * faults has happened: a class that never did makes a run of the stated size red. The second form tells one history.
 */
import { parseArgs } from 'node:util';
import { argumentsOf, wholeOption } from '../../infra/local/arguments.ts';
import { START_MS } from './clockwork.ts';
import { FAILED_SEEDS } from './failed-seeds.ts';
import { FAULT_NAMES, FAULTS } from './fault-classes.ts';
import { type HistoriesDone, runOne } from './histories.ts';
import { tableOf, traceHashOf } from './log.ts';
import { judge } from './oracles.ts';
import { allBut, KEEP_SEPARATOR, shrink, tellShrunk } from './shrink.ts';
import { simulate } from './threads.ts';

/** From so many histories on, every class must have happened. */
const WHOLE = 5_000;

const USAGE = `npm run simulate -- [--histories 1000] [--seed TEXT] [--from 0] [--threads 2]
npm run simulate -- --seed TEXT --history N [--keep WHAT] [--reads]`;

const wishes = argumentsOf(USAGE, () => {
  const { values } = parseArgs({
    options: {
      histories: { type: 'string', default: '1000' },
      seed: { type: 'string', default: 'onceward' },
      from: { type: 'string', default: '0' },
      threads: { type: 'string', default: '2' },
      history: { type: 'string' },
      keep: { type: 'string' },
      reads: { type: 'boolean', default: false },
    },
  });
  const { seed, keep, reads, history } = values;
  return {
    ...{ seed, keep, reads },
    histories: wholeOption('histories', values.histories, 1),
    from: wholeOption('from', values.from, 0),
    threads: wholeOption('threads', values.threads, 1),
    history: history === undefined ? undefined : wholeOption('history', history, 0),
  };
});

const report = (done: HistoriesDone, seconds: number): readonly string[] => [
  ...FAULT_NAMES.map(
    (name) =>
      `${FAULTS[name].family}  ${name.padEnd(22)} ${String(done.fired[name] ?? 0).padStart(9)}  ${FAULTS[name].says}`,
  ),
  '',
  ...Object.entries(done.ends)
    .toSorted(([, a], [, b]) => b - a)
    .map(([end, count]) => `     ${end.padEnd(32)} ${String(count).padStart(9)}`),
  '',
  `${done.histories} histories in ${seconds.toFixed(1)} s, ${Math.round(done.histories / seconds)} a second; trace ${done.traceHash}`,
  `${done.violations.length} of them break an invariant`,
];

const tell = async (history: number): Promise<boolean> => {
  const keep = wishes.keep?.split(KEEP_SEPARATOR);
  const ended = await runOne(wishes.seed, history, keep && allBut(keep));
  const violations = judge(ended);
  console.info(tableOf(ended.log, START_MS, wishes.reads));
  console.info(`trace ${traceHashOf(ended.log)}`);
  for (const { oracle, invariant, message } of violations) console.error(`${invariant} ${oracle}: ${message}`);
  return violations.length === 0;
};

/** Those that have failed before come first: what is broken again is known within a second. */
const runFailedBefore = async (): Promise<boolean> => {
  let isGood = true;
  for (const { seed, history, was } of FAILED_SEEDS) {
    const violations = judge(await runOne(seed, history));
    if (violations.length === 0) continue;
    isGood = false;
    console.error(`history ${history} of seed ${seed} fails again (${was})`);
    console.error(tellShrunk(await shrink({ seed, history, violations })));
  }
  return isGood;
};

const runAll = async (): Promise<boolean> => {
  const wasGood = await runFailedBefore();
  const began = performance.now();
  const { seed, from, histories, threads } = wishes;
  const done = await simulate({ seed, from, histories, threads });
  const silent = done.histories < WHOLE ? [] : FAULT_NAMES.filter((name) => done.fired[name] === undefined);
  console.info(report(done, (performance.now() - began) / 1_000).join('\n'));
  for (const name of silent) console.error(`${name} has never happened: ${FAULTS[name].says}`);
  for (const { history, violations } of done.violations.slice(0, 20)) {
    for (const { oracle, invariant, message } of violations) {
      console.error(`history ${history}: ${invariant} ${oracle}: ${message}`);
    }
  }
  const [failed] = done.violations;
  if (failed) console.error(tellShrunk(await shrink(failed)));
  return wasGood && done.violations.length + silent.length === 0;
};

const isGood = wishes.history === undefined ? await runAll() : await tell(wishes.history);
process.exitCode = isGood ? 0 : 1;
