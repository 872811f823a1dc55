import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { SIGNATURE_TOLERANCE_MS } from '../../functions/core/limits.ts';
import type { PushScheme } from '../../functions/core/push-signature.ts';
import { verifyPush } from '../../functions/core/push-signature.ts';

const NOW_SEC = 1_790_000_000;
const BODY = Buffer.from('{"message_id":"m1","payload":{"kind":"deliver"}}');
const NAME = 'x-infrai-signature';

const PLAIN: PushScheme = {
  secrets: ['push-secret'],
  signatureHeader: NAME,
  prefix: '',
  toleranceMs: SIGNATURE_TOLERANCE_MS,
};
const TIMED: PushScheme = { ...PLAIN, timestampHeader: 'x-infrai-timestamp' };

const hex = (secret: string, body: Uint8Array, head = ''): string =>
  createHmac('sha256', secret).update(head).update(body).digest('hex');

const verify = (
  headers: Readonly<Record<string, string>>,
  scheme: PushScheme = PLAIN,
  body: Uint8Array = BODY,
  nowMs: number = NOW_SEC * 1_000,
) => verifyPush({ headers: (name) => headers[name], body, scheme, nowMs });

const AUTHENTIC = { kind: 'authentic' };
const refused = (code: string) => ({ kind: 'refused', code });
const GOOD = hex('push-secret', BODY);

describe('a push signed over its raw body', () => {
  it('is authentic with digits in small or capital letters', () => {
    expect(verify({ [NAME]: GOOD })).toEqual(AUTHENTIC);
    expect(verify({ [NAME]: GOOD.toUpperCase() })).toEqual(AUTHENTIC);
  });

  it('is verified over the bytes: a BOM, a line end or a repeated space counts', () => {
    for (const body of ['\ufeff{"a":1}', '{"a":1}\n', '{"a":  1}', '']) {
      const bytes = Buffer.from(body);
      expect(verify({ [NAME]: hex('push-secret', bytes) }, PLAIN, bytes)).toEqual(AUTHENTIC);
      expect(verify({ [NAME]: hex('push-secret', Buffer.from('{"a":1}')) }, PLAIN, bytes)).toEqual(refused('mismatch'));
    }
    const noText = Uint8Array.from([0xff, 0xfe, 0x00]);
    expect(verify({ [NAME]: hex('push-secret', noText) }, PLAIN, noText)).toEqual(AUTHENTIC);
  });

  it('is refused with another secret, or over another body', () => {
    expect(verify({ [NAME]: hex('other', BODY) })).toEqual(refused('mismatch'));
    expect(verify({ [NAME]: GOOD }, PLAIN, Buffer.from('{}'))).toEqual(refused('mismatch'));
  });

  it('is authentic with either secret while they are rotated, and with the old one no longer after it', () => {
    const rotating = { ...PLAIN, secrets: ['new-secret', 'push-secret'] };
    expect(verify({ [NAME]: GOOD }, rotating)).toEqual(AUTHENTIC);
    expect(verify({ [NAME]: hex('new-secret', BODY) }, rotating)).toEqual(AUTHENTIC);
    expect(verify({ [NAME]: GOOD }, { ...PLAIN, secrets: ['new-secret'] })).toEqual(refused('mismatch'));
  });

  it('is never authentic where no secret is set, also when somebody signs with the empty one', () => {
    expect(verify({ [NAME]: hex('', BODY) }, { ...PLAIN, secrets: [] })).toEqual(refused('mismatch'));
    expect(verify({ [NAME]: hex('', BODY) }, { ...PLAIN, secrets: [''] })).toEqual(refused('mismatch'));
    expect(verify({ [NAME]: GOOD }, { ...PLAIN, secrets: ['', 'push-secret'] })).toEqual(AUTHENTIC);
  });

  it('is read from the header of the setting only', () => {
    const scheme = { ...PLAIN, signatureHeader: 'x-signature' };
    expect(verify({ 'x-signature': GOOD }, scheme)).toEqual(AUTHENTIC);
    expect(verify({ [NAME]: GOOD }, scheme)).toEqual(refused('missing'));
  });
});

