import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createInfraiQueue } from '../../functions/adapters/queue/infrai/client.ts';
import { createInfraiPush } from '../../functions/adapters/queue/infrai/push.ts';
import { createEmbeddedQueue } from '../../infra/local/queue/embedded-queue.ts';
import { Mailbox } from '../../infra/local/queue/mailbox.ts';
import { objectOf } from '../contract/transport.ts';
import { API_KEY, embeddedWorld, messageIdOf, QUEUE } from '../support/embedded-world.ts';
import { VirtualClock } from '../support/virtual-clock.ts';

describe('deliveries of the embedded queue', () => {
  it('are three, six seconds apart, and then the message is dead', async () => {
    const { publish, subscribe, embedded, receiver, pass, clock } = await embeddedWorld();
    subscribe();
    receiver.answerWith(503, 503, 503, 503);
    const startMs = clock.nowMs();
    await publish(1);
    await embedded.idle();
    for (let seconds = 0; seconds < 18; seconds += 3) await pass(3_000);
    expect(receiver.received.map(({ atMs }) => atMs - startMs)).toEqual([0, 6_000, 12_000]);
    expect(embedded.stats(QUEUE)).toMatchObject({ inFlight: 0, dead: 1 });
  });

  it('come again at once where the answer took longer than six seconds to fail', async () => {
    const { publish, subscribe, embedded, receiver, clock } = await embeddedWorld({ pushTimeoutMs: 45_000 });
    subscribe();
    receiver.answerWith('silence');
    await publish(1);
    await receiver.arrived(1);
    await clock.advance(44_999);
    expect(receiver.received).toHaveLength(1);
    await clock.advance(1);
    await receiver.arrived(2);
    await embedded.idle();
    expect(embedded.pushes()).toMatchObject([
      { delivery: 1, durationMs: 45_000, lost: false },
      { delivery: 2, status: 200 },
    ]);
    expect(embedded.pushes()[0]).not.toHaveProperty('status');
  });

  it('come again after a broken connection', async () => {
    const { publish, subscribe, embedded, receiver, pass } = await embeddedWorld();
    subscribe();
    receiver.answerWith('break');
    await publish(1);
    await embedded.idle();
    await pass(6_000);
    expect(embedded.pushes().map(({ status }) => status)).toEqual([undefined, 200]);
  });

  it('go out in the order of publishing, so many at once as the setting says', async () => {
    const { publish, subscribe, embedded, receiver, numbers } = await embeddedWorld({ pushesAtOnce: 3 });
    for (let n = 0; n < 9; n += 1) await publish(n);
    const release = receiver.hold();
    subscribe();
    await receiver.arrived(3);
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 6, inFlight: 3 });
    release();
    await embedded.idle();
    expect(numbers().toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(numbers().slice(0, 3).toSorted()).toEqual([0, 1, 2]);
    expect(receiver.atOnceMax).toBe(3);
  });

  it('go to the latest subscription only', async () => {
    const { publish, subscribe, embedded, receiver } = await embeddedWorld();
    embedded.subscribe(QUEUE, { url: 'http://127.0.0.1:9/nobody' });
    subscribe();
    await publish(1);
    await embedded.idle();
    expect(receiver.received).toHaveLength(1);
    expect(embedded.pushes()).toHaveLength(1);
  });

  it.each([
    { scheme: 'bare hex', signing: { header: 'x-infrai-signature', prefix: '' } },
    { scheme: 'a prefix', signing: { header: 'x-signature', prefix: 'sha256=' } },
    { scheme: 'a timestamp', signing: { header: 'x-signature', prefix: '', timestampHeader: 'x-timestamp' } },
  ])('are signed as the setting says: $scheme', async ({ signing }) => {
    const { publish, subscribe, embedded, receiver, clock } = await embeddedWorld({ signing });
    subscribe('the secret');
    await publish(1);
    await embedded.idle();
    const { header: signatureHeader, ...rest } = signing;
    const push = createInfraiPush({ secrets: ['the secret'], signatureHeader, ...rest });
    const [received] = receiver.received;
    if (received === undefined) throw new Error('nothing was pushed');
    expect(push.verify(received.header, received.body, clock.nowMs())).toEqual({ kind: 'authentic' });
    expect(push.verify(received.header, received.body.slice(1), clock.nowMs())).toMatchObject({ code: 'mismatch' });
  });

  it('are unsigned where the subscription has no secret', async () => {
    const { publish, subscribe, embedded, receiver } = await embeddedWorld();
    subscribe();
    await publish(1);
    await embedded.idle();
    expect(receiver.received[0]?.header('x-infrai-signature')).toBeUndefined();
  });
});

