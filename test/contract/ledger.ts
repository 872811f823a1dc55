/**
 * The contract of the ports `Ledger`, `Pages` and `Pace`, as checks with names: they run as tests of every implementation, and
 * by themselves against spoiled ones, to see that each promise would be missed.
 */
import { describe, it } from 'vitest';
import { GROUP_CHECKS } from './ledger-groups.ts';
import type { MakeHarness } from './ledger-harness.ts';
import { PAGE_CHECKS } from './ledger-pages.ts';
import { RECORD_CHECKS } from './ledger-records.ts';
import { type LedgerCheck, races, WRITE_CHECKS } from './ledger-writes.ts';
import { PACE_CHECKS } from './pace.ts';

export const ledgerChecks = (rounds: number): readonly LedgerCheck[] => [
  ...WRITE_CHECKS,
  ...races(rounds),
  ...GROUP_CHECKS,
  ...PAGE_CHECKS,
  ...RECORD_CHECKS,
  ...PACE_CHECKS,
];

/** `rounds`: how often a hundred rivals race for one write. Each check has a ledger of its own. */
export const ledgerContract = (name: string, makeHarness: MakeHarness, rounds: number): void => {
  describe(`the ledger on ${name}`, () => {
    for (const check of ledgerChecks(rounds)) it(check.name, async () => check.run(await makeHarness()));
  });
};
