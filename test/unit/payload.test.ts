import { describe, expect, it } from 'vitest';
import {
  depthOf,
  ENVELOPE_DEPTH_MAX,
  type JsonDocument,
  memberOf,
  plainOf,
  readJson,
} from '../../functions/core/json-tree.ts';
import {
  CONTENT_TYPE_CHARS_MAX,
  JSON_DEPTH_MAX,
  PAYLOAD_BYTES_MAX,
  PUSH_BODY_BYTES_MAX,
} from '../../functions/core/limits.ts';
import { payloadOf } from '../../functions/core/payload.ts';

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (bytes: Uint8Array): string => Buffer.from(bytes).toString('utf8');

const read = (body: string | Uint8Array): JsonDocument => {
  const document = readJson(typeof body === 'string' ? utf8(body) : body);
  if (document.kind === 'bad') throw new Error(`${document.field ?? 'body'} ${document.reason}`);
  return document;
};
const refusal = (body: string | Uint8Array): { readonly reason: string; readonly field?: string } => {
  const document = readJson(typeof body === 'string' ? utf8(body) : body);
  if (document.kind === 'ok') throw new Error('it was taken');
  return document;
};
const payload = (body: string) => {
  const document = read(body);
  return payloadOf(document, document.root);
};

describe('JSON is read strictly', () => {
  it.each([
    '{}',
    ' \t\r\n{ "a" : [ 1 , -0.5e+3 , "x" , true , false , null ] } \n',
    '0',
    '"\\u0041\\n\\ud83d\\udce6"',
    '[]',
    '{"":1," ":2,"__proto__":3}',
    '{"a":{"k":1},"b":{"k":1},"c":[{"k":1},{"k":2}]}',
    '"\u2028\u007f\ufeff"',
    '1e999',
  ])('%j is JSON', (text) => {
    expect(plainOf(read(text).root)).toEqual(JSON.parse(text));
  });

  it.each([
    ['', 'byte 0'],
    ['  ', 'byte 2'],
    ['{"a":1,}', 'byte 7'],
    ['[1,]', 'byte 3'],
    ['{"a":1 /* no */}', 'byte 7'],
    ['{"a":1} // no', 'byte 8'],
    ['{"a" 1}', 'byte 5'],
    ['{a:1}', 'byte 1'],
    ["{'a':1}", 'byte 1'],
    ['[1 2]', 'byte 3'],
    ['[1,2', 'byte 4'],
    ['{"a":1}{"b":2}', 'byte 7'],
    ['01', 'byte 1'],
    ['+1', 'byte 0'],
    ['1.', 'byte 0'],
    ['.5', 'byte 0'],
    ['1e', 'byte 0'],
    ['-', 'byte 0'],
    ['NaN', 'byte 0'],
    ['undefined', 'byte 0'],
    ['True', 'byte 0'],
    ['"a', 'byte 0'],
    ['"a\nb"', 'byte 0'],
    ['"a\tb"', 'byte 0'],
    ['"\\x41"', 'byte 0'],
    ['"\\u00g0"', 'byte 0'],
    ['{"a":\u00a01}', 'byte 5'],
    ['{"\u00e9\u{1F4E6}":x}', 'byte 10'],
    [']', 'byte 0'],
    ['\u0000', 'byte 0'],
  ])('%j is refused with the byte at fault', (text, where) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(refusal(text).reason).toMatch(new RegExp(`^is not JSON at ${where}: [a-z ]+$`));
  });

  it.each([
    ['a stray byte', [0xff]],
    ['a cut letter', [0x22, 0xc3, 0x22]],
    ['a long form of a slash', [0x22, 0xc0, 0xaf, 0x22]],
    ['half a surrogate pair', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['UTF-16', [0xff, 0xfe, 0x7b, 0x00, 0x7d, 0x00]],
  ])('%s is not UTF-8', (_name, bytes) => {
    expect(refusal(Uint8Array.from(bytes)).reason).toBe('is not UTF-8');
  });

  it('a byte order mark is refused and named', () => {
    expect(refusal('\ufeff{}').reason).toContain('byte order mark');
  });

  it.each([
    ['{"a":1,"a":1}', 'a'],
    ['{"a":1,"\\u0061":2}', 'a'],
    ['{"payload":{"items":[{"id":1},{"id":2,"x":0,"id":3}]}}', 'payload.items[1].id'],
    ['{"payload":{"a b":{"":1,"":2}}}', 'payload["a b"][""]'],
    ['[[{"\u00e9":1,"\\u00e9":2}]]', '[0][0]["\u00e9"]'],
    ['{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('a duplicate key anywhere is refused with its path: %s', (text, field) => {
    expect(refusal(text)).toMatchObject({ kind: 'bad', field, reason: expect.stringContaining('twice') });
    // The twin: the platform takes it and drops one value silently.
    expect(() => JSON.parse(text)).not.toThrow();
  });

  it('two keys that only look alike are two keys', () => {
    expect(read('{"\u00e9":1,"e\u0301":2," a":3,"a":4,"A":5}').root).toMatchObject({ kind: 'object' });
  });

  it('a path in a refusal is bounded', () => {
    expect(refusal(`{"${'k'.repeat(5_000)}":{"a":1,"a":2}}`).field?.length).toBeLessThan(210);
  });

  it('nesting is bounded long before the stack is', () => {
    const depth = JSON_DEPTH_MAX + ENVELOPE_DEPTH_MAX;
    expect(read(`${'['.repeat(depth)}${']'.repeat(depth)}`).kind).toBe('ok');
    expect(refusal(`${'['.repeat(depth + 1)}${']'.repeat(depth + 1)}`).reason).toContain('nested deeper');
    expect(refusal('['.repeat(PUSH_BODY_BYTES_MAX)).reason).toContain('nested deeper');
    expect(refusal('{"a":'.repeat(PUSH_BODY_BYTES_MAX / 5)).reason).toContain('nested deeper');
  });

  it('brackets inside a string do not nest', () => {
    expect(read(`"${'[{'.repeat(5_000)}"`).root.kind).toBe('string');
  });

  it('hostile input ends at its first error instead of collecting millions', () => {
    expect(refusal(`[${','.repeat(PUSH_BODY_BYTES_MAX)}`).reason).toContain('byte 1:');
  });

  it('offsets lead to the right bytes, whatever stands before', () => {
    const document = read('{"\u00e9":"\u20ac","\u{1F4E6}":[7, "x"]}');
    const node = memberOf(document.root, '\u{1F4E6}');
    if (node === undefined) throw new Error('no member');
    const [start, end] = [document.byteOffset(node.start), document.byteOffset(node.end)];
    expect(textOf(document.bytes.subarray(start, end))).toBe('[7, "x"]');
    expect(document.byteOffset(document.text.length)).toBe(document.bytes.length);
    expect(() => document.byteOffset(document.text.length + 1)).toThrow(RangeError);
    // The twin: character offsets would cut other bytes.
    expect(textOf(document.bytes.subarray(node.start, node.end))).not.toBe('[7, "x"]');
  });

  it('gives plain values for a schema, without the members that stay bytes', () => {
    const { root } = read('{"id":"a","payload":{"big":[1]},"destinations":["x"],"__proto__":{"y":1}}');
    const plain = plainOf(root, ['payload']);
    expect(plain).toEqual(JSON.parse('{"id":"a","destinations":["x"],"__proto__":{"y":1}}'));
    expect(Object.getPrototypeOf(plain)).toBe(Object.prototype);
    expect(plainOf(read('[{"payload":1}]').root, ['payload'])).toEqual([{ payload: 1 }]);
  });

  it('finds members of objects only', () => {
    expect(memberOf(read('["a"]').root, '0')).toBeUndefined();
    expect(memberOf(read('{"a":1}').root, 'toString')).toBeUndefined();
    expect(memberOf(read('{"a":null}').root, 'a')).toMatchObject({ kind: 'literal', value: null });
  });

  it('counts levels', () => {
    expect(['1', '[]', '{}', '[1,[2]]', '{"a":{"b":[{}]}}'].map((text) => depthOf(read(text).root))).toEqual([
      0, 1, 1, 2, 4,
    ]);
  });

  it('a full payload is read in far less time than a request may take', () => {
    const lines = Array.from({ length: 1_900 }, (_, n) => ({
      id: `order-${n}`,
      amount: n * 100,
      note: '\u00e9'.repeat(40),
    }));
    const body = utf8(`{"id":"a","payload":${JSON.stringify(lines)}}`);
    expect(body.length).toBeGreaterThan(200_000);
    let fastestMs = Number.POSITIVE_INFINITY;
    for (let run = 0; run < 5; run += 1) {
      const startMs = performance.now();
      const document = read(body);
      expect(payloadOf(document, document.root).kind).toBe('ok');
      fastestMs = Math.min(fastestMs, performance.now() - startMs);
    }
    expect(fastestMs).toBeLessThan(150);
  });
});

describe('a JSON payload', () => {
  it.each([
    '{"a":1}',
    '{ "b" : 1.0 ,\r\n\t"a" : [ 1e0 ] }',
    '"\\u00e9\u00e9\\/"',
    '9007199254740993',
    'null',
    'false',
    '[]',
    '""',
    '-0',
  ])('keeps its bytes exactly: %s', (text) => {
    const result = payload(`{"id":"\u{1F4E6}\u00e9", "payload" :\n ${text} , "destinations":["x"]}`);
    expect(result).toMatchObject({ kind: 'ok', contentType: 'application/json' });
    expect(result.kind === 'ok' && textOf(result.bytes)).toBe(text);
  });

  it('would not survive being serialised again: that is why it is not', () => {
    for (const text of ['9007199254740993', '1.0', '-0', '{ "a":1}', '"\\u00e9"']) {
      expect(JSON.stringify(JSON.parse(text))).not.toBe(text);
    }
  });

  it('is a copy: the buffer of the request may be used again', () => {
    const body = Buffer.from('{"payload":"abc"}');
    const document = read(body);
    const result = payloadOf(document, document.root);
    body.fill(0);
    expect(result.kind === 'ok' && textOf(result.bytes)).toBe('"abc"');
  });

  it('is found in each event of an array', () => {
    const document = read('[{"payload":"\u00e9"},{"payload":"\u20ac"},{"payload":3}]');
    const events = document.root.kind === 'array' ? document.root.items : [];
    const texts = events.map((node) => {
      const result = payloadOf(document, node);
      return result.kind === 'ok' ? textOf(result.bytes) : result.reason;
    });
    expect(texts).toEqual(['"\u00e9"', '"\u20ac"', '3']);
  });

  it('may have 262,144 bytes and not one more', () => {
    const full = `"${'x'.repeat(PAYLOAD_BYTES_MAX - 2)}"`;
    expect(payload(`{"payload":${full}}`)).toMatchObject({ kind: 'ok' });
    expect(payload(`{"payload":"x${full.slice(1)}}`)).toMatchObject({
      kind: 'bad',
      code: 'too-large',
      field: 'payload',
    });
    const letters = `"${'\u00e9'.repeat(PAYLOAD_BYTES_MAX / 2)}"`;
    expect(letters.length).toBeLessThan(PAYLOAD_BYTES_MAX);
    expect(payload(`{"payload":${letters}}`)).toMatchObject({ kind: 'bad', code: 'too-large' });
  });

  it('may be nested 64 levels deep wherever it stands in the request', () => {
    const nested = (depth: number): string => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    for (const [before, after] of [
      ['', ''],
      ['[[[[', ']]]]'],
    ] as const) {
      const at = (depth: number) => {
        const document = read(`${before}{"payload":${nested(depth)}}${after}`);
        let node = document.root;
        while (node.kind === 'array') node = node.items[0] ?? read('0').root;
        return payloadOf(document, node);
      };
      expect(at(JSON_DEPTH_MAX)).toMatchObject({ kind: 'ok' });
      expect(at(JSON_DEPTH_MAX + 1)).toMatchObject({ kind: 'bad', code: 'invalid', field: 'payload' });
    }
  });
});

describe('a base64 payload', () => {
  const base64 = (text: unknown, contentType: unknown = 'application/octet-stream') =>
    payload(JSON.stringify({ payloadBase64: text, contentType }));

  it('is its bytes, whatever they are', () => {
    const bytes = Uint8Array.from([0xff, 0x00, 0xfe]);
    const result = base64(Buffer.from(bytes).toString('base64'), 'image/png');
    expect(result).toMatchObject({ kind: 'ok', contentType: 'image/png' });
    expect(result.kind === 'ok' && [...result.bytes]).toEqual([...bytes]);
  });

  it('may be empty', () => {
    expect(base64('')).toMatchObject({ kind: 'ok', bytes: new Uint8Array(0) });
  });

  it.each([
    '_wD-',
    '/wD',
    '/w',
    '/w=',
    '/w==\n',
    ' /w==',
    '/x==',
    '/wD+=',
    'a',
    '====',
    '/w==/w==',
    '\u00e9',
    '%2Fw==',
  ])('is refused where it is not standard base64: %j', (text) => {
    expect(base64(text)).toMatchObject({ kind: 'bad', code: 'invalid', field: 'payloadBase64' });
  });

  it('is refused where it is no string', () => {
    for (const value of [null, 1, ['/w=='], {}]) {
      expect(base64(value)).toMatchObject({ kind: 'bad', code: 'invalid', field: 'payloadBase64' });
    }
  });

  it('may have 262,144 bytes and not one more, and far larger text is not even decoded', () => {
    const full = Buffer.alloc(PAYLOAD_BYTES_MAX, 7);
    expect(base64(full.toString('base64'))).toMatchObject({ kind: 'ok' });
    for (const more of [1, 2, 3, 1_000]) {
      const text = Buffer.concat([full, Buffer.alloc(more)]).toString('base64');
      expect(base64(text)).toMatchObject({ kind: 'bad', code: 'too-large', field: 'payloadBase64' });
    }
    expect(base64('!'.repeat(400_000))).toMatchObject({ kind: 'bad', code: 'too-large' });
  });

  it.each([
    'text/plain',
    'text/plain;charset=utf-8',
    'text/plain ;\tcharset="utf-8; \\" x"; a=b',
    'application/vnd.api+json',
    'Application/JSON',
    `a/${'b'.repeat(CONTENT_TYPE_CHARS_MAX - 2)}`,
  ])('takes the content type %j as it is', (contentType) => {
    expect(base64('/w==', contentType)).toMatchObject({ kind: 'ok', contentType });
  });

  it.each([
    '',
    'text',
    'text/',
    '/plain',
    'text/plain;',
    'text/plain; charset',
    'text/plain; charset=',
    'text/plain\r\nx-evil: 1',
    'text/plain; a="b',
    'text/plain; a="b\n"',
    ' text/plain',
    'text/plain ',
    'text/pl\u00e4in',
    'text/plain, text/html',
    `a/${'b'.repeat(CONTENT_TYPE_CHARS_MAX - 1)}`,
    7,
    null,
  ])('refuses the content type %j', (contentType) => {
    expect(base64('/w==', contentType)).toMatchObject({ kind: 'bad', code: 'invalid', field: 'contentType' });
  });

  it('needs a content type', () => {
    expect(payload('{"payloadBase64":"/w=="}')).toMatchObject({ kind: 'bad', code: 'invalid', field: 'contentType' });
  });
});

describe('the payload of an event', () => {
  it.each([
    ['{"id":"a"}', 'payload'],
    ['{"contentType":"text/plain"}', 'payload'],
    ['{"payload":1,"payloadBase64":"/w==","contentType":"a/b"}', 'payloadBase64'],
    ['{"payload":null,"payloadBase64":"/w=="}', 'payloadBase64'],
    ['{"payload":1,"contentType":"application/json"}', 'contentType'],
    ['[]', 'payload'],
    ['"payload"', 'payload'],
  ])('is given once and in one way: %s is refused', (text, field) => {
    expect(payload(text)).toMatchObject({ kind: 'bad', code: 'invalid', field });
  });
});
