/**
 * `npm run bench -- NAME... | all [--short] [--json FILE] [--record] [--peers DIR | none]`: measures, prints a table, and
 * exits with 1 where a benchmark holds itself to a bound and misses it, or could not be run.
 *
 *   names ──► one after another: run ──► report: table on the terminal ──┬──► --json: all of them in one file
 *               │  peers are installed and started by the first that      └──► --record: its section of RESULTS.md
 *               │  asks for them                                    at the end, or at Ctrl-C: every peer is stopped
 *               └── throws: said, counted as missed, the next one runs
 *
 * What every benchmark keeps to: it gives its method; times are medians of 9, rivals taking turns; a figure stands beside
 * another one and their ratio, never alone; a peer that cannot be had is a row that says so. `--short` checks that it
 * works, and its times mean nothing.
 *
 * `all` is to stay within some 28 minutes on two quiet cores: cost 1, throughput 3, latency 4, cold 1, scale 8,
 * duplicates 9, simulation 2.
 */
import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { ArgumentError, argumentsOf } from '../../infra/local/arguments.ts';
import { coldBench } from './cold.ts';
import { costBench } from './cost/cost.ts';
import { duplicatesBench } from './duplicates/duplicates.ts';
import { latencyBench } from './latency.ts';
import { machine } from './machine.ts';
import { openPeers } from './peers/peers.ts';
import { record } from './record.ts';
import { type Bench, type BenchContext, type Measured, tell } from './report.ts';
import { scaleBench } from './scale/scale.ts';
import { simulationBench } from './simulation.ts';
import { throughputBench } from './throughput.ts';

const BENCHES: Readonly<Record<string, Bench>> = {
  cost: costBench,
  throughput: throughputBench,
  latency: latencyBench,
  cold: coldBench,
  scale: scaleBench,
  duplicates: duplicatesBench,
  simulation: simulationBench,
};

const USAGE = `npm run bench -- ${Object.keys(BENCHES).join(' | ')} | all [--short] [--json FILE] [--record] [--peers DIR | none]
  --short   few rounds, to see that it works: its times mean nothing
  --json    all that was measured, in one file
  --record  its section of test/bench/RESULTS.md
  --peers   where the packages of others are kept, or none: leave them out`;

const { values, names } = argumentsOf(USAGE, () => {
  const parsed = parseArgs({
    allowPositionals: true,
    options: {
      short: { type: 'boolean', default: false },
      json: { type: 'string' },
      record: { type: 'boolean', default: false },
      peers: { type: 'string' },
    },
  });
  const given = parsed.positionals;
  const all = given.includes('all') ? Object.keys(BENCHES) : given;
  const unknown = all.find((name) => !Object.hasOwn(BENCHES, name));
  if (unknown !== undefined) throw new ArgumentError(`there is no benchmark "${unknown}"`);
  if (all.length === 0) throw new ArgumentError('say which benchmark');
  if (parsed.values.record && parsed.values.short) {
    throw new ArgumentError('--short measures nothing that is worth a record');
  }
  return { values: parsed.values, names: all };
});

const measure = async (name: string, bench: Bench, context: BenchContext): Promise<Measured | undefined> => {
  const at = new Date().toISOString();
  const from = performance.now();
  try {
    const report = await bench(context);
    return { name, at, seconds: Math.round((performance.now() - from) / 1_000), short: context.short, ...report };
  } catch (error) {
    console.error(`${name} could not be run: ${error instanceof Error ? error.stack : String(error)}`);
    return undefined;
  }
};

const runAll = async (): Promise<boolean> => {
  const peers = openPeers(values.peers);
  const context: BenchContext = { short: values.short, peers, say: (line) => console.log(line) };
  const done: Measured[] = [];
  try {
    for (const name of names) {
      console.log(`\n== ${name}`);
      const measured = await measure(name, BENCHES[name] as Bench, context);
      if (measured === undefined) continue;
      done.push(measured);
      console.log(tell(measured));
      if (values.record) await record(measured);
    }
  } finally {
    await peers.close();
  }
  const json = JSON.stringify({ machine: machine(), benches: done }, null, 2);
  if (values.json !== undefined) await writeFile(values.json, `${json}\n`);
  return done.length === names.length && done.every(({ missed }) => missed.length === 0);
};

// Peers are stopped by the end of the process, which a signal alone would not bring about in order.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
process.exitCode = (await runAll()) ? 0 : 1;
