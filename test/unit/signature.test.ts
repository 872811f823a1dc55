import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import { Webhook } from 'standardwebhooks';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { SigningSecret } from '../../functions/core/signature.ts';
import { parseSecret, signatureHeaders } from '../../functions/core/signature.ts';

const NOW_SEC = 1_790_000_000;
const OLD_TEXT = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
const NEW_TEXT = `whsec_${Buffer.alloc(32, 2).toString('base64')}`;
const OTHER_TEXT = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
const BODY = '{"order":"A-1","note":"büro \u{1f600}"}';

const secretOf = (text: string): SigningSecret => {
  const parsed = parseSecret(text);
  if (parsed.kind === 'bad') throw new Error(parsed.reason);
  return parsed.secret;
};

const sign = (texts: readonly string[], timestampSec = NOW_SEC, body = BODY, id = 'msg_1') =>
  signatureHeaders({ id, timestampSec, body: Buffer.from(body), secrets: texts.map(secretOf) });

/** What a receiver does: the public library, its clock at the given second. */
const accepts = (text: string, headers: ReturnType<typeof sign>, atSec = NOW_SEC, body = BODY): boolean => {
  vi.setSystemTime(atSec * 1_000);
  try {
    new Webhook(text).verify(body, { ...headers });
    return true;
  } catch {
    return false;
  }
};

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('the signature of an attempt', () => {
  it('is the one that the public library makes', () => {
    const headers = sign([NEW_TEXT]);
    expect(headers).toEqual({
      'webhook-id': 'msg_1',
      'webhook-timestamp': String(NOW_SEC),
      'webhook-signature': new Webhook(NEW_TEXT).sign('msg_1', new Date(NOW_SEC * 1_000), BODY),
    });
  });

  it('equals a vector computed by hand, so that library and code cannot be wrong together', () => {
    const expected = createHmac('sha256', Buffer.alloc(24, 1)).update(`msg_1.${NOW_SEC}.${BODY}`).digest('base64');
    expect(sign([OLD_TEXT])['webhook-signature']).toBe(`v1,${expected}`);
  });

  it('is accepted by the public library, and not with another secret, body, id or time', () => {
    const headers = sign([NEW_TEXT]);
    expect(accepts(NEW_TEXT, headers)).toBe(true);
    expect(accepts(OTHER_TEXT, headers)).toBe(false);
    expect(accepts(NEW_TEXT, headers, NOW_SEC, `${BODY} `)).toBe(false);
    expect(accepts(NEW_TEXT, { ...headers, 'webhook-id': 'msg_2' })).toBe(false);
    expect(accepts(NEW_TEXT, { ...headers, 'webhook-timestamp': String(NOW_SEC + 1) })).toBe(false);
  });

  it('stands there once for each live secret, so that a receiver may know either while it rotates', () => {
    const headers = sign([NEW_TEXT, OLD_TEXT]);
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}= v1,[A-Za-z0-9+/]{43}=$/);
    expect(accepts(NEW_TEXT, headers)).toBe(true);
    expect(accepts(OLD_TEXT, headers)).toBe(true);
    expect(accepts(OTHER_TEXT, headers)).toBe(false);
  });

  it('is fresh on every attempt under the same id: a retry a day later is accepted, an old signature is not [C031]', () => {
    const laterSec = NOW_SEC + 27 * 3_600;
    const first = sign([NEW_TEXT]);
    const fifth = sign([NEW_TEXT], laterSec);
    expect(fifth['webhook-id']).toBe(first['webhook-id']);
    expect(fifth['webhook-timestamp']).not.toBe(first['webhook-timestamp']);
    expect(fifth['webhook-signature']).not.toBe(first['webhook-signature']);
    expect(accepts(NEW_TEXT, fifth, laterSec)).toBe(true);
    expect(accepts(NEW_TEXT, first, laterSec)).toBe(false);
  });

  it('covers the bytes of the body, also where they are no text', () => {
    const body = Uint8Array.from([0xff, 0x00, 0xfe, 0x80]);
    const { 'webhook-signature': signature } = signatureHeaders({
      id: 'msg_1',
      timestampSec: NOW_SEC,
      body,
      secrets: [secretOf(OLD_TEXT)],
    });
    const hmac = () => createHmac('sha256', Buffer.alloc(24, 1)).update(`msg_1.${NOW_SEC}.`);
    expect(signature).toBe(`v1,${hmac().update(body).digest('base64')}`);
    // The twin: through a string the same body has another signature.
    expect(signature).not.toBe(`v1,${hmac().update(Buffer.from(body).toString()).digest('base64')}`);
  });

  it('covers an empty body', () => {
    expect(accepts(NEW_TEXT, sign([NEW_TEXT], NOW_SEC, ''), NOW_SEC, '')).toBe(true);
  });

  it.each(['', 'a.b', '.', 'a b', 'a\n', 'é', 'a\0b'])('cannot be made for the id %j', (id) => {
    expect(() => sign([NEW_TEXT], NOW_SEC, BODY, id)).toThrow('webhook-id');
  });

  it.each([-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53])(
    'cannot be made for the time %d',
    (timestampSec) => {
      expect(() => sign([NEW_TEXT], timestampSec)).toThrow('webhook-timestamp');
    },
  );

  it('cannot be made without a secret', () => {
    expect(() => sign([])).toThrow('without a secret');
  });
});

