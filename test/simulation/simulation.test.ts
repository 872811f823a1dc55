import { describe, expect, it } from 'vitest';
import { runHistories } from './histories.ts';
import { simulate } from './threads.ts';

const SEED = 'quick tier';

describe('histories of the real code, under everything that may go wrong', () => {
  it('break no invariant', async () => {
    const { histories, violations } = await runHistories({ seed: SEED, histories: 60 });
    expect(histories).toBe(60);
    expect(violations).toEqual([]);
  });

  it('leave the same trace in one thread and in two, and another one for another seed', async () => {
    const here = await runHistories({ seed: SEED, histories: 20 });
    const there = await simulate({ seed: SEED, histories: 20, threads: 2 });
    const others = await runHistories({ seed: 'another seed', histories: 20 });
    expect(there.traceHash).toBe(here.traceHash);
    expect(others.traceHash).not.toBe(here.traceHash);
  });
});

describe('a mistake in the real code', () => {
  const patches = [{ file: 'core/machine.ts', find: '    claim: busy,\n', put: '    claim: takeOver,\n' }];

  it('is found, and named by the judge that is there for it', async () => {
    const { violations } = await simulate({
      seed: SEED,
      histories: 2_000,
      threads: 1,
      patches,
      until: ['claim-in-time'],
    });
    expect(violations.flatMap((failed) => failed.violations.map(({ oracle }) => oracle))).toContain('claim-in-time');
  });
});
