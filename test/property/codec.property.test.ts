import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromItem, toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { keyOf, refOf, refOfKeys } from '../../functions/adapters/ledger/codec/item-keys.ts';
import type { Stored } from '../../functions/adapters/ledger/codec/stored.ts';
import { LedgerCorrupt } from '../../functions/ports.ts';
import { anyItem, attributeValue } from '../support/any-item.ts';
import { eventItem } from '../support/rows.ts';

describe('the codec of the ledger', () => {
  it('brings any item back exactly as it was, with what it carries', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        expect(fromItem(toItem(item))).toStrictEqual({ kind: 'found', item });
      }),
    );
  });

  it('writes the same record again from what it has read', () => {
    fc.assert(
      fc.property(anyItem, (item) => {
        const back = fromItem(toItem(item));
        expect(back.kind === 'found' && toItem(back.item)).toStrictEqual(toItem(item));
      }),
    );
  });

  it('shares no bytes with the item or the record', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 8 }), (payload) => {
        const kept = [...payload];
        const record = toItem(eventItem({ payload, carried: { z: { L: [{ B: payload }] } } }));
        payload.fill(payload.every((byte) => byte === 0) ? 1 : 0);
        const back = fromItem(record);
        if (back.kind !== 'found' || back.item.item !== 'event') throw new Error('it is not there');
        expect([...back.item.payload]).toStrictEqual(kept);
        expect(back.item.carried).toStrictEqual({ z: { L: [{ B: new Uint8Array(kept) }] } });
      }),
    );
  });

  it('gives any two different items different keys, and reads each back from its own', () => {
    fc.assert(
      fc.property(anyItem, anyItem, (one, two) => {
        const [first, second] = [refOf(one), refOf(two)];
        const sameRef = JSON.stringify(first) === JSON.stringify(second);
        expect(JSON.stringify(keyOf(first)) === JSON.stringify(keyOf(second))).toBe(sameRef);
        expect(refOfKeys(keyOf(first))).toStrictEqual(first);
      }),
    );
  });

  it('never does anything with a spoiled record but refuse it, or read what is still sound', () => {
    const spoiled = fc.tuple(anyItem, fc.nat(), attributeValue).map(([item, at, value]): Stored => {
      const record = toItem(item);
      const names = Object.keys(record);
      return { ...record, [names[at % names.length] ?? 'v']: value };
    });
    fc.assert(
      fc.property(spoiled, (record) => {
        try {
          const read = fromItem(record);
          // What is read of a spoiled record can be written, and read again.
          if (read.kind === 'found') expect(fromItem(toItem(read.item))).toStrictEqual(read);
        } catch (error) {
          expect(error).toBeInstanceOf(LedgerCorrupt);
        }
      }),
    );
  });
});
