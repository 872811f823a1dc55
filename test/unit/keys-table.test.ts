import { describe, expect, it } from 'vitest';
import { type DestinationId, type EventId, parseDestinationId, parseEventId } from '../../functions/core/ids.ts';
import { INSTANT_MS_MAX } from '../../functions/core/instant.ts';
import * as keys from '../../functions/core/keys.ts';
import { ID_BYTES_MAX } from '../../functions/core/limits.ts';

const event = (text: string): EventId => {
  const result = parseEventId(text);
  if (result.kind === 'bad') throw new Error(`${text} ${result.reason}`);
  return result.id;
};
const destination = (text: string): DestinationId => {
  const result = parseDestinationId(text);
  if (result.kind === 'bad') throw new Error(`${text} ${result.reason}`);
  return result.id;
};
const PARTNER = destination('partner');

const LONGEST = '\u{1F4E6}'.repeat(ID_BYTES_MAX / 4);
const HASH = 'h'.repeat(43);
const partitionsOf = (id: string): readonly string[] => [
  keys.eventPartition(event(id)),
  keys.destinationPartition(destination(id)),
  keys.secretPartition(destination(id)),
  keys.operationPartition(id),
  keys.tokenPartition(id),
  keys.poisonPartition(keys.poisonName(id, HASH)),
  keys.recentPartition(destination(id), '2026-11-29', 3),
];
const fixedPartitions: readonly string[] = [
  keys.NOTICE_REGISTER_PARTITION,
  keys.poisonMinutePartition(3),
  keys.heartbeatPartition(3),
  keys.duePartition(3),
  keys.attentionPartition('quarantined', 3),
  keys.attentionPartition('parked', 3),
  keys.attentionPartition('poison', 3),
  keys.recentListPartition('destinations'),
  keys.recentListPartition('operations'),
  keys.recentListPartition('decisions'),
];
const sortsOf = (id: string): readonly string[] => [
  keys.EVENT_SORT,
  keys.deliverySort(destination(id)),
  keys.conflictSort(9),
  keys.NOTICE_REGISTER_SORT,
  keys.CONFIG_SORT,
  keys.GATE_SORT,
  keys.PACE_SORT,
  keys.slotSort(1),
  keys.PLAN_SORT,
  keys.messageSort(keys.POSITION_MAX),
  keys.SECRET_SORT,
  keys.DECISION_SORT,
  keys.HEARTBEAT_SORT,
  keys.TOKEN_SORT,
  keys.POISON_SORT,
  keys.POISON_MINUTE_SORT,
  keys.attentionSort(destination(id), INSTANT_MS_MAX),
  keys.timeSort(INSTANT_MS_MAX),
];

describe('keys of the table', () => {
  it('keep below the limits of DynamoDB at the longest ids', () => {
    expect(Buffer.byteLength(LONGEST)).toBe(ID_BYTES_MAX);
    const decision = keys.decisionPartition('x'.repeat(128));
    for (const key of [...partitionsOf(LONGEST), ...fixedPartitions, decision]) {
      expect(Buffer.byteLength(key)).toBeLessThanOrEqual(2_048);
    }
    for (const key of sortsOf(LONGEST)) expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1_024);
  });

  it('an event that is named like another item does not meet it', () => {
    const plain = new Set([...partitionsOf('x'), ...fixedPartitions, keys.decisionPartition('x')]);
    const size = plain.size;
    expect(size).toBe(partitionsOf('x').length + fixedPartitions.length + 1);
    for (const name of [...plain, 'destination#x', 'heartbeat#3', 'event#x', 'recent#destinations']) {
      expect(plain.has(keys.eventPartition(event(name)))).toBe(false);
      // The twin: the bare id as partition would be that other item's partition.
      expect(plain.has(event(name))).toBe(true);
    }
  });

  it('a delivery is found again from its keys, and nothing else is taken for one', () => {
    const at = (eventId: string, destinationId: string) =>
      keys.deliveryOfKeys(keys.eventPartition(event(eventId)), keys.deliverySort(destination(destinationId)));
    expect(at('a#b', 'c')).toEqual({ event: 'a#b', destination: 'c' });
    expect(at('a', 'b#c')).toEqual({ event: 'a', destination: 'b#c' });
    expect(keys.deliveryOfKeys('event#a', 'event')).toBeUndefined();
    expect(keys.deliveryOfKeys('event#a', 'conflict#x')).toBeUndefined();
    expect(keys.deliveryOfKeys('destination#a', 'delivery#b')).toBeUndefined();
    expect(keys.deliveryOfKeys('event#', 'delivery#b')).toBeUndefined();
    expect(keys.deliveryOfKeys('event#a', 'delivery#')).toBeUndefined();
    expect(keys.deliveryOfKeys('event#a', `delivery#${'x'.repeat(257)}`)).toBeUndefined();
  });

  it('a poison message is filed under its id where that is one, else under the hash of its body', () => {
    expect(keys.poisonName('msg_1', HASH)).toBe('message:msg_1');
    for (const id of [undefined, null, 7, '', 'x'.repeat(257), 'a\nb'])
      expect(keys.poisonName(id, HASH)).toBe(`body:${HASH}`);
    expect(keys.poisonName(`body:${HASH}`, 'other')).not.toBe(keys.poisonName(undefined, HASH));
  });

  it('numbers in keys are whole and from 0', () => {
    for (const bad of [-1, 1.5, Number.NaN]) {
      const makers = [
        keys.duePartition,
        keys.heartbeatPartition,
        keys.poisonMinutePartition,
        keys.slotSort,
        keys.messageSort,
      ];
      for (const make of makers) {
        expect(() => make(bad)).toThrow(RangeError);
      }
    }
    expect(() => keys.recentPartition(PARTNER, '29.11.2026', 0)).toThrow(RangeError);
  });
});

