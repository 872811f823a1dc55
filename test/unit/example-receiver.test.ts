/**
 * Goal: the receiver that the README offers for pasting is right: it lets in what is signed, acts once, asks for a
 * repeat when it failed.
 * Method: signed requests over loopback, signed by our own signer and by the reference library.
 */
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseSecret, signatureHeaders } from '../../functions/core/signature.ts';
import { isAuthentic, receiver } from '../../infra/local/partner/example-receiver.ts';

const nowMs = Date.UTC(2026, 0, 1);
const textOf = (byte: number): string => `whsec_${Buffer.alloc(32, byte).toString('base64')}`;
const SECRET = textOf(1);
const BODY = Buffer.from('{"order":"a1","note":"é"}');

const secretOf = (text: string) => {
  const parsed = parseSecret(text);
  if (parsed.kind === 'bad') throw new Error(parsed.reason);
  return parsed.secret;
};

interface Signing {
  readonly id?: string;
  readonly atMs?: number;
  readonly body?: Uint8Array;
  readonly secrets?: readonly string[];
}

const signed = ({ id = 'evt-1', atMs = nowMs, body = BODY, secrets = [SECRET] }: Signing = {}) => ({
  ...signatureHeaders({ id, timestampSec: Math.floor(atMs / 1_000), body, secrets: secrets.map(secretOf) }),
});

