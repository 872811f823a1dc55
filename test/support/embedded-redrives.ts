/**
 * A plan and a run over the embedded queues, by real HTTP, with the real adapters, table and partner. What was sent is
 * counted by the partner. The one over SQS takes its time and belongs to the slow tier.
 */
import { expect, onTestFinished } from 'vitest';
import * as z from 'zod/mini';
import { systemClock } from '../../functions/adapters/system.ts';
import { silentTelemetry } from '../../functions/adapters/telemetry.ts';
import { demoWorldOptions } from '../../infra/local/demo/options.ts';
import { Stage } from '../../infra/local/demo/stage.ts';
import { type LocalTransportName, openWorld } from '../../infra/local/world.ts';
import { deliverMessage } from './world.ts';

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

export const openRedriveStage = async (transport: LocalTransportName) => {
  const losing = { on: false };
  const world = await openWorld({
    ...demoWorldOptions(TOKEN, silentTelemetry, transport),
    tickMs: 3_600_000,
    reshape: (ports) => ({
      ...ports,
      queue: {
        limits: ports.queue.limits,
        publish: async (publication) =>
          losing.on ? { kind: 'published', messageId: 'lost' } : ports.queue.publish(publication),
      },
    }),
  });
  onTestFinished(async () => void (await world.close()));
  const stage = new Stage(world.url, TOKEN, world.partner, world.url);
  return {
    world,
    stage,
    /** While it is on, what is published is lost without a trace. */
    losing,
    /** Straight into the dead-letter queue, as if its deliveries had been refused. */
    bury: (payload: unknown) => world.queue.deadLetter(JSON.stringify(payload)),
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

/** Forty-two letters of five kinds: the run agrees with the plan, with the counts of the queue, and with the partner. */
export const runAgrees = async (transport: LocalTransportName): Promise<void> => {
  const { world, stage, bury, losing, plan, run } = await openRedriveStage(transport);
  const mailbox = await stage.destination('shop', { repeatSafe: true, timeoutMs: 15_000 });
  await stage.call('PUT', '/v1/destinations/own', {
    url: `${world.url}/partner/own`,
    repeatSafe: true,
    timeoutMs: 15_000,
    acceptFromQueue: true,
  });
  for (let n = 1; n <= 5; n += 1) {
    await stage.submit(`done-${n}`, 'shop');
    await stage.ended(`done-${n}`, 'shop');
    await bury(deliverMessage(`done-${n}`, 'shop'));
  }
  losing.on = true;
  for (let n = 1; n <= 30; n += 1) await stage.submit(`lost-${n}`, 'shop');
  losing.on = false;
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
};