describe('the items of one destination', () => {
  it('stand in this order: settings and gate in one reach, the slots in another, the pace in neither', () => {
    const slots = [0, 1, 9, 10, 99, 1_000, Number.MAX_SAFE_INTEGER].map(keys.slotSort);
    const order = [keys.CONFIG_SORT, keys.GATE_SORT, keys.PACE_SORT, ...slots];
    const within = ([first, last]: readonly [string, string]) => order.filter((sort) => first <= sort && sort <= last);
    expect(within([keys.CONFIG_SORT, keys.GATE_SORT])).toEqual([keys.CONFIG_SORT, keys.GATE_SORT]);
    expect(within(keys.SLOT_SORTS)).toEqual(slots);
    expect(new Set(order).size).toBe(order.length);
  });
});

describe('the items of one operation', () => {
  it('are its plan, and its messages in the order of their places', () => {
    const places = [0, 1, 9, 10, 99, 100, 12_345, keys.POSITION_MAX];
    const sorts = places.map(keys.messageSort);
    expect([...sorts].sort()).toEqual(sorts);
    expect(sorts).not.toContain(keys.PLAN_SORT);
    // The twin: plain numbers as text are out of order.
    expect(places.map((place) => `message#${place}`).toSorted()).not.toEqual(places.map((place) => `message#${place}`));
  });

  it('are never more than their keys can number', () => {
    expect(() => keys.messageSort(keys.POSITION_MAX + 1)).toThrow(RangeError);
  });
});

describe('sort texts of the indexes', () => {
  it('are in the order of time, also where the number of digits grows', () => {
    const times = [0, 9, 10, 999_999_999_999, 1_000_000_000_000, 1_764_417_600_000, 9_999_999_999_999, INSTANT_MS_MAX];
    const texts = times.map(keys.timeSort);
    expect([...texts].sort()).toEqual(texts);
    expect(new Set(texts.map((text) => text.length))).toEqual(new Set([15]));
    // The twin: plain numbers as text are out of order.
    const plain = times.map(String);
    expect([...plain].sort()).not.toEqual(plain);
  });

  it('refuse what is no instant', () => {
    for (const atMs of [-1, 0.5, INSTANT_MS_MAX + 1]) expect(() => keys.timeSort(atMs)).toThrow(RangeError);
  });

  it('of one destination begin with its prefix, and those of no other destination do', () => {
    const ids = ['a', 'ab', 'a#', '1', '1:a', '1:a,', 'a,0', '11:a', '\u{1F4E6}', 'b'].map(destination);
    for (const mine of ids) {
      for (const other of ids) {
        const begins = keys.attentionSort(other, 1_764_417_600_000).startsWith(keys.attentionPrefix(mine));
        expect([mine, other, begins]).toEqual([mine, other, mine === other]);
      }
    }
    // The twin: a bare id as prefix finds a longer name, too.
    expect('ab#001764417600000'.startsWith('a')).toBe(true);
  });

  it('of one destination are in the order of time', () => {
    const texts = [5, 50, 1_764_417_600_000].map((atMs) => keys.attentionSort(PARTNER, atMs));
    expect([...texts].sort()).toEqual(texts);
  });
});
