/**
 * A ledger whose signing secrets are sealed where they are stored: whoever reads the table, or a copy of it, reads
 * nothing that signs. Everything else goes through untouched.
 *
 *   put:  secret item ──seal each text──► table        get:  table ──open each text──► secret item
 *
 * A sealed text is bound to its destination: moved to another one's item, it does not open.
 */
import type { DestinationId } from '../../core/ids.ts';
import type { Item, ItemKind, ItemOf } from '../../core/items.ts';
import { SECRET_SORT, secretPartition } from '../../core/keys.ts';
import { type Found, type Ledger, LedgerCorrupt, PortUnavailable, type RefOf, type Written } from '../../ports.ts';

export interface Sealing {
  seal(text: string, destination: DestinationId): Promise<string>;
  /** Throws `Unsealable` where it was not sealed for this destination, by this key. */
  open(sealed: string, destination: DestinationId): Promise<string>;
}

export class Unsealable extends Error {
  constructor(options?: ErrorOptions) {
    super('it does not open', options);
    this.name = 'Unsealable';
  }
}

/** Stands before every sealed text. One without it was stored in the open, by a world that has no key. */
const SEALED = 'sealed:1:';

type SecretItem = ItemOf<'secret'>;

export const withSealedSecrets = (ledger: Ledger, sealing: Sealing): Ledger => {
  const each = async (item: SecretItem, change: (text: string) => Promise<string>): Promise<SecretItem> => {
    try {
      return { ...item, secrets: await Promise.all(item.secrets.map(change)) };
    } catch (error) {
      if (error instanceof PortUnavailable || !(error instanceof Unsealable)) throw error;
      throw new LedgerCorrupt(secretPartition(item.destination), SECRET_SORT, 'a secret does not open', {
        cause: error,
      });
    }
  };
  const sealed = async <T extends Item>(item: T): Promise<T> => {
    if (item.item !== 'secret') return item;
    const secret: SecretItem = item;
    return (await each(
      secret,
      async (text) => `${SEALED}${await sealing.seal(text, secret.destination)}`,
    )) as Item as T;
  };
  const opened = async <T extends Item>(found: Found<T>): Promise<Found<T>> => {
    if (found.kind !== 'found' || found.item.item !== 'secret') return found;
    const item: SecretItem = found.item;
    const open = async (text: string): Promise<string> =>
      text.startsWith(SEALED) ? sealing.open(text.slice(SEALED.length), item.destination) : text;
    return { kind: 'found', item: (await each(item, open)) as Item as T };
  };
  const answered = async <T extends Item>(written: Written<T>): Promise<Written<T>> =>
    written.kind === 'refused' ? { kind: 'refused', present: await opened(written.present) } : written;
  return {
    ...ledger,
    load: async <K extends ItemKind>(ref: RefOf<K>): Promise<Found<ItemOf<K>>> => opened(await ledger.load<K>(ref)),
    create: async <T extends Item>(item: T) => answered(await ledger.create<T>(await sealed(item))),
    replace: async <T extends Item>(read: T, next: ItemOf<T['item']>) =>
      answered(await ledger.replace<T>(read, await sealed(next))),
  };
};
