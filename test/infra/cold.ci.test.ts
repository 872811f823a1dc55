/**
 * The cold starts that `npm run bench -- cold` measures, held to the bound that they are meant to keep. It takes a mistake to
 * break it: before the sender and the client of the queue were loaded late, a receiver took 1.9 times what a bare handler
 * takes, and takes 1.5 now. By the time of the processor, so that it does not matter what else the machine does. Some 30 s
 * on two idle cores.
 */
import { expect, it } from 'vitest';
import { measureCold } from '../bench/cold.ts';

it('a receiver starts in at most 1.6 times the time of a bare Hono and DynamoDB handler', { retry: 2 }, async () => {
  const measured = await measureCold(20);
  const cpuMs = (name: string): number => measured.find((one) => one.name === name)?.cpuMs ?? Number.NaN;
  expect(cpuMs('receiver (sqs)') / cpuMs('bare')).toBeLessThanOrEqual(1.6);
  expect(cpuMs('receiver (push)') / cpuMs('bare')).toBeLessThanOrEqual(1.6);
  // The measure can tell: a bundle that reads more takes longer.
  expect(cpuMs('operator')).toBeGreaterThan(cpuMs('bare'));
});
