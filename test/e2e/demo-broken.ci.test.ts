/** The demo tells the truth: it fails on a product with one rule broken on purpose. */
import { describe, expect, it } from 'vitest';
import { runProgram } from '../support/program.ts';

const demo = (...args: readonly string[]) => runProgram('infra/local/demo/demo.ts', args).ended();

describe.concurrent('the demo', () => {
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
});
