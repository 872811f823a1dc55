/**
 * `npm run kills -- --kills 1000 --seed 1`: worlds that are killed, 25 times each, two side by side, each judged at its
 * end. Exits 1 when an invariant is broken; a world is played again by its own seed, `--kills 25 --seed N`.
 */
import { parseArgs } from 'node:util';
import { argumentsOf, wholeOption } from '../../../infra/local/arguments.ts';
import { judgeKills } from './judge.ts';
import { playKills } from './played.ts';

const KILLS_PER_WORLD = 25;

const { kills, firstSeed, sideBySide } = argumentsOf('npm run kills -- [--kills 25] [--seed 1] [--side 1]', () => {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '25' },
      seed: { type: 'string', default: '1' },
      side: { type: 'string', default: '1' },
    },
  });
  return {
    kills: wholeOption('kills', values.kills, 1),
    firstSeed: wholeOption('seed', values.seed, 0),
    sideBySide: wholeOption('side', values.side, 1),
  };
});

const began = performance.now();
const worlds = Math.ceil(kills / KILLS_PER_WORLD);
const sum = { kills: 0, promised: 0, requests: 0, attempts: 0, doubted: 0, delivered: 0, quarantined: 0, broken: 0 };
let next = 0;

const playWorld = async (world: number): Promise<void> => {
  const seed = firstSeed + world;
  const evidence = await playKills(seed, Math.min(KILLS_PER_WORLD, kills - world * KILLS_PER_WORLD));
  const complaints = judgeKills(evidence);
  const { rows } = evidence;
  const outcomes = rows.flatMap((row) => row.journal.lines.map(({ entry }) => entry.class));
  sum.kills += evidence.kills;
  sum.promised += new Set(evidence.promised.map(({ event }) => event)).size;
  sum.requests += evidence.received.length;
  sum.attempts += rows.reduce((total, row) => total + row.attempts, 0);
  sum.doubted += outcomes.filter((one) => one === 'in-doubt').length;
  sum.delivered += rows.filter(({ status }) => status === 'delivered').length;
  sum.quarantined += rows.filter(({ status }) => status === 'quarantined').length;
  sum.broken += complaints.length;
  for (const complaint of complaints) console.log(`seed ${seed}: ${complaint}`);
  console.log(`seed ${seed}: ${evidence.kills} kills, ${rows.length} deliveries, ${complaints.length} complaints`);
};

const worker = async (): Promise<void> => {
  for (let world = next++; world < worlds; world = next++) await playWorld(world);
};
await Promise.all(Array.from({ length: sideBySide }, worker));
console.log(`\n${JSON.stringify(sum)}\n${Math.round((performance.now() - began) / 1_000)} s`);
process.exit(sum.broken === 0 ? 0 : 1);
