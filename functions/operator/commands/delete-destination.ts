/**
 * Deleting a destination. Its item stays, marked: its id is taken for good, for old deliveries still name it. What is
 * open there ends as `no-destination` when it is next looked at.
 */
import type { Destination } from '../../core/items.ts';
import { SWAP_TRIES_MAX } from '../../core/limits.ts';
import { type Found, PortUnavailable, type World } from '../../ports.ts';
import { DONE, decideOnce, type Ready } from './decide.ts';
import type { DestinationAsked } from './pause.ts';

type Needs = Pick<World, 'ledger' | 'clock' | 'telemetry'>;

type Refused = { readonly kind: 'absent' } | { readonly kind: 'newer' };

export type DestinationDeleted =
  | { readonly kind: 'done'; readonly deletedAtMs: number }
  | { readonly kind: 'reused' }
  | Refused;

export const deleteDestination = async (world: Needs, asked: DestinationAsked): Promise<DestinationDeleted> => {
  const once = await decideOnce<Refused>(
    world,
    { ...asked, command: 'delete', more: [] },
    {
      look: async () => look(await load(world, asked)),
      act: async ({ decidedAtMs }) => {
        await mark(world, asked, decidedAtMs);
        return DONE;
      },
    },
  );
  if (once.kind !== 'decided') return once;
  const found = await load(world, asked);
  const deletedAtMs = found.kind === 'found' ? found.item.deletedAtMs : undefined;
  return { kind: 'done', deletedAtMs: deletedAtMs ?? once.decision.decidedAtMs };
};

const load = ({ ledger }: Needs, { destination }: DestinationAsked): Promise<Found<Destination>> =>
  ledger.load({ item: 'destination', destination });

const look = (found: Found<Destination>): Ready | Refused => {
  if (found.kind === 'later') return { kind: 'newer' };
  if (found.kind === 'absent' || found.item.deletedAtMs !== undefined) return { kind: 'absent' };
  return { kind: 'ready', before: found.item.mode };
};

const mark = async (world: Needs, asked: DestinationAsked, deletedAtMs: number): Promise<void> => {
  let found = await load(world, asked);
  for (let tries = 0; tries < SWAP_TRIES_MAX && found.kind === 'found'; tries += 1) {
    const read = found.item;
    if (read.deletedAtMs !== undefined) return;
    const next = { ...read, version: read.version + 1, deletedAtMs, updatedAtMs: world.clock.nowMs() };
    const written = await world.ledger.replace<Destination>(read, next);
    if (written.kind === 'written') return;
    found = written.present;
  }
  throw new PortUnavailable('ledger', `destination ${asked.destination} could not be deleted: it kept changing`);
};
