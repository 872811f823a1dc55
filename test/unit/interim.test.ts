/** Interim answers are dropped, in whatever pieces they come; the final answer is left as it is, byte for byte. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { withoutInterim } from '../../functions/adapters/sender/interim.ts';

const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const INTERIM = [
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 100\r\n\r\n',
  'HTTP/1.0 100 Continue\r\nX: 1\r\n\r\n',
  'HTTP/1.1 102 Processing\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\nLink: </b>\r\n\r\n',
  'HTTP/1.1 199 x\r\n\r\n',
];

const through = (pieces: readonly string[], bytesMax = 1_000): string => {
  const strip = withoutInterim(bytesMax);
  return pieces.map((piece) => strip(Buffer.from(piece, 'latin1')).toString('latin1')).join('');
};

/** Cuts a text at these places. */
const cutAt = (text: string, places: readonly number[]): readonly string[] => {
  const ends = [...places.map((place) => place % (text.length + 1)), text.length].toSorted((a, b) => a - b);
  return ends.map((end, index) => text.slice(ends[index - 1] ?? 0, end));
};

describe('what comes before the final answer', () => {
  it('is dropped in any number, order and pieces', () => {
    const before = fc.array(fc.constantFrom(...INTERIM), { maxLength: 5 }).map((blocks) => blocks.join(''));
    fc.assert(
      fc.property(before, fc.array(fc.nat(), { maxLength: 12 }), (interim, places) => {
        expect(through(cutAt(interim + FINAL, places))).toBe(FINAL);
      }),
      { numRuns: 1_000 },
    );
  });

  it('is dropped byte by byte', () => {
    expect(through([...(INTERIM.join('') + FINAL)])).toBe(FINAL);
  });
});

describe('what is no interim answer', () => {
  it.each([
    ['a final answer', FINAL],
    ['one whose body looks like an interim answer', `HTTP/1.1 200 OK\r\n\r\n${INTERIM[0]}${FINAL}`],
    ['a switch of protocols', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n'],
    ['a status of four digits', 'HTTP/1.1 1000 x\r\n\r\n'],
    ['another protocol', 'HTTP/2.0 100 Continue\r\n\r\n'],
    ['something else', 'hello'],
  ])('is left as it is, in one piece and byte by byte: %s', (_what, text) => {
    expect(through([text])).toBe(text);
    expect(through([...text])).toBe(text);
  });

  it('is a block that does not end within its bound: the parser gets it whole, and refuses it', () => {
    const endless = `HTTP/1.1 103 x\r\n${'a: b\r\n'.repeat(300)}`;
    expect(through([...endless])).toBe(endless);
    expect(through([...endless], 10_000)).toBe('');
  });
});
