import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { canonicalOf, fingerprintOfBytes, fingerprintOfJson, payloadHash } from '../../functions/core/fingerprint.ts';
import { readJson } from '../../functions/core/json-tree.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const read = (text: string) => {
  const document = readJson(utf8(text));
  if (document.kind === 'bad') throw new Error(document.reason);
  return document;
};
const canonical = (text: string): string => {
  const document = read(text);
  return canonicalOf(document.root, document.text);
};
const fingerprint = (text: string): string => {
  const document = read(text);
  return fingerprintOfJson(document.root, document.text);
};

describe('the canonical form', () => {
  it.each([
    ['{"b":1,"a":2}', '{"a":2,"b":1}'],
    [' { "a" : [ 1 , { } , [ ] ] } ', '{"a":[1,{},[]]}'],
    ['{"10":0,"9":0,"1":0}', '{"1":0,"10":0,"9":0}'],
    ['[2,1]', '[2,1]'],
    ['[1.0,1e0,1E0,1,-0,0,9007199254740993]', '[1.0,1e0,1E0,1,-0,0,9007199254740993]'],
    ['"\\u0041\\/\\u00e9"', '"A/\u00e9"'],
    ['"\\ud800"', '"\\ud800"'],
    ['[true,false,null]', '[true,false,null]'],
    ['{"":{"":0}}', '{"":{"":0}}'],
    ['{"__proto__":1,"a":2}', '{"__proto__":1,"a":2}'],
    ['{"\\u0062":1,"a":2}', '{"a":2,"b":1}'],
  ])('of %s is %s', (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  it('sorts keys by UTF-16 code units, not by code points and not by a language', () => {
    // U+1F4E6 begins with the unit D83D, which is below FF5E, although its code point is above.
    expect(canonical('{"\uff5e":1,"\u{1F4E6}":2,"z":3,"\u00e4":4,"Z":5}')).toBe(
      '{"Z":5,"z":3,"\u00e4":4,"\u{1F4E6}":2,"\uff5e":1}',
    );
  });

  it('is its own canonical form', () => {
    const once = canonical('{"b":[{"d":"\\n","c":1.50}],"a":"\\ud83d\\udce6"}');
    expect(canonical(once)).toBe(once);
  });
});

describe('the fingerprint of JSON', () => {
  it('is the same for the same content, however it is written', () => {
    const texts = [
      '{"a":1,"b":["x","\u00e9"]}',
      '{"b":["x","\u00e9"],"a":1}',
      ' {\n"b" : [ "\\u0078" , "\\u00e9" ],\t"\\u0061":1 } ',
    ];
    expect(new Set(texts.map(fingerprint)).size).toBe(1);
  });

  it('is another one for every other content', () => {
    const texts = [
      '1',
      '1.0',
      '1e0',
      '1E0',
      '10e-1',
      '"1"',
      '[1]',
      '["1"]',
      '{"1":1}',
      '0',
      '-0',
      '0.0',
      '9007199254740992',
      '9007199254740993',
      'true',
      '"true"',
      'null',
      '"null"',
      '""',
      '[]',
      '{}',
      '[[]]',
      '[{}]',
      '[1,2]',
      '[2,1]',
      '[[1],2]',
      '[1,[2]]',
      '["1,2"]',
      '["1","2"]',
      '{"a":{"b":1}}',
      '{"a":1,"b":1}',
      '{"a":null}',
      '"a"',
      '" a"',
      '"A"',
      '"\u00e9"',
      '"e\u0301"',
      '"\\ud800"',
      '"\\udc00"',
      '"\ufffd"',
      '"\\\\ud800"',
      '"\\u0000"',
    ];
    expect(new Set(texts.map(fingerprint)).size).toBe(texts.length);
  });

  it('would merge numbers and half surrogates if it were taken over parsed values', () => {
    const naive = (text: string): string =>
      createHash('sha256')
        .update(String(JSON.parse(text)))
        .digest('hex');
    expect(naive('9007199254740992')).toBe(naive('9007199254740993'));
    expect(naive('"\\ud800"')).toBe(naive('"\ufffd"'));
    expect(naive('1.0')).toBe(naive('"1"'));
  });

  it('never changes: it is stored, and decides what a repeat is', () => {
    const expected = createHash('sha256').update('onceward payload 1 json\n{"a":1,"b":[2,3]}').digest('base64url');
    expect(fingerprint('{"b":[2,3],"a":1}')).toBe(expected);
    expect(expected).toBe('t1nOuVd86SptbInqbIvsn5Q7I3bHQfuLOJrm2j8PDnw');
  });
});

describe('the fingerprint of bytes', () => {
  const bytes = utf8('{"a":1}');

  it('is over content type and bytes', () => {
    const all = [
      fingerprintOfBytes('text/plain', bytes),
      fingerprintOfBytes('application/json', bytes),
      fingerprintOfBytes('Application/JSON', bytes),
      fingerprintOfBytes('text/plain', utf8('{"a":1} ')),
      fingerprintOfBytes('text/plain', utf8('')),
      fingerprintOfBytes('text/plai', utf8('n')),
      fingerprintOfBytes('text/plain\n', utf8('')),
      fingerprintOfBytes('text/plain', utf8('\n')),
    ];
    expect(new Set(all).size).toBe(all.length);
    expect(fingerprintOfBytes('text/plain', utf8('{"a":1}'))).toBe(all[0]);
  });

  it('is never the fingerprint of a JSON payload, even with the same bytes', () => {
    expect(fingerprintOfBytes('application/json', bytes)).not.toBe(fingerprint('{"a":1}'));
  });

  it('never changes', () => {
    const expected = createHash('sha256')
      .update('onceward payload 1 bytes\n10:text/plain\n{"a":1}')
      .digest('base64url');
    expect(fingerprintOfBytes('text/plain', bytes)).toBe(expected);
  });
});

describe('the payload hash', () => {
  it('is SHA-256 of exactly the bytes', () => {
    expect(payloadHash(utf8('abc'))).toBe('ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0');
    expect(payloadHash(new Uint8Array(0))).toBe('47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU');
  });

  it('tells apart what the fingerprint holds for the same', () => {
    const [a, b] = ['{"a":1,"b":2}', '{"b":2, "a":1}'];
    expect(fingerprint(a)).toBe(fingerprint(b));
    expect(payloadHash(utf8(a))).not.toBe(payloadHash(utf8(b)));
  });

  it('of a view is over the view and not over the buffer behind it', () => {
    const view = utf8('xxabcxx').subarray(2, 5);
    expect(payloadHash(view)).toBe(payloadHash(utf8('abc')));
  });
});