describe('messages pulled from the embedded queue', () => {
  it('are leased, counted, and deleted by an acknowledgement', async () => {
    const { publish, post, embedded } = await embeddedWorld();
    const id = await publish(1);
    const items = [{ message_id: id, delivery_count: 1, payload: { n: 1 } }];
    expect((await post('consume', { queue: QUEUE, max_messages: 10 })).body).toMatchObject({ data: { items } });
    expect((await post('consume', { queue: QUEUE })).body).toMatchObject({ ok: true, data: { items: [] } });
    expect(await post('ack', { queue: QUEUE, receipt_handle: id })).toMatchObject({ status: 200 });
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 0, inFlight: 0 });
  });

  it.each([
    { when: 'twice', ms: 0, first: true },
    { when: 'after the lease', ms: 6_000, first: false },
  ])('cannot be acknowledged $when', async ({ ms, first }) => {
    const { publish, post, pass } = await embeddedWorld();
    const message_id = await publish(1);
    await post('consume', { queue: QUEUE });
    if (first) await post('ack', { queue: QUEUE, message_id });
    await pass(ms);
    expect((await post('ack', { queue: QUEUE, message_id })).body).toMatchObject({
      ok: false,
      error: { code: 'QUEUE_MESSAGE_NOT_IN_FLIGHT' },
    });
  });

  it('come back after their own lease', async () => {
    const { publish, post, pass, embedded } = await embeddedWorld();
    await publish(1);
    await post('consume', { queue: QUEUE, visibility_timeout: 60 });
    await pass(59_999);
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 0, inFlight: 1 });
    await pass(1);
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 1, inFlight: 0 });
  });
});

const dead = async (options = {}) => {
  const world = await embeddedWorld(options);
  const id = await world.publish(1);
  for (let delivery = 0; delivery < 3; delivery += 1) {
    await world.post('consume', { queue: QUEUE });
    await world.pass(6_000);
  }
  return { ...world, id };
};

describe('a dead message', () => {
  it('is counted, and read from the dead letter queue like any other message', async () => {
    const { id, post, get } = await dead();
    expect((await get(`/queue/stats/${QUEUE}`)).body).toMatchObject({ data: { dlq_count: 1, available_count: 0 } });
    const { body } = await post('consume', { queue: `${QUEUE}.dlq`, max_messages: 10 });
    expect(body).toMatchObject({ data: { items: [{ message_id: id, payload: { n: 1 } }] } });
  });

  it('is never dead twice: reading the dead letters loses nothing', async () => {
    const { post, pass, embedded } = await dead();
    for (let read = 0; read < 10; read += 1) {
      await post('consume', { queue: `${QUEUE}.dlq` });
      await pass(6_000);
    }
    expect(embedded.stats(QUEUE)).toMatchObject({ dead: 1 });
  });

  it('is missing from the list of dead letters, unless the list is told to be honest', async () => {
    const lying = await dead();
    expect((await lying.get(`/queue/dlq/list/${QUEUE}`)).body).toMatchObject({ ok: true, data: { items: [] } });
    const honest = await dead({ dlqListLies: false });
    expect((await honest.get(`/queue/dlq/list/${QUEUE}`)).body).toMatchObject({
      data: { items: [{ message_id: honest.id }] },
    });
  });

  it('comes back by its id, under the same id, and its deliveries are counted from 1', async () => {
    const { id, post, embedded } = await dead();
    await post('consume', { queue: `${QUEUE}.dlq` });
    expect(await post(`dlq/redrive/${QUEUE}`, { message_id: id })).toMatchObject({ status: 200 });
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 1, dead: 0 });
    const { body } = await post('consume', { queue: QUEUE });
    expect(body).toMatchObject({ data: { items: [{ message_id: id, delivery_count: 1 }] } });
  });

  it.each([undefined, {}, { max_messages: 500 }])(
    'does not come back by a bulk redrive (%j), which says ok',
    async (body) => {
      const { post, embedded } = await dead();
      expect((await post(`dlq/redrive/${QUEUE}`, body)).body).toMatchObject({ ok: true });
      expect(embedded.stats(QUEUE)).toMatchObject({ available: 0, dead: 1 });
    },
  );

  it('cannot be redriven under an id that is not dead', async () => {
    const { post } = await dead();
    expect(await post(`dlq/redrive/${QUEUE}`, { message_id: 'qmsg_0' })).toMatchObject({ status: 404 });
  });
});

describe('the lease of a message', () => {
  it('ends with the message: one that comes back is not woken by an older lease', () => {
    const mailbox = new Mailbox(Number.POSITIVE_INFINITY);
    const message = (id: string) => ({ id, nth: 1, payload: '{}', publishedAtMs: 0 });
    const lease = (untilMs: number) => mailbox.leaseUntil(mailbox.take()?.message.id ?? '', untilMs);
    mailbox.add(message('a'), 0, 0);
    mailbox.add(message('b'), 0, 0);
    lease(3_600);
    lease(1_000);
    mailbox.remove('a');
    mailbox.add(message('a'), 0, 0);
    lease(7_200);
    mailbox.wake(3_600);
    expect(mailbox.stats(3_600)).toMatchObject({ available: 1, inFlight: 1 });
    mailbox.wake(7_200);
    expect(mailbox.stats(7_200)).toMatchObject({ available: 2, inFlight: 0 });
  });
});

