/**
 * Goal: the four functions, as the platform calls them, work on one table and one queue with nothing but the settings of
 * their environment.
 * Method: their handlers are imported as they stand, over an embedded DynamoDB behind a port and a queue that keeps what
 * is published. The name of the destination resolves to this machine, which the policy of the cloud must not reach.
 */
import type { LambdaEvent } from 'hono/aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { createDynamoLedger } from '../../functions/adapters/ledger/dynamodb.ts';
import { DUE_SHARDS } from '../../functions/core/limits.ts';
import { ensureTable } from '../../infra/local/ledger-table.ts';
import { putAdminToken } from '../../infra/local/token.ts';
import { type DynamoHttp, openDynamoHttp } from '../support/dynamo-http.ts';
import { eventV2 } from '../support/lambda-events.ts';
import { openPublishStub, type PublishStub } from '../support/publish-stub.ts';
import { PUSH_SECRET, signed } from '../support/world.ts';

vi.mock('node:dns/promises', () => ({ lookup: async () => [{ address: '127.0.0.1', family: 4 }] }));

const TOKEN = 'the-token-of-the-admin';
const TABLE = 'onceward-of-this-test';
const SIGNING_SECRET = `whsec_${Buffer.alloc(32, 5).toString('base64')}`;

let dynamo: DynamoHttp;
let queue: PublishStub;
const printed: string[] = [];

beforeAll(async () => {
  [dynamo, queue] = await Promise.all([openDynamoHttp(), openPublishStub()]);
  const client = dynamo.dynamo.client();
  await ensureTable(client, TABLE);
  await putAdminToken(
    {
      ledger: createDynamoLedger({ client, table: TABLE }),
      clock: { nowMs: () => 1_767_225_600_000, sleep: async () => {} },
    },
    TOKEN,
  );
});
afterAll(() => Promise.all([dynamo.close(), queue.close()]));

beforeEach(() => {
  const settings = {
    ONCEWARD_TRANSPORT: 'infrai',
    ONCEWARD_TABLE: TABLE,
    ONCEWARD_OWN_HOSTS: 'push.onceward.example',
    ONCEWARD_INFRAI_URL: queue.url,
    ONCEWARD_INFRAI_KEY: 'a-key-of-the-queue',
    ONCEWARD_QUEUE: 'orders',
    ONCEWARD_PUSH_SECRET: PUSH_SECRET,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'none',
    AWS_SECRET_ACCESS_KEY: 'none',
    AWS_ENDPOINT_URL_DYNAMODB: dynamo.url,
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => printed.push(String(text)) > 0);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

/** Each imported when it is first called, as at a cold start. */
const handlers = {
  intake: async () => (await import('../../functions/intake/handler.ts')).handler,
  operator: async () => (await import('../../functions/operator/handler.ts')).handler,
  receiver: async () => (await import('../../functions/receiver/handler.ts')).handler,
};

const call = async (name: keyof typeof handlers, event: LambdaEvent) => {
  const { statusCode, body } = await (await handlers[name]())(event);
  return { status: statusCode, body: JSON.parse(body) as unknown };
};

const signedIn = { authorization: `Bearer ${TOKEN}` };

const push = async (payload: unknown) => {
  const body = JSON.stringify({ message_id: 'qmsg_x', payload });
  const scheme = { secrets: [PUSH_SECRET], signatureHeader: 'x-infrai-signature', prefix: '' };
  return call('receiver', eventV2({ path: '/push/infrai', body, headers: signed(Buffer.from(body), scheme, 0) }));
};

describe('the functions in the cloud', () => {
  it('carry an event from the door to its destination, which must not be this machine', async () => {
    const settings = { url: 'https://partner.example/hook', repeatSafe: true, signingSecret: SIGNING_SECRET };
    const put = { method: 'PUT', path: '/v1/destinations/partner', headers: signedIn, body: JSON.stringify(settings) };
    expect((await call('operator', eventV2(put))).status).toBe(201);

    const event = JSON.stringify({ id: 'a/b', payload: { n: 1 }, destinations: ['partner'] });
    const post = eventV2({ path: '/v1/events', headers: signedIn, body: event });
    const accepted = await call('intake', post);
    expect([accepted.status, (await call('intake', post)).body]).toEqual([202, accepted.body]);
    expect(queue.messages).toEqual([{ kind: 'deliver', format: 1, event: 'a/b', destination: 'partner' }]);

    expect(await push(queue.messages[0])).toMatchObject({ status: 200, body: { verdict: 'ack' } });
    const shown = await call(
      'operator',
      eventV2({ method: 'GET', path: '/v1/events/a%2Fb/deliveries/partner', headers: signedIn }),
    );
    expect(shown).toMatchObject({ status: 200, body: { status: 'quarantined', reason: 'blocked', attempts: 1 } });
  });

  it('refuse a destination on their own hosts', async () => {
    const settings = { url: 'https://push.onceward.example/push/infrai', repeatSafe: true };
    const put = { method: 'PUT', path: '/v1/destinations/loop', headers: signedIn, body: JSON.stringify(settings) };
    expect(await call('operator', eventV2(put))).toMatchObject({ status: 422, body: { field: 'url' } });
  });

  it('tick: the reconciler enqueues one sweep a shard, and the receiver works each of them', async () => {
    const { handler } = await import('../../functions/reconciler/handler.ts');
    const before = queue.messages.length;
    expect(await handler()).toMatchObject({ enqueued: DUE_SHARDS, failed: 0 });
    const sweeps = queue.messages.slice(before);
    expect(sweeps).toHaveLength(DUE_SHARDS);
    for (const sweep of sweeps) expect(await push(sweep)).toMatchObject({ status: 200, body: { note: 'swept' } });
  });

  it('print one JSON object a line, and no secret in any', () => {
    const lines = printed.join('').trim().split('\n');
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) {
      const parsed = z.safeParse(z.object({ at: z.string(), line: z.string() }), JSON.parse(line));
      expect([line, parsed.success]).toEqual([line, true]);
    }
    for (const hidden of [TOKEN, PUSH_SECRET, SIGNING_SECRET, 'a-key-of-the-queue']) {
      expect(printed.join('')).not.toContain(hidden);
    }
  });
});
