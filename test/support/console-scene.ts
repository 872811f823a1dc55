/**
 * A night as an operator may find it, on a virtual clock: deliveries that came through, that try again, that are parked,
 * that wait for a person for different reasons; dead letters, decisions and two redrives. For looking at pages.
 */
import type { Answer } from '../../functions/core/outcome.ts';
import type { OutgoingRequest } from '../../functions/ports.ts';
import { openRedriveWorld, type RedriveWorld } from './redrive-world.ts';
import type { TestWorld } from './world.ts';
import { answered, unanswered } from './world-ports.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const BROKEN = '<html><body><h1>502 Bad Gateway</h1><hr><center>nginx</center></body></html>';

/** Payments are down for the first two hours; the others are as their names say. */
const reactionOf =
  (world: TestWorld, startMs: number) =>
  async ({ url, headers }: OutgoingRequest): Promise<Answer> => {
    const { pathname } = new URL(url);
    const tries = world.sender.sends.filter((sent) => sent.headers['webhook-id'] === headers['webhook-id']).length;
    switch (pathname) {
      case '/payments':
        return world.clock.nowMs() - startMs < 2 * HOUR ? answered(503, { excerpt: BROKEN }) : answered(200);
      case '/push':
        return unanswered('timeout');
      case '/crm':
        return answered(422, { excerpt: '{"error":"unknown customer","field":"customer_id"}' });
      case '/warehouse':
        return answered(500, { excerpt: 'ERROR: deadlock detected' });
      case '/mail':
        return tries < 2 ? answered(429, { retryAfter: ['30'] }) : answered(202);
      default:
        return answered(200);
    }
  };

const SETTINGS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  orders: { ratePerSecond: 50, headers: { 'x-tenant': 'blue', authorization: 'Bearer not-for-any-page' } },
  payments: { schedule: [5, 30, 300, 1800, 7200] },
  push: { repeatSafe: false },
  crm: {},
  warehouse: { schedule: [5, 30] },
  mail: { ratePerSecond: 5 },
  reminders: { concurrency: 4 },
  'orders-shadow': { mode: 'shadow' },
  ops: { notices: true },
};

export interface ConsoleScene extends RedriveWorld {
  /** A redrive that was run to its end, and one that is only planned. */
  readonly operations: { readonly done: string; readonly planned: string };
}

export const openConsoleScene = async (): Promise<ConsoleScene> => {
  const redrives = openRedriveWorld();
  const { world } = redrives;
  world.sender.always(reactionOf(world, world.clock.nowMs()));
  for (const [id, settings] of Object.entries(SETTINGS))
    await world.destination(id, { url: `https://${id}.example/${id}`, ...settings });
  await busyNight(world);
  for (let n = 1; n <= 12; n += 1) await redrives.deadLetter(`order-9${String(n).padStart(2, '0')}`, 'orders');
  const { operation: done } = await redrives.through({
    destination: 'orders',
    why: 'orders was out from 02:10 to 02:40',
  });
  await hold(world, 'warehouse');
  for (let n = 1; n <= 30; n += 1)
    await redrives.deadLetter(`shipment-${700 + n}`, n % 5 === 0 ? 'reminders' : 'orders');
  const { operation: planned } = await redrives.plan({ why: 'the second outage of the night' });
  await decideSome(world);
  await open(world);
  await world.tick();
  await world.run(2_000);
  return { ...redrives, operations: { done, planned } };
};

const busyNight = async (world: TestWorld): Promise<void> => {
  for (let n = 1; n <= 8; n += 1) await world.accepted(`order-10${n}`, 'orders');
  for (let n = 1; n <= 8; n += 1) await world.accepted(`order-shadow-${n}`, 'orders-shadow');
  for (let n = 1; n <= 5; n += 1) await world.accepted(`payment-20${n}`, 'payments');
  for (let n = 1; n <= 3; n += 1) await world.accepted(`push-30${n}`, 'push');
  for (let n = 1; n <= 4; n += 1) await world.accepted(`customer-40${n}`, 'crm');
  for (let n = 1; n <= 6; n += 1) await world.accepted(`parcel-50${n}`, 'warehouse');
  await world.accepted('welcome-601', 'mail');
  await world.run(3 * HOUR);
  await hold(world, 'reminders');
  for (let n = 1; n <= 14; n += 1) await world.accepted(`reminder-70${n}`, 'reminders');
  await world.run(20 * MINUTE);
};

/** Accepted, due later, and under way in every sense: so that there is something in the list of open ones. */
const open = async (world: TestWorld): Promise<void> => {
  const nowMs = world.clock.nowMs();
  for (const [n, minutes] of [2, 4, 9, 12, 25, 40, 55, 120, 300, 301, 302, 700, 2_000].entries()) {
    const deliverAt = new Date(nowMs + minutes * MINUTE).toISOString();
    await world.submit({ id: `later-80${n}`, payload: { n }, destinations: ['orders'], deliverAt });
  }
};

const post = (world: TestWorld, path: string, right: 'pause' | 'resend' | 'decide', body: unknown): Promise<unknown> =>
  world.call('operator', 'POST', path, {
    token: world.token(right),
    body,
    headers: { 'Idempotency-Key': `scene ${path}`.replaceAll(/[^!-~]/g, '-') },
  });

const hold = (world: TestWorld, destination: string): Promise<unknown> =>
  post(world, `/v1/destinations/${destination}/pause`, 'pause', { reason: 'their maintenance window, until 06:00' });

const decideSome = async (world: TestWorld): Promise<void> => {
  const reason = 'they have mended customer 402 by hand';
  await post(world, '/v1/events/customer-402/deliveries/crm/redrive', 'resend', { reason });
  await post(world, '/v1/events/customer-404/deliveries/crm/cancel', 'decide', {
    reason: 'a test account, not needed',
  });
  await post(world, '/v1/events/push-303/deliveries/push/resolve', 'decide', {
    reason: 'asked the provider',
    as: 'delivered',
    evidence: 'their log line 2026-01-01T00:00:01Z, id 88fa',
  });
  await post(world, '/v1/events/parcel-506/deliveries/warehouse/redrive', 'resend', { reason: 'try once', grant: 1 });
  await world.run(10 * MINUTE);
};
