import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SIGNATURE_TOLERANCE_MS } from '../../functions/core/limits.ts';
import type { PushScheme } from '../../functions/core/push-signature.ts';
import { verifyPush } from '../../functions/core/push-signature.ts';

const NOW_MS = 1_790_000_000_000;
const BODY = Buffer.from('{"message_id":"m1","payload":{"kind":"deliver","format":1,"event":"e","destination":"d"}}');

const TIMED: PushScheme = {
  secrets: ['right-key'],
  signatureHeader: 'x-infrai-signature',
  prefix: '',
  timestampHeader: 'x-infrai-timestamp',
  toleranceMs: SIGNATURE_TOLERANCE_MS,
};
const { timestampHeader: _, ...UNTIMED } = TIMED;

const signed = (key: string, atMs: number): Record<string, string> => {
  const sec = String(atMs / 1_000);
  return {
    'x-infrai-timestamp': sec,
    'x-infrai-signature': createHmac('sha256', key).update(`${sec}.`).update(BODY).digest('hex'),
  };
};

/** Through the header object that a function gets, which joins repeated headers. */
const receive = (init: Headers, scheme: PushScheme = TIMED) =>
  verifyPush({ headers: (name) => init.get(name) ?? undefined, body: BODY, scheme, nowMs: NOW_MS });

const refused = (code: string) => ({ kind: 'refused', code });

describe('a push to the public endpoint', () => {
  it('is refused unsigned, signed with another key, and with the right key but ten minutes old [C103]', () => {
    expect(receive(new Headers())).toEqual(refused('missing'));
    expect(receive(new Headers(signed('other-key', NOW_MS)))).toEqual(refused('mismatch'));
    expect(receive(new Headers(signed('right-key', NOW_MS - 600_000)))).toEqual(refused('stale'));
  });

  it('is authentic when a valid one is repeated: the ledger tells duplicates apart, not the signature [C103]', () => {
    const headers = new Headers(signed('right-key', NOW_MS - 200_000));
    expect(receive(headers)).toEqual({ kind: 'authentic' });
    expect(receive(headers)).toEqual({ kind: 'authentic' });
  });

  it('is refused without its signature header, and with an empty one [C104]', () => {
    const { 'x-infrai-signature': _signature, ...rest } = signed('right-key', NOW_MS);
    expect(receive(new Headers(rest))).toEqual(refused('missing'));
    expect(receive(new Headers({ ...rest, 'x-infrai-signature': '' }))).toEqual(refused('missing'));
    expect(receive(new Headers({ ...rest, 'x-infrai-signature': '  ' }))).toEqual(refused('missing'));
    expect(receive(new Headers(), UNTIMED)).toEqual(refused('missing'));
  });

  it.each([
    ['a letter outside of ASCII', 'é'],
    ['one character', 'a'],
    ['10,000 characters', 'a'.repeat(10_000)],
    ['base64 instead of hex', `${'A'.repeat(43)}=`],
    ['broken base64', '!!not base64!!'],
    ['one digit too few', 'a'.repeat(63)],
    ['one digit too many', 'a'.repeat(65)],
    ['64 letters of another alphabet', 'é'.repeat(64)],
    ['64 characters, one of them no hex digit', `${'a'.repeat(63)}g`],
  ])('is refused, without an exception, with a signature of %s [C106]', (_what, signature) => {
    const headers = new Headers({ ...signed('right-key', NOW_MS), 'x-infrai-signature': signature });
    expect(receive(headers)).toEqual(refused('malformed'));
    expect(receive(headers, UNTIMED)).toEqual(refused('malformed'));
  });

  it('is refused, without an exception, with a character that no header can hold [C106]', () => {
    for (const signature of ['\u{1f600}'.repeat(16), '\ud800', '\0'.repeat(64)]) {
      const verdict = verifyPush({ headers: () => signature, body: BODY, scheme: UNTIMED, nowMs: NOW_MS });
      expect(verdict).toEqual(refused('malformed'));
    }
  });

  it.each(['x-infrai-signature', 'x-infrai-timestamp'])(
    'is refused when %s comes twice, right or wrong [C099]',
    (name) => {
      const good = signed('right-key', NOW_MS);
      for (const second of [good[name] ?? '', '0'.repeat(64), '']) {
        const headers = new Headers(good);
        headers.append(name, second);
        expect(receive(headers)).toEqual(refused('ambiguous'));
        const swapped = new Headers({ ...good, [name]: second });
        swapped.append(name, good[name] ?? '');
        expect(receive(swapped)).toEqual(refused('ambiguous'));
      }
    },
  );
});
