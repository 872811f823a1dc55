/** The texts of a row, plain or packed: the same texts come back, and nothing else passes for them. */
import { deflateRawSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fromItem, toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { packed, type Texts, unpacked } from '../../functions/adapters/ledger/codec/packing.ts';
import { LedgerCorrupt } from '../../functions/ports.ts';
import { pendingRow } from '../support/rows.ts';

const LONG: Texts = { j: ['{"k":"a"}', 'x'.repeat(400)], x1: 'first', x2: 'latest' };

describe('the texts of a row', () => {
  it('come back as they were, whatever they hold', () => {
    const text = fc.string({ unit: 'binary', maxLength: 300 });
    const texts = fc.record({ j: fc.array(text, { maxLength: 8 }), x1: text, x2: text }, { requiredKeys: ['j'] });
    fc.assert(
      fc.property(texts, (one) => {
        expect(unpacked(packed(one))).toEqual(one);
      }),
    );
  });

  it('stand plainly while they are short, so that a person can read them in the table', () => {
    const short = { j: ['{"k":"a"}'], x1: 'no', x2: 'no' };
    expect(packed(short)).toStrictEqual(short);
    expect(packed(LONG)).toStrictEqual({ z: expect.any(Uint8Array) });
  });

  it('take little more for an excerpt that says the same again', () => {
    const excerpt = 'a page of a web server that is down, '.repeat(12);
    const sizeOf = (texts: Texts): number => {
      const stored = packed(texts);
      return 'z' in stored ? stored.z.length : Number.POSITIVE_INFINITY;
    };
    expect(sizeOf({ j: LONG.j, x1: excerpt, x2: excerpt }) - sizeOf({ j: LONG.j, x1: excerpt })).toBeLessThan(30);
  });
});

describe('a row', () => {
  const row = pendingRow();
  const plain = toItem(row);
  const json = (value: unknown) => ({ z: { B: deflateRawSync(JSON.stringify(value)) } });
  const { j: _j, ...bare } = plain;
  const lines = row.journal.lines.map(({ text }) => text);

  it('that newer code has packed, or that this code would have, is the same row', () => {
    expect(fromItem({ ...bare, ...json({ j: lines }) })).toStrictEqual({ kind: 'found', item: row });
  });

  const BROKEN = {
    'has both forms': { ...plain, ...json({ j: lines }) },
    'has none': bare,
    'has bytes that do not unpack': { ...bare, z: { B: new Uint8Array([7, 7, 7]) } },
    'has no JSON in them': { ...bare, z: { B: deflateRawSync('{') } },
    'has text in it that is no UTF-8': {
      ...bare,
      z: { B: deflateRawSync(Buffer.from(JSON.stringify({ j: lines, x1: '\xff' }), 'latin1')) },
      x1n: { N: '1' },
    },
    'begins with a mark that our writer does not write': {
      ...bare,
      z: { B: deflateRawSync(`\ufeff${JSON.stringify({ j: lines })}`) },
    },
    'has no lines in it': { ...bare, ...json({ x1: 'only' }) },
    'has a member that nobody knows': { ...bare, ...json({ j: lines, x3: 'new' }) },
    'has an excerpt beside it': { ...bare, ...json({ j: lines }), x1: { S: 'text' }, x1n: { N: '1' } },
    'has an excerpt in it and no attempt of it': { ...bare, ...json({ j: lines, x1: 'text' }) },
    'unpacks to more than a row can hold': { ...bare, ...json({ j: lines, x1: 'x'.repeat(1_000_000) }) },
  };

  it.each(Object.entries(BROKEN))('that %s is broken data', (_what, record) => {
    expect(() => fromItem(record)).toThrow(LedgerCorrupt);
  });
});
