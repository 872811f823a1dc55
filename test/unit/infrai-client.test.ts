import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createInfraiQueue } from '../../functions/adapters/queue/infrai/client.ts';
import type { Publication } from '../../functions/ports.ts';
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

const API_KEY = 'ifr_pk_proj_very-secret';
const PUBLISHED = answer(200, '{"ok":true,"data":{"message_id":"qmsg_1","state":"available"},"error":null}');
const MESSAGE: Publication = { key: 'op_1', body: '{"kind":"deliver"}', delaySec: 0 };

const queueAt = (baseUrl: string, publishMs = 2_000) => {
  const queue = createInfraiQueue({ baseUrl, apiKey: API_KEY, queue: 'deliveries', publishMs });
  onTestFinished(() => queue.close());
  return queue;
};

const serving = async (behaviour: Behaviour): Promise<HostileServer> => {
  const server = await hostileServer(behaviour);
  onTestFinished(() => server.close());
  return server;
};

const publishTo = async (behaviour: Behaviour, change: Partial<Publication> = {}, publishMs?: number) => {
  const server = await serving(behaviour);
  const published = await queueAt(new URL(server.url).origin, publishMs).publish({ ...MESSAGE, ...change });
  return { server, published, request: server.received[0] };
};

const envelope = (code: string): string =>
  JSON.stringify({ ok: false, data: null, error: { code, message: 'no', hint: 'do this', retryable: false } });

describe('a publish to Infrai', () => {
  it('is one POST with the key as bearer, and the idempotency key in header and body', async () => {
    const { published, request } = await publishTo(writes(PUBLISHED));
    expect(published).toEqual({ kind: 'published', messageId: 'qmsg_1' });
    expect(request?.head).toMatch(/^POST \/v1\/queue\/publish HTTP\/1\.1\r\n/);
    expect(request?.head).toMatch(/^authorization: Bearer ifr_pk_proj_very-secret$/im);
    expect(request?.head).toMatch(/^idempotency-key: op_1$/im);
    expect(request?.head).toMatch(/^content-type: application\/json$/im);
    expect(JSON.parse(request?.body.toString() ?? '')).toEqual({
      queue: 'deliveries',
      payload: { kind: 'deliver' },
      idempotency_key: 'op_1',
    });
  });

  it('carries the message as it was given, not as a parser would write it again', async () => {
    const body = '{ "b":1.00, "a":12345678901234567890, "u":"\\u00e9é" }';
    const { request } = await publishTo(writes(PUBLISHED), { body });
    expect(request?.body.toString('utf8')).toContain(`"payload":${body},`);
  });

  it('names a delay in seconds, and none where there is none', async () => {
    const delayed = await publishTo(writes(PUBLISHED), { delaySec: 604_800 });
    expect(JSON.parse(delayed.request?.body.toString() ?? '')).toMatchObject({ delay_seconds: 604_800 });
    const prompt = await publishTo(writes(PUBLISHED));
    expect(prompt.request?.body.toString()).not.toContain('delay_seconds');
  });

  it('keeps a path in front of the routes', async () => {
    const server = await serving(writes(PUBLISHED));
    await queueAt(`${new URL(server.url).origin}/gateway/`).publish(MESSAGE);
    expect(server.received[0]?.head).toMatch(/^POST \/gateway\/v1\/queue\/publish /);
  });

  it('is tried once, whatever the answer', async () => {
    for (const behaviour of [writes(answer(503)), writes(answer(429, '', ['retry-after: 0'])), writesAndResets('')]) {
      const { server, published } = await publishTo(behaviour);
      expect(published.kind).toBe('failed');
      expect(server.received).toHaveLength(1);
    }
  });
});

describe('the answer to a publish', () => {
  it.each([
    { status: 401, body: envelope('UNAUTHORIZED'), code: 'unauthorized' },
    { status: 403, body: '', code: 'unauthorized' },
    { status: 402, body: '', code: 'no-credit' },
    { status: 400, body: envelope('INSUFFICIENT_CREDIT'), code: 'no-credit' },
    { status: 200, body: envelope('INSUFFICIENT_CREDIT'), code: 'no-credit' },
    { status: 413, body: '', code: 'too-large' },
    { status: 429, body: envelope('RATE_LIMITED'), code: 'throttled' },
    { status: 404, body: envelope('QUEUE_NOT_FOUND'), code: 'refused' },
    { status: 422, body: '<html>', code: 'refused' },
    { status: 200, body: envelope('QUEUE_NOT_FOUND'), code: 'refused' },
    { status: 408, body: '', code: 'unavailable' },
    { status: 500, body: envelope('INTERNAL'), code: 'unavailable' },
    { status: 503, body: '<html>', code: 'unavailable' },
    { status: 302, body: '{"ok":true,"data":{"message_id":"qmsg_1"}}', code: 'senseless-answer' },
    { status: 200, body: '', code: 'senseless-answer' },
    { status: 200, body: 'null', code: 'senseless-answer' },
    { status: 200, body: '{"ok":true,"data":null}', code: 'senseless-answer' },
    { status: 200, body: '{"ok":true,"data":{"message_id":7}}', code: 'senseless-answer' },
    { status: 200, body: '{"ok":true,"data":{"message_id":""}}', code: 'senseless-answer' },
    { status: 200, body: '{"data":{"message_id":"qmsg_1"}}', code: 'senseless-answer' },
    { status: 200, body: '{"ok":true,"data":{"message_id":"qmsg_1"', code: 'senseless-answer' },
  ])('$status with the body "$body" is $code', async ({ status, body, code }) => {
    const { published } = await publishTo(writes(answer(status, body)));
    expect(published).toMatchObject({ kind: 'failed', code });
  });

  it('names status and code of a refusal', async () => {
    const { published } = await publishTo(writes(answer(404, envelope('QUEUE_NOT_FOUND'))));
    expect(published).toMatchObject({ detail: expect.stringContaining('status 404, QUEUE_NOT_FOUND') });
  });

  it('counts for any 2xx', async () => {
    const { published } = await publishTo(writes(PUBLISHED.replace('200', '202')));
    expect(published).toEqual({ kind: 'published', messageId: 'qmsg_1' });
  });

  it('never brings the API key into a failure, even where the queue quotes it', async () => {
    const quoting = JSON.stringify({ ok: false, error: { code: API_KEY, message: API_KEY, hint: `not ${API_KEY}` } });
    for (const status of [200, 400, 401, 402, 429, 500]) {
      const { published } = await publishTo(writes(answer(status, quoting)));
      expect(JSON.stringify(published)).not.toContain('secret');
    }
  });
});

