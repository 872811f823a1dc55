/** Real failures of HTTP clients, met with the real client over real sockets. */

import { afterEach, describe, expect, it } from 'vitest';

import { createSender } from '../../functions/adapters/sender/sender.ts';
import { classify } from '../../functions/core/outcome.ts';
import {
  answer,
  type Behaviour,
  drips,
  REFUSED_PORT,
  writes,
  writesAndEnds,
  writesAndResets,
} from '../support/hostile-server.ts';
import { clock, LOCAL, localSender, requestTo, serversOfEachTest } from '../support/sending.ts';

const sender = localSender();
const serve = serversOfEachTest();
const RULES = { repeatSafe: true, rejectOn: [] };

/** Whatever reaches the process itself, past every promise. */
const stray: unknown[] = [];
const collect = (error: unknown): void => void stray.push(error);
process.on('unhandledRejection', collect);
process.on('uncaughtExceptionMonitor', collect);

afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve));
  expect(stray).toEqual([]);
});

describe('the client', () => {
  it('does not meet a connection that the receiver has closed meanwhile (C070)', async () => {
    // Says that it keeps the connection, and closes it all the same.
    const server = await serve((socket) => {
      socket.end(answer(200, 'ok', ['connection: keep-alive']));
    });
    for (const _ of [1, 2, 3]) {
      expect(await sender.send(requestTo(server.url))).toMatchObject({ kind: 'answered', status: 200 });
    }
    expect([server.received.length, server.connections()]).toEqual([3, 3]);
  });

  it('calls a connection that dies under a request in doubt, and does not send again by itself (C070)', async () => {
    const server = await serve((socket, nth) => {
      if (nth === 1) socket.write(answer(200, 'ok', ['connection: keep-alive']));
      else socket.destroy();
    });
    expect(await sender.send(requestTo(server.url))).toMatchObject({ kind: 'answered', status: 200 });
    const second = await sender.send(requestTo(server.url));
    expect(second).toMatchObject({ kind: 'in-doubt', cause: 'reset' });
    expect(classify(second, RULES, 0)).toMatchObject({ class: 'in-doubt', mayHaveArrived: true });
    expect(server.received).toHaveLength(2);
  });

  it('bounds the whole exchange: an answer that drips for ever ends at the deadline, as a success (C072)', async () => {
    const server = await serve(drips('HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n', '.', 40));
    const seen = await sender.send(requestTo(server.url, { deadlineMs: 500 }));
    expect(seen).toMatchObject({ kind: 'answered', status: 200, bodyNote: 'deadline' });
    expect(seen.durationMs).toBeLessThan(1_500);
    expect(classify(seen, RULES, 0).class).toBe('delivered');
    await server.quiet();
    // The twin: the same answer without the drip is there at once and has no note.
    const honest = await serve(writes(answer(200, '.')));
    const plain = await sender.send(requestTo(honest.url, { deadlineMs: 500 }));
    expect(plain).not.toHaveProperty('bodyNote');
    expect(plain.durationMs).toBeLessThan(seen.durationMs);
  });

  it('leaves no stray error when a body stalls after reading has stopped, and other work survives (C073)', async () => {
    const stalling = await serve(writes(`HTTP/1.1 200 OK\r\ncontent-length: 999999\r\n\r\n${'a'.repeat(70_000)}`));
    const slow = await serve((socket) => {
      void stalling.quiet().then(() => socket.write(answer(201)));
    });
    const other = sender.send(requestTo(slow.url));
    expect(await sender.send(requestTo(stalling.url))).toMatchObject({ status: 200, bodyNote: 'too-large' });
    expect(await other).toMatchObject({ kind: 'answered', status: 201 });
  });

  it('follows no redirect: the second origin sees nothing (C076)', async () => {
    const second = await serve(writes(answer(200, 'leaked')));
    for (const status of [301, 302, 303, 307, 308]) {
      const first = await serve(writes(answer(status, '', [`location: ${second.url}`])));
      const seen = await sender.send(requestTo(first.url));
      expect(seen).toMatchObject({ kind: 'answered', status });
      expect(classify(seen, RULES, 0)).toMatchObject({ class: 'failed', detail: 'redirect' });
    }
    expect(second.connections()).toBe(0);
    // The twin: the second origin is there for whoever asks.
    expect(await sender.send(requestTo(second.url))).toMatchObject({ excerpt: 'leaked' });
  });

  it('takes a 2xx whose body is reset as delivered, once, with a note (C166)', async () => {
    const server = await serve(writesAndResets('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n1234567'));
    const seen = await sender.send(requestTo(server.url));
    expect(seen).toMatchObject({ kind: 'answered', status: 200, bodyNote: 'reset' });
    expect(classify(seen, RULES, 0).class).toBe('delivered');
    expect(server.received).toHaveLength(1);
  });

  it.each([
    'HTTP/1.1 999 Odd',
    'HTTP/1.1 600 Odd',
    'HTTP/1.1 099 Odd',
    'HTTP/1.1 000 Odd',
    'HTTP/1.1 20 OK',
    'HTTP/1.1 2000 OK',
    'HTTP/1.1 -200 OK',
    'HTTP/1.1 2e2 OK',
    'HTTP/1.1 101 Switching Protocols',
    'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x',
    'HTTP/9.9 200 OK',
    'ICY 200 OK',
    'garbage',
    '<html>200 OK</html>',
    'SSH-2.0-OpenSSH_9.6',
    '\u0015\u0003\u0003\u0000\u0002\u0002\u0046',
  ])('calls an odd status line in doubt, never a success: %j (C167)', async (line) => {
    const server = await serve(writes(`${line}\r\ncontent-length: 0\r\n\r\n`));
    const seen = await sender.send(requestTo(server.url));
    expect(seen).toMatchObject({ kind: 'in-doubt', cause: 'protocol' });
    expect(classify(seen, RULES, 0)).toMatchObject({ class: 'in-doubt', mayHaveArrived: true });
    expect(server.received).toHaveLength(1);
    await server.quiet();
  });

  it('takes interim answers alone for no answer (C167)', async () => {
    const server = await serve(
      writes('HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n'),
    );
    expect(await sender.send(requestTo(server.url, { deadlineMs: 300 }))).toMatchObject({
      kind: 'in-doubt',
      cause: 'timeout',
    });
  });

  it('hands on both of two Retry-After headers (C168)', async () => {
    const server = await serve(writes(answer(503, '', ['Retry-After: 5', 'Retry-After: 500'])));
    expect(await sender.send(requestTo(server.url))).toMatchObject({ status: 503, retryAfter: ['5', '500'] });
  });

  it.each([17, 40, 400])(
    'calls %i KB of answer headers in doubt, although the work was done there (C169)',
    async (kb) => {
      const server = await serve(writes(answer(200, 'done', [`x-trace: ${'a'.repeat(kb * 1_024)}`])));
      const seen = await sender.send(requestTo(server.url));
      expect(seen).toMatchObject({ kind: 'in-doubt', cause: 'header-overflow' });
      expect(classify(seen, RULES, 0)).toMatchObject({ class: 'in-doubt', mayHaveArrived: true });
      expect(server.received).toHaveLength(1);
    },
  );

  it('takes headers that are large but fit (C169, the twin)', async () => {
    const server = await serve(writes(answer(200, 'done', [`x-trace: ${'a'.repeat(12 * 1_024)}`])));
    expect(await sender.send(requestTo(server.url))).toMatchObject({ kind: 'answered', status: 200 });
  });

  it('never inflates a compressed answer', async () => {
    const bomb = Buffer.from('H4sIAAAAAAAAA0tMTEpOSU0DAO4mQhUIAAAA', 'base64').toString('latin1');
    const server = await serve(
      writes(`HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}\r\n\r\n${bomb}`),
    );
    const seen = await sender.send(requestTo(server.url));
    expect(seen).toMatchObject({ kind: 'answered', excerpt: '(not shown: the answer is encoded as gzip)' });
  });

  it('survives a crowd of misbehaving receivers at once, and each is told for what it is', async () => {
    // `over` ends the attempt's deadline: when a receiver has shown what it does, and not when a busy machine is late.
    const crowd: readonly (readonly [string, (over: () => void) => Behaviour])[] = [
      ['answered', () => writes(answer(200))],
      ['answered', () => writesAndResets('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n1')],
      ['answered', dripsUntil],
      ['in-doubt', (over) => () => over()],
      ['in-doubt', () => writesAndResets('')],
      ['in-doubt', () => writesAndEnds('HTTP/1.1 2')],
      ['in-doubt', () => writes('garbage\r\n\r\n')],
      ['in-doubt', () => writes(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(40_000)}\r\n\r\n`)],
    ];
    const sends = Array.from({ length: 10 }, () => crowd)
      .flat()
      .map(async ([kind, behaviour]) => {
        const deadline = new AbortController();
        const never = new AbortController();
        const signalAfter = (ms: number) => (ms === 77 ? deadline.signal : never.signal);
        const { url } = await serve(behaviour(() => deadline.abort(new Error('over'))));
        const own = createSender({ policy: LOCAL, clock, signalAfter });
        expect((await own.send(requestTo(url, { deadlineMs: 77 }))).kind).toBe(kind);
      });
    const refused = Array.from({ length: 10 }, async () => {
      expect((await sender.send(requestTo(`http://127.0.0.1:${REFUSED_PORT}/`))).kind).toBe('not-sent');
    });
    await Promise.all([...sends, ...refused]);
  });
});

/** Drips long enough for the status line to be read, then calls. */
const dripsUntil =
  (over: () => void): Behaviour =>
  (socket, nth) => {
    drips('HTTP/1.1 200 OK\r\n\r\n', '.', 10)(socket, nth);
    const pieces = setInterval(() => {
      if (socket.bytesWritten > 30) over();
    }, 10);
    socket.on('close', () => clearInterval(pieces));
  };
