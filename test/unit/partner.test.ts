/**
 * Goal: the partner remembers what it received, exactly and within bounds, and tells whoever waits for it.
 * Method: real connections on loopback; time is a clock that the test moves.
 */
import { createHash } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseSecret, signatureHeaders } from '../../functions/core/signature.ts';
import { Budget } from '../../infra/local/partner/budget.ts';
import { Kept } from '../../infra/local/partner/kept.ts';
import type { ReceivedRequest } from '../../infra/local/partner/mailbox.ts';
import { BOUNDS } from '../../infra/local/partner/mailboxes.ts';
import { createPartner } from '../../infra/local/partner/partner.ts';
import { HandClock, partnerWorld, rawClient, rawPost } from '../support/partner-world.ts';

const sha256 = (body: string | Uint8Array): string => createHash('sha256').update(body).digest('hex');

/** The port of a server that ends with the test. */
const listening = async (server: Server): Promise<number> => {
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((closed) => server.close(closed));
  });
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : 0;
};

describe('what was received', () => {
  it('is kept with its number, time, headers, bytes and hash', async () => {
    const { clock, partner, send } = await partnerWorld();
    const atMs = clock.nowMs();
    await send('kept', { key: 'evt-1', body: '{"a":1}', headers: { 'x-more': 'yes' } });
    clock.pass(1_000);
    await send('kept', { body: Uint8Array.of(0, 255, 254) });
    const [first, second] = partner.mailbox('kept').requests;
    expect(first).toMatchObject({
      mailbox: 'kept',
      number: 1,
      atMs,
      method: 'POST',
      path: '/partner/kept',
      key: 'evt-1',
    });
    expect(first).toMatchObject({ bodyBytes: 7, sha256: sha256('{"a":1}'), played: 'status 200', from: 'script' });
    expect(first?.headers).toMatchObject({ 'webhook-id': 'evt-1', 'x-more': 'yes' });
    expect(second).toMatchObject({ number: 2, atMs: atMs + 1_000, key: undefined });
    expect([...(second?.body ?? [])]).toEqual([0, 255, 254]);
    expect(partner.mailbox('kept').effects).toEqual([
      { key: 'evt-1', atMs, sha256: sha256('{"a":1}'), request: 1 },
      { key: undefined, atMs: atMs + 1_000, sha256: sha256(Uint8Array.of(0, 255, 254)), request: 2 },
    ]);
  });

  it('can be read as JSON, text as text and the rest as base64', async () => {
    const { clock, send } = await partnerWorld();
    await send('json', { key: 'evt-1', body: '{"a":"é"}' });
    await send('json', { body: Uint8Array.of(0, 255) });
    const { status, headers, text } = await send('json', { method: 'GET' });
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'application/json' });
    expect(JSON.parse(text)).toMatchObject({
      name: 'json',
      keys: 'honours',
      requestCount: 2,
      effectCount: 2,
      keysDropped: 0,
      requests: [
        { number: 1, key: 'evt-1', body: '{"a":"é"}', bodyBytes: 10, signature: 'unchecked', acted: true },
        { number: 2, key: null, bodyBase64: 'AP8=', bodyBytes: 2 },
      ],
      effects: [
        { key: 'evt-1', atMs: clock.nowMs(), request: 1 },
        { key: null, request: 2 },
      ],
    });
  });

  it('is nothing, in the same form, for a name that received nothing', async () => {
    const { send } = await partnerWorld();
    const { text } = await send('empty', { method: 'GET' });
    expect(JSON.parse(text)).toMatchObject({ requestCount: 0, requests: [], effectCount: 0, effects: [] });
  });

  it('is forgotten by DELETE, with the script and the keys', async () => {
    const { partner, send } = await partnerWorld();
    const secret = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
    const mailbox = partner.script('gone', [{ status: 201 }, { status: 500 }], { keys: 'replays-all', secret });
    for (const _ of [1, 2]) expect((await send('gone', { key: 'evt-1' })).status).toBe(201);
    expect((await send('gone', { method: 'DELETE' })).status).toBe(204);
    expect([mailbox.requestCount, mailbox.effectCount]).toEqual([0, 0]);
    expect((await send('gone', { key: 'evt-1' })).status).toBe(200);
    expect(mailbox.requests).toMatchObject([{ number: 1, signature: 'unchecked' }]);
    expect(mailbox.personality.keys).toBe('honours');
    expect(mailbox.effectCount).toBe(1);
    expect((await send('never-seen', { method: 'DELETE' })).status).toBe(204);
  });
});

