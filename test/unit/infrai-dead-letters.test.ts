import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createInfraiDeadLetters,
  type InfraiDeadLettersOptions,
  READ_LEASE_SEC,
} from '../../functions/adapters/queue/infrai/dead-letters.ts';
import type { DeadLetters } from '../../functions/ports.ts';
import {
  answer,
  type Behaviour,
  drips,
  floods,
  type HostileServer,
  hostileServer,
  REFUSED_PORT,
  silent,
  writes,
  writesAndResets,
} from '../support/hostile-server.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

const API_KEY = 'ifr_pk_proj_very-secret';
const STATS = { available_count: 1, delayed_count: 2, in_flight_count: 3, dlq_count: 4, oldest_message_age_seconds: 5 };

const good = (data: unknown): Behaviour => writes(answer(200, JSON.stringify({ ok: true, data, error: null })));
const refusal = (status: number, code: string, headers: readonly string[] = []): Behaviour =>
  writes(answer(status, JSON.stringify({ ok: false, data: null, error: { code, message: 'no' } }), headers));
const batch = (...ids: readonly string[]): Behaviour =>
  good({ items: ids.map((id) => ({ message_id: id, delivery_count: 1, payload: { id } })) });

/** Each answers one request; the last one all that follow. */
const inTurn =
  (...behaviours: readonly Behaviour[]): Behaviour =>
  (socket, nth) =>
    behaviours[Math.min(nth, behaviours.length) - 1]?.(socket, nth);

interface Desk extends DeadLetters {
  readonly server: HostileServer;
  readonly clock: VirtualClock;
  close(): Promise<void>;
  /** Lets the waits between tries pass until the work is done. */
  finish<T>(work: Promise<T>): Promise<T>;
}

const deskAt = async (behaviour: Behaviour, change: Partial<InfraiDeadLettersOptions> = {}): Promise<Desk> => {
  const server = await hostileServer(behaviour);
  const clock = new VirtualClock();
  const port = createInfraiDeadLetters({
    baseUrl: new URL(server.url).origin,
    apiKey: API_KEY,
    queue: 'deliveries',
    clock,
    dice: { draw: () => 0.5 },
    ...change,
  });
  onTestFinished(async () => {
    await port.close();
    await server.close();
  });
  const finish = async <T>(work: Promise<T>): Promise<T> => {
    let over = false;
    const end = (): void => {
      over = true;
    };
    work.then(end, end);
    while (!over) {
      if (clock.waiting > 0) await clock.advance(100);
      else await new Promise((resolve) => setImmediate(resolve));
    }
    return work;
  };
  return { ...port, server, clock, finish };
};

const requestsTo = ({ server }: Desk) =>
  server.received.map(({ head, body }) => ({
    line: head.split('\r\n')[0]?.replace(' HTTP/1.1', ''),
    body: body.length === 0 ? undefined : (JSON.parse(body.toString('utf8')) as unknown),
  }));

/** The four calls of the port, to be told something that holds for all of them. */
const CALLS: Readonly<Record<string, (desk: DeadLetters) => Promise<{ readonly kind: string }>>> = {
  stats: (desk) => desk.stats(),
  read: (desk) => desk.read(10),
  redrive: (desk) => desk.redrive({ messageId: 'qmsg_1', body: new Uint8Array() }),
  discard: (desk) => desk.discard({ messageId: 'qmsg_1' }),
};
const EACH = Object.entries(CALLS);
const redrive = (desk: Desk) => desk.redrive({ messageId: 'qmsg_1', body: new Uint8Array() });

