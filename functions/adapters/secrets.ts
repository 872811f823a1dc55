/** Signing secrets from the ledger, kept for a short while: a rotation is seen by every worker within that time. */
import type { DestinationId } from '../core/ids.ts';
import type { SecretItem } from '../core/items.ts';
import { liveSecrets } from '../core/live-secrets.ts';
import { type Clock, type Ledger, PortUnavailable, type Secrets } from '../ports.ts';

const AGE_MS_MAX = 30_000;
const KEPT_MAX = 1_000;

export const createLedgerSecrets = (ledger: Ledger, clock: Pick<Clock, 'nowMs'>): Secrets => {
  const kept = new Map<DestinationId, { readonly item: SecretItem; readonly atMs: number }>();
  return {
    signing: async (destination) => {
      const nowMs = clock.nowMs();
      const known = kept.get(destination);
      if (known && nowMs - known.atMs < AGE_MS_MAX) return textsOf(known.item, nowMs);
      const found = await ledger.load({ item: 'secret', destination });
      if (found.kind === 'later') {
        throw new PortUnavailable('secrets', `the secret of ${destination} was written by newer code`);
      }
      if (found.kind === 'absent') return [];
      if (kept.size >= KEPT_MAX) kept.clear();
      kept.set(destination, { item: found.item, atMs: nowMs });
      return textsOf(found.item, nowMs);
    },
  };
};

const textsOf = (item: SecretItem, nowMs: number): readonly string[] =>
  liveSecrets(item, nowMs).map(({ text }) => text);