describe('a signature', () => {
  const text = `whsec_${Buffer.alloc(32, 3).toString('base64')}`;
  const signed = (body: string, nowMs: number) => {
    const parsed = parseSecret(text);
    if (parsed.kind === 'bad') throw new Error(parsed.reason);
    const timestampSec = Math.floor(nowMs / 1_000);
    const { ...headers } = signatureHeaders({
      id: 'evt-1',
      timestampSec,
      body: Buffer.from(body),
      secrets: [parsed.secret],
    });
    return headers;
  };

  it('is checked where the mailbox has a secret, by the clock of the partner, and changes nothing else', async () => {
    const { clock, partner, send } = await partnerWorld();
    const mailbox = partner.script('signed', [{}], { secret: text, keys: 'ignores' });
    const headers = signed('{"n":1}', clock.nowMs());
    expect((await send('signed', { body: '{"n":1}', headers })).status).toBe(200);
    expect((await send('signed', { body: '{"n":2}', headers })).status).toBe(200);
    expect((await send('signed', { body: '{"n":1}' })).status).toBe(200);
    clock.pass(301_000);
    partner.script('signed', [{}]);
    await send('signed', { body: '{"n":1}', headers });
    expect(mailbox.requests.map(({ signature }) => signature)).toEqual(['verified', 'refused', 'refused', 'refused']);
    expect(mailbox.effectCount).toBe(4);
  });

  it('that is bad gets a 401 and no effect where the mailbox refuses it, and its key stays unknown', async () => {
    const { clock, partner, send } = await partnerWorld();
    const mailbox = partner.script('strict', [{ status: 201 }], { secret: text, refuses: true });
    const headers = signed('{"n":1}', clock.nowMs());
    expect((await send('strict', { body: '{"n":2}', headers })).status).toBe(401);
    expect((await send('strict', { body: '{"n":1}', headers })).status).toBe(201);
    expect(mailbox.requests.map(({ from }) => from)).toEqual(['signature', 'script']);
    expect(mailbox.effectCount).toBe(1);
    await send('strict', { method: 'DELETE' });
    expect((await send('strict', { body: '{"n":2}', headers })).status).toBe(200);
  });

  it('keeps the secret out of what can be read', async () => {
    const { partner, send } = await partnerWorld();
    partner.script('signed', [{}], { secret: text });
    await send('signed');
    expect((await send('signed', { method: 'GET' })).text).not.toContain(text.slice(6, 20));
  });
});