describe('a publish to the embedded queue', () => {
  it('is called available even where it is delayed', async () => {
    const { post, embedded } = await embeddedWorld();
    const { body } = await post('publish', { queue: QUEUE, payload: {}, delay_seconds: 60 });
    expect(body).toMatchObject({
      ok: true,
      error: null,
      data: { state: 'available' },
      metadata: { cost_usd: 0.00002 },
    });
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 0, delayed: 1 });
  });

  it('is swallowed under a used key, also when its message is long gone, for 24 hours', async () => {
    const { publish, subscribe, embedded, receiver, pass } = await embeddedWorld();
    subscribe();
    const first = await publish(1, { idempotency_key: 'key' });
    await embedded.idle();
    await pass(24 * 3_600_000 - 1);
    expect(await publish(2, { idempotency_key: 'key' })).toBe(first);
    await embedded.idle();
    expect(receiver.received).toHaveLength(1);
    await pass(1);
    expect(await publish(3, { idempotency_key: 'key' })).not.toBe(first);
    await embedded.idle();
    expect(receiver.received).toHaveLength(2);
  });

  it('takes its key from header or body, and refuses two that differ', async () => {
    const { post } = await embeddedWorld();
    const request = { queue: QUEUE, payload: {} };
    const byHeader = await post('publish', request, { 'idempotency-key': 'a' });
    const byBody = await post('publish', { ...request, idempotency_key: 'a' });
    expect(messageIdOf(byBody.body)).toBe(messageIdOf(byHeader.body));
    expect(await post('publish', { ...request, idempotency_key: 'a' }, { 'idempotency-key': 'b' })).toMatchObject({
      status: 400,
    });
  });

  it('takes body in place of payload, and gives it back as payload', async () => {
    const { post } = await embeddedWorld();
    await post('publish', { queue: QUEUE, body: { n: 7 } });
    expect((await post('consume', { queue: QUEUE })).body).toMatchObject({ data: { items: [{ payload: { n: 7 } }] } });
  });

  it.each([
    { what: 'a field nobody has seen', request: { queue: QUEUE, payload: {}, delay: 5 }, status: 400 },
    { what: 'a text as payload', request: { queue: QUEUE, payload: '{}' }, status: 400 },
    { what: 'an array as payload', request: { queue: QUEUE, payload: [] }, status: 400 },
    { what: 'no payload', request: { queue: QUEUE }, status: 400 },
    { what: 'no JSON', request: '{"queue":', status: 400 },
    { what: 'a queue that is not there', request: { queue: 'other', payload: {} }, status: 404 },
    { what: 'a delay over seven days', request: { queue: QUEUE, payload: {}, delay_seconds: 604_801 }, status: 400 },
    { what: 'a message over 256 KB', request: `{"queue":"${QUEUE}","payload":${objectOf(262_145)}}`, status: 413 },
    { what: 'a request of a megabyte', request: `{"queue":"${QUEUE}","payload":${objectOf(1_048_576)}}`, status: 413 },
  ])('is refused with $status: $what', async ({ request, status }) => {
    const { post, embedded } = await embeddedWorld();
    const answered = await post('publish', request);
    expect(answered).toMatchObject({ status, body: { ok: false, data: null, error: { retryable: false } } });
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 0, delayed: 0 });
  });

  it('is taken at exactly the limits', async () => {
    const { post, embedded } = await embeddedWorld();
    await post('publish', `{"queue":"${QUEUE}","payload":${objectOf(262_144)},"delay_seconds":604800}`);
    expect(embedded.stats(QUEUE)).toMatchObject({ delayed: 1 });
  });

  it('never gets an id that an earlier run has given', async () => {
    const idOfRun = async (startMs: number) => {
      const { publish } = await embeddedWorld({ timers: new VirtualClock(startMs) });
      return publish(1);
    };
    expect(await idOfRun(1_767_225_600_001)).not.toBe(await idOfRun(1_767_225_600_000));
  });
});

