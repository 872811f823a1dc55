/** Real failures in reading the answers of a destination, followed to the state of the delivery. */

import { Webhook } from 'standardwebhooks';
import { afterEach, describe, expect, it, vi } from 'vitest';
import * as z from 'zod/mini';
import { destinationId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, notSent, unanswered } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER } from '../support/world-states.ts';

const HOUR_MS = 3_600_000;

const lastOutcome = async (world: TestWorld) => {
  const { journal } = await world.row(EVENT, PARTNER);
  return journal.lines.map(({ entry }) => entry).findLast(({ kind }) => kind === 'outcome');
};

describe('an attempt that could not be sent', () => {
  it('for want of a name is tried again by schedule, and delivered when the name is there [C020]', async () => {
    const world = await opened(openTestWorld());
    world.sender.script(notSent('dns', 'NXDOMAIN'));
    await world.run(0);
    expect(await lastOutcome(world)).toMatchObject({ class: 'not-sent', detail: 'dns', attempt: 1 });
    const row = await world.row(EVENT, PARTNER);
    expect(row.status === 'pending' && row.dueAtMs - world.clock.nowMs()).toBeGreaterThanOrEqual(5_000);
    await world.run(10_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  it.each(['refused', 'tls', 'connect-timeout'] as const)('for %s is tried again as well [C020]', async (cause) => {
    const world = await opened(openTestWorld(), { repeatSafe: false });
    world.sender.script(notSent(cause));
    await world.run(10_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  it('to a blocked address is held at once, and shows nothing of what stood there [C093]', async () => {
    const world = await opened(openTestWorld());
    world.sender.script(notSent('blocked', 'the name resolves to 169.254.169.254'));
    await world.run(HOUR_MS);
    const row = await world.row(EVENT, PARTNER);
    expect(row).toMatchObject({ status: 'quarantined', reason: 'blocked', attempts: 1 });
    expect([row.firstExcerpt, row.latestExcerpt]).toEqual([undefined, undefined]);
    expect(world.sender.sends).toHaveLength(1);
  });
});

describe('a retry a day later', () => {
  afterEach(() => void vi.useRealTimers());

  it('verifies at a receiver that tolerates five minutes: same id, fresh time and signature [C031]', async () => {
    const world = openTestWorld();
    const created = await world.destination(PARTNER, { schedule: [1, 1, 1, 97_200], keyLifeHours: 48 });
    const secret = z.parse(z.object({ signingSecret: z.string() }), created.body).signingSecret;
    await world.accepted(EVENT, PARTNER);
    world.sender.script(...Array.from({ length: 4 }, () => answered(500)));
    await world.run(48 * HOUR_MS);
    const { sends } = world.sender;
    expect(sends).toHaveLength(5);
    expect((sends[4]?.atMs ?? 0) - (sends[0]?.atMs ?? 0)).toBeGreaterThanOrEqual(27 * HOUR_MS);
    const receiver = new Webhook(secret);
    for (const { atMs, headers, body } of sends) {
      vi.useFakeTimers({ now: atMs, toFake: ['Date'] });
      expect(receiver.verify(Buffer.from(body).toString(), { ...headers })).toEqual({ n: 1 });
    }
    // Each of them was made for its own time: the first one is refused when the last one comes.
    expect(() => receiver.verify(Buffer.from(sends[0]?.body ?? []).toString(), { ...sends[0]?.headers })).toThrow();
    expect(new Set(sends.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(sends.map(({ headers }) => headers['webhook-signature'])).size).toBeGreaterThan(1);
  });

  it('is signed with the secret of that moment, not of the first attempt [C031]', async () => {
    const world = await opened(openTestWorld());
    world.sender.script(answered(500));
    await world.run(0);
    const found = await world.records.load({ item: 'secret', destination: destinationId(PARTNER) });
    if (found.kind !== 'found') throw new Error('no secret');
    const rotated = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
    const secrets = [rotated, ...found.item.secrets];
    await world.records.replace(found.item, { ...found.item, version: found.item.version + 1, secrets });
    await world.clock.advance(30_000);
    await world.run(0);
    const [, second] = world.sender.sends;
    vi.useFakeTimers({ now: second?.atMs ?? 0, toFake: ['Date'] });
    for (const secret of secrets) {
      expect(new Webhook(secret).verify(Buffer.from(second?.body ?? []).toString(), { ...second?.headers })).toEqual({
        n: 1,
      });
    }
  });
});

describe('a redirect', () => {
  it.each([301, 302, 303, 307, 308])(
    'with %d is a failed attempt, tried again at the same address [C076]',
    async (status) => {
      const world = await opened(openTestWorld());
      world.sender.script(answered(status));
      await world.run(10_000);
      const { journal } = await world.row(EVENT, PARTNER);
      expect(journal.lines[2]?.entry).toMatchObject({ kind: 'outcome', class: 'failed', status });
      expect(new Set(world.sender.sends.map(({ url }) => url))).toEqual(new Set(['https://partner.example/hook']));
      expect(world.sender.sends).toHaveLength(2);
    },
  );
});

describe('an answer of 410 Gone', () => {
  it('ends the delivery, plans nothing, and pauses the destination on record [C120]', async () => {
    const world = await opened(openTestWorld());
    world.sender.script(answered(410));
    await world.run(0);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'gone' });
    expect((await world.deliver(EVENT, PARTNER)).body).toEqual({ verdict: 'ack', note: 'held' });
    await world.run(24 * HOUR_MS);
    expect(world.sender.sends).toHaveLength(1);
    expect(world.queue.published).toHaveLength(1);
    const shown = await world.call('operator', 'GET', `/v1/destinations/${PARTNER}`, { token: world.token('view') });
    expect(shown.body).toMatchObject({ state: 'paused', by: 'system', reason: expect.stringContaining('410') });
  });

  it('keeps the others waiting where a person can see them, and spends nothing of their budget [C120]', async () => {
    const world = await opened(openTestWorld());
    await world.accepted('order-18', PARTNER);
    world.sender.script(answered(410));
    await world.run(60_000);
    expect(await world.row('order-18', PARTNER)).toMatchObject({
      status: 'pending',
      attempts: 0,
      parking: { reason: 'paused' },
    });
  });
});

describe('a refusal', () => {
  it.each<[status: number, settings: 'retried' | 'held']>([
    [400, 'retried'],
    [401, 'retried'],
    [403, 'retried'],
    [404, 'retried'],
    [405, 'retried'],
    [408, 'retried'],
    [409, 'retried'],
    [411, 'retried'],
    [413, 'retried'],
    [415, 'retried'],
    [421, 'retried'],
    [422, 'held'],
    [423, 'retried'],
    [425, 'retried'],
    [429, 'retried'],
    [431, 'retried'],
    [451, 'retried'],
  ])('with %d is %s [C160]', async (status, expected) => {
    const world = await opened(openTestWorld());
    world.sender.script(answered(status, { excerpt: 'no' }));
    await world.run(0);
    const row = await world.row(EVENT, PARTNER);
    expect(row.status).toBe(expected === 'held' ? 'quarantined' : 'pending');
    expect(row.latestExcerpt).toEqual({ attempt: 1, text: 'no' });
    await world.run(10_000);
    expect(world.sender.sends).toHaveLength(expected === 'held' ? 1 : 2);
  });

  it('that the destination has listed ends the delivery; the same one unlisted does not [C160]', async () => {
    const statuses = async (rejectOn: readonly number[]) => {
      const world = await opened(openTestWorld(), { rejectOn });
      world.sender.script(answered(404));
      await world.run(0);
      return (await world.row(EVENT, PARTNER)).status;
    };
    expect([await statuses([404]), await statuses([403]), await statuses([])]).toEqual([
      'quarantined',
      'pending',
      'pending',
    ]);
  });
});

describe('a success', () => {
  it.each([200, 201, 202, 204, 206, 226])('with %d is recorded once and never sent again [C174]', async (status) => {
    for (const excerpt of ['', 'thank you']) {
      const world = await opened(openTestWorld());
      world.sender.script(answered(status, { excerpt }));
      await world.run(0);
      await world.deliver(EVENT, PARTNER);
      await world.run(24 * HOUR_MS);
      const row = await world.row(EVENT, PARTNER);
      expect(row).toMatchObject({ status: 'delivered', attempts: 1 });
      expect(world.sender.sends).toHaveLength(1);
      // Of a success nothing is kept but its line.
      expect([row.firstExcerpt, row.latestExcerpt]).toEqual([undefined, undefined]);
    }
  });

  it('whose body breaks off or drips is one all the same [C072] [C166]', async () => {
    for (const bodyNote of ['reset', 'deadline', 'too-large'] as const) {
      const world = await opened(openTestWorld(), { repeatSafe: false });
      world.sender.script({ kind: 'answered', status: 200, retryAfter: [], excerpt: '', durationMs: 5, bodyNote });
      await world.run(HOUR_MS);
      expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
      expect(world.sender.sends).toHaveLength(1);
    }
  });
});

describe('no answer that says what happened', () => {
  it.each(['timeout', 'reset', 'protocol', 'header-overflow'] as const)(
    'is in doubt, never "not sent": again under the same key, or held where that is not safe: %s [C070] [C167] [C169]',
    async (cause) => {
      for (const repeatSafe of [true, false]) {
        const world = await opened(openTestWorld(), { repeatSafe });
        world.sender.script(unanswered(cause));
        await world.run(10_000);
        const { journal, status } = await world.row(EVENT, PARTNER);
        expect(journal.lines[2]?.entry).toMatchObject({ class: 'in-doubt', detail: cause });
        expect(status).toBe(repeatSafe ? 'delivered' : 'quarantined');
        expect(world.sender.sends).toHaveLength(repeatSafe ? 2 : 1);
        expect(new Set(world.sender.sends.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
      }
    },
  );
});
