import { describe, expect, it } from 'vitest';
import { checkCustomHeaders, RESERVED, redactHeaders } from '../../functions/core/headers.ts';

const bad = (name: string, reason: string) => ({ kind: 'bad', name, reason });

describe('headers of a destination', () => {
  it('are taken with names in lower case and values as they are', () => {
    expect(checkCustomHeaders({ Authorization: 'Bearer a.b-c', 'X-Tenant': 'a, b; c="d"', 'x-empty': '' })).toEqual({
      kind: 'ok',
      headers: { authorization: 'Bearer a.b-c', 'x-tenant': 'a, b; c="d"', 'x-empty': '' },
    });
  });

  it('may be none', () => {
    expect(checkCustomHeaders({})).toEqual({ kind: 'ok', headers: {} });
  });

  it.each([...RESERVED, 'webhook-id', 'webhook-timestamp', 'webhook-signature', 'webhook-anything'])(
    'may not take the name %s, in any case',
    (name) => {
      for (const given of [name, name.toUpperCase()]) {
        expect(checkCustomHeaders({ [given]: 'x' })).toEqual(bad(given, 'name-reserved'));
      }
    },
  );

  it('cannot touch the names that frame, sign or identify a request', () => {
    for (const name of [
      'host',
      'content-length',
      'content-type',
      'transfer-encoding',
      'connection',
      'idempotency-key',
      'traceparent',
      'user-agent',
    ]) {
      expect(RESERVED.has(name), name).toBe(true);
    }
    expect(RESERVED.has('authorization')).toBe(false);
    expect(RESERVED.has('cookie')).toBe(false);
  });

  it.each(['', ' ', 'a b', 'a:b', ':path', 'a\r\nb', 'a\0', 'naïve', '"a"', 'a/b', 'x-a\n', '\u212aey'])(
    'have names that are tokens: %j is none',
    (name) => {
      expect(checkCustomHeaders({ [name]: 'x' })).toEqual(bad(name, 'name-not-a-token'));
    },
  );

  it('may have any name that is a token', () => {
    const name = "!#$%&'*+-.^_`|~09azAZ";
    expect(checkCustomHeaders({ [name]: 'x' }).kind).toBe('ok');
  });

  it.each(['a\r\nx-evil: 1', 'a\nb', 'a\0', 'a\tb', 'é', 'привет', '\u{1f600}', '\x7f', 'a\u2028b'])(
    'have values of printable ASCII: %j is none',
    (value) => {
      expect(checkCustomHeaders({ 'x-a': value })).toEqual(bad('x-a', 'value-not-printable-ascii'));
    },
  );

  it.each([' a', 'a ', ' '])('have no outer blanks, which would vanish on the wire: %j', (value) => {
    expect(checkCustomHeaders({ 'x-a': value })).toEqual(bad('x-a', 'value-has-outer-blanks'));
  });

  it('are bounded in number, and in the length of values and names', () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`x-${index}`, 'v'] as const));
    expect(checkCustomHeaders(many(20)).kind).toBe('ok');
    expect(checkCustomHeaders(many(21))).toEqual(bad('x-20', 'too-many'));
    expect(checkCustomHeaders({ 'x-a': 'v'.repeat(1_024) }).kind).toBe('ok');
    expect(checkCustomHeaders({ 'x-a': 'v'.repeat(1_025) })).toEqual(bad('x-a', 'value-too-long'));
    expect(checkCustomHeaders({ ['n'.repeat(128)]: 'v' }).kind).toBe('ok');
    expect(checkCustomHeaders({ ['n'.repeat(129)]: 'v' })).toEqual(bad('n'.repeat(64), 'name-too-long'));
  });

  it('are refused when two names differ in their case only', () => {
    expect(checkCustomHeaders({ 'X-A': '1', 'x-a': '2' })).toEqual(bad('x-a', 'name-repeated'));
  });

  it('keep a name that would be lost by assignment', () => {
    const record: Record<string, string> = Object.fromEntries([['__proto__', 'v']]);
    const result = checkCustomHeaders(record);
    expect(result.kind === 'ok' && Object.entries(result.headers)).toEqual([['__proto__', 'v']]);
    expect(Object.entries(redactHeaders(record))).toEqual([['__proto__', '***']]);
    // The twin: what an assignment makes of it.
    const assigned: Record<string, string> = {};
    for (const name of Object.keys(record)) assigned[name] = 'v';
    expect(Object.keys(assigned)).toEqual([]);
  });

  it('never repeat a refused value, which may be a credential', () => {
    for (const value of ['tip-top-secret\n', ' tip-top-secret', 'tip-top-secret'.repeat(200)]) {
      expect(JSON.stringify(checkCustomHeaders({ authorization: value }))).not.toContain('secret');
    }
  });

  it('can all be given to the client of Node as they are', () => {
    const result = checkCustomHeaders({ authorization: 'Bearer x', 'x-a': '~ !"#$', "!#$%&'*+.^_`|~": 'v' });
    expect(result.kind).toBe('ok');
    if (result.kind === 'ok') expect([...new Headers({ ...result.headers })]).toHaveLength(3);
  });
});

describe('headers that are shown', () => {
  it('keep their names and lose their values, whatever their length', () => {
    expect(redactHeaders({ authorization: 'Bearer x', 'x-empty': '' })).toEqual({
      authorization: '***',
      'x-empty': '***',
    });
  });
});