describe('signals', () => {
  it('received(n) resolves with the n-th request, at once where it is there already', async () => {
    const { partner, send } = await partnerWorld();
    const mailbox = partner.mailbox('wait');
    const reached: number[] = [];
    const waits = [1, 2, 2].map(async (count) => {
      const requests = await mailbox.received(count);
      reached.push(requests.length);
    });
    await send('wait');
    await waits[0];
    expect(reached).toEqual([1]);
    await send('wait');
    await Promise.all(waits);
    expect(reached).toEqual([1, 2, 2]);
    expect(await mailbox.received(1)).toHaveLength(2);
  });

  it('received(n) rejects when the partner closes before, and says what was missing', async () => {
    const { partner, send } = await partnerWorld();
    await send('wait');
    const waiting = partner.mailbox('wait').received(3);
    const forgotten = partner.mailbox('nobody-waits').received(1);
    await partner.close();
    // A rejection that nobody handles would end the run by now.
    await new Promise((later) => setImmediate(later));
    await expect(forgotten).rejects.toThrow('had 0 of the 1');
    await expect(waiting).rejects.toThrow('"wait" had 1 of the 3 requests waited for');
  });

  it('onRequest is called when the effect has happened, and the answer waits for it', async () => {
    const { partner, send } = await partnerWorld();
    const read = Promise.withResolvers<ReceivedRequest>();
    const release = Promise.withResolvers<void>();
    const order: string[] = [];
    const end = partner.onRequest((request) => {
      order.push(`read ${request.number}, effects ${partner.mailbox(request.mailbox).effectCount}`);
      read.resolve(request);
      return release.promise;
    });
    partner.onAnswered(({ number }) => order.push(`answered ${number}`));
    const answer = send('hook').then(({ status }) => order.push(`client has ${status}`));
    await read.promise;
    await send('other', { method: 'GET' });
    expect(order).toEqual(['read 1, effects 1']);
    release.resolve();
    await answer;
    expect(order).toEqual(['read 1, effects 1', 'answered 1', 'client has 200']);
    end();
    await send('hook');
    expect(order.filter((what) => what.startsWith('read'))).toHaveLength(1);
  });

  it('a client that goes away while a hook holds the answer ends the exchange', async () => {
    const partner = createPartner({ clock: new HandClock() });
    const lost = Promise.withResolvers<void>();
    const over = Promise.withResolvers<void>();
    const port = await listening(
      createServer((req, res) => {
        req.socket.once('close', lost.resolve);
        partner.handle(req, res);
      }),
    );
    const client = rawClient(port);
    partner.onRequest(async () => {
      client.destroy();
      await lost.promise;
    });
    partner.onAnswered(() => over.resolve());
    client.write(rawPost('gone'));
    await over.promise;
    expect(partner.mailbox('gone').effectCount).toBe(1);
  });

  it('a hook that throws is told to the client as a fault', async () => {
    const { partner, send } = await partnerWorld();
    partner.onRequest(() => {
      throw new Error('the demo is broken');
    });
    const { status, text } = await send('hook');
    expect(status).toBe(500);
    expect(JSON.parse(text)).toMatchObject({ code: 'fault', detail: 'the demo is broken' });
  });
});

