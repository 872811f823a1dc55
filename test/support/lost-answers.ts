/**
 * A ledger all of whose answers to a write are lost once inside its client: the client repeats the write, and the
 * condition of the write refuses it then, because it stands there already.
 */
import type { Ledger } from '../../functions/ports.ts';

export const losingAnswers = (ledger: Ledger): Ledger => ({
  ...ledger,
  create: async (item) => {
    await ledger.create(item);
    return ledger.create(item);
  },
  replace: async (read, next) => {
    await ledger.replace(read, next);
    return ledger.replace(read, next);
  },
});
