/** Real failures of queues and their dead letters, met with the real port, the real receiver and the embedded queue. */

import { describe, expect, it } from 'vitest';
import { READ_LEASE_SEC } from '../../functions/adapters/queue/infrai/dead-letters.ts';
import { LOOK_AHEAD_MS, POISON_EXCERPT_BYTES_MAX } from '../../functions/core/limits.ts';
import type { DeadLetters } from '../../functions/ports.ts';
import { NO_CHAOS } from '../../infra/local/queue/faults.ts';
import { openQueuedWorld } from '../support/queued-world.ts';
import { deliverMessage, destinationId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER } from '../support/world-states.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const deadOf = async (deadLetters: DeadLetters): Promise<number> => {
  const stats = await deadLetters.stats();
  return stats.kind === 'stats' ? stats.dead : -1;
};
const idsOf = async (deadLetters: DeadLetters): Promise<readonly string[]> => {
  const read = await deadLetters.read(100);
  return read.kind === 'read' ? read.letters.map(({ messageId }) => messageId) : [read.code];
};
/** The classes of all attempts whose outcome stands in the journal. */
const outcomesOf = async (world: TestWorld, event: string): Promise<readonly unknown[]> =>
  (await world.row(event, PARTNER)).journal.lines.flatMap(({ entry }) => ('class' in entry ? [entry.class] : []));

describe('the dead letters', () => {
  it('are found by reading their queue, where the listing is empty and the count is not [C178]', async () => {
    const { bury, call, deadLetters } = await openQueuedWorld();
    const id = bury(JSON.stringify(deliverMessage(EVENT, PARTNER)));
    expect(await call('GET', 'dlq/list/deliveries')).toMatchObject({ ok: true, data: { items: [] } });
    expect(await deadOf(deadLetters)).toBe(1);
    expect(await idsOf(deadLetters)).toEqual([id]);
  });

  it('that nobody can see now are still counted, so that nothing to see is not nothing to do [C178]', async () => {
    const { bury, deadLetters, pass } = await openQueuedWorld();
    const id = bury('{}');
    await deadLetters.read(1);
    expect(await idsOf(deadLetters)).toEqual([]);
    expect(await deadOf(deadLetters)).toBe(1);
    await pass(READ_LEASE_SEC * 1_000);
    expect(await idsOf(deadLetters)).toEqual([id]);
  });

  it('do not move by a bulk redrive that says ok, and each moves by its own id [C179]', async () => {
    const { bury, call, deadLetters } = await openQueuedWorld();
    const ids = ['{"n":1}', '{"n":2}', '{"n":3}'].map(bury);
    expect(await call('POST', 'dlq/redrive/deliveries', {})).toMatchObject({ ok: true });
    expect(await deadOf(deadLetters)).toBe(3);
    for (const [nth, messageId] of ids.entries()) {
      expect(await deadLetters.redrive({ messageId, body: new Uint8Array() })).toEqual({ kind: 'done' });
      expect(await deadOf(deadLetters)).toBe(2 - nth);
    }
  });

  it('show by count and by id the one whose redrive said ok and did nothing [C179]', async () => {
    const { bury, embedded, deadLetters, pass } = await openQueuedWorld();
    const ids = ['{"n":1}', '{"n":2}', '{"n":3}'].map(bury);
    const stuck = ids[1] ?? '';
    embedded.faults.ignoreRedriveOf(stuck);
    const before = await deadOf(deadLetters);
    expect(await idsOf(deadLetters)).toEqual(ids);
    for (const messageId of ids) {
      expect(await deadLetters.redrive({ messageId, body: new Uint8Array() })).toEqual({ kind: 'done' });
    }
    expect([before, await deadOf(deadLetters)]).toEqual([3, 1]);
    await pass(READ_LEASE_SEC * 1_000);
    expect(await idsOf(deadLetters)).toEqual([stuck]);
  });
});

describe("the queue's memory of publish keys", () => {
  it('swallows a second publish under a used key, and the id in its answer shows it [C109]', async () => {
    const { queue, embedded, pass } = await openQueuedWorld();
    const publication = { key: 'same', body: JSON.stringify(deliverMessage(EVENT, PARTNER)), delaySec: 0 };
    const first = await queue.publish(publication);
    await pass(0);
    expect(await queue.publish(publication)).toEqual(first);
    await pass(60_000);
    expect(embedded.pushes()).toHaveLength(1);
  });

  it('never swallows what the sweep publishes after the first message has died [C109]', async () => {
    const { world, embedded, notes, pass } = await openQueuedWorld();
    await world.destination(PARTNER);
    await world.accepted(EVENT, PARTNER);
    world.ledgerAway();
    await pass(18_000);
    world.ledgerBack();
    expect(embedded.stats('deliveries')).toMatchObject({ available: 0, inFlight: 0, dead: 1 });
    expect(notes).toEqual(['ledger-unavailable', 'ledger-unavailable', 'ledger-unavailable']);
    await pass(60_000);
    await world.tick();
    await pass(1_000);
    expect(world.sender.sends).toHaveLength(1);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 1 });
    // The dead letter was a reference: redriven much later, it does no harm.
    expect(embedded.stats('deliveries')).toMatchObject({ dead: 1 });
  });
});

