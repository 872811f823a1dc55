/**
 * Goal: every misbehaviour of the partner is what its name says, as the client sees it, and the effect happens or not
 * as the step says.
 * Method: real connections on loopback; time is a clock that the test moves.
 */
import { describe, expect, it } from 'vitest';
import { partnerWorld, rawClient, rawPost } from '../support/partner-world.ts';

describe('an answer', () => {
  it('is 200 and has an effect where nobody has written a script', async () => {
    const { partner, send } = await partnerWorld();
    expect(await send('plain')).toMatchObject({ status: 200, text: 'ok' });
    expect(partner.mailbox('plain').effectCount).toBe(1);
  });

  it('has the status, headers and body of its step, and steps follow each other; the last one stays', async () => {
    const { partner, send } = await partnerWorld();
    partner.script('steps', [
      { status: 503, headers: { 'Retry-After': ['120', '240'], 'Content-Type': 'text/html' }, body: '<p>busy' },
      { status: 302, headers: { location: '/elsewhere' } },
      { status: 204 },
    ]);
    const first = await send('steps');
    expect(first).toMatchObject({ status: 503, text: '<p>busy' });
    expect(first.headers).toMatchObject({ 'retry-after': ['120', '240'], 'content-type': 'text/html' });
    const second = await send('steps');
    expect(second).toMatchObject({ status: 302, headers: { location: '/elsewhere' } });
    expect((await send('steps')).status).toBe(204);
    expect((await send('steps')).status).toBe(204);
  });

  it.each([
    [200, 1],
    [299, 1],
    [302, 0],
    [404, 0],
    [500, 0],
    [999, 0],
  ])('with status %i has %i effects unless the step says otherwise', async (status, effects) => {
    const { partner, send } = await partnerWorld();
    const mailbox = partner.script('usual', [{ status }]);
    expect(await send('usual')).toMatchObject({ status, text: status < 300 ? 'ok' : `status ${status}` });
    expect(mailbox.effectCount).toBe(effects);
    const other = partner.script('unusual', [{ status, act: effects === 0 }]);
    await send('unusual');
    expect(other.effectCount).toBe(1 - effects);
  });

  it('that is delayed comes when the time has passed and not before; the effect is there at once', async () => {
    const { clock, partner, send } = await partnerWorld();
    const mailbox = partner.script('late', [{ delayMs: 500 }]);
    const answered: string[] = [];
    partner.onAnswered((request) => answered.push(request.mailbox));
    const answer = send('late');
    await mailbox.received(1);
    expect(mailbox.effectCount).toBe(1);
    clock.pass(499);
    await send('another');
    expect(answered).toEqual(['another']);
    clock.pass(1);
    expect((await answer).status).toBe(200);
    expect(answered).toEqual(['another', 'late']);
  });
});

describe('a hang', () => {
  it('gives no answer however long one waits, ends with the client, and had its effect', async () => {
    const { clock, partner, send } = await partnerWorld();
    const mailbox = partner.script('hang', [{ hang: true }]);
    const over = Promise.withResolvers<void>();
    partner.onAnswered(() => over.resolve());
    const patience = new AbortController();
    const answer = send('hang', { signal: patience.signal });
    await mailbox.received(1);
    clock.pass(86_400_000);
    patience.abort();
    await expect(answer).rejects.toThrow(/abort/i);
    await over.promise;
    expect(mailbox.effectCount).toBe(1);
  });

  it('without an effect leaves none', async () => {
    const { partner, send } = await partnerWorld();
    const mailbox = partner.script('hang', [{ hang: true, act: false }]);
    const patience = new AbortController();
    const answer = send('hang', { signal: patience.signal });
    await mailbox.received(1);
    patience.abort();
    await expect(answer).rejects.toThrow(/abort/i);
    expect(mailbox.effectCount).toBe(0);
  });
});

describe('a reset', () => {
  it('before the answer lets no byte out, after the request has been read and has had its effect', async () => {
    const { partner } = await partnerWorld();
    const mailbox = partner.script('reset', [{ reset: 'before-answer' }]);
    const client = rawClient(partner.port);
    client.write(rawPost('reset', '{"paid":true}'));
    expect(await client.ended).toEqual({ text: '', code: 'ECONNRESET' });
    expect(mailbox.requests[0]).toMatchObject({ bodyBytes: 13, played: 'reset before the answer', acted: true });
  });

  it('after the status shows the status line and cuts the promised body', async () => {
    const { partner, send } = await partnerWorld();
    partner.script('reset', [{ status: 201, reset: 'after-status', headers: { 'x-seen': 'yes' }, body: 'ok' }]);
    const client = rawClient(partner.port);
    client.write(rawPost('reset'));
    const { text, code } = await client.ended;
    expect(code).toBeUndefined();
    expect(text).toMatch(/^HTTP\/1\.1 201 Created\r\n/);
    expect(text).toContain('x-seen: yes\r\n');
    expect(text).toMatch(/content-length: 3\r\nconnection: close\r\n\r\n$/);
    await expect(send('reset')).rejects.toThrow(/closed|terminated|reset|length/i);
  });
});

