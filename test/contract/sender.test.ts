/** The port `Sender`, part one: what comes back when a status line was seen, and what is left behind afterwards. */

import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';

import { createSender } from '../../functions/adapters/sender/sender.ts';
import { untilAborted } from '../../functions/adapters/sender/until-aborted.ts';
import type { Answer } from '../../functions/core/outcome.ts';
import type { OutgoingRequest } from '../../functions/ports.ts';
import * as hostile from '../support/hostile-server.ts';
import { clock, LOCAL, localSender, requestTo, serversOfEachTest } from '../support/sending.ts';

const { answer, drips, silent, writes, writesAndEnds, writesAndResets } = hostile;

const serve = serversOfEachTest();

/** Sends one request to a server that behaves like this. */
const meet = async (behaviour: hostile.Behaviour, more: Partial<OutgoingRequest> = {}): Promise<Answer> => {
  const server = await serve(behaviour);
  return localSender().send(requestTo(server.url, more));
};

/** One byte after the other, each on its way before the next. */
const writesBytewise =
  (text: string): hostile.Behaviour =>
  (socket) => {
    socket.setNoDelay(true);
    const next = (at: number): void => {
      if (at < text.length) socket.write(text.slice(at, at + 1), 'latin1', () => setImmediate(next, at + 1));
    };
    next(0);
  };

describe('an answer', () => {
  it('comes with status, excerpt and duration', async () => {
    const seen = await meet(writes(answer(200, 'thank you')));
    expect(seen).toEqual({
      kind: 'answered',
      status: 200,
      retryAfter: [],
      excerpt: 'thank you',
      durationMs: expect.any(Number),
    });
    expect(seen.durationMs).toBeGreaterThan(0);
  });

  it('follows one POST with exactly the given bytes and headers', async () => {
    const server = await serve(writes(answer(204)));
    const body = Buffer.from([0xef, 0xbb, 0xbf, 0x00, 0xff, 0x7b, 0x0a]);
    await localSender().send(requestTo(`http://partner.example:${server.port}/in/a?x=1#f`, { body }));
    expect(server.received).toHaveLength(1);
    const [request] = server.received;
    expect(request?.body).toEqual(body);
    const lines = request?.head.toLowerCase().split('\r\n') ?? [];
    expect(lines[0]).toBe('post /in/a?x=1 http/1.1');
    expect(lines.slice(1).toSorted()).toEqual([
      'connection: close',
      'content-length: 7',
      'content-type: application/json',
      `host: partner.example:${server.port}`,
      'idempotency-key: k1',
    ]);
  });

  it.each([200, 201, 202, 204, 206, 226, 299, 300, 301, 304, 307, 400, 409, 410, 422, 429, 500, 503, 599])(
    'keeps the status %i as it is',
    async (status) => {
      expect(await meet(writes(answer(status)))).toMatchObject({ kind: 'answered', status });
    },
  );

  it.each([
    ['none', [], []],
    ['one', ['Retry-After: 120'], ['120']],
    ['two', ['Retry-After: 5', 'retry-after: 500'], ['5', '500']],
    ['a list', ['Retry-After: 120, 240'], ['120, 240']],
    ['an empty one', ['Retry-After:'], ['']],
    ['too many to be meant', Array.from({ length: 12 }, (_, n) => `Retry-After: ${n}`), '01234567'.split('')],
  ])('hands on Retry-After as it stands: %s', async (_what, headers, expected) => {
    expect(await meet(writes(answer(429, '', headers)))).toMatchObject({ status: 429, retryAfter: expected });
  });

  it.each([
    ['a 100 that nobody asked for', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['three of them', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3)],
    ['early hints, and then a 100', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n'],
    ['a status of the future', 'HTTP/1.1 199 x\r\nX: y\r\n\r\n'],
  ])('is read behind %s, in one piece and in many', async (_what, interim) => {
    const text = `${interim}${answer(200, 'thank you')}`;
    for (const behaviour of [writes(text), writesBytewise(text)]) {
      expect(await meet(behaviour)).toMatchObject({ kind: 'answered', status: 200, excerpt: 'thank you' });
    }
  });

  it('is still missing where only interim answers came', async () => {
    const interim = 'HTTP/1.1 100 Continue\r\n\r\n';
    expect(await meet(writesAndEnds(interim))).toMatchObject({ kind: 'in-doubt', cause: 'reset' });
    expect(await meet(drips('', interim, 1), { deadlineMs: 300 })).toMatchObject({
      kind: 'in-doubt',
      cause: 'timeout',
    });
  });

  it('waits for the final status after early hints', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n';
    expect(await meet(writes(hints + answer(201)))).toMatchObject({ kind: 'answered', status: 201 });
  });

  it.each([
    ['HTTP/1.0 without a length', writesAndEnds('HTTP/1.0 200 OK\r\n\r\nbye'), 'bye'],
    ['no reason phrase', writes('HTTP/1.1 204\r\n\r\n'), ''],
    [
      'chunks',
      writes('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n'),
      'abcde',
    ],
    ['a second answer behind the first', writes(answer(200, 'a') + answer(500, 'b')), 'a'],
  ])('is read in the form of %s', async (_form, behaviour, excerpt) => {
    const seen = await meet(behaviour);
    expect(seen).toMatchObject({ kind: 'answered', excerpt });
    expect(seen).not.toHaveProperty('bodyNote');
  });
});

