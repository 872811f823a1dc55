/**
 * The cold starts that `npm run bench -- cold` measures, held to their bound: the receiver of the default transport costs at
 * most 1.6 times what a bare handler costs. By the time of the processor, so that it does not matter what else the machine
 * does. Some 30 s on two idle cores.
 */
import { expect, it } from 'vitest';
import { measureCold } from '../bench/cold.ts';

it('a receiver starts in at most 1.6 times the time of a bare Hono and DynamoDB handler', { retry: 2 }, async () => {
  const measured = await measureCold(20);
  const cpuMs = (name: string): number => measured.find((one) => one.name === name)?.cpuMs ?? Number.NaN;
  expect(cpuMs('receiver (sqs)') / cpuMs('bare')).toBeLessThan(1.6);
  // The measure can tell: a bundle that reads more takes longer.
  expect(cpuMs('operator')).toBeGreaterThan(cpuMs('bare'));
});
