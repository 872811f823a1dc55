import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { SIGNATURE_TOLERANCE_MS } from '../../functions/core/limits.ts';
import type { PushScheme } from '../../functions/core/push-signature.ts';
import { verifyPush } from '../../functions/core/push-signature.ts';
import { parseSecret, signatureHeaders } from '../../functions/core/signature.ts';

const bytes = fc.uint8Array({ maxLength: 200 });
const secret = fc.string({ minLength: 1, maxLength: 40, unit: 'binary' });

const scheme = (secrets: readonly string[], timestampHeader?: string): PushScheme => ({
  secrets,
  signatureHeader: 'x-infrai-signature',
  prefix: '',
  timestampHeader,
  toleranceMs: SIGNATURE_TOLERANCE_MS,
});

const hmac = (key: string, body: Uint8Array, head = ''): string =>
  createHmac('sha256', key).update(head).update(body).digest('hex');

const one = (value: string) => (name: string) => (name === 'x-infrai-signature' ? value : undefined);

const flip = (body: Uint8Array, at: number, by: number): Uint8Array =>
  body.map((byte, index) => (index === at % body.length ? byte ^ by : byte));

describe('verification of a push', () => {
  it('accepts what was signed, with the secret at any place of the list', () => {
    fc.assert(
      fc.property(bytes, fc.array(secret, { minLength: 1, maxLength: 4 }), fc.nat(), (body, secrets, pick) => {
        const key = secrets[pick % secrets.length] ?? '';
        const push = { headers: one(hmac(key, body)), body, scheme: scheme(secrets), nowMs: 0 };
        expect(verifyPush(push)).toEqual({ kind: 'authentic' });
      }),
    );
  });

  it('refuses a body of which one byte was changed, cut off or added', () => {
    const change = fc.tuple(fc.nat(), fc.integer({ min: 1, max: 255 }));
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), secret, change, (body, key, [at, by]) => {
        const headers = one(hmac(key, body));
        for (const changed of [flip(body, at, by), body.slice(0, -1), Uint8Array.from([...body, by])]) {
          const verdict = verifyPush({ headers, body: changed, scheme: scheme([key]), nowMs: 0 });
          expect(verdict).toEqual({ kind: 'refused', code: 'mismatch' });
        }
      }),
    );
  });

  it('accepts a signed timestamp exactly inside the tolerance', () => {
    const shift = fc.integer({ min: -400, max: 400 });
    fc.assert(
      fc.property(bytes, secret, fc.integer({ min: 1_000, max: 4_000_000_000 }), shift, (body, key, sec, ageSec) => {
        const values: Readonly<Record<string, string>> = {
          'x-infrai-signature': hmac(key, body, `${sec}.`),
          ts: String(sec),
        };
        const push = { headers: (name: string) => values[name], body, scheme: scheme([key], 'ts') };
        const verdict = verifyPush({ ...push, nowMs: (sec + ageSec) * 1_000 });
        expect(verdict.kind).toBe(Math.abs(ageSec) <= 300 ? 'authentic' : 'refused');
      }),
    );
  });

  it('never throws and never accepts a header that was not made with the secret', () => {
    const anything = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 200 }),
      fc.string({ unit: fc.constantFrom('0', 'a', 'F', ',', ' ', '='), minLength: 60, maxLength: 70 }),
      fc.string({ unit: fc.constantFrom('0', 'a', 'F'), minLength: 64, maxLength: 64 }),
    );
    fc.assert(
      fc.property(anything, fc.option(anything, { nil: undefined }), bytes, (signature, timestamp, body) => {
        const headers = (name: string) => (name === 'ts' ? timestamp : signature);
        for (const timestampHeader of [undefined, 'ts']) {
          const verdict = verifyPush({ headers, body, scheme: scheme(['secret'], timestampHeader), nowMs: 0 });
          expect(verdict.kind).toBe('refused');
        }
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the signature of an outgoing request', () => {
  it('is the one of the public library for every id, time, text and secret', () => {
    const id = fc.string({ unit: fc.constantFrom(...'abcXYZ019-_:/~'), minLength: 1, maxLength: 80 });
    const text = fc.string({ unit: 'grapheme', maxLength: 100 });
    const key = fc.uint8Array({ minLength: 24, maxLength: 64 });
    fc.assert(
      fc.property(id, fc.integer({ min: 0, max: 4_102_444_800 }), text, key, (messageId, timestampSec, body, raw) => {
        const encoded = `whsec_${Buffer.from(raw).toString('base64')}`;
        const parsed = parseSecret(encoded);
        if (parsed.kind === 'bad') throw new Error(parsed.reason);
        const headers = signatureHeaders({
          id: messageId,
          timestampSec,
          body: Buffer.from(body),
          secrets: [parsed.secret],
        });
        const expected = new Webhook(encoded).sign(messageId, new Date(timestampSec * 1_000), body);
        expect(headers['webhook-signature']).toBe(expected);
      }),
    );
  });

  it('is made for no text that is not a secret, and parsing never throws or repeats it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 40, maxLength: 80 }), (tail) => {
        const parsed = parseSecret(`whsec_${tail}`);
        const isSecret =
          Buffer.from(tail, 'base64').toString('base64') === tail && Buffer.from(tail, 'base64').length <= 64;
        expect(parsed.kind).toBe(isSecret ? 'ok' : 'bad');
        if (parsed.kind === 'bad') expect(JSON.stringify(parsed)).not.toContain(tail);
      }),
    );
  });
});
