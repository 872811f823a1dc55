import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  type DestinationId,
  type EventId,
  parseDestinationId,
  parseEventId,
  parseRequestId,
} from '../../functions/core/ids.ts';
import { INSTANT_MS_MAX } from '../../functions/core/instant.ts';
import * as keys from '../../functions/core/keys.ts';
import { DUE_SHARDS, ID_BYTES_MAX } from '../../functions/core/limits.ts';

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
const request = (text: string) => {
  const result = parseRequestId(text);
  if (result.kind === 'bad') throw new Error(`${text} ${result.reason}`);
  return result.id;
};

const ORDER = event('order-17');
const PARTNER = destination('partner');
const sha = (text: string): string => createHash('sha256').update(text, 'utf8').digest('base64url');

describe('the text of a delivery', () => {
  it('shows both ids with their lengths', () => {
    expect(keys.deliveryKeyText(ORDER, PARTNER)).toBe('8:order-17,7:partner,');
    expect(keys.deliveryKeyText(event('\u{1F4E6}'), PARTNER)).toBe('2:\u{1F4E6},7:partner,');
  });

  it('reads back to the pair', () => {
    for (const pair of [ORDER, 'a,1:b', '1:a,', '\u{1F4E6}', ' ', 'e\u0301', 'x'.repeat(256)]) {
      const ref = { event: event(pair), destination: destination(`${pair}`) };
      expect(keys.parseDeliveryKeyText(keys.deliveryKeyText(ref.event, ref.destination))).toEqual(ref);
    }
  });

  it.each([
    '',
    '8:order-17,',
    '8:order-17,7:partner',
    '8:order-17,7:partner,1:x,',
    '08:order-17,7:partner,',
    '+8:order-17,7:partner,',
    '9:order-17,7:partner,',
    '7:order-17,7:partner,',
    '0:,7:partner,',
    '8:order-17,7:partner, ',
    '99999:order-17,7:partner,',
    'order-17#partner',
    '1:\u0000,7:partner,',
  ])('%j is none', (text) => {
    expect(keys.parseDeliveryKeyText(text)).toBeUndefined();
  });
});

describe('the outgoing key', () => {
  it('is 46 characters of ASCII without a dot', () => {
    for (const id of ['a', 'a.b', '\u{1F4E6}', 'x'.repeat(256)]) {
      expect(keys.outgoingKey(event(id), PARTNER)).toMatch(/^ow_[A-Za-z0-9_-]{43}$/);
    }
  });

  it('never changes: destinations remember it', () => {
    expect(keys.outgoingKey(ORDER, PARTNER)).toBe(`ow_${sha('8:outgoing,8:order-17,7:partner,')}`);
    expect(keys.outgoingKey(ORDER, PARTNER)).toBe('ow_k5tgE1byLcyoMidqyUQIgI5SpmuNaupHq4sWFRuP_7s');
  });

  it('is another one for another event or another destination', () => {
    const all = [
      keys.outgoingKey(ORDER, PARTNER),
      keys.outgoingKey(event('order-18'), PARTNER),
      keys.outgoingKey(ORDER, destination('partner2')),
      keys.outgoingKey(event('partner'), destination('order-17')),
      keys.outgoingKey(event('Order-17'), PARTNER),
    ];
    expect(new Set(all).size).toBe(all.length);
  });
});

