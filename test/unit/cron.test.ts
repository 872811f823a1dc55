/** The tick by URL: its caller is not signed, so only who knows the secret header may cause one. */
import { describe, expect, it } from 'vitest';
import { DUE_SHARDS } from '../../functions/core/limits.ts';
import type { Publication, Published } from '../../functions/ports.ts';
import { createCronApp } from '../../functions/reconciler/app.ts';
import { openTestWorld } from '../support/world.ts';

const SECRET = 'a-cron-secret-of-24-chars';
const MINUTE_MS = 60_000;

const scene = (answer: Published = { kind: 'published', messageId: 'm' }) => {
  const published: Publication[] = [];
  const counted: string[] = [];
  const app = createCronApp(
    {
      queue: {
        limits: { delayMsMax: 1, messageBytesMax: 1 },
        publish: async (publication) => {
          published.push(publication);
          return answer;
        },
      },
      clock: { nowMs: () => 90_000_000, sleep: async () => {} },
      telemetry: { line: () => {}, count: (name) => counted.push(name) },
      ledger: openTestWorld().ports.ledger,
    },
    { secret: SECRET, header: 'x-cron-secret', tickMs: MINUTE_MS },
  );
  const call = (headers: Record<string, string>, method = 'POST') =>
    app.request('/cron/reconcile', { method, headers });
  return { call, published, counted };
};

describe('a call of /cron/reconcile', () => {
  it('enqueues one sweep a shard when it brings the secret, and says how many', async () => {
    const { call, published } = scene();
    const answer = await call({ 'x-cron-secret': SECRET });
    expect(answer.status).toBe(202);
    expect(await answer.json()).toEqual({ tick: 1_500, enqueued: DUE_SHARDS, failed: 0 });
    expect(published.map(({ body }) => JSON.parse(body).shard)).toEqual([0, 1, 2, 3]);
  });

  it('causes nothing twice within one tick: a repeat publishes under the same keys', async () => {
    const { call, published } = scene();
    await call({ 'x-cron-secret': SECRET });
    await call({ 'x-cron-secret': SECRET });
    expect(new Set(published.map(({ key }) => key)).size).toBe(DUE_SHARDS);
  });

  it.each([
    ['no header', {}],
    ['an empty one', { 'x-cron-secret': '' }],
    ['another secret', { 'x-cron-secret': `${SECRET}x` }],
    ['the secret in another header', { authorization: SECRET }],
    ['the secret twice', { 'x-cron-secret': `${SECRET}, ${SECRET}` }],
  ])('is refused with %s, and enqueues nothing', async (_name, headers) => {
    const { call, published, counted } = scene();
    const answer = await call(headers);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('content-type')).toContain('problem+json');
    expect(await answer.text()).not.toContain(SECRET);
    expect(published).toEqual([]);
    expect(counted).toContain('cron-unauthentic');
  });

  it('says 503 when the queue took nothing, so that the caller tries again', async () => {
    const { call } = scene({ kind: 'failed', code: 'unavailable', detail: 'away' });
    expect((await call({ 'x-cron-secret': SECRET })).status).toBe(503);
  });

  it('is no GET', async () => {
    expect((await scene().call({ 'x-cron-secret': SECRET }, 'GET')).status).toBe(404);
  });
});
