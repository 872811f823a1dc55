/**
 * The cold starts that `npm run bench -- cold` measures, held to a bound that a mistake would break: before the sender was
 * loaded late, the receiver took 1.9 times what a bare handler takes. By the time of the processor, so that it does not
 * matter what else the machine does. Some 30 s on two idle cores.
 */
import { expect, it } from 'vitest';
import { measureCold } from '../bench/cold.ts';

it('a receiver starts in less than 1.85 times the time of a bare Hono and DynamoDB handler', { retry: 2 }, async () => {
  const measured = await measureCold(20);
  const cpuMs = (name: string): number => measured.find((one) => one.name === name)?.cpuMs ?? Number.NaN;
  expect(cpuMs('receiver (sqs)') / cpuMs('bare')).toBeLessThan(1.85);
  // The measure can tell: a bundle that reads more takes longer.
  expect(cpuMs('operator')).toBeGreaterThan(cpuMs('bare'));
});
