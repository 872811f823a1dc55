/**
 * A new signing secret for a destination. The older ones go on signing for the overlap, so that the receiver can change
 * over at its leisure; an overlap of zero ends them at once, for one that has become known.
 */
import { createHash } from 'node:crypto';
import type { SecretItem } from '../../core/items.ts';
import { SECRETS_LIVE_MAX, SWAP_TRIES_MAX } from '../../core/limits.ts';
import { type LiveSecret, liveSecrets, rotated } from '../../core/live-secrets.ts';
import { type Found, PortUnavailable, type World } from '../../ports.ts';
import { DONE, decideOnce, type Ready } from './decide.ts';
import { showDestination } from './destinations.ts';
import type { DestinationAsked } from './pause.ts';

type Needs = Pick<World, 'ledger' | 'clock' | 'dice' | 'telemetry'>;

export interface RotateAsked extends DestinationAsked {
  readonly overlapHours: number;
  /** Instead of one that is made here. */
  readonly signingSecret?: string;
}

type Refused =
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer' }
  /** So many are live that one more would have no room; the first of them ends then. */
  | { readonly kind: 'too-many'; readonly firstEndsAtMs: number | undefined };

export type SecretRotated =
  | {
      readonly kind: 'done';
      readonly live: readonly LiveSecret[];
      /** Only where it was made here, and only for the call that has made it. */
      readonly made?: string;
    }
  | { readonly kind: 'reused' }
  | Refused;

const HOUR_MS = 3_600_000;

export const rotateSecret = async (world: Needs, asked: RotateAsked): Promise<SecretRotated> => {
  const { overlapHours, signingSecret, ...said } = asked;
  let made: string | undefined;
  const once = await decideOnce<Refused>(
    world,
    { ...said, command: 'rotate-secret', more: [overlapHours, hashOf(signingSecret)] },
    {
      look: () => look(world, asked),
      act: async () => {
        made = await rotate(world, asked);
        return DONE;
      },
    },
  );
  if (once.kind !== 'decided') return once;
  const found = await load(world, asked);
  const live = found.kind === 'found' ? liveSecrets(found.item, world.clock.nowMs()) : [];
  return { kind: 'done', live, ...(made === undefined ? {} : { made }) };
};

/** What was asked for is on record by its hash: the record must not hold the secret. */
const hashOf = (secret: string | undefined): string =>
  secret === undefined ? '' : createHash('sha256').update('onceward secret 1\n').update(secret).digest('base64url');

const load = ({ ledger }: Needs, { destination }: RotateAsked): Promise<Found<SecretItem>> =>
  ledger.load({ item: 'secret', destination });

const look = async (world: Needs, asked: RotateAsked): Promise<Ready | Refused> => {
  const shown = await showDestination(world, asked.destination);
  if (shown.kind !== 'found') return shown;
  const found = await load(world, asked);
  if (found.kind === 'later') return { kind: 'newer' };
  const live = found.kind === 'found' ? liveSecrets(found.item, world.clock.nowMs()) : [];
  if (asked.overlapHours > 0 && live.length >= SECRETS_LIVE_MAX) {
    const ends = live.flatMap(({ endsAtMs }) => endsAtMs ?? []);
    return { kind: 'too-many', firstEndsAtMs: ends.length === 0 ? undefined : Math.min(...ends) };
  }
  return { kind: 'ready', before: `${live.length} live` };
};

const rotate = async (world: Needs, asked: RotateAsked): Promise<string | undefined> => {
  const text = asked.signingSecret ?? `whsec_${Buffer.from(world.dice.bytes(32)).toString('base64')}`;
  let found = await load(world, asked);
  for (let tries = 0; tries < SWAP_TRIES_MAX && found.kind !== 'later'; tries += 1) {
    const read = found.kind === 'found' ? found.item : undefined;
    if (read?.rotatedBy === asked.request) return undefined;
    const nowMs = world.clock.nowMs();
    const next: SecretItem = {
      item: 'secret',
      version: (read?.version ?? 0) + 1,
      destination: asked.destination,
      ...rotated(read, text, Math.ceil(asked.overlapHours * HOUR_MS), nowMs),
      rotatedBy: asked.request,
      updatedAtMs: nowMs,
      carried: read?.carried ?? {},
    };
    const written =
      read === undefined
        ? await world.ledger.create<SecretItem>(next)
        : await world.ledger.replace<SecretItem>(read, next);
    if (written.kind === 'written') return asked.signingSecret === undefined ? text : undefined;
    found = written.present;
  }
  throw new PortUnavailable('secrets', `the secret of ${asked.destination} kept changing, or is of newer code`);
};
