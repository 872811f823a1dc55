/** The demo passes on the product. That it fails on one with a rule broken is shown in `demo-broken.ci.test.ts`. */
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

  it('names the stories that there are, and exits 2, where it was asked for another one', async () => {
    const { code, output } = await demo('--only', 'no such story');
    expect(output).toContain('  killed before the first byte, repeat is not safe\n');
    expect(output).toContain('  500 dead letters of all kinds (with --all)');
    expect(code).toBe(2);
  });
});