describe('a queue that promises exactly one delivery', () => {
  const MISBEHAVIOUR = { ...NO_CHAOS, seed: 11, duplicate: 1, loseAnswer: 0.5, reorder: 0.3 };

  it.each(['fifo', 'standard'] as const)('is believed no more than any other: %s [C172]', async (type) => {
    const { world, embedded, notes, pass } = await openQueuedWorld({ type, chaos: MISBEHAVIOUR });
    await world.destination(PARTNER);
    const events = Array.from({ length: 10 }, (_, n) => `order-${n}`);
    for (const event of events) await world.accepted(event, PARTNER);
    embedded.faults.duplicateNext(10);
    await pass(30_000);
    expect(notes.length).toBeGreaterThan(20);
    expect(world.sender.sends).toHaveLength(10);
    expect(new Set(world.sender.sends.map(({ headers }) => headers['webhook-id'])).size).toBe(10);
    for (const event of events) expect(await outcomesOf(world, event)).toEqual(['delivered']);
  });
});

describe('a destination that is deleted under its messages', () => {
  it('ends each of ten queued deliveries by name: recorded, acknowledged, and no loop [C029]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const events = Array.from({ length: 10 }, (_, n) => `order-${n}`);
    for (const event of events) await world.accepted(event, PARTNER);
    await erase(world);
    for (const event of events) {
      expect(await world.deliver(event, PARTNER)).toMatchObject({ status: 200, body: { verdict: 'ack' } });
      expect(await world.row(event, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'no-destination' });
      const again = await world.writesOf(async () => {
        expect((await world.deliver(event, PARTNER)).body).toEqual({ verdict: 'ack', note: 'held' });
      });
      expect(again).toEqual([]);
    }
    expect(world.sender.sends).toEqual([]);
    await world.run(DAY_MS);
    await world.tick();
    await world.run(HOUR_MS);
    expect(world.sender.sends).toEqual([]);
  });
});

/** What a delete leaves behind: the id stays taken, with the time of its end. */
const erase = async (world: TestWorld): Promise<void> => {
  const found = await world.records.load({ item: 'destination', destination: destinationId(PARTNER) });
  if (found.kind !== 'found') throw new Error(found.kind);
  const { version } = found.item;
  await world.records.replace(found.item, { ...found.item, version: version + 1, deletedAtMs: world.clock.nowMs() });
};

describe('a quarantine whose acknowledgement is lost', () => {
  it('is one record: the message that comes again is acknowledged, and does not die [C047]', async () => {
    const { world, embedded, notes, pass } = await openQueuedWorld();
    await world.destination(PARTNER);
    world.sender.script(answered(422));
    embedded.faults.loseNextAnswer();
    await world.accepted(EVENT, PARTNER);
    await pass(5_000);
    const held = await world.row(EVENT, PARTNER);
    expect(held).toMatchObject({ status: 'quarantined', reason: 'rejected' });
    expect(embedded.stats('deliveries')).toMatchObject({ inFlight: 1 });
    await pass(60_000);
    expect(notes).toEqual(['quarantined', 'held']);
    expect(await world.row(EVENT, PARTNER)).toEqual(held);
    expect(await outcomesOf(world, EVENT)).toEqual(['rejected']);
    expect(embedded.stats('deliveries')).toMatchObject({ available: 0, inFlight: 0, dead: 0 });
  });
});

describe('two events of one thing', () => {
  it('are both delivered, in whatever order, and no state goes backwards [C147]', async () => {
    const world = await opened(openTestWorld(), { schedule: [5, 5] });
    world.sender.script(answered(500));
    await world.run(0);
    await world.submit({ id: 'order-18', payload: { order: 17, sequence: 2 }, destinations: [PARTNER] });
    world.sender.script(answered(200), answered(500));
    await world.run(60_000);
    const bodies = world.sender.sends.map(({ body }) => Buffer.from(body).toString('utf8'));
    const [first, second] = ['{"n":1}', '{"order":17,"sequence":2}'];
    expect(bodies).toEqual([first, second, first, first]);
    expect(await outcomesOf(world, EVENT)).toEqual(['failed', 'failed', 'delivered']);
    expect(await outcomesOf(world, 'order-18')).toEqual(['delivered']);
    // Each says when its attempt was made; what it happened as is the producer's word, in the payload.
    for (const { headers, atMs } of world.sender.sends) {
      expect(headers['webhook-timestamp']).toBe(String(Math.floor(atMs / 1_000)));
    }
    const versions = world.store.writes.flatMap(({ ref, after }) =>
      ref?.item === 'delivery' && ref.event === EVENT ? [Number(after?.['v']?.N)] : [],
    );
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions).size).toBe(versions.length);
  });
});

