/** What those who are marked for notices are told: only what was true, once in a quarter of an hour, never of a notice. */
import type { AcceptedEvent, Item } from '../../functions/core/items.ts';
import type { EntryOf } from './log.ts';
import { first, type Seen } from './seen.ts';

const QUARTER_MS = 900_000;

interface Told {
  readonly at: number;
  readonly to: string;
  readonly notice: string;
  readonly atMs: number;
  /** What it says, by name. */
  readonly says: Readonly<Record<string, unknown>>;
}

const isNotice = (event: unknown): boolean => typeof event === 'string' && event.startsWith('notice~');

const toldIn = ({ at, item }: EntryOf<'write'>): readonly Told[] =>
  item.item === 'event' && isNotice(item.event) ? [toldBy(at, item)] : [];

const toldBy = (at: number, { payload, destinations }: AcceptedEvent): Told => {
  const says = JSON.parse(Buffer.from(payload).toString()) as Readonly<Record<string, unknown>>;
  const to = String(destinations[0]);
  return { at, to, notice: String(says['notice']), atMs: new Date(String(says['at'])).getTime(), says };
};

const allTold = ({ writes }: Seen): readonly Told[] => writes.flatMap(toldIn);

const STATES: Readonly<Record<string, (item: Item, says: Told['says']) => boolean>> = {
  'delivery-quarantined': (item, says) =>
    item.item === 'delivery' &&
    item.event === says['event'] &&
    item.destination === says['destination'] &&
    item.status === 'quarantined' &&
    item.reason === says['reason'],
  'destination-paused': (item, says) =>
    item.item === 'gate' && item.destination === says['destination'] && item.pause?.by === 'system',
  'destination-failing': (item, says) =>
    item.item === 'gate' && item.destination === says['destination'] && item.failures?.count === says['failures'],
  'redrive-finished': (item, says) =>
    item.item === 'operation' && item.operation === says['operation'] && item.state === says['state'],
  'sweep-silent': (item, says) => item.item === 'heartbeat' && item.shard === says['shard'],
};

export const noticesAreTrue = (seen: Seen): string | undefined =>
  first(allTold(seen), ({ at, to, notice, says }) => {
    const isMarked = seen.plan.destinations.some(({ id, notices }) => id === to && notices === true);
    if (!isMarked) return `${to} is told of a ${notice}, and is not marked`;
    if (says['destination'] === to) return `${to} is told about itself`;
    const wasSo = seen.writes.some((write) => write.at < at && STATES[notice]?.(write.item, says) === true);
    return wasSo ? undefined : `${to} is told of a ${notice} that the ledger has not seen`;
  });

export const noticesAreFew = (seen: Seen): string | undefined => {
  const met = new Set<string>();
  return first(allTold(seen), ({ to, notice, atMs, says }) => {
    const about = says['destination'] ?? says['operation'] ?? '';
    const name = JSON.stringify([to, notice, about, Math.floor(atMs / QUARTER_MS)]);
    if (met.has(name)) return `${to} is told twice in a quarter of an hour: ${name}`;
    met.add(name);
    return undefined;
  });
};

export const noNoticeOfNotices = (seen: Seen): string | undefined =>
  first(allTold(seen), ({ to, says }) =>
    isNotice(says['event']) ? `${to} is told about the delivery of a notice` : undefined,
  ) ??
  first(seen.writes, ({ item }) =>
    item.item === 'conflict' && isNotice(item.event) ? `a conflict was filed for the notice ${item.event}` : undefined,
  );