describe('an excerpt', () => {
  const excerptOf = async (body: string | Buffer, headers: readonly string[] = [], excerptBytes = 64) => {
    const bytes = Buffer.from(body);
    const head = ['HTTP/1.1 500 X', `content-length: ${bytes.length}`, ...headers, '', ''].join('\r\n');
    const seen = await meet(writes(Buffer.concat([Buffer.from(head), bytes])), { excerptBytes });
    if (seen.kind !== 'answered') throw new Error(JSON.stringify(seen));
    return seen.excerpt;
  };

  it('stands on one line, without what steers a terminal', async () => {
    expect(await excerptOf('a\r\nb\tc\u001b[31md\0e\u009bf\u2028g\u202eh')).toBe('a  b c [31md e f g h');
  });

  it('replaces broken bytes', async () => {
    expect(await excerptOf(Buffer.from([0x61, 0xff, 0xfe, 0x62, 0xc3]))).toBe('a\ufffd\ufffdb');
  });

  it.each([1, 2, 3, 4, 5, 6, 7, 8])('never exceeds %i bytes and never cuts a character', async (bound) => {
    const text = await excerptOf('\u00e9\u20ac\u{1f600}x', [], bound);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(bound);
    expect('\u00e9\u20ac\u{1f600}x'.startsWith(text)).toBe(true);
  });

  it('keeps its bound when replacements are longer than what they replace', async () => {
    expect(Buffer.byteLength(await excerptOf(Buffer.alloc(60, 0xff), [], 30))).toBeLessThanOrEqual(30);
  });

  it('of a compressed answer says so instead of showing noise', async () => {
    expect(await excerptOf(Buffer.from([0x1f, 0x8b, 0x08]), ['Content-Encoding: gzip'])).toMatch(/encoded as gzip/);
    expect(await excerptOf('plain', ['Content-Encoding: identity'])).toBe('plain');
  });

  it('is empty for an empty answer', async () => {
    expect(await excerptOf('')).toBe('');
  });
});

