import { describe, expect, it } from 'vitest';
import {
  decodeSegment,
  parseClaimId,
  parseDestinationId,
  parseEventId,
  parseRequestId,
  parseWriteId,
} from '../../functions/core/ids.ts';

const outside = [
  ['event', parseEventId],
  ['destination', parseDestinationId],
] as const;

describe.each(outside)('an id of an %s', (_name, parse) => {
  const reasonOf = (value: unknown): string => {
    const result = parse(value);
    return result.kind === 'bad' ? result.reason : 'taken';
  };

  it.each([
    'a',
    'order-17',
    'a#b',
    'a/b',
    'a:b|c%2Fd',
    ' a',
    'a ',
    ' ',
    'Заказ 17',
    '\u{1F4E6}',
    'e\u0301',
    '\u00e9',
    'a\u2028b\u2029c',
    '\u200d\ufeff',
    '...',
    '.a',
    '__proto__',
    'destination#x',
  ])('takes %j exactly as it is', (text) => {
    expect(parse(text)).toEqual({ kind: 'ok', id: text });
  });

  it('takes 256 bytes and refuses 257, counted as UTF-8 and not as characters', () => {
    expect(reasonOf('x'.repeat(256))).toBe('taken');
    expect(reasonOf('x'.repeat(257))).toContain('256 bytes');
    expect(reasonOf('\u00e9'.repeat(128))).toBe('taken');
    expect(reasonOf(`${'\u00e9'.repeat(128)}x`)).toContain('256 bytes');
    expect(reasonOf('\u{1F4E6}'.repeat(64))).toBe('taken');
    expect(reasonOf('\u{1F4E6}'.repeat(65))).toContain('256 bytes');
  });

  it('refuses every control character: C0, DEL and C1, and no neighbour of theirs', () => {
    for (let code = 0; code <= 0x100; code += 1) {
      const isControl = code <= 0x1f || (code >= 0x7f && code <= 0x9f);
      const reason = reasonOf(`a${String.fromCharCode(code)}b`);
      expect([code, reason]).toEqual([code, isControl ? 'must not hold control characters' : 'taken']);
    }
  });

  it.each(['\ud800', 'a\udfff', '\udc00\ud800', '\ud83d'])('refuses half a surrogate pair in %j', (text) => {
    expect(reasonOf(text)).toContain('surrogate');
  });

  it('refuses numbers with the reason that they can merge', () => {
    // biome-ignore lint/correctness/noPrecisionLoss: this loss is what the rule is about
    expect(9007199254740993).toBe(9007199254740992);
    for (const value of [9007199254740992, 1, 0, -1, 1.5, Number.NaN, 12n]) expect(reasonOf(value)).toContain('2^53');
  });

  it.each([[undefined], [null], [true], [{}], [['a']], [Buffer.from('a')]])('refuses %j: it is no string', (value) => {
    expect(reasonOf(value)).toBe('must be a string');
  });

  it('refuses the empty id, and the two that URL parsers remove from a path', () => {
    expect(reasonOf('')).toBe('must not be empty');
    expect(reasonOf('.')).toContain('URL');
    expect(reasonOf('..')).toContain('URL');
    // Why: the request for such an id never reaches its route, however it is escaped.
    expect(new URL('http://h/v1/events/%2e%2e').pathname).toBe('/v1/');
    expect(new URL('http://h/v1/events/%2e').pathname).toBe('/v1/events/');
  });
});

describe('ids of our own', () => {
  it.each([
    ['claim', parseClaimId],
    ['write', parseWriteId],
  ] as const)('a %s id is base64url of at most 64 characters', (_name, parse) => {
    expect(parse('AZaz09_-')).toEqual({ kind: 'ok', id: 'AZaz09_-' });
    expect(parse('x'.repeat(64)).kind).toBe('ok');
    for (const value of ['', 'x'.repeat(65), 'a.b', 'a b', 'a\n', 'é', 'a=', 7]) expect(parse(value).kind).toBe('bad');
  });

  it('a request id is what a header carries unchanged', () => {
    expect(parseRequestId('"8e03978e-40d5-43e8-bc93-6894a57f9324"').kind).toBe('ok');
    expect(parseRequestId('x'.repeat(128)).kind).toBe('ok');
    for (const value of ['', 'x'.repeat(129), 'a b', ' a', 'a\t', 'é', '\u007f', undefined, 7]) {
      expect(parseRequestId(value).kind).toBe('bad');
    }
  });
});

describe('one path segment', () => {
  it.each([
    ['order-17', 'order-17'],
    ['a%2Fb', 'a/b'],
    ['a%2fb', 'a/b'],
    ['a%252Fb', 'a%2Fb'],
    ['%25', '%'],
    ['a+b', 'a+b'],
    ['%C3%A9', '\u00e9'],
    ['e%CC%81', 'e\u0301'],
    ['%F0%9F%93%A6', '\u{1F4E6}'],
    ['%EF%BB%BFa', '\ufeffa'],
    ['%20a', ' a'],
    ['a#b'.replace('#', '%23'), 'a#b'],
    ["!$&'()*,;=:@~-._|^{}[]", "!$&'()*,;=:@~-._|^{}[]"],
  ])('%s is decoded exactly once', (raw, text) => {
    expect(decodeSegment(raw)).toEqual({ kind: 'ok', text });
  });

  it.each(['%', 'a%', '%4', '%zz', '%u00e9', '%-1', '%C3', '%C3%28', '%FF', '%C0%AF', '%ED%A0%80', '%F5%80%80%80'])(
    '%s is refused and not repaired',
    (raw) => {
      expect(decodeSegment(raw).kind).toBe('bad');
    },
  );

  it.each(['', 'a/b', 'a?b', 'a#b', 'a\\b', 'a b', 'é', 'a\n', '\u0000'])('%j is no raw segment', (raw) => {
    expect(decodeSegment(raw).kind).toBe('bad');
  });

  it('gives back every id that a client has escaped as the web does', () => {
    for (const id of ['a/b', 'a%2Fb', '100%', ' a', 'a#b?c', '\u{1F4E6}', 'e\u0301', "it's (1)*!", '~', '+', '\\']) {
      const url = new URL(`http://h/v1/events/${encodeURIComponent(id)}`);
      expect(decodeSegment(url.pathname.slice('/v1/events/'.length))).toEqual({ kind: 'ok', text: id });
    }
  });

  it('decoding twice would merge two ids: that is why it happens once', () => {
    const once = ['a%2Fb', 'a%252Fb'].map((raw) => decodeSegment(raw));
    expect(once[0]).not.toEqual(once[1]);
    const twice = ['a%2Fb', 'a%252Fb'].map((raw) => decodeURIComponent(decodeURIComponent(raw)));
    expect(twice[0]).toBe(twice[1]);
  });
});
