/** Text of strangers is seen as what it is: no terminal acts on it, and nothing is lost. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { said, shorten, visible, visibleJson, widthOf } from '../../functions/operator/cli/visible.ts';

const ACTS: readonly (readonly [what: string, text: string, shown: string])[] = [
  ['a colour', 'a\u001b[31mb', 'a\\u{1b}[31mb'],
  ['the C1 form of the same', 'a\u009b31mb', 'a\\u{9b}31mb'],
  ['a title of the window', '\u001b]0;gone\u0007', '\\u{1b}]0;gone\\u{7}'],
  ['a line end', 'a\r\nb', 'a\\u{d}\\u{a}b'],
  ['backspaces over what stood there', 'paid\b\b\b\bfree', 'paid\\u{8}\\u{8}\\u{8}\\u{8}free'],
  ['a right-to-left override', 'order-\u202e71', 'order-\\u{202e}71'],
  ['an isolate', '\u2066a\u2069', '\\u{2066}a\\u{2069}'],
  ['a zero-width space', 'a\u200bb', 'a\\u{200b}b'],
  ['a byte order mark', '\ufeffa', '\\u{feff}a'],
  ['a line separator', 'a\u2028b', 'a\\u{2028}b'],
  ['invisible tags', 'a\u{e0041}b', 'a\\u{e0041}b'],
  ['half of a pair', 'a\ud800b', 'a\\u{d800}b'],
];

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CAN_ACT = /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/;

describe('text of strangers', () => {
  it.each(ACTS)('shows %s as text', (_what, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('leaves letters, marks, wide characters and emoji as they are', () => {
    for (const text of ['äöü ß', 'नमस्ते', '注文-17', 'שלום', '🙂', 'a b']) expect(visible(text)).toBe(text);
  });

  it('can never act, whatever it is; in JSON it is the same value all the same', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (text) => {
        expect(visible(text)).not.toMatch(CAN_ACT);
        expect(visibleJson({ text })).not.toMatch(CAN_ACT);
        expect(JSON.parse(visibleJson({ text }, 2))).toEqual({ text });
      }),
    );
  });

  it('is escaped inside a sentence, and only there', () => {
    expect(said`event ${'a\u001b[2J'} is\ngone`).toBe('event a\\u{1b}[2J is\ngone');
  });

  it('is cut to its columns, wide characters counted as two', () => {
    expect(shorten(visible('abcdef'), 6)).toBe('abcdef');
    expect(shorten(visible('abcdefg'), 6)).toBe('abcde…');
    expect(shorten(visible('注文注文'), 6)).toBe('注文…');
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 100 }), fc.integer({ min: 2, max: 40 }), (text, columns) => {
        expect(widthOf(shorten(visible(text), columns))).toBeLessThanOrEqual(columns);
      }),
    );
    expect(shorten(visible('x'.repeat(10_240)), 60)).toHaveLength(60);
  });
});
