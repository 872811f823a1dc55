/** The port `Sender`, part two: what is certain not to have left, what is in doubt, and where the line is drawn. */

import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { failureOf } from '../../functions/adapters/sender/classify-error.ts';
import type { Lookup } from '../../functions/adapters/sender/resolve.ts';
import { createSender } from '../../functions/adapters/sender/sender.ts';
import type { Answer } from '../../functions/core/outcome.ts';
import type { OutgoingRequest } from '../../functions/ports.ts';
import * as hostile from '../support/hostile-server.ts';
import { clock, LOCAL, localSender, requestTo, serversOfEachTest, toLoopback } from '../support/sending.ts';
import { certificateFor } from '../support/test-certificate.ts';

const { answer, drips, silent, writes, writesAndEnds, writesAndResets } = hostile;

const serve = serversOfEachTest();

/** Sends one request to a server that behaves like this. */
const meet = async (behaviour: hostile.Behaviour, more: Partial<OutgoingRequest> = {}): Promise<Answer> => {
  const server = await serve(behaviour);
  return localSender().send(requestTo(server.url, more));
};

describe('certain: not sent', () => {
  it('when nothing listens', async () => {
    const seen = await localSender().send(requestTo(`http://127.0.0.1:${hostile.REFUSED_PORT}/`));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'refused', detail: expect.stringContaining('ECONNREFUSED') });
  });

  it('when no vetted address listens, with what each of them said', async () => {
    const seen = await localSender(async () => ['127.0.0.1', '127.0.0.1', '::1']).send(
      requestTo(`http://a.example:${hostile.REFUSED_PORT}/`),
    );
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'refused' });
    expect(seen).toMatchObject({ detail: expect.stringMatching(/127\.0\.0\.1.*; .*::1/) });
  });

  it.each([
    ['fails', () => Promise.reject(Object.assign(new Error('getaddrinfo ENOTFOUND a.example'), { code: 'ENOTFOUND' }))],
    [
      'fails before it began',
      () => {
        throw new Error('ENOTFOUND');
      },
    ],
    ['finds nothing', async () => []],
  ] satisfies [string, Lookup][])('when the look-up %s', async (_how, lookup) => {
    expect(await localSender(lookup).send(requestTo('http://a.example/'))).toMatchObject({
      kind: 'not-sent',
      cause: 'dns',
    });
  });

  it.each([
    ['the time to connect', { connectMs: 80, deadlineMs: 5_000 }],
    ['the whole deadline', { connectMs: 5_000, deadlineMs: 80 }],
  ])('when the look-up hangs longer than %s', async (_what, times) => {
    const seen = await localSender(() => new Promise(() => {})).send(requestTo('http://a.example/', times));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'dns' });
    expect(seen.durationMs).toBeLessThan(1_500);
  });

  it('when the look-up fails after its time: nobody hears of it any more', async () => {
    let fail: (error: Error) => void = () => {};
    const lookup: Lookup = () =>
      new Promise((_resolve, reject) => {
        fail = reject;
      });
    const seen = await localSender(lookup).send(requestTo('http://a.example/', { connectMs: 30 }));
    fail(new Error('late'));
    await new Promise((resolve) => setImmediate(resolve));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'dns' });
  });

  it('when the TLS handshake never ends', async () => {
    const connectBy = new AbortController();
    const server = await serve(silent, {
      onConnection: (socket) => {
        socket.once('data', () => connectBy.abort(new Error('over')));
      },
    });
    const signalAfter = (ms: number) => (ms === 77 ? connectBy.signal : new AbortController().signal);
    const sender = createSender({ policy: LOCAL, clock, lookup: toLoopback, signalAfter });
    const seen = await sender.send(requestTo(`https://localhost:${server.port}/`, { connectMs: 77 }));
    expect(seen).toMatchObject({
      kind: 'not-sent',
      cause: 'connect-timeout',
      detail: expect.stringContaining('securing'),
    });
    await server.quiet();
  });

  it('when the whole deadline ends inside the TLS handshake', async () => {
    const server = await serve(silent);
    const seen = await localSender().send(requestTo(`https://localhost:${server.port}/`, { deadlineMs: 100 }));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'connect-timeout' });
    expect(seen.durationMs).toBeLessThan(1_500);
    await server.quiet();
  });

  it('when the time was over before it began', async () => {
    const server = await serve(writes(answer(200)));
    const signalAfter = () => AbortSignal.abort(new Error('over'));
    const sender = createSender({ policy: LOCAL, clock, lookup: toLoopback, signalAfter });
    expect(await sender.send(requestTo(server.url))).toMatchObject({ kind: 'not-sent', cause: 'connect-timeout' });
    const named = requestTo(`http://a.example:${server.port}/`);
    expect(await sender.send(named)).toMatchObject({ kind: 'not-sent', cause: 'dns' });
    expect(server.received).toEqual([]);
  });

  it('when plain HTTP answers on a TLS port', async () => {
    const server = await serve(silent, {
      onConnection: (socket) => {
        socket.end('HTTP/1.1 200 OK\r\n\r\n');
      },
    });
    const seen = await localSender().send(requestTo(`https://localhost:${server.port}/`));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'tls' });
    expect(server.received).toEqual([]);
  });

  it('when the connection is reset during the TLS handshake', async () => {
    const server = await serve(silent, {
      onConnection: (socket) => {
        socket.once('data', () => socket.resetAndDestroy());
      },
    });
    const seen = await localSender().send(requestTo(`https://localhost:${server.port}/`));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'tls' });
  });

  it.each([
    ['a line break', { 'x-a': 'b\r\nx-evil: 1' }],
    ['a NUL', { 'x-a': 'b\0' }],
    ['a letter outside of ASCII', { 'x-a': 'caf\u00e9' }],
    ['an emoji', { 'x-a': '\u{1f600}' }],
    ['a broken name', { 'x a': 'b' }],
    ['a name with a line break', { 'x\r\na': 'b' }],
    ['another host', { Host: 'internal.example' }],
    ['a length of its own', { 'Content-Length': '3' }],
    ['another framing', { 'transfer-encoding': 'chunked' }],
    ['an expectation', { expect: '100-continue' }],
    ['an upgrade', { upgrade: 'websocket' }],
  ])('when a header holds %s, and no connection is opened', async (_what, headers) => {
    const server = await serve(writes(answer(200)));
    const seen = await localSender().send(requestTo(server.url, { headers }));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'argument' });
    expect(server.received).toEqual([]);
  });

  it('when a deadline is no number, instead of throwing', async () => {
    const server = await serve(writes(answer(200)));
    const seen = await localSender().send(requestTo(server.url, { deadlineMs: Number.NaN }));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'argument' });
    expect(server.connections()).toBe(0);
  });
});

