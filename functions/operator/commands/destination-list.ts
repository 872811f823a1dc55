/** Destinations by name, with settings and gate. One that cannot be read is named, and takes no other with it. */
import type { DestinationId } from '../../core/ids.ts';
import type { Destination, Gate } from '../../core/items.ts';
import type { Found, World } from '../../ports.ts';
import { brokenItem } from '../../steps/broken-item.ts';
import { readable, type Unread } from './readable.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'telemetry'>;

export interface DestinationShown {
  readonly config: Destination;
  readonly gate: Found<Gate>;
}

export interface DestinationUnreadable {
  readonly destination: DestinationId;
  readonly reason: Unread;
}

export interface DestinationPage {
  readonly items: readonly DestinationShown[];
  readonly unreadable: readonly DestinationUnreadable[];
  readonly next?: string;
}

export interface DestinationsAsked {
  readonly limit: number;
  readonly cursor?: string | undefined;
  /** Left out unless they are asked for. */
  readonly withDeleted?: boolean;
}

export const listDestinations = async (
  world: Needs,
  { limit, cursor, withDeleted = false }: DestinationsAsked,
): Promise<DestinationPage> => {
  const page = await world.pages.list({ list: 'destinations', limit, ...(cursor === undefined ? {} : { cursor }) });
  const names = page.refs.flatMap((ref) => (ref.item === 'destination' ? [ref.destination] : []));
  const found = (await Promise.all(names.map((name) => loadOne(world, name)))).flat();
  const shown = found.flatMap((one) => ('config' in one ? [one] : []));
  return {
    items: shown.filter(({ config }) => withDeleted || config.deletedAtMs === undefined),
    unreadable: found.flatMap((one) => ('config' in one ? [] : [one])),
    ...(page.next === undefined ? {} : { next: page.next }),
  };
};

/** Nothing where the index is ahead of its item, or behind it. */
const loadOne = async (
  { ledger, telemetry }: Needs,
  destination: DestinationId,
): Promise<readonly (DestinationShown | DestinationUnreadable)[]> => {
  const load = async (): Promise<Found<DestinationShown>> => {
    const { config, gate } = await ledger.loadDestination(destination);
    return config.kind === 'found' ? { kind: 'found', item: { config: config.item, gate } } : config;
  };
  const found = await readable(load, (error) => brokenItem(telemetry, { destination }, error));
  if (found.kind === 'unreadable') return [{ destination, reason: found.reason }];
  return found.kind === 'found' ? [found.item] : [];
};