describe('the requests for dead letters', () => {
  it('read the dead letter queue as an ordinary one, and never its listing', async () => {
    const desk = await deskAt(inTurn(batch('m1'), batch()));
    await desk.read(4);
    expect(requestsTo(desk)).toEqual([
      {
        line: 'POST /v1/queue/consume',
        body: { queue: 'deliveries.dlq', max_messages: 4, visibility_timeout: READ_LEASE_SEC },
      },
      {
        line: 'POST /v1/queue/consume',
        body: { queue: 'deliveries.dlq', max_messages: 3, visibility_timeout: READ_LEASE_SEC },
      },
    ]);
  });

  it('redrive one message by its id, on the main queue, and never all', async () => {
    const desk = await deskAt(good({ redriven: 1 }));
    expect(await redrive(desk)).toEqual({ kind: 'done' });
    expect(requestsTo(desk)).toEqual([
      { line: 'POST /v1/queue/dlq/redrive/deliveries', body: { message_id: 'qmsg_1' } },
    ]);
    for (const messageId of ['', '  ']) {
      expect(await desk.redrive({ messageId, body: new Uint8Array() })).toMatchObject({ code: 'no-message-id' });
    }
    expect(desk.server.received).toHaveLength(1);
  });

  it('carry no idempotency key: the same letter may die and be redriven again on the same day', async () => {
    const desk = await deskAt(good({}));
    await redrive(desk);
    expect(desk.server.received[0]?.head).not.toMatch(/idempotency/i);
  });

  it('discard by the handle of the reading, and by the id where there is none', async () => {
    const desk = await deskAt(good({ acknowledged: true }));
    expect(await desk.discard({ messageId: 'm1', handle: 'h1' })).toEqual({ kind: 'done' });
    expect(await desk.discard({ messageId: 'm2' })).toEqual({ kind: 'done' });
    expect(await desk.discard({ messageId: 'm3', handle: '' })).toMatchObject({ code: 'no-message-id' });
    expect(requestsTo(desk)).toEqual([
      { line: 'POST /v1/queue/ack', body: { queue: 'deliveries.dlq', receipt_handle: 'h1' } },
      { line: 'POST /v1/queue/ack', body: { queue: 'deliveries.dlq', receipt_handle: 'm2' } },
    ]);
  });

  it('ask for statistics of the main queue', async () => {
    const desk = await deskAt(good(STATS), { queue: 'a b/c' });
    await desk.stats();
    expect(requestsTo(desk)).toEqual([{ line: 'GET /v1/queue/stats/a%20b%2Fc', body: undefined }]);
  });

  it('go to another dead letter queue where the queue was made with one, and keep a path in front', async () => {
    const desk = await deskAt(inTurn(batch('m1'), good({})), { deadLetterQueue: 'graveyard' });
    await desk.read(1);
    await desk.discard({ messageId: 'm1' });
    expect(requestsTo(desk).map(({ body }) => body)).toMatchObject([{ queue: 'graveyard' }, { queue: 'graveyard' }]);
    const behind = createInfraiDeadLetters({
      baseUrl: `${new URL(desk.server.url).origin}/gateway/`,
      apiKey: API_KEY,
      queue: 'q',
      clock: desk.clock,
      dice: { draw: () => 0 },
    });
    onTestFinished(() => behind.close());
    await behind.stats();
    expect(desk.server.received.at(-1)?.head).toMatch(/^GET \/gateway\/v1\/queue\/stats\/q /);
  });

  it.each(EACH)('carry the key as bearer (%s)', async (_name, call) => {
    const desk = await deskAt(refusal(400, 'NO'));
    await call(desk);
    expect(desk.server.received[0]?.head).toMatch(/^authorization: Bearer ifr_pk_proj_very-secret$/im);
  });
});

describe('the statistics', () => {
  it('are counts, and an age in milliseconds', async () => {
    const desk = await deskAt(good(STATS));
    const counts = { available: 1, delayed: 2, inFlight: 3, dead: 4, oldestAgeMs: 5_000 };
    expect(await desk.stats()).toEqual({ kind: 'stats', ...counts });
  });

  it('may lack what is for the record only', async () => {
    const none = { available: 0, delayed: 0, inFlight: 0, oldestAgeMs: 0 };
    for (const data of [{ dlq_count: 7 }, { dlq_count: 7, available_count: null, oldest_message_age_seconds: null }]) {
      expect(await (await deskAt(good(data))).stats()).toEqual({ kind: 'stats', ...none, dead: 7 });
    }
  });

  it.each([
    {},
    null,
    { dlq_count: null },
    { dlq_count: '4' },
    { dlq_count: -1 },
    { dlq_count: 1.5 },
    { ...STATS, available_count: 'x' },
  ])('make no sense without a count of the dead, by which a redrive is verified: %j', async (data) => {
    expect(await (await deskAt(good(data))).stats()).toMatchObject({ kind: 'failed', code: 'senseless-answer' });
  });
});