describe('the time to connect', () => {
  it('is over once the connection is there: a later answer counts', async () => {
    const connectBy = new AbortController();
    const server = await serve((socket) => {
      connectBy.abort(new Error('over'));
      socket.write(answer(200, 'in time'));
    });
    const signalAfter = (ms: number) => (ms === 77 ? connectBy.signal : new AbortController().signal);
    const sender = createSender({ policy: LOCAL, clock, signalAfter });
    const request = requestTo(server.url, { connectMs: 77 });
    expect(await sender.send(request)).toMatchObject({ kind: 'answered', excerpt: 'in time' });
    // The twin: the same signal, fired before the connection is there.
    expect(await sender.send(request)).toMatchObject({ kind: 'not-sent', cause: 'connect-timeout' });
  });

  it('does not turn a reset after it into a time-out', async () => {
    const connectBy = new AbortController();
    const server = await serve((socket) => {
      connectBy.abort(new Error('over'));
      socket.destroy();
    });
    const signalAfter = (ms: number) => (ms === 77 ? connectBy.signal : new AbortController().signal);
    const sender = createSender({ policy: LOCAL, clock, signalAfter });
    const seen = await sender.send(requestTo(server.url, { connectMs: 77 }));
    expect(seen).toMatchObject({ kind: 'in-doubt', cause: 'reset' });
  });
});

describe('in doubt', () => {
  it('when nothing comes back before the deadline', async () => {
    const seen = await meet(silent, { deadlineMs: 300 });
    expect(seen).toMatchObject({ kind: 'in-doubt', cause: 'timeout' });
    expect(seen.durationMs).toBeGreaterThanOrEqual(290);
    expect(seen.durationMs).toBeLessThan(1_500);
  });

  it('when the headers drip past the deadline', async () => {
    const seen = await meet(drips('HTTP/1.1 200 OK\r\n', 'x-more: 1\r\n', 20), { deadlineMs: 300 });
    expect(seen).toMatchObject({ kind: 'in-doubt', cause: 'timeout' });
  });

  it('when the receiver stops reading a large body', async () => {
    const server = await serve(silent, { onConnection: (socket) => socket.pause() });
    const body = Buffer.alloc(8 * 1_024 * 1_024);
    const seen = await localSender().send(requestTo(server.url, { body, deadlineMs: 400 }));
    expect(seen).toMatchObject({ kind: 'in-doubt', cause: 'timeout' });
  });

  it.each([
    ['resets after the request', writesAndResets('')],
    ['closes after the request', writesAndEnds('')],
    ['resets inside the status line', writesAndResets('HTTP/1.1 2')],
    ['closes inside the headers', writesAndEnds('HTTP/1.1 200 OK\r\ncontent-le')],
    ['closes after early hints', writesAndEnds('HTTP/1.1 103 Early Hints\r\n\r\n')],
  ])('when the receiver %s', async (_what, behaviour) => {
    expect(await meet(behaviour)).toMatchObject({ kind: 'in-doubt', cause: 'reset' });
  });

  it('when the connection is closed before the request was read: bytes may have left', async () => {
    const server = await serve(silent, {
      onConnection: (socket) => {
        socket.destroy();
      },
    });
    expect((await localSender().send(requestTo(server.url))).kind).toBe('in-doubt');
  });
});

