/** Setting up where events go. The same command behind the API and, later, the other faces of the operator. */
import type { DestinationResult, DestinationSettings } from '../../core/destination-input.ts';
import type { DestinationId } from '../../core/ids.ts';
import type { Destination, Gate, SecretItem } from '../../core/items.ts';
import { SWAP_TRIES_MAX } from '../../core/limits.ts';
import { type Found, PortUnavailable, type World } from '../../ports.ts';

type Needs = Pick<World, 'ledger' | 'clock' | 'dice'>;

export type PutDone =
  /** `signingSecret` is shown this once: it was made here, and the owner has to hand it to the receiver. */
  | { readonly kind: 'created'; readonly config: Destination; readonly signingSecret?: string }
  | { readonly kind: 'updated'; readonly config: Destination }
  /** A deleted destination's id stays taken: its old deliveries still name it. */
  | { readonly kind: 'deleted' }
  | { readonly kind: 'newer' };

export const putDestination = async (
  world: Needs,
  read: Extract<DestinationResult, { kind: 'ok' }>,
): Promise<PutDone> => {
  const { settings } = read;
  let found: Found<Destination> = await world.ledger.load({ item: 'destination', destination: settings.destination });
  for (let tries = 0; tries < SWAP_TRIES_MAX; tries += 1) {
    if (found.kind === 'later') return { kind: 'newer' };
    if (found.kind === 'found' && found.item.deletedAtMs !== undefined) return { kind: 'deleted' };
    // Secrets come first: a destination without one could not send.
    const made = await ensureSecret(world, settings.destination, read.signingSecret);
    const next = configOf(settings, found.kind === 'found' ? found.item : undefined, world.clock.nowMs());
    const written =
      found.kind === 'found'
        ? await world.ledger.replace<Destination>(found.item, next)
        : await world.ledger.create<Destination>(next);
    if (written.kind === 'written') {
      if (found.kind === 'found') return { kind: 'updated', config: next };
      return { kind: 'created', config: next, ...(made === undefined ? {} : { signingSecret: made }) };
    }
    found = written.present;
  }
  throw new PortUnavailable('ledger', `destination ${settings.destination} kept changing`);
};

const configOf = (settings: DestinationSettings, before: Destination | undefined, nowMs: number): Destination => ({
  item: 'destination',
  version: (before?.version ?? 0) + 1,
  ...settings,
  createdAtMs: before?.createdAtMs ?? nowMs,
  updatedAtMs: nowMs,
  carried: before?.carried ?? {},
});

/** Gives the secret's text only where it was made here. A given one replaces what was there. */
const ensureSecret = async (
  world: Needs,
  destination: DestinationId,
  given: string | undefined,
): Promise<string | undefined> => {
  const found = await world.ledger.load({ item: 'secret', destination });
  if (found.kind === 'later') throw new PortUnavailable('secrets', 'the secret was written by newer code');
  if (found.kind === 'found' && (given === undefined || found.item.secrets[0] === given)) return undefined;
  const made = given ?? `whsec_${Buffer.from(world.dice.bytes(32)).toString('base64')}`;
  const next: SecretItem = {
    item: 'secret',
    version: (found.kind === 'found' ? found.item.version : 0) + 1,
    destination,
    secrets: [made],
    updatedAtMs: world.clock.nowMs(),
    carried: found.kind === 'found' ? found.item.carried : {},
  };
  const written =
    found.kind === 'found'
      ? await world.ledger.replace<SecretItem>(found.item, next)
      : await world.ledger.create<SecretItem>(next);
  if (written.kind === 'refused') return ensureSecret(world, destination, given);
  return given === undefined ? made : undefined;
};

export type Shown =
  | { readonly kind: 'found'; readonly config: Destination; readonly gate: Found<Gate> }
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer' };

export const showDestination = async (world: Pick<World, 'ledger'>, id: DestinationId): Promise<Shown> => {
  const { config, gate } = await world.ledger.loadDestination(id);
  if (config.kind === 'later') return { kind: 'newer' };
  if (config.kind === 'absent' || config.item.deletedAtMs !== undefined) return { kind: 'absent' };
  return { kind: 'found', config: config.item, gate };
};