describe('bounds', () => {
  it('a body of 2 MB is taken and one byte more is refused and not remembered', async () => {
    const { partner, send } = await partnerWorld();
    const most = new Uint8Array(2 * 1_024 * 1_024).fill(97);
    expect((await send('large', { body: most })).status).toBe(200);
    const refused = await send('large', { body: new Uint8Array(most.length + 1) });
    expect(refused).toMatchObject({ status: 413, headers: { 'content-type': 'application/problem+json' } });
    const [request, ...others] = partner.mailbox('large').requests;
    expect(others).toEqual([]);
    expect(request).toMatchObject({ bodyBytes: most.length, sha256: sha256(most) });
    expect(request?.body.length).toBe(300 * 1_024);
    expect(request?.body.buffer.byteLength).toBe(300 * 1_024);
  });

  it('a body that does not end is cut off', async () => {
    const { partner } = await partnerWorld();
    const client = rawClient(partner.port);
    client.write('POST /partner/endless HTTP/1.1\r\nhost: a\r\ncontent-length: 100000000\r\n\r\n');
    for (let sent = 0; sent <= 8; sent += 1) client.write('a'.repeat(1_024 * 1_024));
    expect((await client.ended).text).toBe('');
    expect(partner.mailbox('endless').requestCount).toBe(0);
  });

  it('the newest 1,000 requests and effects are kept, and the counts go on', async () => {
    const { partner } = await partnerWorld();
    const mailbox = partner.mailbox('many');
    const client = rawClient(partner.port);
    for (let sent = 0; sent < 1_003; sent += 1) client.write(rawPost('many'));
    await mailbox.received(1_003);
    expect([mailbox.requestCount, mailbox.effectCount]).toEqual([1_003, 1_003]);
    expect(mailbox.requests.map(({ number }) => number)).toEqual(Array.from({ length: 1_000 }, (_, at) => at + 4));
    expect(mailbox.effects).toHaveLength(1_000);
  });

  it('mailboxes share their memory: the oldest records go first, whoever has them, and counts stay', async () => {
    const { partner, send } = await partnerWorld({ ...BOUNDS, recordBytes: 12_000 });
    await send('one', { body: 'a'.repeat(4_000) });
    for (const body of ['b', 'c']) await send('two', { body: body.repeat(4_000) });
    const [one, two] = [partner.mailbox('one'), partner.mailbox('two')];
    expect([one.requests.length, two.requests.length]).toEqual([0, 2]);
    expect([one.requestCount, one.effectCount, two.requestCount]).toEqual([1, 1, 2]);
  });

  it('a mailbox too many is refused, an idle one makes room, and DELETE makes one idle', async () => {
    const { partner, send } = await partnerWorld({ ...BOUNDS, mailboxes: 2 });
    partner.mailbox('idle');
    for (const name of ['one', 'two']) expect((await send(name)).status).toBe(200);
    const refused = await send('three');
    expect(refused.status).toBe(503);
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'all-mailboxes-in-use' });
    expect((await send('three/script', { method: 'PUT', body: '{}' })).status).toBe(503);
    expect(() => partner.mailbox('three')).toThrow(/All 2 mailboxes are in use/);
    await send('one', { method: 'DELETE' });
    expect((await send('three')).status).toBe(200);
    expect(partner.mailbox('three').requestCount).toBe(1);
    expect(partner.mailbox('two').requestCount).toBe(1);
  });

  it('a mailbox with a script, or with somebody who waits, is not idle; DELETE takes the script', async () => {
    const { partner, send } = await partnerWorld({ ...BOUNDS, mailboxes: 2 });
    partner.script('scripted', [{ status: 201 }]);
    const waiting = partner.mailbox('awaited').received(1);
    expect((await send('third')).status).toBe(503);
    await send('scripted', { method: 'DELETE' });
    expect((await send('third')).status).toBe(200);
    await send('awaited');
    expect(await waiting).toHaveLength(1);
  });

  it('a share of memory drops the oldest, never the newest, and takes back what is released', () => {
    const budget = new Budget(10);
    const dropped: string[] = [];
    const [first] = ['a', 'b', 'c'].map((name) => budget.hold(4, () => dropped.push(name)));
    first?.release();
    expect({ dropped, bytes: budget.bytes }).toEqual({ dropped: ['a'], bytes: 8 });
    budget.hold(99, () => dropped.push('huge'));
    expect({ dropped, bytes: budget.bytes }).toEqual({ dropped: ['a', 'b', 'c'], bytes: 99 });
    budget.hold(1, () => dropped.push('d')).release();
    expect({ dropped, bytes: budget.bytes }).toEqual({ dropped: ['a', 'b', 'c', 'huge'], bytes: 0 });
  });

  it('a list gives back the share of what it lets go', () => {
    const budget = new Budget(1_000);
    const kept = new Kept<number>(budget, 2);
    for (const item of [1, 2, 3]) kept.add(item, 10);
    expect({ items: kept.items, count: kept.count, bytes: budget.bytes }).toEqual({
      items: [2, 3],
      count: 3,
      bytes: 20,
    });
    kept.clear();
    expect({ items: kept.items, count: kept.count, bytes: budget.bytes }).toEqual({ items: [], count: 0, bytes: 0 });
  });

  it('bodies beyond 8 MB are left out of the JSON, the oldest first; sizes and hashes stay', async () => {
    const { send } = await partnerWorld();
    const body = new Uint8Array(300 * 1_024).fill(97);
    for (let sent = 0; sent < 28; sent += 1) await send('wide', { body });
    const { requests } = JSON.parse((await send('wide', { method: 'GET' })).text);
    expect(requests.map((request: object) => 'body' in request)).toEqual([
      false,
      ...Array.from({ length: 27 }, () => true),
    ]);
    expect(requests[0]).toMatchObject({ number: 1, bodyBytes: body.length, sha256: sha256(body) });
  });
});

