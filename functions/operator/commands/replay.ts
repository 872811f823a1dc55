/**
 * Replay: what was delivered is sent once more, as a new event linked to the old one. Only what was delivered: a
 * delivery that is still open or waits for a person has a budget, and a new event must not be the way around it.
 */
import { createHash } from 'node:crypto';
import { type DestinationId, type EventId, parseEventId, type RequestId } from '../../core/ids.ts';
import type { AcceptedEvent } from '../../core/items.ts';
import { causeOf } from '../../core/journal.ts';
import { ID_BYTES_MAX } from '../../core/limits.ts';
import type { Delivery } from '../../core/model.ts';
import { PortUnavailable } from '../../ports.ts';
import type { Effects } from '../../steps/effects.ts';
import { replay } from '../../steps/replay.ts';
import { DONE, decideOnce, type Ready } from './decide.ts';
import { stateOf } from './deliveries.ts';

export interface ReplayAsked {
  readonly request: RequestId;
  readonly actor: string;
  readonly reason: string;
  readonly event: EventId;
  /** Undefined: all to which it was delivered. */
  readonly destinations?: readonly DestinationId[];
}

type Refused =
  | { readonly kind: 'absent' }
  | { readonly kind: 'newer' }
  /** The event was never for this destination. */
  | { readonly kind: 'not-its-destination'; readonly destination: DestinationId; readonly index: number }
  | { readonly kind: 'not-delivered'; readonly destination: DestinationId; readonly state: string };

export type ReplayDecided =
  | { readonly kind: 'done'; readonly event: AcceptedEvent }
  /** Refused while it was being carried out: a destination is gone, or the new id is taken. */
  | { readonly kind: 'refused'; readonly code: string }
  | { readonly kind: 'reused' }
  | Refused;

export const replayEvent = async (world: Effects, asked: ReplayAsked): Promise<ReplayDecided> => {
  const id = replayIdOf(asked.event, asked.request);
  const { destinations = [], ...said } = asked;
  const once = await decideOnce<Refused>(
    world,
    { ...said, command: 'replay', more: destinations },
    { look: () => look(world, asked), act: () => act(world, asked, id) },
  );
  if (once.kind !== 'decided') return once;
  if (once.result !== DONE) return { kind: 'refused', code: once.result };
  const made = await world.ledger.load({ item: 'event', event: id });
  if (made.kind !== 'found') throw new PortUnavailable('ledger', `event ${id} became ${made.kind}`);
  return { kind: 'done', event: made.item };
};

const MARK = '~replay~';
const HASH_CHARS = 22;

/** The same request gives the same id. It begins with the old one, as far as there is room for it. */
export const replayIdOf = (event: EventId, request: RequestId): EventId => {
  const hash = createHash('sha256')
    .update(JSON.stringify([event, request]))
    .digest('base64url')
    .slice(0, HASH_CHARS);
  const parsed = parseEventId(`${cut(event, ID_BYTES_MAX - MARK.length - HASH_CHARS)}${MARK}${hash}`);
  if (parsed.kind === 'bad') throw new TypeError(`the id of a replay ${parsed.reason}`);
  return parsed.id;
};

/** The first whole characters of a text that fit into so many bytes. */
const cut = (text: string, bytes: number): string => {
  let end = 0;
  let used = 0;
  for (const character of text) {
    used += Buffer.byteLength(character, 'utf8');
    if (used > bytes) break;
    end += character.length;
  }
  return text.slice(0, end);
};

interface Original {
  readonly kind: 'original';
  readonly event: AcceptedEvent;
  readonly destinations: readonly DestinationId[];
}

const look = async (world: Effects, asked: ReplayAsked): Promise<Ready | Refused> => {
  const chosen = await choose(world, asked);
  return chosen.kind === 'original' ? { kind: 'ready', before: 'delivered' } : chosen;
};

const choose = async (world: Effects, asked: ReplayAsked): Promise<Original | Refused> => {
  const found = await world.ledger.load({ item: 'event', event: asked.event });
  if (found.kind === 'absent') return { kind: 'absent' };
  if (found.kind === 'later') return { kind: 'newer' };
  const event = found.item;
  const rows = (await world.ledger.loadEvent(asked.event)).filter((item) => item.item === 'delivery');
  const stranger = asked.destinations?.findIndex((id) => !event.destinations.includes(id)) ?? -1;
  const strange = asked.destinations?.[stranger];
  if (strange !== undefined) return { kind: 'not-its-destination', destination: strange, index: stranger };
  return chooseDelivered(event, asked, rows);
};

const chooseDelivered = (
  event: AcceptedEvent,
  asked: ReplayAsked,
  rows: readonly Delivery[],
): Original | Extract<Refused, { kind: 'not-delivered' }> => {
  const stateAt = (destination: DestinationId): string => {
    const row = rows.find((one) => one.destination === destination);
    return row === undefined ? 'not there' : stateOf(row);
  };
  const delivered = event.destinations.filter((destination) => stateAt(destination) === 'delivered');
  const wanted = asked.destinations ?? delivered;
  const refused = wanted.find((destination) => !delivered.includes(destination)) ?? noneOf(wanted, event);
  if (refused !== undefined) return { kind: 'not-delivered', destination: refused, state: stateAt(refused) };
  return { kind: 'original', event, destinations: wanted };
};

const noneOf = (wanted: readonly DestinationId[], event: AcceptedEvent): DestinationId | undefined =>
  wanted.length === 0 ? event.destinations[0] : undefined;

const act = async (world: Effects, asked: ReplayAsked, id: EventId): Promise<string> => {
  const chosen = await choose(world, asked);
  if (chosen.kind === 'absent' || chosen.kind === 'newer') {
    throw new PortUnavailable('ledger', `event ${asked.event} became ${chosen.kind} while it was replayed`);
  }
  if (chosen.kind !== 'original') return chosen.kind;
  const replayed = await replay(world, chosen.event, id, chosen.destinations, causeOf('actor', asked.request));
  return replayed.kind === 'replayed' ? DONE : replayed.kind;
};
