/**
 * Which destinations are marked for notices, in one item, so that whoever has something to say needs one read.
 *
 *   mark   --> register --> settings --> register again      the settings decide: a name too many does no harm, and one
 *   unmark --> settings --> register                         too few would never be told
 *
 * Whoever unmarks looks at the settings first and at the version of the register last: the second look of whoever marks
 * writes it anew, so that a name is not taken out by somebody who has looked before the settings said so.
 */
import type { DestinationId } from '../../core/ids.ts';
import type { NoticeRegister } from '../../core/items.ts';
import { SWAP_TRIES_MAX } from '../../core/limits.ts';
import { NOTICE_DESTINATIONS_MAX } from '../../core/notice.ts';
import { type Found, LedgerCorrupt, PortUnavailable, type World } from '../../ports.ts';

type Needs = Pick<World, 'ledger'>;
type Marked = readonly DestinationId[];

export const markForNotices = async (
  world: Needs,
  id: DestinationId,
  { anew = false }: { readonly anew?: boolean } = {},
): Promise<'marked' | 'too-many-for-notices' | 'newer'> => {
  let isFull = false;
  const swapped = await swapMarked(world, async (marked) => {
    isFull = false;
    if (marked.includes(id)) return anew ? marked : undefined;
    const kept = marked.length < NOTICE_DESTINATIONS_MAX ? marked : await stillMarked(world, marked);
    isFull = kept.length >= NOTICE_DESTINATIONS_MAX;
    return isFull ? undefined : [...kept, id];
  });
  if (swapped === 'newer') return 'newer';
  return isFull ? 'too-many-for-notices' : 'marked';
};

/** Unless it has been marked again meanwhile. What is left behind by a crash is found when the register is full. */
export const unmarkForNotices = async (world: Needs, id: DestinationId): Promise<void> => {
  await swapMarked(world, async (marked) =>
    marked.includes(id) && (await stillMarked(world, [id])).length === 0
      ? marked.filter((other) => other !== id)
      : undefined,
  );
};

const stillMarked = async (world: Needs, ids: Marked): Promise<Marked> => {
  const still = await Promise.all(ids.map((id) => isStillMarked(world, id)));
  return ids.filter((_id, index) => still[index]);
};

/** Settings that this code cannot read may say so. */
const isStillMarked = async ({ ledger }: Needs, destination: DestinationId): Promise<boolean> => {
  try {
    const found = await ledger.load({ item: 'destination', destination });
    if (found.kind !== 'found') return found.kind === 'later';
    return found.item.notices === true && found.item.deletedAtMs === undefined;
  } catch (error) {
    if (!(error instanceof LedgerCorrupt)) throw error;
    return true;
  }
};

/** `change` gives the names as they should be, or undefined where nothing has to be written. */
const swapMarked = async (
  { ledger }: Needs,
  change: (marked: Marked) => Promise<Marked | undefined>,
): Promise<'done' | 'newer'> => {
  let found: Found<NoticeRegister> = await ledger.load({ item: 'notice-register' });
  for (let tries = 0; tries < SWAP_TRIES_MAX; tries += 1) {
    if (found.kind === 'later') return 'newer';
    const read: NoticeRegister =
      found.kind === 'found' ? found.item : { item: 'notice-register', version: 0, destinations: [], carried: {} };
    const destinations = await change(read.destinations);
    if (destinations === undefined) return 'done';
    const next = { ...read, version: read.version + 1, destinations };
    const written =
      found.kind === 'found'
        ? await ledger.replace<NoticeRegister>(read, next)
        : await ledger.create<NoticeRegister>(next);
    if (written.kind === 'written') return 'done';
    found = written.present;
  }
  throw new PortUnavailable('ledger', 'the register of notices kept changing: repeat the same request');
};
