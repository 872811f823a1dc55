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

/** Title, requests, effects of each story that was told; the outcomes hold times and ids. */
const countsIn = (output: string): readonly string[] =>
  [...output.matchAll(/^ {2}(?:ok {2}|FAIL) {2}(.+?) {2,}(\d+ requests?, \d+ effects?)/gm)]
    .map(([, title, counts]) => `${title}: ${counts}`)
    .toSorted();

it('tells the same stories over SQS, with the same counts at the partner', { timeout: 240_000 }, async () => {
  const infrai = await runProgram('infra/local/demo/demo.ts', []).ended();
  const sqs = await runProgram('infra/local/demo/demo.ts', ['--transport', 'sqs']).ended();
  expect(sqs.output).toContain(', over sqs');
  expect(sqs.output).toMatch(/(\d+) of \1 stories hold/);
  expect(sqs.code).toBe(0);
  expect(countsIn(sqs.output).length).toBeGreaterThan(10);
  expect(countsIn(sqs.output)).toEqual(countsIn(infrai.output));
});
