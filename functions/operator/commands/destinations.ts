/** Setting up where events go. The same command behind the API and, later, the other faces of the operator. */
import { isDeepStrictEqual } from 'node:util';
import type { DestinationResult, DestinationSettings } from '../../core/destination-input.ts';
import { unmasked } from '../../core/headers.ts';
import type { DestinationId } from '../../core/ids.ts';
import type { Destination, Gate, SecretItem } from '../../core/items.ts';
import { SECRET_OVERLAP_HOURS_DEFAULT, SECRETS_LIVE_MAX, SWAP_TRIES_MAX } from '../../core/limits.ts';
import { liveSecrets, rotated } from '../../core/live-secrets.ts';
import { type Found, PortUnavailable, type World } from '../../ports.ts';
import { markForNotices, unmarkForNotices } from './notice-register.ts';

type Needs = Pick<World, 'ledger' | 'clock' | 'dice'>;

export type PutDone =
  /** `signingSecret` is shown this once, unless it was given: the owner has to hand it to the receiver. */
  | { readonly kind: 'created'; readonly config: Destination; readonly signingSecret?: string }
  | { readonly kind: 'updated'; readonly config: Destination }
  /** All stood there as it was asked for. */
  | { readonly kind: 'unchanged'; readonly config: Destination }
  /** The mask under which a header's value is shown, for a header that has no value to keep. */
  | { readonly kind: 'nothing-behind-mask'; readonly header: string }
  /** A deleted destination's id stays taken: its old deliveries still name it. */
  | { readonly kind: 'deleted' }
  | { readonly kind: 'too-many-for-notices' }
  /** So many secrets are live that the older ones could not go on beside a new one. */
  | { readonly kind: 'too-many-secrets' }
  | { readonly kind: 'newer' };

const OVERLAP_MS = SECRET_OVERLAP_HOURS_DEFAULT * 3_600_000;

export const putDestination = async (
  world: Needs,
  read: Extract<DestinationResult, { kind: 'ok' }>,
): Promise<PutDone> => {
  const { settings } = read;
  let found: Found<Destination> = await world.ledger.load({ item: 'destination', destination: settings.destination });
  for (let tries = 0; tries < SWAP_TRIES_MAX; tries += 1) {
    if (found.kind === 'later') return { kind: 'newer' };
    if (found.kind === 'found' && found.item.deletedAtMs !== undefined) return { kind: 'deleted' };
    const before: Destination | undefined = found.kind === 'found' ? found.item : undefined;
    const headers = unmasked(settings.headers, before?.headers ?? {});
    if (headers.kind === 'bad') return { kind: 'nothing-behind-mask', header: headers.name };
    if (settings.notices === true) {
      const marked = await markForNotices(world, settings.destination);
      if (marked !== 'marked') return { kind: marked };
    }
    // Secrets come first: a destination without one could not send.
    const secret = await ensureSecret(world, settings.destination, read.signingSecret);
    if (secret.kind !== 'stands') return secret;
    const next = configOf({ ...settings, headers: headers.headers }, before, world.clock.nowMs());
    if (before !== undefined && isSame(before, next)) return { kind: 'unchanged', config: before };
    const written =
      before === undefined
        ? await world.ledger.create<Destination>(next)
        : await world.ledger.replace<Destination>(before, next);
    if (written.kind === 'written' || isOurs(written.present, next)) {
      const registered = await registerAgain(world, before, next);
      if (registered !== 'marked') return { kind: registered };
      if (before !== undefined) return { kind: 'updated', config: next };
      // Whoever made the secret, now or in a try that was cut off: as long as there was no destination, nobody saw it.
      return {
        kind: 'created',
        config: next,
        ...(read.signingSecret === undefined ? { signingSecret: secret.text } : {}),
      };
    }
    found = written.present;
  }
  throw new PortUnavailable('ledger', `destination ${settings.destination} kept changing`);
};

/** Behind the settings, for whoever has looked at the older ones: see `notice-register.ts`. */
const registerAgain = async (world: Needs, before: Destination | undefined, next: Destination) => {
  const [was, is] = [before?.notices === true, next.notices === true];
  if (was && !is) await unmarkForNotices(world, next.destination);
  return is && !was ? markForNotices(world, next.destination, { anew: true }) : 'marked';
};

export const configOf = (
  settings: DestinationSettings,
  before: Destination | undefined,
  nowMs: number,
): Destination => ({
  item: 'destination',
  version: (before?.version ?? 0) + 1,
  ...settings,
  createdAtMs: before?.createdAtMs ?? nowMs,
  updatedAtMs: nowMs,
  carried: before?.carried ?? {},
});

/** Nothing to write: the version would grow, and attempts on their way would be withheld, for no change at all. */
export const isSame = (before: Destination, next: Destination): boolean =>
  isDeepStrictEqual(before, { ...next, version: before.version, updatedAtMs: before.updatedAtMs });

/** A refused write that finds what it was to write: an earlier try of it had been applied, while its answer was lost. */
const isOurs = (present: Found<Destination>, next: Destination): boolean =>
  present.kind === 'found' && isDeepStrictEqual(present.item, next);

type SecretKept = { readonly kind: 'stands'; readonly text: string } | { readonly kind: 'too-many-secrets' };

/**
 * Gives the newest secret. A given one becomes that, and what has signed until now signs beside it for as long as after a
 * rotation: its receiver goes on. Without one, what is there stays.
 */
const ensureSecret = async (world: Needs, destination: DestinationId, given?: string): Promise<SecretKept> => {
  const found = await world.ledger.load({ item: 'secret', destination });
  if (found.kind === 'later') throw new PortUnavailable('secrets', 'the secret was written by newer code');
  const read = found.kind === 'found' ? found.item : undefined;
  const newest = read?.secrets[0];
  if (newest !== undefined && (given === undefined || newest === given)) return { kind: 'stands', text: newest };
  const text = given ?? `whsec_${Buffer.from(world.dice.bytes(32)).toString('base64')}`;
  const nowMs = world.clock.nowMs();
  if (read !== undefined && liveSecrets(read, nowMs).length >= SECRETS_LIVE_MAX) return { kind: 'too-many-secrets' };
  const next: SecretItem = {
    item: 'secret',
    version: (read?.version ?? 0) + 1,
    destination,
    ...(read === undefined ? { secrets: [text] } : rotated(read, text, OVERLAP_MS, nowMs)),
    updatedAtMs: nowMs,
    carried: read?.carried ?? {},
  };
  const written =
    read === undefined
      ? await world.ledger.create<SecretItem>(next)
      : await world.ledger.replace<SecretItem>(read, next);
  return written.kind === 'refused' ? ensureSecret(world, destination, given) : { kind: 'stands', text };
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
