/** Who wants to be told, from the ledger and kept for a short while, and what this process has raised already. */
import type { DestinationId } from '../core/ids.ts';
import type { Clock, Ledger, Notices } from '../ports.ts';

const AGE_MS_MAX = 30_000;
const KEPT_MAX = 1_000;

export const createLedgerNotices = (ledger: Ledger, clock: Pick<Clock, 'nowMs'>): Notices => {
  let kept: { readonly marked: readonly DestinationId[]; readonly atMs: number } | undefined;
  const raised = new Set<string>();
  return {
    marked: async () => {
      const nowMs = clock.nowMs();
      // By its amount: a clock that was set back must not make it last.
      if (kept !== undefined && Math.abs(nowMs - kept.atMs) < AGE_MS_MAX) return kept.marked;
      const found = await ledger.load({ item: 'notice-register' });
      // Newer code keeps it in its own way, and tells whom it has to tell.
      kept = { marked: found.kind === 'found' ? found.item.destinations : [], atMs: nowMs };
      return kept.marked;
    },
    wasRaised: (key) => raised.has(key),
    raised: (key) => {
      if (raised.size >= KEPT_MAX) raised.clear();
      raised.add(key);
    },
  };
};
