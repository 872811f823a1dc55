/**
 * The settings of a destination, changed by a person: on record, with what is going to change, before it is changed.
 * A reason is welcome and not asked for. What changes nothing is no decision, and leaves no record.
 */
import type { DestinationResult } from '../../core/destination-input.ts';
import { unmasked } from '../../core/headers.ts';
import type { RequestId } from '../../core/ids.ts';
import type { Destination } from '../../core/items.ts';
import { SECRETS_LIVE_MAX } from '../../core/limits.ts';
import { liveSecrets } from '../../core/live-secrets.ts';
import { settingsChanges } from '../../core/settings-changes.ts';
import type { World } from '../../ports.ts';
import { DONE, decideOnce, type Ready } from './decide.ts';
import { configOf, isSame, type PutDone, putDestination, showDestination } from './destinations.ts';
import { markForNotices } from './notice-register.ts';

type Needs = Pick<World, 'ledger' | 'clock' | 'dice' | 'telemetry'>;

type Read = Extract<DestinationResult, { kind: 'ok' }>;

export interface SetAsked {
  readonly request: RequestId;
  readonly actor: string;
  /** Empty where nobody has given one. */
  readonly reason: string;
  readonly read: Read;
}

type Refused = Exclude<PutDone, { kind: 'created' | 'updated' }>;

export type DestinationSet = PutDone | { readonly kind: 'reused' };

export const setDestination = async (world: Needs, { read, ...said }: SetAsked): Promise<DestinationSet> => {
  const { destination } = read.settings;
  let put: PutDone | undefined;
  const once = await decideOnce<Refused>(
    world,
    // The record holds a hash of these, and not the secrets among them.
    { ...said, command: 'set', destination, more: [JSON.stringify(read.settings), read.signingSecret ?? ''] },
    {
      look: () => look(world, read),
      act: async () => {
        put = await putDestination(world, read);
        return resultOf(put);
      },
    },
  );
  if (once.kind !== 'decided') return once;
  return put ?? repeated(world, read, once.result);
};

/** What a race has made of it since the look ends the decision under its code, unless a repeat may yet go through. */
const resultOf = (put: PutDone): string | Refused => {
  switch (put.kind) {
    case 'created':
    case 'updated':
    case 'unchanged':
      return DONE;
    case 'deleted':
    case 'too-many-for-notices':
    case 'too-many-secrets':
      return put.kind;
    case 'nothing-behind-mask':
    case 'newer':
      return put;
  }
};

const look = async (world: Needs, { settings, signingSecret }: Read): Promise<Ready | Refused> => {
  const { ledger, clock } = world;
  const { destination } = settings;
  const found = await ledger.load({ item: 'destination', destination });
  const secret = await ledger.load({ item: 'secret', destination });
  if (found.kind === 'later' || secret.kind === 'later') return { kind: 'newer' };
  const before: Destination | undefined = found.kind === 'found' ? found.item : undefined;
  if (before?.deletedAtMs !== undefined) return { kind: 'deleted' };
  const headers = unmasked(settings.headers, before?.headers ?? {});
  if (headers.kind === 'bad') return { kind: 'nothing-behind-mask', header: headers.name };
  const nowMs = clock.nowMs();
  const there = secret.kind === 'found' ? secret.item : undefined;
  const isSecretNew = signingSecret !== undefined && there?.secrets[0] !== signingSecret;
  const live = there === undefined ? [] : liveSecrets(there, nowMs);
  if (isSecretNew && live.length >= SECRETS_LIVE_MAX) return { kind: 'too-many-secrets' };
  const next = { ...settings, headers: headers.headers };
  if (before !== undefined && !isSecretNew && isSame(before, configOf(next, before, nowMs))) {
    // It may still lack its mark among those that are told.
    const marked = settings.notices === true ? await markForNotices(world, destination) : 'marked';
    return marked === 'marked' ? { kind: 'unchanged', config: before } : { kind: marked };
  }
  const changes = settingsChanges(before, next, isSecretNew);
  return { kind: 'ready', before: before === undefined ? 'not there' : `version ${before.version}`, changes };
};

/** The same request again, when it is over: how the destination stands now. */
const repeated = async (world: Needs, { settings }: Read, result: string): Promise<Refused> => {
  if (result === 'too-many-for-notices' || result === 'too-many-secrets') return { kind: result };
  const shown = await showDestination(world, settings.destination);
  if (shown.kind === 'found') return { kind: 'unchanged', config: shown.config };
  return { kind: shown.kind === 'newer' ? 'newer' : 'deleted' };
};
