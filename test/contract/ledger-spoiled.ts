/** Runs the contract against ledgers of which one part is spoiled, to see that the promise of that part is missed. */
import { expect, it } from 'vitest';
import { ledgerChecks } from './ledger.ts';
import type { MakeHarness } from './ledger-harness.ts';

export interface SpoiledCase {
  readonly ledger: string;
  readonly make: MakeHarness;
  readonly foundBy: RegExp;
}

const CHECKS = ledgerChecks(1);

export const failing = async (make: MakeHarness): Promise<readonly string[]> => {
  const names: string[] = [];
  for (const check of CHECKS) {
    try {
      await check.run(await make());
    } catch {
      names.push(check.name);
    }
  }
  return names;
};

/** Each breaks what it says, and not everything. */
export const eachIsFound = (spoiled: readonly SpoiledCase[]): void => {
  it.each(spoiled)('finds a ledger that $ledger', async ({ make, foundBy }) => {
    const names = await failing(make);
    expect(names).toContainEqual(expect.stringMatching(foundBy));
    expect(names.length).toBeLessThan(CHECKS.length / 2);
  });
};