describe('a push without a signature', () => {
  it('is refused as missing, whether the header is not there, empty or blank', () => {
    expect(verify({})).toEqual(refused('missing'));
    for (const value of ['', ' ', '\t ']) expect(verify({ [NAME]: value })).toEqual(refused('missing'));
  });
});

describe('the prefix of the signature', () => {
  const prefixed = { ...PLAIN, prefix: 'sha256=' };

  it('is exactly the setting: wanted where it is set, unknown where it is not', () => {
    expect(verify({ [NAME]: `sha256=${GOOD}` }, prefixed)).toEqual(AUTHENTIC);
    expect(verify({ [NAME]: GOOD }, prefixed)).toEqual(refused('malformed'));
    expect(verify({ [NAME]: `sha256=${GOOD}` }, PLAIN)).toEqual(refused('malformed'));
    expect(verify({ [NAME]: `SHA256=${GOOD}` }, prefixed)).toEqual(refused('malformed'));
    expect(verify({ [NAME]: 'sha256=' }, prefixed)).toEqual(refused('malformed'));
  });

  it('may hold a comma of its own, and a second signature is still seen', () => {
    const scheme = { ...PLAIN, prefix: 'v1,' };
    expect(verify({ [NAME]: `v1,${GOOD}` }, scheme)).toEqual(AUTHENTIC);
    expect(verify({ [NAME]: `v1,${GOOD}, v1,${GOOD}` }, scheme)).toEqual(refused('ambiguous'));
  });
});

describe('a timestamp in the signature', () => {
  const signed = (sec: number | string, secret = 'push-secret') => ({
    [NAME]: hex(secret, BODY, `${sec}.`),
    'x-infrai-timestamp': String(sec),
  });

  it('is covered by it', () => {
    expect(verify(signed(NOW_SEC), TIMED)).toEqual(AUTHENTIC);
    expect(verify({ ...signed(NOW_SEC), 'x-infrai-timestamp': String(NOW_SEC + 1) }, TIMED)).toEqual(
      refused('mismatch'),
    );
    expect(verify({ [NAME]: GOOD, 'x-infrai-timestamp': String(NOW_SEC) }, TIMED)).toEqual(refused('mismatch'));
  });

  it('is fresh up to 300 seconds on either side, the last one included', () => {
    for (const sec of [NOW_SEC - 300, NOW_SEC + 300]) expect(verify(signed(sec), TIMED)).toEqual(AUTHENTIC);
    for (const sec of [NOW_SEC - 301, NOW_SEC + 301, 0]) expect(verify(signed(sec), TIMED)).toEqual(refused('stale'));
    expect(verify(signed(NOW_SEC - 300), TIMED, BODY, NOW_SEC * 1_000 + 1)).toEqual(refused('stale'));
  });

  it('in milliseconds is stale: it is read as seconds', () => {
    expect(verify(signed(NOW_SEC * 1_000), TIMED)).toEqual(refused('stale'));
  });

  it('is not called stale to somebody who does not hold the secret', () => {
    expect(verify(signed(NOW_SEC - 9_999, 'other'), TIMED)).toEqual(refused('mismatch'));
  });

  it('is refused with a tolerance that is no number', () => {
    expect(verify(signed(NOW_SEC), { ...TIMED, toleranceMs: Number.NaN })).toEqual(refused('stale'));
  });

  it.each(['-1', '1e9', `${NOW_SEC}.5`, '0x10', '١٢', ' 5', '1'.repeat(16), 'é', 'now'])(
    'is plain digits: %j is malformed, though signed',
    (sec) => {
      expect(verify(signed(sec), TIMED)).toEqual(refused('malformed'));
    },
  );

  it('is missing where it does not come, or comes empty, and ambiguous where it comes twice', () => {
    expect(verify({ [NAME]: GOOD }, TIMED)).toEqual(refused('missing'));
    expect(verify(signed(''), TIMED)).toEqual(refused('missing'));
    expect(verify(signed(`${NOW_SEC}, ${NOW_SEC}`), TIMED)).toEqual(refused('ambiguous'));
  });
});

describe('what is said about a refused push', () => {
  it('holds neither secret nor digest', () => {
    const told = JSON.stringify([verify({ [NAME]: hex('other', BODY) }), verify({ [NAME]: 'x' }), verify({})]);
    expect(told).not.toContain('push-secret');
    expect(told).not.toContain(GOOD);
  });
});
