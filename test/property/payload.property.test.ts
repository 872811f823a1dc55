import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { payloadHash } from '../../functions/core/fingerprint.ts';
import { plainOf, readJson } from '../../functions/core/json-tree.ts';
import { payloadOf } from '../../functions/core/payload.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

const blank = fc.array(fc.constantFrom(' ', '\t', '\n', '\r\n'), { maxLength: 3 }).map((parts) => parts.join(''));
/** JSON text as somebody may have written it: numbers that do not survive parsing, indentation, letters of all widths. */
const jsonText = fc.oneof(
  fc.tuple(fc.json({ stringUnit: 'binary' }), fc.constantFrom(0, 1, '\t')).map(([text, indent]) => {
    return JSON.stringify(JSON.parse(text), null, indent);
  }),
  fc.constantFrom(
    '9007199254740993',
    '1.0',
    '1e0',
    '-0',
    '1e999',
    '"\\u00e9\\/"',
    '[ 1.50,\t-0.0 ]',
    '{ "b":1, "a":2 }',
  ),
);
const word = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => JSON.stringify(text));

describe('the bytes of a payload', () => {
  it('are the bytes that were embedded, wherever they stand', () => {
    const body = fc.record({
      text: jsonText,
      before: fc.array(word),
      after: fc.array(word),
      a: blank,
      b: blank,
      c: blank,
    });
    fc.assert(
      fc.property(body, ({ text, before, after, a, b, c }) => {
        const event = `${a}{"x":[${before.join(`,${b}`)}],${c}"payload"${a}:${b}${text}${c},"\u00e9":[${after.join()}]${b}}${a}`;
        const document = readJson(utf8(event));
        if (document.kind === 'bad') throw new Error(document.reason);
        const result = payloadOf(document, document.root);
        if (result.kind === 'bad') throw new Error(result.reason);
        expect(Buffer.compare(result.bytes, utf8(text))).toBe(0);
        expect(payloadHash(result.bytes)).toBe(payloadHash(utf8(text)));
      }),
      { numRuns: 2_000 },
    );
  });

  it('come back from base64, whatever they are', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const text = Buffer.from(bytes).toString('base64');
        const document = readJson(utf8(JSON.stringify({ payloadBase64: text, contentType: 'a/b' })));
        if (document.kind === 'bad') throw new Error(document.reason);
        const result = payloadOf(document, document.root);
        expect(result).toMatchObject({ kind: 'ok' });
        expect(result.kind === 'ok' && Buffer.compare(result.bytes, bytes)).toBe(0);
      }),
    );
  });

  it('have one base64 text each: any other text is refused', () => {
    const nearly = fc
      .array(fc.constantFrom('A', '/', '+', 'w', '=', '-', '_', '\n', ' '), { maxLength: 9 })
      .map((s) => s.join(''));
    const seen = new Map<string, string>();
    fc.assert(
      fc.property(nearly, (text) => {
        const document = readJson(utf8(JSON.stringify({ payloadBase64: text, contentType: 'a/b' })));
        if (document.kind === 'bad') throw new Error(document.reason);
        const result = payloadOf(document, document.root);
        if (result.kind === 'bad') return true;
        const hash = payloadHash(result.bytes);
        const before = seen.get(hash) ?? text;
        seen.set(hash, text);
        return before === text;
      }),
      { numRuns: 5_000 },
    );
    expect(seen.size).toBeGreaterThan(10);
  });
});

describe('reading JSON', () => {
  it('takes and refuses what the platform does, but for duplicate keys and a byte order mark', () => {
    const seeds = [
      '{"a":[1,2.5e-3,-0,true,false,null],"b":{"c":"x\\u00e9\\n"}}',
      '[1,[2,[3]]]',
      '"a\\"b"',
      '-12.0E+7',
      ' { } ',
    ];
    const signs = [...'{}[]",:\\/0123456789eE+-.truefalsn \t\n\r\u000b\u00a0\u2028\ufeff\u0000\u007f*\'ub'];
    const edit = fc.tuple(fc.nat(), fc.constantFrom(...signs), fc.constantFrom('insert', 'remove', 'replace'));
    const text = fc
      .tuple(fc.constantFrom(...seeds), fc.array(edit, { minLength: 1, maxLength: 3 }))
      .map(([seed, edits]) =>
        edits.reduce((now, [n, sign, how]) => {
          const at = n % (now.length + 1);
          return now.slice(0, at) + (how === 'remove' ? '' : sign) + now.slice(how === 'insert' ? at : at + 1);
        }, seed),
      );
    const counts = { taken: 0, refused: 0 };
    fc.assert(
      fc.property(text, (candidate) => {
        let value: unknown;
        let valid = true;
        try {
          value = JSON.parse(candidate);
        } catch {
          valid = false;
        }
        const document = readJson(utf8(candidate));
        counts[document.kind === 'ok' ? 'taken' : 'refused'] += 1;
        if (document.kind === 'ok') {
          expect(valid).toBe(true);
          expect(plainOf(document.root)).toEqual(value);
        } else if (valid) {
          expect(document.reason).toContain('twice');
        }
      }),
      { numRuns: 10_000 },
    );
    expect(Math.min(counts.taken, counts.refused)).toBeGreaterThan(500);
  });

  it('answers any bytes and never throws', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(['ok', 'bad']).toContain(readJson(bytes).kind);
      }),
      { numRuns: 2_000 },
    );
  });
});