describe('a signature', () => {
  it('of our signer is authentic', () => {
    expect(isAuthentic(SECRET, signed(), BODY, nowMs)).toBe(true);
  });

  it('of the reference library is authentic', () => {
    const signature = new Webhook(SECRET).sign('evt-1', new Date(nowMs), BODY);
    const headers = {
      'webhook-id': 'evt-1',
      'webhook-timestamp': String(nowMs / 1_000),
      'webhook-signature': signature,
    };
    expect(isAuthentic(SECRET, headers, BODY, nowMs)).toBe(true);
  });

  it('covers the bytes, also those that are no text', () => {
    const body = Uint8Array.of(0, 255, 254);
    expect(isAuthentic(SECRET, signed({ body }), body, nowMs)).toBe(true);
    expect(isAuthentic(SECRET, signed({ body }), Uint8Array.of(0, 255, 253), nowMs)).toBe(false);
  });

  it('may stand anywhere in the list while a secret is rotated', () => {
    const headers = signed({ secrets: [textOf(9), SECRET] });
    expect(headers['webhook-signature'].split(' ')).toHaveLength(2);
    expect(isAuthentic(SECRET, headers, BODY, nowMs)).toBe(true);
    expect(isAuthentic(textOf(9), headers, BODY, nowMs)).toBe(true);
    expect(isAuthentic(textOf(8), headers, BODY, nowMs)).toBe(false);
  });

  it.each([
    ['five minutes old', -300_000, true],
    ['older', -301_000, false],
    ['five minutes ahead', 300_000, true],
    ['further ahead', 301_000, false],
  ])('%s is taken: %s ms, %s', (_what, offsetMs, isTaken) => {
    expect(isAuthentic(SECRET, signed({ atMs: nowMs + offsetMs }), BODY, nowMs)).toBe(isTaken);
  });

  it.each([
    ['no id', { 'webhook-id': undefined }],
    ['an empty id', { 'webhook-id': '' }],
    ['another id', { 'webhook-id': 'evt-2' }],
    ['no time', { 'webhook-timestamp': undefined }],
    ['a time that is no number', { 'webhook-timestamp': 'now' }],
    ['another time', { 'webhook-timestamp': String(nowMs / 1_000 + 1) }],
    ['no signature', { 'webhook-signature': undefined }],
    ['an empty signature', { 'webhook-signature': '' }],
    ['a signature of another scheme', { 'webhook-signature': signed()['webhook-signature'].replace('v1,', 'v1a,') }],
    ['a signature without scheme', { 'webhook-signature': signed()['webhook-signature'].slice(3) }],
    ['half a signature', { 'webhook-signature': signed()['webhook-signature'].slice(0, 20) }],
  ])('with %s is refused', (_what, change) => {
    expect(isAuthentic(SECRET, { ...signed(), ...change }, BODY, nowMs)).toBe(false);
  });

  it.each([
    ['an empty id', '', String(nowMs / 1_000)],
    ['a time that is no number', 'evt-1', 'now'],
    ['an empty time', 'evt-1', ''],
  ])('over %s is refused, although the signature is right', (_what, id, seconds) => {
    const key = Buffer.from(SECRET.slice(6), 'base64');
    const hmac = createHmac('sha256', key).update(`${id}.${seconds}.`).update(BODY).digest('base64');
    const headers = { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': `v1,${hmac}` };
    expect(isAuthentic(SECRET, headers, BODY, nowMs)).toBe(false);
  });

  it('cannot be moved to another id by a dot', () => {
    const seconds = String(nowMs / 1_000);
    const body = Buffer.from(`${seconds}.{}`);
    const moved = { ...signed({ body }), 'webhook-id': `evt-1.${seconds}` };
    // The same bytes are signed: `evt-1` + seconds + body, or `evt-1.seconds` + seconds + the rest of the body.
    expect(isAuthentic(SECRET, signed({ body }), body, nowMs)).toBe(true);
    expect(isAuthentic(SECRET, moved, Buffer.from('{}'), nowMs)).toBe(false);
  });

  it.each(['', 'whsec_', 'whsec_c2hvcnQ='])('without a whole secret is an error: "%s"', (secret) => {
    expect(() => isAuthentic(secret, signed(), BODY, nowMs)).toThrow(/secret is missing or cut short/);
  });
});

const world = async (act: (id: string, body: Buffer) => Promise<void>, secret = SECRET) => {
  const server = createServer(receiver(secret, act, () => nowMs));
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const dispatcher = new Agent();
  onTestFinished(async () => {
    await dispatcher.destroy();
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const send = async (headers: Record<string, string> = signed(), body: Uint8Array = BODY): Promise<number> => {
    const answer = await request(`http://127.0.0.1:${port}`, { dispatcher, method: 'POST', headers, body });
    await answer.body.dump();
    return answer.statusCode;
  };
  return { send, port };
};

describe('the receiver', () => {
  it('acts once for an id, and says 2xx each time', async () => {
    const acts: string[] = [];
    const { send } = await world(async (id, body) => {
      acts.push(`${id} ${body.toString()}`);
    });
    expect([await send(), await send(signed({ atMs: nowMs + 60_000 })), await send(signed({ id: 'evt-2' }))]).toEqual([
      204, 204, 204,
    ]);
    expect(acts).toEqual([`evt-1 ${BODY.toString()}`, `evt-2 ${BODY.toString()}`]);
  });

  it('acts once for two requests at the same time, and answers neither before that is done', async () => {
    const begun = Promise.withResolvers<void>();
    const done = Promise.withResolvers<void>();
    let acts = 0;
    const { send } = await world(async (id) => {
      if (id !== 'evt-1') return;
      acts += 1;
      begun.resolve();
      await done.promise;
    });
    const answered: number[] = [];
    const both = [send(), send()].map(async (status) => answered.push(await status));
    await begun.promise;
    expect(await send(signed({ id: 'evt-2' }))).toBe(204);
    expect(answered).toEqual([]);
    done.resolve();
    await Promise.all(both);
    expect(answered).toEqual([204, 204]);
    expect(acts).toBe(1);
  });

  it.each([
    ['rejects', async () => Promise.reject(new Error('no database'))],
    [
      'throws',
      () => {
        throw new Error('no database');
      },
    ],
  ])('asks for a repeat when the work %s, and does it again then', async (_how, fail: () => Promise<void>) => {
    let acts = 0;
    const { send } = await world(() => {
      acts += 1;
      return acts === 1 ? fail() : Promise.resolve();
    });
    expect([await send(), await send(), await send()]).toEqual([500, 204, 204]);
    expect(acts).toBe(2);
  });

  it('does not act on what is forged or stale', async () => {
    let acts = 0;
    const { send } = await world(async () => {
      acts += 1;
    });
    expect(await send(signed({ secrets: [textOf(9)] }))).toBe(401);
    expect(await send(signed({ atMs: nowMs - 3_600_000 }))).toBe(401);
    expect(await send(signed(), Buffer.from('{}'))).toBe(401);
    expect(await send({})).toBe(401);
    expect(acts).toBe(0);
  });

  it('refuses a body that is too large or of unknown length before it has read it', async () => {
    const { send, port } = await world(async () => {});
    const large = new Uint8Array(1_000_001);
    expect(await send(signed({ body: large.subarray(1) }), large.subarray(1))).toBe(204);
    const heads = ['content-length: 1000001', 'transfer-encoding: chunked'];
    for (const head of heads) {
      const socket = connect(port, '127.0.0.1');
      socket.write(`POST / HTTP/1.1\r\nhost: a\r\n${head}\r\n\r\n`);
      const [answer] = await new Promise<Buffer[]>((read) => socket.once('data', (chunk) => read([chunk])));
      expect(answer?.toString()).toMatch(/^HTTP\/1\.1 413 /);
      socket.destroy();
    }
  });

  it('answers 500 where it has no secret: nothing is let in by mistake', async () => {
    const { send } = await world(async () => {}, '');
    expect(await send()).toBe(500);
  });

  it('outlives a sender that goes away in the middle', async () => {
    const { send, port } = await world(async () => {});
    const socket = connect(port, '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf');
    expect(await send()).toBe(204);
    await new Promise((closed) => socket.once('close', closed).destroy());
    expect(await send(signed({ id: 'evt-2' }))).toBe(204);
  });
});
