/** Where an item stands: its name as a reference, and the two key texts of it. */
import { parseDestinationId, parseEventId } from '../../../core/ids.ts';
import type { Item } from '../../../core/items.ts';
import { causeOf, isActorCause } from '../../../core/journal.ts';
import {
  CONFIG_SORT,
  conflictSort,
  DECISION_SORT,
  decisionPartition,
  deliverySort,
  destinationPartition,
  EVENT_SORT,
  eventPartition,
  GATE_SORT,
  HEARTBEAT_SORT,
  heartbeatPartition,
  messageSort,
  NOTICE_REGISTER_PARTITION,
  NOTICE_REGISTER_SORT,
  operationPartition,
  PLAN_SORT,
  POISON_MINUTE_SORT,
  POISON_SORT,
  POSITION_MAX,
  poisonMinutePartition,
  poisonPartition,
  SECRET_SORT,
  secretPartition,
  slotSort,
  TOKEN_REGISTER_PARTITION,
  TOKEN_REGISTER_SORT,
  TOKEN_SORT,
  tokenPartition,
} from '../../../core/keys.ts';
import type { Ref } from '../../../ports.ts';

export interface ItemKey {
  readonly pk: string;
  readonly sk: string;
}

export const keyOf = (ref: Ref): ItemKey => {
  switch (ref.item) {
    case 'event':
      return { pk: eventPartition(ref.event), sk: EVENT_SORT };
    case 'delivery':
      return { pk: eventPartition(ref.event), sk: deliverySort(ref.destination) };
    case 'conflict':
      return { pk: eventPartition(ref.event), sk: conflictSort(ref.n) };
    case 'destination':
      return { pk: destinationPartition(ref.destination), sk: CONFIG_SORT };
    case 'gate':
      return { pk: destinationPartition(ref.destination), sk: GATE_SORT };
    case 'slot':
      return { pk: destinationPartition(ref.destination), sk: slotSort(ref.n) };
    case 'secret':
      return { pk: secretPartition(ref.destination), sk: SECRET_SORT };
    case 'decision':
      return { pk: decisionPartition(ref.cause), sk: DECISION_SORT };
    case 'operation':
      return { pk: operationPartition(ref.operation), sk: PLAN_SORT };
    case 'operation-message':
      return { pk: operationPartition(ref.operation), sk: messageSort(ref.position) };
    case 'token':
      return { pk: tokenPartition(ref.hash), sk: TOKEN_SORT };
    case 'token-register':
      return { pk: TOKEN_REGISTER_PARTITION, sk: TOKEN_REGISTER_SORT };
    case 'notice-register':
      return { pk: NOTICE_REGISTER_PARTITION, sk: NOTICE_REGISTER_SORT };
    case 'poison':
      return { pk: poisonPartition(ref.id), sk: POISON_SORT };
    case 'poison-minute':
      return { pk: poisonMinutePartition(ref.minute), sk: POISON_MINUTE_SORT };
    case 'heartbeat':
      return { pk: heartbeatPartition(ref.shard), sk: HEARTBEAT_SORT };
  }
};

/** An item names itself. */
export const refOf = (item: Item): Ref => {
  switch (item.item) {
    case 'event':
      return { item: item.item, event: item.event };
    case 'delivery':
      return { item: item.item, event: item.event, destination: item.destination };
    case 'conflict':
      return { item: item.item, event: item.event, n: item.n };
    case 'destination':
    case 'gate':
    case 'secret':
      return { item: item.item, destination: item.destination };
    case 'slot':
      return { item: item.item, destination: item.destination, n: item.n };
    case 'decision':
      return { item: item.item, cause: causeOf('actor', item.request) };
    case 'operation':
      return { item: item.item, operation: item.operation };
    case 'operation-message':
      return { item: item.item, operation: item.operation, position: item.position };
    case 'token':
      return { item: item.item, hash: item.hash };
    case 'token-register':
    case 'notice-register':
      return { item: item.item };
    case 'poison':
      return { item: item.item, id: item.id };
    case 'poison-minute':
      return { item: item.item, minute: item.minute };
    case 'heartbeat':
      return { item: item.item, shard: item.shard };
  }
};

/** What stands under these keys, or undefined where no item of this code's can stand. */
export const refOfKeys = (key: ItemKey): Ref | undefined => {
  const ref = readKeys(key);
  // The texts are made in one place only; a reading that does not lead back to them is no reading.
  if (ref === undefined) return undefined;
  const made = keyOf(ref);
  return made.pk === key.pk && made.sk === key.sk ? ref : undefined;
};

const readKeys = ({ pk, sk }: ItemKey): Ref | undefined => {
  const [kind, name] = cut(pk);
  switch (kind) {
    case 'event':
      return ofEvent(name, sk);
    case 'destination':
    case 'secret':
      return ofDestination(name, sk);
    case 'decision':
      return isActorCause(name) ? { item: kind, cause: name } : undefined;
    case 'operation':
      return ofOperation(name, sk);
    case 'token':
      return sk === TOKEN_REGISTER_SORT ? { item: 'token-register' } : { item: kind, hash: name };
    case 'poison':
      return { item: kind, id: name };
    case 'poison-minute':
      return isWhole(name) ? { item: kind, minute: Number(name) } : undefined;
    case 'heartbeat':
      return isWhole(name) ? { item: kind, shard: Number(name) } : undefined;
    default:
      return undefined;
  }
};

const ofEvent = (name: string, sk: string): Ref | undefined => {
  const event = parseEventId(name);
  if (event.kind === 'bad') return undefined;
  if (sk === EVENT_SORT) return { item: 'event', event: event.id };
  const [kind, rest] = cut(sk);
  if (kind === 'conflict') return isWhole(rest) ? { item: kind, event: event.id, n: Number(rest) } : undefined;
  const destination = parseDestinationId(rest);
  if (kind !== 'delivery' || destination.kind === 'bad') return undefined;
  return { item: kind, event: event.id, destination: destination.id };
};

const ofDestination = (name: string, sk: string): Ref | undefined => {
  if (sk === NOTICE_REGISTER_SORT) return { item: 'notice-register' };
  const destination = parseDestinationId(name);
  if (destination.kind === 'bad') return undefined;
  if (sk === CONFIG_SORT) return { item: 'destination', destination: destination.id };
  if (sk === GATE_SORT || sk === SECRET_SORT) return { item: sk, destination: destination.id };
  const [kind, n] = cut(sk);
  return kind === 'slot' && isWhole(n) ? { item: kind, destination: destination.id, n: Number(n) } : undefined;
};

const ofOperation = (operation: string, sk: string): Ref | undefined => {
  if (sk === PLAN_SORT) return { item: 'operation', operation };
  const [kind, text] = cut(sk);
  const position = Number(text);
  if (kind !== 'message' || !isWhole(text) || position > POSITION_MAX) return undefined;
  return { item: 'operation-message', operation, position };
};

const isWhole = (text: string): boolean => /^\d{1,15}$/.test(text);

/** `kind#rest`: the kind of a key text holds no `#`, and the rest may hold any. */
const cut = (text: string): readonly [kind: string, rest: string] => {
  const at = text.indexOf('#');
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};
