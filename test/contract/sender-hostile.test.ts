/** The port `Sender`, part three: real sockets that misbehave, row by row and in random mixes, judged by the promise. */

import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSender } from '../../functions/adapters/sender/sender.ts';
import type { Sender } from '../../functions/ports.ts';
import { AUTHORITIES, attemptAt, brokenPromises } from '../support/hostile-attempt.ts';
import { CALM, type Mix, mixOf } from '../support/hostile-mix.ts';
import { brokenMixes, senderUnderTest } from '../support/hostile-mixes.ts';
import { answer } from '../support/hostile-server.ts';
import { clock, LOCAL, localSender, requestTo, serversOfEachTest, toLoopback } from '../support/sending.ts';

const before = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...before, ...AUTHORITIES.map(({ cert }) => cert)]));
afterAll(() => setDefaultCACertificates(before));

const MIXES = 80;
const SEED = 20_261_129;

describe('the promise of an attempt holds', () => {
  it.each<[string, Partial<Mix>]>([
    ['a hang before the headers', { stop: 'before the status' }],
    ['headers that come slowly', { pieces: 60 }],
    ['headers that stop half-way', { stop: 'in the headers' }],
    ['a body that drips', { body: 'a drip' }],
    ['a body without end', { body: 'a flood' }],
    ['a body that says it is huge', { body: 'a flood with a length' }],
    ['a compressed bomb', { body: 'a compressed bomb' }],
    ['headers larger than the bound', { headers: 'forty kilobytes' }],
    ['more headers than the bound', { headers: 'forty kilobytes of small ones' }],
    ['a reset before the status', { stop: 'before the status', ending: 'resets' }],
    ['a close before the status', { stop: 'before the status', ending: 'closes' }],
    ['a reset inside the status', { stop: 'in the status', ending: 'resets' }],
    ['a reset after the answer', { ending: 'resets' }],
    ['a close after the status, inside the body', { body: 'less than said', ending: 'closes' }],
    ['a status below 100', { status: '099' }],
    ['a status above 599', { status: '600' }],
    ['a status of two digits', { status: 'two digits' }],
    ['a change of protocol that nobody asked for', { status: '101 unasked' }],
    ['an answer of another protocol', { status: 'an SSH banner' }],
    ['a redirect to where nobody should go', { status: '307 to another place', headers: 'a place to go' }],
    ['a connection that is reset at once', { opening: 'resets' }],
    ['a receiver that never reads', { opening: 'never reads' }],
    ['a receiver that answers before it is asked', { opening: 'speaks first' }],
    ['plain text instead of TLS', { handshake: 'answers in plain text' }],
    ['a handshake that is reset', { handshake: 'resets at the hello' }],
    ['a handshake that never ends', { handshake: 'says nothing' }],
    ['a handshake with garbage', { handshake: 'answers with garbage' }],
    ['a certificate for another name', { handshake: 'a certificate for another name' }],
    ['a certificate that nobody vouches for', { handshake: 'a certificate of nobody' }],
  ])('at %s', async (_row, twist) => {
    const seen = await attemptAt({ ...CALM, ...twist }, senderUnderTest);
    expect(brokenPromises(seen), JSON.stringify(seen)).toEqual([]);
  });

  const serve = serversOfEachTest();

  it('at a connection that is kept alive and then dies: the next request does not meet it', async () => {
    const server = await serve((socket, nth) => {
      socket.write(answer(200, `${nth}`, ['Connection: keep-alive']), () => {
        if (nth === 1) socket.destroySoon();
      });
    });
    const sender = localSender();
    const first = await sender.send(requestTo(server.url));
    const second = await sender.send(requestTo(server.url));
    expect([first, second]).toMatchObject([{ excerpt: '1' }, { excerpt: '2' }]);
    expect(server.connections()).toBe(2);
  });

  it('at a chain of redirects: the first one is the answer, and nobody else is asked', async () => {
    const end = await serve((socket) => void socket.write(answer(200)));
    const middle = await serve((socket) => void socket.write(answer(307, '', [`Location: ${end.url}`])));
    const start = await serve((socket) => void socket.write(answer(308, '', [`Location: ${middle.url}`])));
    expect(await localSender().send(requestTo(start.url))).toMatchObject({ kind: 'answered', status: 308 });
    expect([middle.connections(), end.connections()]).toEqual([0, 0]);
  });

  it(`at ${MIXES} random mixes`, async () => {
    expect(await brokenMixes(SEED, MIXES, senderUnderTest)).toEqual([]);
  });
});

describe('a sender that breaks its promise is caught', () => {
  const wrapped =
    (change: (sender: Sender, signalAfter: (ms: number) => AbortSignal) => Sender['send']) =>
    (signalAfter: (ms: number) => AbortSignal): Sender => {
      const sender = senderUnderTest(signalAfter);
      return { ...sender, send: change(sender, signalAfter) };
    };

  const forgetsDoubt = wrapped((sender) => async (request) => {
    const seen = await sender.send(request);
    return seen.kind === 'in-doubt' ? { ...seen, kind: 'not-sent', cause: 'refused' } : seen;
  });
  const doubtsEverything = wrapped((sender) => async (request) => {
    const seen = await sender.send(request);
    return seen.kind === 'not-sent' ? { ...seen, kind: 'in-doubt', cause: 'reset' } : seen;
  });
  const hopes = wrapped((sender) => async (request) => {
    const seen = await sender.send(request);
    if (seen.kind !== 'in-doubt') return seen;
    return { kind: 'answered', status: 200, retryAfter: [], excerpt: '', durationMs: 0 };
  });
  const triesAgain = wrapped((sender) => async (request) => {
    const seen = await sender.send(request);
    return seen.kind === 'in-doubt' ? sender.send(request) : seen;
  });
  const trusting = wrapped((_sender, signalAfter) => {
    const open = createSender({ policy: LOCAL, clock, lookup: toLoopback, signalAfter });
    return async (request) => open.send({ ...request, url: request.url.replace('https:', 'http:') });
  });
  const usesFetch = wrapped(() => async (request) => {
    const answered = await fetch(request.url.replace('partner.example', '127.0.0.1'), {
      method: 'POST',
      body: Buffer.from(request.body),
      signal: AbortSignal.timeout(200),
    }).catch(() => undefined);
    if (answered === undefined) return { kind: 'in-doubt', cause: 'reset', detail: '', durationMs: 0 };
    return { kind: 'answered', status: answered.status, retryAfter: [], excerpt: '', durationMs: 0 };
  });

  it.each([
    ['that says "not sent" of a lost answer', forgetsDoubt, 'not sent is said only where it is certain'],
    ['that is in doubt about everything', doubtsEverything, 'what is certain is not left in doubt'],
    ['that takes silence for success', hopes, 'no answer is made up'],
    ['that tries again by itself', triesAgain, 'one connection, one request'],
    ['that goes in plain text', trusting, 'what is certain is not left in doubt'],
    ['that leaves its sockets to a pool', usesFetch, 'no socket is left'],
  ])('%s', async (_what, sender, promise) => {
    const broken = await brokenMixes(SEED, MIXES, sender);
    expect(broken.some((line) => line.includes(promise))).toBe(true);
  });

  it('and the mixes of a seed are always the same', () => {
    expect(mixOf(SEED, 7)).toEqual(mixOf(SEED, 7));
    expect(mixOf(SEED, 7)).not.toEqual(mixOf(SEED + 1, 7));
  });
});