describe('errors that no loopback server can cause', () => {
  const coded = (code: string, message = code) => Object.assign(new Error(message), { code });
  const connecting = { phase: 'connecting', late: false } as const;
  const open = { phase: 'open', late: false } as const;

  it.each([
    ['the system gives a silent address up', coded('ETIMEDOUT'), 'connect-timeout'],
    ['every address is silent', new AggregateError([coded('ETIMEDOUT'), coded('EHOSTUNREACH')]), 'connect-timeout'],
    [
      'one address is silent and one refuses',
      new AggregateError([coded('ETIMEDOUT'), coded('ECONNREFUSED')]),
      'refused',
    ],
    ['there is no route', coded('ENETUNREACH'), 'refused'],
    ['this machine has no socket left', coded('EMFILE'), 'refused'],
    ['something throws what is no error', 'odd', 'refused'],
  ])('before the connection: %s', (_what, error, cause) => {
    expect(failureOf(error, connecting)).toMatchObject({ kind: 'not-sent', cause });
  });

  it.each([
    ['a broken pipe', coded('EPIPE'), 'reset'],
    ['a network that went away', coded('ETIMEDOUT'), 'reset'],
    ['anything unheard of', new TypeError('odd'), 'protocol'],
    ['what is no error', undefined, 'protocol'],
  ])('after it: %s is in doubt', (_what, error, cause) => {
    expect(failureOf(error, open)).toMatchObject({ kind: 'in-doubt', cause });
  });

  it('a detail is bounded and clean, as a peer can write parts of it', () => {
    const { detail } = failureOf(new Error(`\u001b[2J${'a'.repeat(10_000)}`), open);
    expect(detail.length).toBeLessThanOrEqual(200);
    expect(detail).toMatch(/^ \[2Ja+$/);
  });
});

describe('TLS', () => {
  const trusted = certificateFor('partner.example', 'localhost');
  const before = getCACertificates('default');
  beforeAll(() => setDefaultCACertificates([...before, trusted.cert]));
  afterAll(() => setDefaultCACertificates(before));

  it('delivers to a name that the certificate proves, with the name in the handshake', async () => {
    const server = await serve(writes(answer(200, 'secure')), { certificate: trusted });
    const seen = await localSender().send(requestTo(`https://partner.example:${server.port}/hook`));
    expect(seen).toMatchObject({ kind: 'answered', status: 200, excerpt: 'secure' });
  });

  it('checks a name with a final dot against the certificate without it', async () => {
    const server = await serve(writes(answer(200)), { certificate: trusted });
    const seen = await localSender().send(requestTo(`https://PARTNER.example.:${server.port}/hook`));
    expect(seen).toMatchObject({ kind: 'answered', status: 200 });
    expect(server.received[0]?.head).toMatch(/^host: partner\.example:\d+$/im);
  });

  it('refuses a certificate for another name', async () => {
    const server = await serve(writes(answer(200)), { certificate: trusted });
    const seen = await localSender().send(requestTo(`https://other.example:${server.port}/hook`));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'tls', detail: expect.stringContaining('ALTNAME') });
    expect(server.received).toEqual([]);
  });

  it('refuses a certificate that nobody vouches for, whatever the environment says', async () => {
    const server = await serve(writes(answer(200)), { certificate: certificateFor('partner.example') });
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0';
    try {
      const seen = await localSender().send(requestTo(`https://partner.example:${server.port}/hook`));
      expect(seen).toMatchObject({ kind: 'not-sent', cause: 'tls' });
      expect(server.received).toEqual([]);
    } finally {
      delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
    }
  });

  it('does not let a certificate for a name stand for an address', async () => {
    const server = await serve(writes(answer(200)), { certificate: trusted });
    const seen = await localSender().send(requestTo(`https://127.0.0.1:${server.port}/hook`));
    expect(seen).toMatchObject({ kind: 'not-sent', cause: 'tls' });
  });

  it('proves a literal by an address in the certificate, and names no server for it', async () => {
    const certificate = certificateFor('127.0.0.1');
    setDefaultCACertificates([...before, trusted.cert, certificate.cert]);
    const names: unknown[] = [];
    const server = await serve(
      (socket) => {
        names.push(Reflect.get(socket, 'servername'));
        socket.write(answer(200));
      },
      { certificate },
    );
    const seen = await localSender().send(requestTo(`https://127.0.0.1:${server.port}/hook`));
    expect(seen).toMatchObject({ kind: 'answered', status: 200 });
    expect(names).toEqual([false]);
  });

  it('is in doubt when the connection dies after the handshake', async () => {
    const server = await serve((socket) => socket.destroySoon(), { certificate: trusted });
    const seen = await localSender().send(requestTo(`https://partner.example:${server.port}/hook`));
    expect(seen).toMatchObject({ kind: 'in-doubt', cause: 'reset' });
  });
});
