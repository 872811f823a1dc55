/** What is said of an item of the ledger that cannot be read: a person has to repair it. */
import type { Fields, LedgerCorrupt, Telemetry } from '../ports.ts';

export const brokenItem = (telemetry: Telemetry, about: Fields, error: LedgerCorrupt): void =>
  telemetry.line('ledger.corrupt', { ...about, detail: error.message }, { 'ledger-corrupt': 1 });
