/**
 * A plan and a run over the embedded queue, by real HTTP, with the real adapter, table and partner. What was sent is
 * counted by the partner.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { systemClock } from '../../functions/adapters/system.ts';
import { silentTelemetry } from '../../functions/adapters/telemetry.ts';
import { demoWorldOptions } from '../../infra/local/demo/options.ts';
import { Stage } from '../../infra/local/demo/stage.ts';
import { openWorld, QUEUE_NAME } from '../../infra/local/world.ts';
import { deliverMessage } from '../support/world.ts';

const TOKEN = 'test-admin-token-0123456789';

const shown = z.object({
  operation: z.string(),
  state: z.string(),
  found: z.record(z.string(), z.number()),
  progress: z.record(z.string(), z.number()),
  contradiction: z.optional(z.string()),
  deadBefore: z.optional(z.number()),
  deadAfter: z.optional(z.number()),
  mismatch: z.optional(z.unknown()),
});
type Shown = z.infer<typeof shown>;

const openStage = async () => {
  const world = await openWorld({ ...demoWorldOptions(TOKEN, silentTelemetry), tickMs: 3_600_000 });
  onTestFinished(async () => void (await world.close()));
  const stage = new Stage(world.url, TOKEN, world.partner, world.url);
  let dead = 0;
  return {
    world,
    stage,
    /** Straight into the dead-letter queue, as if three deliveries had been refused. */
    bury: async (payload: unknown): Promise<void> => {
      dead += 1;
      const response = await fetch(`${world.queueUrl}/v1/queue/publish`, {
        method: 'POST',
        headers: { authorization: 'Bearer local-queue-key', 'content-type': 'application/json' },
        body: JSON.stringify({ queue: `${QUEUE_NAME}.dlq`, payload, idempotency_key: `dead-${dead}` }),
      });
      if (!response.ok) throw new Error(await response.text());
    },
    plan: async (body: Readonly<Record<string, unknown>> = {}): Promise<Shown> =>
      z.parse(
        shown,
        await stage.decide('/v1/redrives', { source: 'dead-letters', limit: 500, why: 'they are back', ...body }),
      ),
    run: async (operation: string): Promise<Shown> => {
      await stage.decide(`/v1/redrives/${operation}/run`, { reason: 'the plan is right' });
      for (;;) {
        const { body } = await stage.call('GET', `/v1/redrives/${operation}`);
        const report = z.parse(shown, body);
        if (report.state !== 'running') return report;
        await systemClock.sleep(50);
      }
    },
  };
};

describe('a run over the embedded queue', () => {
  it('agrees with the plan, with the counts of the queue, and with what the partner received', async () => {
    const { world, stage, bury, plan, run } = await openStage();
    const mailbox = await stage.destination('shop', { repeatSafe: true });
    await stage.call('PUT', '/v1/destinations/own', {
      url: `${world.url}/partner/own`,
      repeatSafe: true,
      timeoutMs: 1_000,
      acceptFromQueue: true,
    });
    for (let n = 1; n <= 5; n += 1) {
      await stage.submit(`done-${n}`, 'shop');
      await stage.ended(`done-${n}`, 'shop');
      await bury(deliverMessage(`done-${n}`, 'shop'));
    }
    world.queue.faults.dropNextPublish(30);
    for (let n = 1; n <= 30; n += 1) await stage.submit(`lost-${n}`, 'shop');
    for (let n = 1; n <= 30; n += 1) await bury(deliverMessage(`lost-${n}`, 'shop'));
    for (let n = 1; n <= 3; n += 1) {
      await bury({ kind: 'deliver', format: 1, event: n });
      await bury({ kind: 'event', format: 1, event: { id: `whole-${n}`, payload: { n }, destinations: ['own'] } });
    }
    await bury({ order: 17 });
    expect(mailbox.requestCount).toBe(5);

    const planned = await plan();
    expect(planned).toMatchObject({ state: 'planned', deadBefore: 42 });
    expect(planned.found).toEqual({ drop: 5, redrive: 30, poison: 3, accept: 3, foreign: 1 });
    expect(mailbox.requestCount).toBe(5);

    const report = await run(planned.operation);
    expect(report).toMatchObject({ state: 'done', deadAfter: 1 });
    expect(report.mismatch).toBeUndefined();
    expect(report.progress).toMatchObject({
      ...{ requested: 30, requeued: 30, delivered: 30, deduplicated: 5 },
      ...{ accepted: 3, dropped: 3, held: 1, removed: 41, waiting: 0, open: 0 },
    });
    expect(mailbox.requestCount).toBe(35);
    expect(mailbox.effectCount).toBe(35);
    expect((await stage.ended('whole-3', 'own')).status).toBe('delivered');

    const again = await run(planned.operation);
    expect(again.progress).toEqual(report.progress);
    expect(mailbox.requestCount).toBe(35);
  });

  it('takes off what its plan has on lease, while a second plan meanwhile sees a contradiction', async () => {
    const { world, stage, bury, plan, run } = await openStage();
    await stage.destination('shop', { repeatSafe: true });
    await stage.submit('done', 'shop');
    await stage.ended('done', 'shop');
    await bury(deliverMessage('done', 'shop'));
    const first = await plan();
    const second = await plan();
    // What the first plan reads is out of the second one's sight, and the counts tell.
    expect([first.found, second.found]).toEqual([{ drop: 1 }, {}]);
    expect(second).toMatchObject({ contradiction: expect.any(String) });
    expect(await run(first.operation)).toMatchObject({ state: 'done', deadAfter: 0, progress: { deduplicated: 1 } });
    expect(world.queue.stats(QUEUE_NAME)?.dead).toBe(0);
  });
});