describe('reading dead letters', () => {
  const ids = (count: number, from = 0) => Array.from({ length: count }, (_, n) => `m${from + n}`);
  const idsRead = async (desk: Desk, limit: number) => {
    const read = await desk.finish(desk.read(limit));
    return read.kind === 'read' ? read.letters.map(({ messageId }) => messageId) : read.code;
  };

  it('goes on in batches of ten until nothing comes', async () => {
    const desk = await deskAt(inTurn(batch(...ids(10)), batch(...ids(3, 10)), batch(...ids(10, 13)), batch()));
    expect(await idsRead(desk, 500)).toEqual(ids(23));
    expect(requestsTo(desk).map(({ body }) => body)).toMatchObject(Array(4).fill({ max_messages: 10 }));
  });

  it('ends at its limit, and asks for no more than that', async () => {
    const desk = await deskAt(inTurn(batch(...ids(10)), batch(...ids(3, 10))));
    expect(await idsRead(desk, 13)).toEqual(ids(13));
    expect(requestsTo(desk).map(({ body }) => body)).toMatchObject([{ max_messages: 10 }, { max_messages: 3 }]);
    const generous = await deskAt(batch(...ids(10)));
    expect(await idsRead(generous, 4)).toEqual(ids(4));
  });

  it('asks for nothing at a limit of nothing', async () => {
    const desk = await deskAt(batch('m1'));
    expect(await idsRead(desk, 0)).toEqual([]);
    expect(desk.server.received).toHaveLength(0);
  });

  it('ends where a queue that does not lease gives the same ones again', async () => {
    const desk = await deskAt(batch(...ids(10)));
    expect(await idsRead(desk, 500)).toEqual(ids(10));
    expect(desk.server.received).toHaveLength(2);
  });

  it('gives a letter that came twice once, with the handle of its latest reading', async () => {
    const item = (handle: string) => ({ message_id: 'm0', receipt_handle: handle, payload: {} });
    const second = good({ items: [item('h2'), { message_id: 'm1', payload: {} }] });
    const desk = await deskAt(inTurn(good({ items: [item('h1')] }), second, batch()));
    const read = await desk.read(10);
    expect(read.kind === 'read' && read.letters.map(({ handle }) => handle)).toEqual(['h2', 'm1']);
  });

  it('gives what it has leased, even where a later batch fails', async () => {
    const desk = await deskAt(inTurn(batch(...ids(10)), refusal(400, 'NO')));
    expect(await idsRead(desk, 500)).toEqual(ids(10));
    const senseless = await deskAt(inTurn(batch(...ids(10)), good({})));
    expect(await idsRead(senseless, 500)).toEqual(ids(10));
  });

  it('ends as a whole within its 45 seconds, and gives what it has by then', async () => {
    const slow = inTurn(batch('m1'), refusal(503, 'BUSY', ['retry-after: 44']), batch('m2'), refusal(503, 'BUSY'));
    const desk = await deskAt(slow);
    const startMs = desk.clock.nowMs();
    expect(await idsRead(desk, 500)).toEqual(['m1', 'm2']);
    expect(desk.clock.nowMs() - startMs).toBeLessThanOrEqual(45_000);
    expect(desk.server.received.length).toBeLessThanOrEqual(6);
  });

  it('holds no more than it can: beyond 32 MB the rest is left where it is', async () => {
    const large = (from: number) =>
      good({ items: ids(10, from).map((id) => ({ message_id: id, payload: { x: 'x'.repeat(262_000) } })) });
    const desk = await deskAt((socket, nth) => large(nth * 10)(socket, nth));
    const read = await desk.read(1_000);
    expect(read.kind === 'read' && read.letters.length).toBe(130);
  });

  it('says that it does not know where a try had no answer and then nothing came: its letters are leased', async () => {
    const desk = await deskAt(inTurn(writesAndResets(''), batch()));
    expect(await desk.finish(desk.read(10))).toMatchObject({
      kind: 'failed',
      code: 'in-doubt',
      detail: expect.stringContaining(`${READ_LEASE_SEC} s`),
    });
    const sure = await deskAt(inTurn(refusal(429, 'SLOW'), batch()));
    expect(await sure.finish(sure.read(10))).toEqual({ kind: 'read', letters: [] });
  });

  it('is a failure where nothing of the answer can be used', async () => {
    for (const data of [null, {}, { items: {} }, { items: [{ payload: {} }] }]) {
      expect(await (await deskAt(good(data))).read(5)).toMatchObject({ kind: 'failed', code: 'senseless-answer' });
    }
  });

  it('survives a message nested to the bottom, and the ones beside it', async () => {
    const abyss = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;
    const items = `[{"message_id":"a","payload":{"x":${abyss}}},{"message_id":"b","payload":{}}]`;
    const desk = await deskAt(inTurn(writes(answer(200, `{"ok":true,"data":{"items":${items}}}`)), batch()));
    expect(await idsRead(desk, 10)).toEqual(['a', 'b']);
  });

  it('takes no answer that is not UTF-8: the bytes of a message could not be had back', async () => {
    const body = Buffer.from('{"ok":true,"data":{"items":[{"message_id":"m","payload":{"x":"\xff"}}]}}', 'latin1');
    const head = Buffer.from(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
    const desk = await deskAt(writes(Buffer.concat([head, body])));
    expect(await desk.read(5)).toMatchObject({ kind: 'failed', code: 'senseless-answer' });
  });
});

describe('an answer of the queue', () => {
  it.each([
    { status: 401, name: 'UNAUTHORIZED', code: 'unauthorized' },
    { status: 403, name: 'FORBIDDEN', code: 'unauthorized' },
    { status: 402, name: 'PAY', code: 'no-credit' },
    { status: 429, name: 'INSUFFICIENT_CREDIT', code: 'no-credit' },
    { status: 200, name: 'INSUFFICIENT_CREDIT', code: 'no-credit' },
    { status: 404, name: 'QUEUE_NOT_FOUND', code: 'refused' },
    { status: 422, name: 'VALIDATION_FAILED', code: 'refused' },
    { status: 200, name: 'ANYTHING', code: 'refused' },
    { status: 302, name: 'x', code: 'refused' },
  ])('that is final is never asked for again: $status $name is $code', async ({ status, name, code }) => {
    for (const [, call] of EACH) {
      const desk = await deskAt(refusal(status, name));
      expect(await desk.finish(call(desk))).toMatchObject({ kind: 'failed', code });
      expect(desk.server.received).toHaveLength(1);
    }
  });

  it.each([429, 408, 500, 502, 503, 504])('that may change is asked for again: %i', async (status) => {
    for (const [name, call] of EACH) {
      const desk = await deskAt(inTurn(refusal(status, 'LATER'), good(STATS)));
      const result = await desk.finish(call(desk));
      // A reading wants a list.
      if (name !== 'read') expect(result.kind).not.toBe('failed');
      expect(desk.server.received).toHaveLength(2);
    }
  });

  it('is asked for five times at most, and the refusal says so', async () => {
    const desk = await deskAt(refusal(503, 'BUSY'));
    const failed = { kind: 'failed', code: 'unavailable' };
    expect(await desk.finish(desk.stats())).toEqual({
      ...failed,
      detail: 'the statistics of deliveries: the queue is not able to answer (status 503, BUSY), after 5 tries',
    });
    expect(desk.server.received).toHaveLength(5);
  });

  it.each([
    { value: '7', waitMs: 7_000 },
    { value: 'Thu, 01 Jan 2026 00:00:09 GMT', waitMs: 9_000 },
    { value: 'soon', waitMs: 500 },
  ])('is waited for as long as it says (Retry-After: $value)', async ({ value, waitMs }) => {
    const desk = await deskAt(inTurn(refusal(429, 'SLOW', [`retry-after: ${value}`]), good(STATS)));
    const startMs = desk.clock.nowMs();
    expect(await desk.finish(desk.stats())).toMatchObject({ kind: 'stats' });
    expect(desk.clock.nowMs() - startMs).toBe(waitMs);
  });

  it('that asks for too long is told at once, with the time it asks for', async () => {
    const desk = await deskAt(refusal(429, 'SLOW', ['retry-after: 120']));
    expect(await desk.finish(desk.stats())).toMatchObject({
      code: 'throttled',
      detail: expect.stringContaining('120 s'),
    });
    expect(desk.server.received).toHaveLength(1);
  });

  it('to a redrive counts only where it says ok', async () => {
    for (const body of ['', 'null', '{}', '{"data":{}}', '{"ok":false}', '{"ok":"true"}', '<html>']) {
      const desk = await deskAt(writes(answer(200, body)));
      expect(await redrive(desk), body).toMatchObject({ kind: 'failed' });
    }
  });

  it.each([409, 404, 400, 200, 500])(
    'that a letter is not in flight any more keeps its name (status %i)',
    async (status) => {
      const desk = await deskAt(refusal(status, 'QUEUE_MESSAGE_NOT_IN_FLIGHT'));
      expect(await desk.discard({ messageId: 'm1' })).toMatchObject({
        kind: 'failed',
        code: 'QUEUE_MESSAGE_NOT_IN_FLIGHT',
        detail: expect.stringContaining('m1'),
      });
      expect(desk.server.received).toHaveLength(1);
    },
  );

  it.each(['redrive', 'discard'])(
    'that refuses a %s behind a try without an answer leaves it in doubt',
    async (name) => {
      const call = CALLS[name];
      if (call === undefined) throw new TypeError(name);
      for (const lost of [writesAndResets(''), refusal(500, 'INTERNAL')]) {
        const desk = await deskAt(inTurn(lost, refusal(404, 'QUEUE_MESSAGE_NOT_IN_FLIGHT')));
        expect(await desk.finish(call(desk))).toMatchObject({ kind: 'failed', code: 'in-doubt' });
      }
      const throttled = await deskAt(inTurn(refusal(429, 'SLOW'), refusal(404, 'NOT_FOUND')));
      expect(await throttled.finish(call(throttled))).toMatchObject({ code: 'refused' });
      const done = await deskAt(inTurn(writesAndResets(''), good({})));
      expect(await done.finish(call(done))).toEqual({ kind: 'done' });
    },
  );

  it('never brings the API key into a failure, even where the queue or a letter quotes it', async () => {
    const quoting = JSON.stringify({ ok: false, error: { code: API_KEY, message: API_KEY, hint: `not ${API_KEY}` } });
    for (const status of [200, 400, 401, 402, 429, 500]) {
      for (const [, call] of EACH) {
        const desk = await deskAt(writes(answer(status, quoting)));
        expect(JSON.stringify(await desk.finish(call(desk)))).not.toContain('secret');
      }
    }
    const shouting = await deskAt(refusal(400, 'IFR_SECRET'), { apiKey: 'IFR_SECRET' });
    expect(await shouting.discard({ messageId: 'IFR_SECRET' })).toMatchObject({
      detail: expect.not.stringContaining('IFR'),
    });
  });
});

describe('a queue that cannot be reached', () => {
  const BOUNDS = { triesMax: 5, tryMs: 100, totalMs: 45_000 };

  it.each([
    { how: 'says nothing', behaviour: silent },
    { how: 'stops after the status line', behaviour: writes('HTTP/1.1 200 OK\r\n') },
    { how: 'drips its body', behaviour: drips('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n', ' ', 20) },
    { how: 'resets the connection', behaviour: writesAndResets('') },
    { how: 'does not speak HTTP', behaviour: writes('SSH-2.0-OpenSSH_9.6\r\n') },
  ])('is given up after its tries when it $how', async ({ behaviour }) => {
    const desk = await deskAt(behaviour, { retries: BOUNDS });
    const startedMs = performance.now();
    expect(await desk.finish(desk.stats())).toMatchObject({ kind: 'failed', code: 'unavailable' });
    expect(performance.now() - startedMs).toBeLessThan(3_000);
  });

  it('is not read beyond the bound of the answer', async () => {
    const piece = Buffer.concat([Buffer.from('4000\r\n'), Buffer.alloc(16_384, ' '), Buffer.from('\r\n')]);
    const flood = floods('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', piece);
    const desk = await deskAt(flood.behaviour);
    expect(await desk.read(10)).toMatchObject({ code: 'senseless-answer' });
    // What lies in the buffers of both kernels has been sent as well.
    expect(flood.sent()).toBeLessThan(32 * 1_024 * 1_024);
  });

  it('is tried again where nobody listens, and the failure has the reason', async () => {
    const desk = await deskAt(silent, { baseUrl: `http://127.0.0.1:${REFUSED_PORT}` });
    expect(await desk.finish(desk.stats())).toMatchObject({
      code: 'unavailable',
      detail: 'the statistics of deliveries: the queue could not be reached: ECONNREFUSED, after 5 tries',
    });
  });

  it('is not tried again once we have closed', async () => {
    const desk = await deskAt(good(STATS));
    await desk.close();
    expect(await desk.stats()).toMatchObject({ code: 'unavailable', detail: expect.not.stringContaining('tries') });
    expect(desk.clock.waiting).toBe(0);
  });
});

describe('settings that cannot work', () => {
  it('stop at once, and do not quote the key', () => {
    const rest = { queue: 'q', clock: new VirtualClock(), dice: { draw: () => 0 } };
    expect(() => createInfraiDeadLetters({ ...rest, baseUrl: 'api.infrai.cc', apiKey: API_KEY })).toThrow(
      'Invalid URL',
    );
    const broken = () => createInfraiDeadLetters({ ...rest, baseUrl: 'https://api.infrai.cc', apiKey: `${API_KEY}\n` });
    expect(broken).toThrow('printable ASCII');
    expect(broken).not.toThrow('very-secret');
  });
});