describe('paths and methods', () => {
  it.each(['', 'a/b', 'a/script/b', 'a%20b', '.hidden', `${'x'.repeat(65)}`, 'a/'])(
    '"%s" is no path of it',
    async (path) => {
      const { send } = await partnerWorld();
      const { status, text } = await send(path);
      expect(status).toBe(404);
      expect(JSON.parse(text)).toMatchObject({ code: 'no-such-path' });
    },
  );

  it('a name that a path cannot carry is refused by code too', async () => {
    const { partner } = await partnerWorld();
    expect(() => partner.mailbox('a/b')).toThrow('"a/b" cannot name a mailbox');
  });

  it.each([
    ['a', 'PATCH', 'POST, GET, DELETE'],
    ['a', 'PUT', 'POST, GET, DELETE'],
    ['a/script', 'POST', 'PUT'],
  ] as const)('%s does not take %s, and says what it takes', async (path, method, allow) => {
    const { send } = await partnerWorld();
    expect(await send(path, { method })).toMatchObject({ status: 405, headers: { allow } });
  });

  it('below another server it takes its own paths and leaves the others untouched', async () => {
    const partner = createPartner({ clock: new HandClock() });
    const port = await listening(
      createServer((req, res) => {
        if (!partner.handle(req, res)) res.end('not the partner');
      }),
    );
    const at = `http://127.0.0.1:${port}`;
    expect(await (await fetch(`${at}/partner/a`, { method: 'POST', body: '{}' })).text()).toBe('ok');
    for (const path of ['/', '/partner', '/partners/a']) {
      expect(await (await fetch(`${at}${path}`)).text()).toBe('not the partner');
    }
    partner.script('a', [{ hang: true }]);
    const hanging = fetch(`${at}/partner/a`, { method: 'POST', body: '{}' });
    await partner.mailbox('a').received(2);
    await partner.close();
    await expect(hanging).rejects.toThrow();
    await expect(fetch(`${at}/partner/a`, { method: 'POST', body: '{}' })).rejects.toThrow();
    expect(await (await fetch(at)).text()).toBe('not the partner');
  });
});

describe('closing', () => {
  it('ends hanging, delayed, dripping, half-sent, silent and idle connections at once and leaves no timer', async () => {
    const { clock, partner } = await partnerWorld();
    partner.script('hang', [{ hang: true }]);
    partner.script('late', [{ delayMs: 60_000 }]);
    partner.script('drip', [{ drip: { everyMs: 60_000 } }]);
    const parts: Record<string, [number, number?]> = { half: [0, -1], head: [0, 20], silent: [0, 0] };
    const clients = ['hang', 'late', 'drip', 'plain', 'half', 'head', 'silent'].map((name) => ({
      name,
      client: rawClient(partner.port),
    }));
    for (const { name, client } of clients) client.write(rawPost(name).slice(...(parts[name] ?? [])));
    const stranger = rawClient(partner.port);
    stranger.write('POST /elsewhere HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf');
    await stranger.until((text) => text.startsWith('HTTP/1.1 404'));
    await Promise.all(['hang', 'late', 'drip', 'plain'].map((name) => partner.mailbox(name).received(1)));
    expect(clock.pending).toBe(2);
    const startedMs = performance.now();
    await partner.close();
    await Promise.all([...clients.map(({ client }) => client.ended), stranger.ended]);
    expect(performance.now() - startedMs).toBeLessThan(500);
    expect(clock.pending).toBe(0);
    expect(partner.mailbox('half').requestCount).toBe(0);
  });

  it('a client that goes away in the middle of its request leaves nothing', async () => {
    const { partner, send } = await partnerWorld();
    const client = rawClient(partner.port);
    client.write(rawPost('half').slice(0, -1));
    client.write('');
    await send('other');
    client.destroy();
    await client.ended;
    await send('other');
    expect(partner.mailbox('half').requestCount).toBe(0);
    expect(partner.mailbox('other').requestCount).toBe(2);
  });
});