describe('a message that cannot be read', () => {
  it.each([
    { what: 'no JSON', body: `{"message_id":"m1","payload":{"kind":${'x'.repeat(10_000)}` },
    { what: 'an old form', body: `{"message_id":"m1","payload":{"type":"send","id":7,"pad":"${'x'.repeat(10_000)}"}}` },
  ])('is filed once with its first bytes and acknowledged, fifty times over: $what [C159]', async ({ body }) => {
    const world = openTestWorld();
    for (let receipt = 0; receipt < 50; receipt += 1) {
      expect((await world.pushBody(body)).body).toEqual({ verdict: 'ack', note: 'poison' });
      await world.clock.advance(30_000);
    }
    const poison = world.store.writes.filter(({ ref }) => ref?.item === 'poison');
    expect(poison).toHaveLength(1);
    const ref = poison[0]?.ref;
    const found = ref?.item === 'poison' ? await world.records.load(ref) : undefined;
    if (found?.kind !== 'found') throw new Error('nothing was filed');
    expect(Buffer.from(found.item.excerpt).toString('utf8')).toBe(body.slice(0, POISON_EXCERPT_BYTES_MAX));
    expect(found.item.bytes).toBe(body.length);
  });
});

describe("a delay beyond the queue's longest", () => {
  /** Ticks at each of these times; what is published then goes out in turn. */
  const tickAt = async (world: TestWorld, ...times: readonly number[]): Promise<void> => {
    for (const atMs of times) {
      await world.run(Math.max(0, atMs - world.clock.nowMs()));
      await world.tick();
      await world.run(0);
    }
  };
  const delaysOf = (world: TestWorld): number[] => world.queue.published.map(({ delaySec }) => delaySec);

  it('is stored: an event wanted in ten days goes out on its day, by a sweep, on a queue of seven days [C183]', async () => {
    const world = openTestWorld();
    await world.destination(PARTNER);
    const dueAtMs = world.clock.nowMs() + 10 * DAY_MS;
    await world.submit({ id: EVENT, payload: 1, destinations: [PARTNER], deliverAt: dueAtMs });
    expect(world.queue.published).toEqual([]);
    await tickAt(world, dueAtMs - 5 * DAY_MS, dueAtMs - LOOK_AHEAD_MS - 60_000);
    expect(world.queue.published.filter(({ body }) => body.includes('deliver'))).toEqual([]);
    await tickAt(world, dueAtMs - LOOK_AHEAD_MS + 1);
    await world.run(LOOK_AHEAD_MS + 2_000);
    expect(world.sender.sends.map(({ atMs }) => atMs >= dueAtMs && atMs <= dueAtMs + 2_000)).toEqual([true]);
    expect(Math.max(...delaysOf(world))).toBeLessThanOrEqual(LOOK_AHEAD_MS / 1_000 + 1);
  });

  /** The first attempt is answered so; the queue takes no delay beyond `delayMsMax`. */
  const refusedFor = async (days: number, delayMsMax: number) => {
    const world = openTestWorld({
      reshape: (ports) => ({ ...ports, queue: { ...ports.queue, limits: { ...ports.queue.limits, delayMsMax } } }),
    });
    await opened(world, { schedule: [5], keyLifeHours: null });
    world.sender.script(answered(503, { retryAfter: [String((days * DAY_MS) / 1_000)] }));
    const dueAtMs = world.clock.nowMs() + days * DAY_MS;
    await world.run(0);
    expect(world.sender.sends).toHaveLength(1);
    return { world, dueAtMs };
  };

  it('is stored: a Retry-After of five days is kept on a queue of 15 minutes [C183]', async () => {
    const { world, dueAtMs } = await refusedFor(5, 900_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'pending', dueAtMs });
    await tickAt(world, dueAtMs - 2 * DAY_MS, dueAtMs - LOOK_AHEAD_MS - 60_000);
    expect(world.sender.sends).toHaveLength(1);
    await tickAt(world, dueAtMs - LOOK_AHEAD_MS + 1, dueAtMs + 1_000, dueAtMs + 60_000);
    await world.run(60_000);
    expect(world.sender.sends).toHaveLength(2);
    expect(world.sender.sends[1]?.atMs).toBeGreaterThanOrEqual(dueAtMs);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered' });
    expect(Math.max(...delaysOf(world))).toBeLessThanOrEqual(900);
  });

  it('beyond the horizon of a delivery too is not shortened: it is held, in sight, and nothing goes out [C183]', async () => {
    const { world, dueAtMs } = await refusedFor(10, 604_800_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'quarantined', reason: 'horizon' });
    await tickAt(world, dueAtMs - DAY_MS, dueAtMs, dueAtMs + DAY_MS);
    expect(world.sender.sends).toHaveLength(1);
    expect(Math.max(...delaysOf(world))).toBe(0);
  });
});
