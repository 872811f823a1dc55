import type { AttributeValue } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { fromItem, toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { INDEXES } from '../../functions/adapters/ledger/schema.ts';
import type { Item } from '../../functions/core/items.ts';
import type { Delivery } from '../../functions/core/model.ts';
import { LedgerCorrupt } from '../../functions/ports.ts';
import { oneOfEach } from '../support/one-of-each.ts';
import {
  cancelledRow,
  claimedRow,
  decisionItem,
  deliveredRow,
  destinationItem,
  eventItem,
  gateItem,
  heartbeatItem,
  operationItem,
  operationMessageItem,
  pendingRow,
  quarantinedRow,
  sha256Of,
  slotItem,
  T0_MS,
} from '../support/rows.ts';

const without = (record: Stored, name: string): Stored => {
  const { [name]: _gone, ...rest } = record;
  return rest;
};

/** One half of a pair, or one of the queue's five numbers, is missed; what stands for itself alone is not. */
const OPTIONAL: { readonly [kind in Item['item']]?: readonly string[] } = {
  event: ['typ', 'delMs', 'tp', 'rep'],
  delivery: ['keyMs', 'senMs', 'defLn'],
  destination: ['rate', 'conc', 'ntc', 'delMs'],
  gate: ['prbMs', 'cloMs', 'sinMs', 'crwMs', 'resN', 'req', 'wid'],
  slot: ['cid'],
  secret: ['endMs', 'req'],
  token: ['revMs'],
  poison: ['mid'],
  heartbeat: ['qOldMs'],
  decision: ['chg', 'ev', 'dst', 'op', 'tok', 'evi', 'res'],
  operation: ['dst', 'rsn', 'stWhy', 'staMs', 'endMs', 'short', 'turnMs', 'progMs', 'ded0', 'ded1'],
  'operation-message': [
    'mid',
    'pfnd',
    'ev',
    'dst',
    'cls',
    'sta',
    'durMs',
    'att',
    'chsMs',
    'batch',
    'act',
    'doneMs',
    'res',
    'resAtt',
    'judMs',
  ],
};

describe('a record that our writer could not have made', () => {
  it('is refused with any one attribute missing, save those that are optional', () => {
    const indexed = new Set<string>(
      Object.values(INDEXES).flatMap(({ partition, sort }) => [partition.name, sort.name]),
    );
    indexed.delete('lookMs');
    indexed.delete('bornMs');
    for (const item of oneOfEach()) {
      const record = toItem(item);
      for (const name of Object.keys(record)) {
        const read = () => fromItem(without(record, name));
        if (OPTIONAL[item.item]?.includes(name) || name.startsWith('n-') || indexed.has(name))
          expect(read().kind).toBe('found');
        else expect(read, `${item.item} without ${name}`).toThrow(LedgerCorrupt);
      }
    }
  });

  it('is refused with a set where something else belongs, above all where nothing need stand: a set is not nothing', () => {
    for (const item of oneOfEach()) {
      const record = toItem(item);
      for (const name of Object.keys(record)) {
        if (['dp', 'ap', 'as', 'rp'].includes(name)) continue;
        const spoiled = { ...record, [name]: { SS: ['a'] } };
        expect(() => fromItem(spoiled), `${item.item} ${name}`).toThrow(LedgerCorrupt);
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
    ['a line without a slot in it', pendingRow(), { defLn: { N: '3' } }],
    ['waits without a count', pendingRow(), { waiMs: { N: '1' }, waiWhy: { S: 'rate' } }],
    ['an excerpt without its attempt', pendingRow(), { x1: { S: 'text' } }],
    ['a deferral for a reason of parkings', pendingRow(), { defMs: { N: '1' }, defWhy: { S: 'paused' } }],
    ['a quarantine for a reason of nobody', quarantinedRow(), { why: { S: 'bored' } }],
  ])('is refused in its parts: %s', (_name, row, change) => {
    expect(fromItem(toItem(row)).kind).toBe('found');
    expect(() => fromItem({ ...toItem(row), ...change })).toThrow(LedgerCorrupt);
  });

  it.each<readonly [string, Item, Stored]>([
    ['a gate with a probe and no pause', gateItem(), { prbMs: { N: '1' } }],
    ['a gate with failures since nobody knows when', gateItem(), { flN: { N: '1' } }],
    ['a gate that names a request of no such form', gateItem(), { req: { L: [{ S: 'a b' }] } }],
    ['a slot held by no claim of ours', slotItem(), { cid: { S: 'not a claim id' } }],
    ['a decision to do what nobody can', decisionItem(), { cmd: { S: 'forget' } }],
    ['a decision about an event of no such name', decisionItem(), { ev: { S: '' } }],
    ['an operation over no source of ours', operationItem(), { src: { S: 'everything' } }],
    ['an operation in a state of nobody', operationItem(), { st: { S: 'paused' } }],
    ['an operation with half a finding', operationItem(), { 'n-drop': { N: '0.5' } }],
    ['an operation that stops at less than nothing', operationItem(), { stop: { N: '-0.1' } }],
    ['a message with a finding of nobody', operationMessageItem(), { fnd: { S: 'lost' } }],
    ['a message with a result of nobody', operationMessageItem(), { res: { S: 'perhaps' } }],
    ['a heartbeat with half of the statistics', heartbeatItem(), { qDead: { N: '1' } }],
  ])('is refused in its parts: %s', (_name, item, change) => {
    expect(fromItem(toItem(item)).kind).toBe('found');
    expect(() => fromItem({ ...toItem(item), ...change })).toThrow(LedgerCorrupt);
  });

  it('is not one whose operation has made a finding that only newer code makes: it is carried along', () => {
    const record = { ...toItem(operationItem()), 'n-too-old': { N: '3' } };
    const back = fromItem(record);
    if (back.kind !== 'found') throw new Error('it is not there');
    expect(back.item).toMatchObject({ found: { redrive: 2, drop: 1 }, carried: { 'n-too-old': { N: '3' } } });
    expect(toItem(back.item)).toStrictEqual(record);
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
    ['a slot time in fractions', slotItem({ leaseEndsAtMs: T0_MS + 1 / 3 })],
    ['a decision without a hash of what was asked', decisionItem({ fingerprint: 'pause partner' })],
    ['an estimate in fractions', operationItem({ estimateMs: 1_000 / 3 })],
    ['a finding made half a time', operationItem({ found: { drop: 0.5 } })],
  ])('%s', (_name, item) => {
    expect(() => toItem(item)).toThrow();
  });
});
