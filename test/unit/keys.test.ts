import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type DestinationId, type EventId, parseDestinationId, parseEventId } from '../../functions/core/ids.ts';
import * as keys from '../../functions/core/keys.ts';
import { DUE_SHARDS } from '../../functions/core/limits.ts';

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
