import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { fromItem, keyIn, toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { keyOf, refOf, refOfKeys } from '../../functions/adapters/ledger/codec/item-keys.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { INDEXES, TTL_ATTRIBUTE } from '../../functions/adapters/ledger/schema.ts';
import { deliveryOf, eventOf } from '../../functions/core/acceptance.ts';
import type { Item } from '../../functions/core/items.ts';
import { verifyChain } from '../../functions/core/journal.ts';
import { DELIVERY_ITEM_BYTES_MAX, DYNAMO_ITEM_BYTES_MAX, PAYLOAD_BYTES_MAX } from '../../functions/core/limits.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { LedgerCorrupt } from '../../functions/ports.ts';
import { itemBytes } from '../support/item-bytes.ts';
import { claimInput, moved, settleInput } from '../support/moves.ts';
import {
  cancelledRow,
  claimedRow,
  claimIdOf,
  deliveredRow,
  destinationIdOf,
  destinationItem,
  eventIdOf,
  eventItem,
  fullRow,
  gateItem,
  oneOfEach,
  parkedRow,
  pendingRow,
  poisonItem,
  quarantinedRow,
  sha256Of,
  T0_MS,
  writeIdOf,
} from '../support/rows.ts';

const found = (item: Item) => ({ kind: 'found', item });
const without = (record: Stored, name: string): Stored => {
  const { [name]: _gone, ...rest } = record;
  return rest;
};

describe('an item in the table', () => {
  it.each(oneOfEach().map((item) => [`${item.item} ${'status' in item ? item.status : ''}`, item] as const))(
    'comes back as it was: %s',
    (_name, item) => {
      expect(fromItem(toItem(item))).toStrictEqual(found(item));
    },
  );

  it('names its key, from which its reference can be read back', () => {
    for (const item of oneOfEach()) {
      expect(keyIn(toItem(item))).toStrictEqual(keyOf(refOf(item)));
      expect(refOfKeys(keyOf(refOf(item)))).toStrictEqual(refOf(item));
    }
  });

  it.each([
    ['', ''],
    ['event#', 'event'],
    ['event#a', 'delivery#'],
    ['event#a', 'delivery'],
    ['event#a', 'later#x'],
    ['destination#a', 'pace'],
    ['secret#a', 'config'],
    ['destination#a', 'secret'],
    ['heartbeat#x', 'heartbeat'],
    ['heartbeat#01', 'heartbeat'],
    ['heartbeat#1', 'event'],
    ['decision#r', 'decision'],
  ])('has no reference where none of ours can stand: %j / %j', (pk, sk) => {
    expect(refOfKeys({ pk, sk })).toBeUndefined();
  });

  it('bears a format and a version, and no number but whole or given ones', () => {
    for (const item of oneOfEach()) {
      expect(toItem(item)).toMatchObject({ f: { N: '1' }, v: { N: String(item.version) } });
    }
  });

  it('has one unit for every time, in its name: Ms for milliseconds, Sec for the table alone (C005)', () => {
    for (const item of oneOfEach()) {
      for (const [name, value] of Object.entries(toItem(item))) {
        const number = Number(value.N ?? 0);
        if (number > 100_000_000_000) expect(name).toMatch(/^[a-z]+Ms$/);
        else if (number > 1_000_000_000) expect(name).toBe(TTL_ATTRIBUTE);
      }
    }
  });

  it('holds hashes and heads as bytes, and the lines of a journal as the exact texts', () => {
    const row = deliveredRow();
    const record = toItem(row);
    expect(record['ph']).toStrictEqual({ B: new Uint8Array(Buffer.from(row.payloadHash, 'base64url')) });
    expect(record['jh']?.B).toHaveLength(32);
    expect(record['j']).toStrictEqual({ L: row.journal.lines.map(({ text }) => ({ S: text })) });
  });

  it('keeps the journal under its chain, which is bound to the hash of the payload (C113)', () => {
    const back = fromItem(toItem(deliveredRow()));
    if (back.kind !== 'found' || back.item.item !== 'delivery') throw new Error('it is not there');
    const { journal, payloadHash } = back.item;
    expect(verifyChain(back.item, payloadHash, journal)).toBe(true);
    expect(verifyChain(back.item, sha256Of('other bytes'), journal)).toBe(false);
  });

  it('keeps a line to which newer code has added something, byte for byte', () => {
    const row = pendingRow();
    const [line] = row.journal.lines;
    const text = `${line?.text.slice(0, -1)},"z":"new"}`;
    const record = { ...toItem(row), j: { L: [{ S: text }] } };
    const back = fromItem(record);
    if (back.kind !== 'found' || back.item.item !== 'delivery') throw new Error('it is not there');
    expect(back.item.journal.lines).toStrictEqual([{ text, entry: line?.entry }]);
    expect(toItem(back.item)['j']).toStrictEqual(record.j);
  });
});

describe('a record that our writer could not have made', () => {
  it('is refused with any one attribute missing, save those that are optional', () => {
    const optional = new Set([
      'typ',
      'delMs',
      'tp',
      'rate',
      'conc',
      'cloMs',
      'sinMs',
      'revMs',
      'mid',
      'keyMs',
      'senMs',
    ]);
    const indexed = new Set<string>(
      Object.values(INDEXES).flatMap(({ partition, sort }) => [partition.name, sort.name]),
    );
    indexed.delete('lookMs');
    indexed.delete('bornMs');
    for (const item of oneOfEach()) {
      const record = toItem(item);
      for (const name of Object.keys(record)) {
        const read = () => fromItem(without(record, name));
        if (optional.has(name) || indexed.has(name)) expect(read().kind).toBe('found');
        else expect(read, `${item.item} without ${name}`).toThrow(LedgerCorrupt);
      }
    }
  });

  it('is refused with any attribute of another type', () => {
    const others: readonly AttributeValue[] = [
      { S: 'x' },
      { N: '-1' },
      { N: '1.5e300' },
      { BOOL: false },
      { SS: ['a'] },
      { L: [{ L: [] }] },
      { B: new Uint8Array(3) },
    ];
    const free = new Set(['jh', 'ph', 'fp']);
    for (const item of oneOfEach()) {
      const record = toItem(item);
      for (const name of [
        'v',
        'f',
        'st',
        'j',
        'jh',
        'ph',
        'fp',
        'leaMs',
        'cid',
        'lookMs',
        'endMs',
        'dst',
        'bornMs',
        'seenMs',
      ]) {
        const value = record[name];
        if (value === undefined) continue;
        for (const other of others) {
          const sameType = Object.keys(other)[0] === Object.keys(value)[0];
          if (sameType && !free.has(name) && other.N === undefined && name !== 'st') continue;
          expect(() => fromItem({ ...record, [name]: other }), `${item.item} ${name} ${JSON.stringify(other)}`).toThrow(
            LedgerCorrupt,
          );
        }
      }
    }
  });

  it.each<readonly [string, Delivery, Stored]>([
    ['a delivered row with a claim', deliveredRow(), { cid: { S: 'claim-1' } }],
    ['a pending row with a lease', pendingRow(), { leaMs: { N: '1' } }],
    ['a cancelled row that looks like one in the queue', cancelledRow(), { lookMs: { N: '1' } }],
    ['a parking without its reason', pendingRow(), { parMs: { N: '1' } }],
    ['a deferral without its time', pendingRow(), { defWhy: { S: 'rate' } }],
    ['waits without a count', pendingRow(), { waiMs: { N: '1' }, waiWhy: { S: 'rate' } }],
    ['an excerpt without its attempt', pendingRow(), { x1: { S: 'text' } }],
    ['a deferral for a reason of parkings', pendingRow(), { defMs: { N: '1' }, defWhy: { S: 'paused' } }],
    ['a quarantine for a reason of nobody', quarantinedRow(), { why: { S: 'bored' } }],
  ])('is refused in its parts: %s', (_name, row, change) => {
    expect(fromItem(toItem(row)).kind).toBe('found');
    expect(() => fromItem({ ...toItem(row), ...change })).toThrow(LedgerCorrupt);
  });

  it('is named by its key and by what is wrong with it, and no value is told', () => {
    const record = { ...toItem(claimedRow()), cid: { S: 'not a claim id: hush' } };
    const said = (() => {
      try {
        return String(fromItem(record));
      } catch (error) {
        return String(error);
      }
    })();
    expect(said).toBe(`LedgerCorrupt: the ledger's item "event#order-17" / "delivery#partner" is broken: cid: custom`);
  });

  it('is refused under a key of nobody', () => {
    expect(() => fromItem({ ...toItem(gateItem()), sk: { S: 'pace' } })).toThrow(LedgerCorrupt);
  });
});

describe('what cannot be read is not written', () => {
  it.each<readonly [string, Item]>([
    ['a time in fractions', pendingRow({ lookAfterMs: 1.5 })],
    ['a time that is no number', claimedRow({ lookAfterMs: Number.NaN })],
    ['a time before 1970', claimedRow({ claim: { ...claimedRow().claim, leaseEndsAtMs: -1 } })],
    ['a count that no double holds', pendingRow({ budget: 2 ** 53 })],
    ['a hash that is none', pendingRow({ payloadHash: sha256Of('x').slice(1) })],
    ['a hash with bits to spare', eventItem({ fingerprint: `${sha256Of('x').slice(0, -1)}_` })],
    ['an attribute as if it were carried', pendingRow({ carried: { st: { S: 'delivered' } } })],
    ['a carried value that is none of the store', pendingRow({ carried: { mine: 'text' } })],
    ['a rate without end', destinationItem({ ratePerSecond: Number.POSITIVE_INFINITY })],
  ])('%s', (_name, item) => {
    expect(() => toItem(item)).toThrow();
  });
});

describe('the place of an item in the indexes', () => {
  const entries = (item: Item) => {
    const record = toItem(item);
    const names = Object.values(INDEXES).filter(({ partition, sort }) => record[partition.name] && record[sort.name]);
    return names.map(({ name }) => name);
  };

  it.each<readonly [string, readonly string[], Item]>([
    ['pending', ['due', 'recent'], pendingRow()],
    ['parked', ['due', 'attention', 'recent'], parkedRow()],
    ['claimed', ['due', 'recent'], claimedRow()],
    ['delivered', ['recent'], deliveredRow()],
    ['cancelled', ['recent'], cancelledRow()],
    ['quarantined', ['attention', 'recent'], quarantinedRow()],
    ['a destination', ['recent'], destinationItem()],
    ['poison', ['attention'], poisonItem()],
    ['an event', [], eventItem()],
    ['a gate', [], gateItem()],
  ])('%s: %j', (_name, indexes, item) => {
    expect(entries(item)).toStrictEqual(indexes);
  });

  it('comes from the item alone: what was stored there is neither read nor kept', () => {
    const record = {
      ...toItem(deliveredRow()),
      dp: { S: 'due#0' },
      ap: { S: 'x' },
      as: { S: 'y' },
      rp: { S: 'wrong' },
    };
    const back = fromItem(record);
    expect(back).toStrictEqual(found(deliveredRow()));
    expect(back.kind === 'found' && toItem(back.item)).toStrictEqual(toItem(deliveredRow()));
  });

  it('among the recent ones never moves: each write would cost two units', () => {
    const accepted = pendingRow();
    const claimed = moved(accepted, claimInput(), T0_MS + 86_400_000);
    const settled = moved(claimed, settleInput(), T0_MS + 86_400_500);
    const place = ({ rp, bornMs }: Stored) => [rp, bornMs];
    expect(place(toItem(claimed))).toStrictEqual(place(toItem(accepted)));
    expect(place(toItem(settled))).toStrictEqual(place(toItem(accepted)));
  });
});

describe('the size of an item', () => {
  /** Ids as long as the cost of a delivery is stated for, and causes as long as a queue's and an API's own ids make them. */
  const typical = (): Delivery => {
    const event = eventOf(
      {
        event: eventIdOf('e'.repeat(40)),
        payload: new Uint8Array(512),
        contentType: 'application/json',
        fingerprint: sha256Of('f'),
        destinations: [destinationIdOf('d'.repeat(16))],
      },
      'api',
      T0_MS,
      undefined,
    );
    const config = destinationItem({ destination: destinationIdOf('d'.repeat(16)) });
    return deliveryOf(event, config, writeIdOf('w'.repeat(11)), `i:${'r'.repeat(36)}`, T0_MS);
  };
  const recorded = { writeId: writeIdOf('w'.repeat(11)), cause: `p:${'m'.repeat(36)}` };
  const claim = { ...recorded, claimId: claimIdOf('c'.repeat(11)), holder: 'h'.repeat(36) };

  it('stays within one write unit through a first attempt that succeeds', () => {
    const pending = typical();
    const claimed = moved(pending, claimInput(claim), T0_MS + 1_500);
    const settled = moved(claimed, settleInput({ ...recorded, claimId: claim.claimId }), T0_MS + 21_500);
    const sizes = [pending, claimed, settled].map((row) => itemBytes(toItem(row)));
    expect(Math.max(...sizes), `bytes as pending, claimed, delivered: ${sizes.join(', ')}`).toBeLessThan(900);
  });

  it('stays under its bound with the longest ids, a full journal and full excerpts (C063)', () => {
    expect(itemBytes(toItem(fullRow()))).toBeLessThan(DELIVERY_ITEM_BYTES_MAX);
  });

  it('of an event with the largest payload and the longest names is stored with room to spare', () => {
    const destinations = Array.from({ length: 10 }, (_, n) => destinationIdOf(`${n}`.repeat(256)));
    const event = eventItem({
      event: eventIdOf('e'.repeat(256)),
      payload: new Uint8Array(PAYLOAD_BYTES_MAX),
      destinations,
    });
    expect(itemBytes(toItem(event))).toBeLessThan(DYNAMO_ITEM_BYTES_MAX - 64 * 1_024);
  });
});