describe('a publish key', () => {
  const plan = { event: ORDER, destination: PARTNER, version: 3 };

  it('is at most 64 characters of ASCII', () => {
    const longest = { event: event('\u{1F4E6}'.repeat(64)), destination: destination('x'.repeat(256)) };
    for (const key of [
      keys.publishKey({ ...longest, version: Number.MAX_SAFE_INTEGER, tick: Number.MAX_SAFE_INTEGER }),
      keys.publishKeyOf('sweep', 0, 29_407_200),
    ]) {
      expect(key).toMatch(/^op_[A-Za-z0-9_-]{43}$/);
      expect(key.length).toBeLessThanOrEqual(64);
    }
  });

  it('is the same for the same plan published again, and the same in every release', () => {
    expect(keys.publishKey(plan)).toBe(keys.publishKey({ ...plan }));
    expect(keys.publishKey(plan)).toBe(`op_${sha('7:publish,7:deliver,8:order-17,7:partner,1:3,')}`);
  });

  it('is another one for a later plan, for a sweep, and for its next tick', () => {
    const all = [
      keys.publishKey(plan),
      keys.publishKey({ ...plan, version: 4 }),
      keys.publishKey({ ...plan, tick: 0 }),
      keys.publishKey({ ...plan, tick: 3 }),
      keys.publishKey({ ...plan, version: 4, tick: 3 }),
      keys.publishKey({ ...plan, version: 33 }),
      keys.publishKey({ ...plan, destination: destination('partner1'), version: 3 }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it('of one kind is none of another kind, however the parts are cut', () => {
    const all = [
      keys.publishKeyOf('sweep', 1, 23),
      keys.publishKeyOf('sweep', 12, 3),
      keys.publishKeyOf('sweep', '1', '2', '3'),
      keys.publishKeyOf('sweep', '1,2', 3),
      keys.publishKeyOf('sweep', 1, 23, ''),
      keys.publishKeyOf('drain', 1, 23),
      keys.publishKeyOf('sweep1', 23),
      keys.publishKeyOf('sweep'),
      keys.publishKeyOf(''),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it('is a bug for a version that is no whole number', () => {
    for (const version of [-1, 0.5, Number.NaN, 2 ** 53]) {
      expect(() => keys.publishKey({ ...plan, version })).toThrow(RangeError);
    }
  });
});

describe('a shard', () => {
  it('is always the same for one delivery and lies in range', () => {
    const shard = keys.dueShard(ORDER, PARTNER, DUE_SHARDS);
    expect(keys.dueShard(ORDER, PARTNER, DUE_SHARDS)).toBe(shard);
    expect(shard).toBeGreaterThanOrEqual(0);
    expect(shard).toBeLessThan(DUE_SHARDS);
    expect(keys.dueShard(ORDER, PARTNER, 1)).toBe(0);
  });

  it('takes its fair share of many deliveries', () => {
    const counts = new Array<number>(DUE_SHARDS).fill(0);
    for (let n = 0; n < 4_000; n += 1) {
      const shard = keys.dueShard(event(`order-${n}`), PARTNER, DUE_SHARDS);
      counts[shard] = (counts[shard] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 4_000 / DUE_SHARDS)).toBeLessThan(150);
  });

  it('is a bug for a number of shards that is none', () => {
    for (const shards of [0, -1, 1.5, Number.NaN]) expect(() => keys.shardOf('x', shards)).toThrow(RangeError);
  });
});

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
  keys.conflictSort(HASH),
  keys.CONFIG_SORT,
  keys.GATE_SORT,
  keys.PACE_SORT,
  keys.slotSort(1),
  keys.PLAN_SORT,
  keys.messageSort(id),
  keys.attentionSort(destination(id), INSTANT_MS_MAX),
  keys.timeSort(INSTANT_MS_MAX),
];

describe('keys of the table', () => {
  it('keep below the limits of DynamoDB at the longest ids', () => {
    expect(Buffer.byteLength(LONGEST)).toBe(ID_BYTES_MAX);
    const decision = keys.decisionPartition(request('x'.repeat(128)));
    for (const key of [...partitionsOf(LONGEST), ...fixedPartitions, decision]) {
      expect(Buffer.byteLength(key)).toBeLessThanOrEqual(2_048);
    }
    for (const key of sortsOf(LONGEST)) expect(Buffer.byteLength(key)).toBeLessThanOrEqual(1_024);
  });

  it('an event that is named like another item does not meet it', () => {
    const plain = new Set([...partitionsOf('x'), ...fixedPartitions, keys.decisionPartition(request('x'))]);
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
      for (const make of [keys.duePartition, keys.heartbeatPartition, keys.slotSort]) {
        expect(() => make(bad)).toThrow(RangeError);
      }
    }
    expect(() => keys.recentPartition(PARTNER, '29.11.2026', 0)).toThrow(RangeError);
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
