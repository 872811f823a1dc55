/** Every deliberate mistake. The quick tier looks for some of them. */
import { describe, expect, it } from 'vitest';
import { BROKEN_MACHINES } from './broken-machines.ts';
import { expectCaught } from './caught.ts';

describe('a mistake in the real code is found by the run over all orders', () => {
  for (const machine of BROKEN_MACHINES) {
    it(`${machine.name} (${machine.caughtBy})`, () => expectCaught(machine));
  }

  it('and each by the judge that is there for it, of which there are many', () => {
    expect(BROKEN_MACHINES.length).toBeGreaterThanOrEqual(25);
    expect(new Set(BROKEN_MACHINES.map(({ caughtBy }) => caughtBy)).size).toBeGreaterThanOrEqual(12);
  });
});
