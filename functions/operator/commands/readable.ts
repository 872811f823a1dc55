/** One item for a list or an audit: what this code cannot read is told as such, and takes nothing else with it. */
import { type Found, LedgerCorrupt } from '../../ports.ts';

export type Unread = 'written-by-newer-code' | 'ledger-corrupt';

export type Readable<T> =
  | Exclude<Found<T>, { kind: 'later' }>
  | { readonly kind: 'unreadable'; readonly reason: Unread };

/** `onBroken` hears of an item that no writer of ours can have made so. A port that is away still throws. */
export const readable = async <T>(
  load: () => Promise<Found<T>>,
  onBroken: (error: LedgerCorrupt) => void = () => undefined,
): Promise<Readable<T>> => {
  try {
    const found = await load();
    return found.kind === 'later' ? { kind: 'unreadable', reason: 'written-by-newer-code' } : found;
  } catch (error) {
    if (!(error instanceof LedgerCorrupt)) throw error;
    onBroken(error);
    return { kind: 'unreadable', reason: 'ledger-corrupt' };
  }
};
