import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { START_MS } from './clockwork.ts';
import { historySeedOf } from './draws.ts';
import { FAILED_SEEDS } from './failed-seeds.ts';
import { runHistories, runOne } from './histories.ts';
import { runHistory } from './history.ts';
import { tableOf, traceHashOf } from './log.ts';
import { judge } from './oracles.ts';
import { planOf } from './plan.ts';
import { allBut } from './shrink.ts';
import { simulate } from './threads.ts';

const SEED = 'quick tier';
/** Threads and processes take their time to start on a machine that has much else to do. */
const STARTING_MS = 90_000;
const run = promisify(execFile);

/** In a process of its own, by the Node that runs this. */
const traceElsewhere = async (seed: string, histories: number): Promise<string | undefined> => {
  const args = ['test/simulation/simulate.ts', '--seed', seed, '--histories', String(histories), '--threads', '1'];
  const { stdout } = await run(process.execPath, args);
  return /trace ([0-9a-f]{16})/.exec(stdout)?.[1];
};

/** The first history in which at least so many things go wrong. */
const firstWith = async (faults: number): Promise<number> => {
  for (let history = 0; ; history += 1) if ((await runOne(SEED, history)).faultIds.length >= faults) return history;
};

describe('histories of the real code, under everything that may go wrong', () => {
  it(
    'break no invariant, the ones that once failed first',
    async () => {
      for (const { seed, history } of FAILED_SEEDS) expect(judge(await runOne(seed, history))).toEqual([]);
      const { histories, violations } = await runHistories({ seed: SEED, histories: 150 });
      expect(histories).toBe(150);
      expect(violations).toEqual([]);
    },
    STARTING_MS,
  );

  it(
    'leave the same trace in threads and in another process, and another one for another seed',
    async () => {
      const here = await runHistories({ seed: SEED, histories: 20 });
      const inThreads = await simulate({ seed: SEED, histories: 20, threads: 2 });
      expect(inThreads.traceHash).toBe(here.traceHash);
      expect(await traceElsewhere(SEED, 20)).toBe(here.traceHash);
      expect((await runHistories({ seed: 'another seed', histories: 20 })).traceHash).not.toBe(here.traceHash);
    },
    STARTING_MS,
  );

  it('are the same over the twin of the ledger, codec and all, and over the short cut', async () => {
    let compared = 0;
    for (let history = 0; history < 60; history += 1) {
      const plan = planOf(historySeedOf(SEED, history));
      // Here the stored form itself matters, and the short cut has none.
      if (plan.shares.has('next-code') || plan.shares.has('payload-changed')) continue;
      const [twin, raw] = [await runHistory({ ...plan, store: 'twin' }), await runHistory({ ...plan, store: 'raw' })];
      expect(tableOf(raw.log, START_MS, true)).toBe(tableOf(twin.log, START_MS, true));
      compared += 1;
    }
    expect(compared).toBeGreaterThan(30);
  });

  it('are not shifted by a fault that is left out: until then they are what they were', async () => {
    const number = await firstWith(5);
    const whole = await runOne(SEED, number);
    const [last] = whole.faultIds.slice(-1);
    const without = await runOne(SEED, number, { has: (name) => name === last });
    const at = whole.log.findIndex((entry) => entry.kind === 'fault' && `${entry.fault}@${entry.where}` === last);
    expect(at).toBeGreaterThan(0);
    const beginning = (log: typeof whole.log) => traceHashOf(log.slice(0, at));
    expect(beginning(without.log)).toBe(beginning(whole.log));
  });

  it('keep their faults when all of them are named, and lose them when none is', async () => {
    const number = await firstWith(8);
    const whole = await runOne(SEED, number);
    const { plan, faultIds } = whole;
    const parts = [
      ...plan.events.map(({ id }) => id),
      ...[...plan.acts, ...plan.strangers, ...plan.outages].map(({ name }) => name),
    ];
    const kept = await runOne(SEED, number, allBut([...parts, ...plan.shares.keys(), ...faultIds]));
    expect(traceHashOf(kept.log)).toBe(traceHashOf(whole.log));
    const bare = await runOne(SEED, number, allBut(plan.events.map(({ id }) => id)));
    expect(bare.faultIds).toEqual([]);
    expect(bare.log.some(({ kind }) => kind === 'crash' || kind === 'froze')).toBe(false);
  });
});