describe('the body after a status line', () => {
  const head = (length: number) => `HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n`;

  it('may reset: the answer stands, with a note', async () => {
    const seen = await meet(writesAndResets(`${head(100)}partial`));
    expect(seen).toMatchObject({ kind: 'answered', status: 200, bodyNote: 'reset' });
  });

  it('may end early: the answer stands, with a note', async () => {
    const seen = await meet(writesAndEnds(`${head(100)}partial`));
    expect(seen).toMatchObject({ kind: 'answered', status: 200, bodyNote: 'reset', excerpt: 'partial' });
  });

  it('may be broken in its framing: the answer stands, with a note', async () => {
    const broken = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n';
    expect(await meet(writes(broken))).toMatchObject({ kind: 'answered', status: 200, bodyNote: 'reset' });
  });

  it('may drip for ever: the one deadline ends it and the answer stands', async () => {
    const seen = await meet(drips(head(100_000), '.', 20), { deadlineMs: 400 });
    expect(seen).toMatchObject({ kind: 'answered', status: 200, bodyNote: 'deadline' });
    expect(seen.durationMs).toBeGreaterThanOrEqual(390);
    expect(seen.durationMs).toBeLessThan(1_500);
  });

  it('may stall: the one deadline ends it and the answer stands', async () => {
    const seen = await meet(writes(`${head(100)}some`), { deadlineMs: 400 });
    expect(seen).toMatchObject({ kind: 'answered', status: 200, bodyNote: 'deadline', excerpt: 'some' });
  });

  it('may be huge: reading stops soon after 64 KB and the connection is given up', async () => {
    const flood = hostile.floods('HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(64 * 1_024, 0x61));
    const server = await serve(flood.behaviour);
    const seen = await localSender().send(requestTo(server.url));
    expect(seen).toMatchObject({ kind: 'answered', status: 200, bodyNote: 'too-large', excerpt: 'a'.repeat(64) });
    await server.quiet();
    // What is beyond the bound sits in the buffers of the sockets, not in ours.
    expect(flood.sent()).toBeLessThan(16 * 1_024 * 1_024);
  });

  it('may be exactly 64 KB without a note, and one byte more with one', async () => {
    const bound = 64 * 1_024;
    expect(await meet(writes(answer(200, 'a'.repeat(bound))))).not.toHaveProperty('bodyNote');
    expect(await meet(writes(answer(200, 'a'.repeat(bound + 1))))).toMatchObject({ bodyNote: 'too-large' });
  });
});

describe('housekeeping', () => {
  it('leaves no connection open after any ending', async () => {
    const endings = [writes(answer(200, 'ok')), writes(answer(500, 'x')), silent, writes('garbage\r\n\r\n')];
    const server = await serve((socket, nth) => endings[nth % endings.length]?.(socket, nth));
    const sender = localSender();
    const seen = await Promise.all(
      Array.from({ length: 40 }, () => sender.send(requestTo(server.url, { deadlineMs: 700 }))),
    );
    expect(new Set(seen.map((one) => one.kind))).toEqual(new Set(['answered', 'in-doubt']));
    await server.quiet();
    expect(server.connections()).toBe(40);
  });

  it('gives up the connection of an answer that it does not read, without a stray error', async () => {
    const server = await serve(writes('HTTP/1.1 999 Odd\r\ncontent-length: 99\r\n\r\nsome'));
    expect(await localSender().send(requestTo(server.url, { deadlineMs: 60_000 }))).toMatchObject({
      kind: 'in-doubt',
      cause: 'protocol',
    });
    await server.quiet();
  });

  it('keeps no listener on the signals of an attempt', async () => {
    const signals: AbortSignal[] = [];
    const signalAfter = () => {
      const { signal } = new AbortController();
      signals.push(signal);
      return signal;
    };
    const server = await serve(writes(answer(200)));
    const sender = createSender({ policy: LOCAL, clock, signalAfter });
    await sender.send(requestTo(server.url));
    await server.quiet();
    expect(signals).toHaveLength(2);
    expect(signals.flatMap((signal) => getEventListeners(signal, 'abort'))).toEqual([]);
  });

  it('leaves a signal as it was when the promise is first', async () => {
    const { signal } = new AbortController();
    expect(await untilAborted(Promise.resolve(1), signal)).toBe(1);
    await expect(untilAborted(Promise.reject(new Error('no')), signal)).rejects.toThrow('no');
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('takes its time from the given signals and clock alone', async () => {
    const deadline = new AbortController();
    const times = [1_000, 4_500];
    const server = await serve(() => deadline.abort(new Error('over')));
    const sender = createSender({
      policy: { allowLocal: true },
      clock: { nowMs: () => times.shift() ?? 0 },
      signalAfter: (ms) => (ms === 20_000 ? deadline.signal : new AbortController().signal),
    });
    const seen = await sender.send(requestTo(server.url, { deadlineMs: 20_000 }));
    expect(seen).toMatchObject({ kind: 'in-doubt', cause: 'timeout', durationMs: 3_500 });
  });

  it('reports no negative duration when the clock steps back', async () => {
    const times = [5_000, 1_000];
    const server = await serve(writes(answer(200)));
    const sender = createSender({ policy: LOCAL, clock: { nowMs: () => times.shift() ?? 0 } });
    expect((await sender.send(requestTo(server.url))).durationMs).toBe(0);
  });

  it('lets one hanging destination hold up no other', async () => {
    const hanging = await serve(silent);
    const healthy = await serve(writes(answer(200)));
    const sender = localSender();
    let given = 0;
    const stuck = Array.from({ length: 20 }, async () => {
      const seen = await sender.send(requestTo(hanging.url, { deadlineMs: 700 }));
      given += 1;
      return seen;
    });
    expect(await sender.send(requestTo(healthy.url))).toMatchObject({ kind: 'answered' });
    expect(given).toBe(0);
    expect((await Promise.all(stuck)).every((one) => one.kind === 'in-doubt')).toBe(true);
  });

  it('closes after the attempts on their way, and sends nothing more', async () => {
    let release = (): void => {};
    const server = await serve((socket) => {
      release = () => socket.write(answer(200, 'late'));
    });
    const sender = localSender();
    const underway = sender.send(requestTo(server.url));
    await expect.poll(() => server.received.length).toBe(1);
    let closed = false;
    const closing = sender.close().then(() => {
      closed = true;
    });
    expect(await sender.send(requestTo(server.url))).toMatchObject({
      kind: 'not-sent',
      detail: 'the sender is closed',
    });
    expect(closed).toBe(false);
    release();
    expect(await underway).toMatchObject({ kind: 'answered', excerpt: 'late' });
    await closing;
    expect(server.received).toHaveLength(1);
  });
});
