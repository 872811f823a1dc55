/** The long stories of the demo: worlds that are killed, a thousand parked deliveries, five hundred dead letters. */
import { expect, it } from 'vitest';
import { runProgram } from '../support/program.ts';

it('tells all stories of the demo, the long ones too, in under four minutes', { timeout: 300_000 }, async () => {
  const began = performance.now();
  const { code, output } = await runProgram('infra/local/demo/demo.ts', ['--all', '--seed', '7']).ended();
  expect(output).toMatch(/(\d+) of \1 stories hold/);
  expect(code).toBe(0);
  expect(performance.now() - began).toBeLessThan(240_000);
});