describe('a drip', () => {
  it('of the body shows the status at once and then a byte each time', async () => {
    const { clock, partner } = await partnerWorld();
    partner.script('drip', [{ body: 'abc', drip: { everyMs: 1_000 } }]);
    const client = rawClient(partner.port);
    client.write(rawPost('drip'));
    const head = await client.until((text) => text.endsWith('\r\n\r\n'));
    expect(head).toMatch(/^HTTP\/1\.1 200 OK\r\n.*content-length: 3\r\n/s);
    for (const byte of ['a', 'b', 'c']) {
      clock.pass(999);
      clock.pass(1);
      await client.until((text) => text.endsWith(byte));
    }
    expect(client.text().slice(head.length)).toBe('abc');
    expect(clock.pending).toBe(0);
  });

  it('has bytes enough for a long time where no body is given', async () => {
    const { clock, partner } = await partnerWorld();
    partner.script('drip', [{ drip: { everyMs: 1_000 } }]);
    const client = rawClient(partner.port);
    client.write(rawPost('drip'));
    await client.until((text) => text.endsWith('\r\n\r\n'));
    clock.pass(63_000);
    expect(clock.pending).toBe(1);
    clock.pass(1_000);
    await client.until((text) => text.endsWith('.'.repeat(64)));
  });

  it('from the head on makes the status line itself slow', async () => {
    const { clock, partner } = await partnerWorld();
    partner.script('slow', [{ status: 202, body: 'x', drip: { everyMs: 10, from: 'head' } }]);
    const client = rawClient(partner.port);
    client.write(rawPost('slow'));
    await partner.mailbox('slow').received(1);
    clock.pass(100);
    expect(await client.until((text) => text.length === 10)).toBe('HTTP/1.1 2');
    clock.pass(10_000);
    expect((await client.ended).text).toMatch(/^HTTP\/1\.1 202 Accepted\r\n.*\r\n\r\nx$/s);
  });

  it('stops when the client goes away', async () => {
    const { clock, partner } = await partnerWorld();
    partner.script('drip', [{ drip: { everyMs: 1_000 } }]);
    const over = Promise.withResolvers<void>();
    partner.onAnswered(() => over.resolve());
    const client = rawClient(partner.port);
    client.write(rawPost('drip'));
    await client.until((text) => text.endsWith('\r\n\r\n'));
    expect(clock.pending).toBe(1);
    client.destroy();
    await over.promise;
    expect(clock.pending).toBe(0);
  });
});

describe('a spoiled connection', () => {
  it.each([
    ['an impossible status', 'HTTP/1.1 099 Odd\r\n\r\n'],
    ['no HTTP at all', '\u0000\u0001 hello'],
    ['a head without end', `HTTP/1.1 200 OK\r\nx-long: ${'a'.repeat(40_000)}`],
  ])('by garbage sends exactly the bytes of the step: %s', async (_what, garbage) => {
    const { partner, send } = await partnerWorld();
    const mailbox = partner.script('garbage', [{ garbage }]);
    const client = rawClient(partner.port);
    client.write(rawPost('garbage'));
    expect(await client.ended).toEqual({ text: garbage, code: undefined });
    await expect(send('garbage')).rejects.toThrow();
    expect(mailbox.effectCount).toBe(2);
  });

  it('by a false keep-alive promises to stay and is gone after the answer', async () => {
    const { partner } = await partnerWorld();
    partner.script('gone', [{ closeKeepAlive: true }]);
    const client = rawClient(partner.port);
    client.write(rawPost('gone'));
    const { text } = await client.ended;
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n.*connection: keep-alive\r\n.*\r\n\r\nok$/is);
  });

  it('is not what an ordinary answer leaves: there the connection serves the next request', async () => {
    const { partner } = await partnerWorld();
    const client = rawClient(partner.port);
    client.write(rawPost('stays'));
    await client.until((text) => text.endsWith('ok'));
    client.write(rawPost('stays'));
    await client.until((text) => text.split('HTTP/1.1 200').length === 3);
    expect(partner.mailbox('stays').requestCount).toBe(2);
  });
});
