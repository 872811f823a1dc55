/**
 * One destination that hangs must not take the workers of all others. Measured on the real local world, as the ratio
 * of a healthy destination's latency beside a thousand deliveries that hang and beside as many, arriving as fast, that
 * are answered, in one run: one process is queue, table, partner and workers here, and what arrives costs it some
 * milliseconds whether it hangs or not. The latency with nothing beside it is printed too.
 *
 * The first deliveries of the hanging destination block every worker until the first of them times out; that is the
 * price of finding out. From then on the rest of its thousand deliveries arrive beside the healthy ones.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../functions/adapters/system.ts';
import { silentTelemetry } from '../../functions/adapters/telemetry.ts';
import { demoWorldOptions } from '../../infra/local/demo/options.ts';
import { Stage } from '../../infra/local/demo/stage.ts';
import { type LocalWorld, openWorld } from '../../infra/local/world.ts';

const TOKEN = 'hanging-admin-token-0123';
const FIRST = 40;
const HANGING = 1_000;
const HANGING_EVERY_MS = 60;
const HEALTHY = 600;
const HEALTHY_EVERY_MS = 100;
const WARM_UP = 50;
const GRAIN_MS = 5;

let world: LocalWorld;
let stage: Stage;

beforeAll(async () => {
  world = await openWorld(demoWorldOptions(TOKEN, silentTelemetry));
  stage = new Stage(world.url, TOKEN, world.partner, world.url);
});
afterAll(() => world.close());

const percentile = (values: readonly number[], share: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN;

/** From the submission to the arrival at the partner, in milliseconds. */
const healthyP95 = async (name: string, count: number): Promise<number> => {
  const mailbox = await stage.destination(name, { repeatSafe: true, timeoutMs: 10_000 });
  const sentMs = new Map<string, number>();
  for (let n = 0; n < count; n += 1) {
    const id = `${name}-${n}`;
    sentMs.set(id, systemClock.nowMs());
    await stage.submit(id, name);
    await systemClock.sleep(HEALTHY_EVERY_MS); // wait-ok: a steady arrival rate is what is measured
  }
  const requests = await mailbox.received(count);
  const latencies = requests.map((request) => {
    const { story } = JSON.parse(Buffer.from(request.body).toString()) as { story: string };
    return request.atMs - (sentMs.get(story) ?? Number.NaN);
  });
  return percentile(latencies, 0.95);
};

const submitAt = async (mailbox: string, from: number, count: number): Promise<void> => {
  const events = Array.from({ length: count }, (_, n) => ({
    id: `${mailbox}-${from + n}`,
    payload: n,
    destinations: [mailbox],
  }));
  const { status } = await stage.call('POST', '/v1/events', events);
  expect(status).toBe(202);
};

const arriveAt = async (mailbox: string, from: number, until: number): Promise<void> => {
  for (let at = from; at < until; at += 1) {
    await submitAt(mailbox, at, 1);
    await systemClock.sleep(HANGING_EVERY_MS); // wait-ok: a steady arrival rate is what is measured
  }
};

it('keeps the p95 of a healthy destination within 1.5 times beside a thousand deliveries that hang', {
  timeout: 240_000,
}, async () => {
  await healthyP95('warm-up', WARM_UP);
  const alone = await healthyP95('alone', HEALTHY / 4);
  await stage.destination('answers', { repeatSafe: true, timeoutMs: 5_000 });
  const [without] = await Promise.all([healthyP95('without', HEALTHY / 2), arriveAt('answers', 0, HANGING / 2)]);
  const hanging = await stage.destination('hangs', { repeatSafe: true, timeoutMs: 5_000 });
  stage.partner.script('hangs', [{ hang: true }]);
  await submitAt('hangs', 0, FIRST);
  await hanging.received(1);
  await stage.until('hangs-0', 'hangs', (shown) => shown.journal.some((entry) => entry.class === 'in-doubt'));
  const [beside] = await Promise.all([healthyP95('beside', HEALTHY), arriveAt('hangs', FIRST, HANGING)]);
  console.log(
    `p95 of a healthy destination: ${alone} ms alone, ${without} ms beside deliveries that are answered, ${beside} ms beside ${HANGING} that hang`,
  );
  // A latency of some 25 ms has a grain of its own.
  expect(beside).toBeLessThanOrEqual(Math.max(1.5 * without, without + GRAIN_MS));
});