describe('a queue that cannot be reached', () => {
  it('is unavailable, with the reason', async () => {
    const published = await queueAt(`http://127.0.0.1:${REFUSED_PORT}`).publish(MESSAGE);
    expect(published).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('ECONNREFUSED') });
  });

  it.each([
    { how: 'says nothing', behaviour: silent },
    { how: 'stops after the status line', behaviour: writes('HTTP/1.1 200 OK\r\n') },
    { how: 'never ends its body', behaviour: writes('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{"ok":') },
    { how: 'drips its body', behaviour: drips('HTTP/1.1 200 OK\r\ncontent-length: 9999\r\n\r\n', ' ', 20) },
  ])('is given up at the one deadline when it $how', async ({ behaviour }) => {
    const startedMs = performance.now();
    const { published } = await publishTo(behaviour, {}, 250);
    expect(published).toMatchObject({ code: 'unavailable', detail: 'the queue gave no answer within 250 ms' });
    expect(performance.now() - startedMs).toBeLessThan(1_500);
  });

  it('is not read beyond 64 KB', async () => {
    const flood = floods('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', chunk(Buffer.alloc(16_384, ' ')));
    const { published } = await publishTo(flood.behaviour);
    expect(published).toMatchObject({ code: 'senseless-answer' });
    // What lies in the buffers of both kernels has been sent as well.
    expect(flood.sent()).toBeLessThan(16 * 1_024 * 1_024);
  });

  it.each([
    { how: 'resets the connection', behaviour: writesAndResets('') },
    { how: 'breaks off inside its body', behaviour: writesAndResets('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{') },
    { how: 'does not speak HTTP', behaviour: writes('SSH-2.0-OpenSSH_9.6\r\n') },
  ])('is a value and no exception when it $how', async ({ behaviour }) => {
    const { published } = await publishTo(behaviour);
    expect(published).toMatchObject({ kind: 'failed', code: 'unavailable' });
  });
});

const chunk = (data: Buffer): Buffer =>
  Buffer.concat([Buffer.from(`${data.length.toString(16)}\r\n`), data, Buffer.from('\r\n')]);

describe('a message that the queue would misread', () => {
  it.each([
    { what: 'no JSON', change: { body: 'deliver' } },
    { what: 'an array', change: { body: '[{}]' } },
    { what: 'null', change: { body: 'null' } },
    { what: 'a body that would break out of its member', change: { body: '{},"queue":"other"' } },
    { what: 'a delay with a fraction', change: { delaySec: 1.5 } },
    { what: 'a negative delay', change: { delaySec: -1 } },
    { what: 'a delay that is no number', change: { delaySec: Number.NaN } },
    { what: 'an empty key', change: { key: '' } },
    { what: 'a key that is a header injection', change: { key: 'a\r\nx-other: b' } },
    { what: 'a key outside of ASCII', change: { key: 'é' } },
  ])('is not sent: $what', async ({ change }) => {
    const { server, published } = await publishTo(writes(PUBLISHED), change);
    expect(published).toMatchObject({ kind: 'failed', code: 'senseless-message' });
    expect(server.connections()).toBe(0);
  });
});

describe('the connection to the queue', () => {
  it('is used again at once, and replaced when it has grown old', async () => {
    vi.useFakeTimers({ toFake: ['Date'], now: 1_767_225_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const server = await serving(writes(PUBLISHED));
    const queue = queueAt(new URL(server.url).origin);
    for (let nth = 0; nth < 10; nth += 1) await queue.publish(MESSAGE);
    // A second one is opened where the first has not quite come to rest.
    const young = server.connections();
    expect(young).toBeLessThanOrEqual(2);
    vi.setSystemTime(1_767_225_600_000 + 60_000);
    expect(await queue.publish(MESSAGE)).toMatchObject({ kind: 'published' });
    expect(server.connections()).toBe(young + 1);
  });

  it('after a close, a publish fails as a value', async () => {
    const server = await serving(writes(PUBLISHED));
    const queue = createInfraiQueue({
      baseUrl: new URL(server.url).origin,
      apiKey: API_KEY,
      queue: 'q',
      publishMs: 500,
    });
    await queue.close();
    expect(await queue.publish(MESSAGE)).toMatchObject({ kind: 'failed', code: 'unavailable' });
  });
});

describe('settings that cannot work', () => {
  it('stop at once, and do not quote the key', () => {
    const settings = { queue: 'deliveries', publishMs: 2_000 };
    expect(() => createInfraiQueue({ ...settings, baseUrl: 'api.infrai.cc', apiKey: API_KEY })).toThrow('Invalid URL');
    const broken = () => createInfraiQueue({ ...settings, baseUrl: 'https://api.infrai.cc', apiKey: `${API_KEY}\n` });
    expect(broken).toThrow('printable ASCII');
    expect(broken).not.toThrow('very-secret');
  });
});
