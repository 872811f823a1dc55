/** The demo tells the truth: it passes on the product, and fails on a product with one rule broken on purpose. */
import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/program.ts';

const DEMO = 'infra/local/demo/demo.ts';

const demo = (...args: readonly string[]) => runProgram(DEMO, args).ended();

describe.concurrent('the demo', () => {
  it('tells every story of the main job, killed workers included, and exits 0', { timeout: 60_000 }, async () => {
    const { code, output } = await demo();
    expect(output).toMatch(/(\d+) of \1 stories hold/);
    expect(output).toMatch(/ {2}1 request, 1 effect {2}/);
    expect(code).toBe(0);
  });

  it('exits 1 when every attempt goes out under a key of its own', { timeout: 30_000 }, async () => {
    const { code, output } = await demo('--break', 'fresh-keys', '--only', 'acted, repeat is safe');
    expect(output).toContain('does not hold: 1 effect at the partner');
    expect(code).toBe(1);
  });

  it('exits 1 when Retry-After is not heard', { timeout: 30_000 }, async () => {
    const { code, output } = await demo('--break', 'deaf-to-retry-after', '--only', 'Retry-After');
    expect(output).toContain('does not hold: planned as asked');
    expect(code).toBe(1);
  });

  it('exits 1 when a lost answer counts as not sent', { timeout: 30_000 }, async () => {
    const { code, output } = await demo('--break', 'doubt-forgotten', '--only', 'acted, repeat is not safe');
    expect(output).toContain('does not hold: 1 request at the partner');
    expect(code).toBe(1);
  });

  it('names the stories that there are, and exits 2, where it was asked for another one', async () => {
    const { code, output } = await demo('--only', 'no such story');
    expect(output).toContain('  killed before the first byte, repeat is not safe\n');
    expect(output).toContain('  500 dead letters of all kinds (with --all)');
    expect(code).toBe(2);
  });
});
