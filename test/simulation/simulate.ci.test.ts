/**
 * The stated size: ten thousand histories of a seed, by the command that people use, in two minutes on two cores. The
 * seed is the commit where there is one, so that no two commits run the same histories.
 */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const run = promisify(execFile);
const LIMIT_MS = 120_000;
/** Set by .ci/run: a second Node that strips types, of another version than the one that runs this. */
const OTHER_NODE = process.env['ONCEWARD_TEST_OTHER_NODE'];

const seedOf = async (): Promise<string> => {
  try {
    return (await run('git', ['rev-parse', 'HEAD'])).stdout.trim();
  } catch {
    return 'no commit here';
  }
};

const simulateWith = async (node: string, ...args: readonly string[]): Promise<string> => {
  const { stdout } = await run(node, ['test/simulation/simulate.ts', ...args], { maxBuffer: 10_000_000 });
  return stdout;
};

const traceIn = (told: string): string | undefined => /trace ([0-9a-f]{16})/.exec(told)?.[1];

describe('npm run simulate', () => {
  it('runs ten thousand histories in two minutes: no invariant broken, every class of faults met', async () => {
    const began = performance.now();
    const told = await simulateWith(process.execPath, '--histories', '10000', '--seed', await seedOf());
    console.info(told);
    expect(told).toContain('0 of them break an invariant');
    expect(performance.now() - began).toBeLessThan(LIMIT_MS);
  });

  it('leaves the same trace in two processes, and on two versions of Node where there are two', async () => {
    const args = ['--histories', '300', '--seed', 'two processes'];
    const here = traceIn(await simulateWith(process.execPath, ...args));
    expect(here).toMatch(/^[0-9a-f]{16}$/);
    expect(traceIn(await simulateWith(process.execPath, ...args, '--threads', '1'))).toBe(here);
    if (OTHER_NODE !== undefined) expect(traceIn(await simulateWith(OTHER_NODE, ...args))).toBe(here);
  });
});