describe('a signing secret', () => {
  const encoded = (bytes: number): string => `whsec_${Buffer.alloc(bytes, 7).toString('base64')}`;

  it('has 24 to 64 bytes', () => {
    expect(parseSecret(encoded(23))).toEqual({ kind: 'bad', reason: 'shorter-than-24-bytes' });
    expect(parseSecret(encoded(24)).kind).toBe('ok');
    expect(parseSecret(encoded(64)).kind).toBe('ok');
    expect(parseSecret(encoded(65))).toEqual({ kind: 'bad', reason: 'longer-than-64-bytes' });
    expect(parseSecret('whsec_')).toEqual({ kind: 'bad', reason: 'shorter-than-24-bytes' });
  });

  it.each([
    ['', 'no-whsec-prefix'],
    [encoded(32).slice(6), 'no-whsec-prefix'],
    [encoded(32).toUpperCase(), 'no-whsec-prefix'],
    [`${encoded(32)}\n`, 'has-whitespace'],
    [` ${encoded(32)}`, 'has-whitespace'],
    [encoded(32).slice(0, -1), 'not-base64'],
    [`${encoded(33)}=`, 'not-base64'],
    [`whsec_${'é'.repeat(40)}`, 'not-base64'],
    [`whsec_${'-_'.repeat(20)}`, 'not-base64'],
    [`whsec_${'*'.repeat(40)}`, 'not-base64'],
  ])('is refused in any other spelling: %j as %s', (text, reason) => {
    expect(parseSecret(text)).toEqual({ kind: 'bad', reason });
  });

  it('would be signed with a wrong key if base64 were read as Node reads it', () => {
    expect(Buffer.from('*'.repeat(40), 'base64')).toHaveLength(0);
    expect(Buffer.from(`${OLD_TEXT.slice(6)}!!`, 'base64')).toEqual(Buffer.alloc(24, 1));
  });

  it('cannot be shown by accident', () => {
    const secret = secretOf(OLD_TEXT);
    const shown = [
      `${secret}`,
      String(secret),
      JSON.stringify({ secret }),
      inspect(secret, { showHidden: true, depth: 9 }),
      inspect({ ...secret }),
      Object.keys(secret).join(),
    ].join('\n');
    for (const form of ['hex', 'base64', 'base64url', 'latin1'] as const) {
      expect(shown).not.toContain(Buffer.alloc(24, 1).toString(form));
    }
    // How the inspector would write a buffer or an array of bytes.
    expect(inspect(Buffer.alloc(24, 1))).toContain('01 01');
    expect(shown).not.toContain('01 01');
    expect(shown).not.toMatch(/1, +1/);
    expect(Object.getOwnPropertyNames(secret)).toEqual([]);
    expect(JSON.stringify(secret)).toBe('"[signing secret]"');
  });

  it('is never part of the reason of its refusal', () => {
    const text = `whsec_${'hunter2'.repeat(20)}`;
    const parsed = parseSecret(text);
    expect(parsed.kind).toBe('bad');
    expect(JSON.stringify(parsed)).not.toContain('hunter2');
  });
});