describe('the routes of the embedded queue', () => {
  it('want the API key, but for discovery', async () => {
    const { call } = await embeddedWorld();
    expect(await call('GET', '/queue/list', undefined, { authorization: 'Bearer other' })).toMatchObject({
      status: 401,
    });
    expect(await call('GET', '/discovery', undefined, { authorization: '' })).toMatchObject({ status: 200 });
  });

  it('are all in discovery, outside of the envelope, and all of discovery is served', async () => {
    const { get, call } = await embeddedWorld();
    const { body } = await get('/discovery');
    const { capabilities } = body as { capabilities: { id: string; method: string; path: string }[] };
    expect(capabilities).toHaveLength(12);
    for (const { id, method, path } of capabilities) {
      expect((await get(`/discovery/${id}`)).body).toMatchObject({ id, method, path, available: true });
      const served = await call(
        method,
        path.replace('/v1', '').replace('{queue}', 'nowhere'),
        method === 'POST' ? {} : undefined,
      );
      expect(served.body, id).not.toMatchObject({ error: { code: 'NOT_FOUND' } });
    }
    expect((await get('/discovery/queue.nack')).status).toBe(404);
  });

  it('show the fields of a publish as the client sends them', async () => {
    const { get } = await embeddedWorld();
    const { body } = await get('/discovery/queue.publish');
    const { params } = body as { params: { properties: Record<string, unknown>; additionalProperties: boolean } };
    expect(Object.keys(params.properties)).toEqual(
      expect.arrayContaining(['queue', 'payload', 'delay_seconds', 'idempotency_key']),
    );
    expect(params.additionalProperties).toBe(false);
  });

  it('make, name and remove queues', async () => {
    const { post, get, call } = await embeddedWorld();
    expect(await post('create', { name: 'second' })).toMatchObject({ status: 200 });
    const items = [QUEUE, `${QUEUE}.dlq`, 'second', 'second.dlq'].map((name) => ({ name }));
    expect((await get('/queue/list')).body).toMatchObject({ data: { items } });
    expect(await call('DELETE', '/queue/delete/second')).toMatchObject({ status: 200 });
    expect(await get('/queue/stats/second')).toMatchObject({ status: 404 });
  });

  it('subscribe a receiver, with its secret and its time to answer', async () => {
    const { post, publish, embedded, receiver } = await embeddedWorld();
    const request = { url: receiver.url, secret: 's', visibility_timeout: 5 };
    expect(await post(`push_subscribe/${QUEUE}`, request)).toMatchObject({ status: 200 });
    await publish(1);
    await embedded.idle();
    expect(receiver.received[0]?.header('x-infrai-signature')).toMatch(/^[0-9a-f]{64}$/);
    expect(await post('push_subscribe/nowhere', request)).toMatchObject({ status: 404 });
    expect(await post(`push_subscribe/${QUEUE}`, { url: 'ftp://127.0.0.1/' })).toMatchObject({ status: 400 });
  });

  it('tell the age of the oldest message', async () => {
    const { publish, pass, get } = await embeddedWorld();
    await publish(1, { delay_seconds: 3_600 });
    await pass(90_500);
    await publish(2);
    expect((await get(`/queue/stats/${QUEUE}`)).body).toMatchObject({
      data: { available_count: 1, delayed_count: 1, in_flight_count: 0, oldest_message_age_seconds: 90 },
    });
  });
});

describe('the end of the embedded queue', () => {
  it('comes within a second, with pushes hanging, timers set and connections open', async () => {
    const { embedded, subscribe, receiver, publish, clock } = await embeddedWorld();
    const baseUrl = await embedded.listen();
    const client = createInfraiQueue({ baseUrl, apiKey: API_KEY, queue: QUEUE, publishMs: 500 });
    onTestFinished(() => client.close());
    subscribe();
    const half = connect(Number(new URL(baseUrl).port), '127.0.0.1');
    onTestFinished(() => void half.destroy());
    half.on('error', () => {});
    await new Promise((resolve) => half.write('POST /v1/queue/publish HTTP/1.1\r\n', resolve));
    receiver.answerWith('silence');
    await client.publish({ key: 'key', body: '{"n":1}', delaySec: 0 });
    await publish(2, { delay_seconds: 3_600 });
    await receiver.arrived(1);
    const startedMs = performance.now();
    await embedded.close();
    expect(performance.now() - startedMs).toBeLessThan(1_000);
    expect(clock.waiting).toBe(0);
    expect(await client.publish({ key: 'other', body: '{"n":3}', delaySec: 0 })).toMatchObject({ code: 'unavailable' });
  });

  it('frees its port, and a second queue on it knows nothing of the first', async () => {
    const { embedded, publish } = await embeddedWorld();
    const baseUrl = await embedded.listen();
    await publish(1);
    await embedded.close();
    const second = createEmbeddedQueue({ timers: new VirtualClock(), apiKey: API_KEY, queues: [QUEUE] });
    onTestFinished(() => second.close());
    expect(await second.listen(Number(new URL(baseUrl).port))).toBe(baseUrl);
    expect(second.stats(QUEUE)).toMatchObject({ available: 0 });
  });
});
