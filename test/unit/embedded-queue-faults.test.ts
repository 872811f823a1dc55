import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createInfraiQueue } from '../../functions/adapters/queue/infrai/client.ts';
import { drawOf } from '../../infra/local/queue/chance.ts';
import { DueHeap } from '../../infra/local/queue/due-heap.ts';
import { type Chaos, NO_CHAOS } from '../../infra/local/queue/faults.ts';
import { API_KEY, embeddedWorld, QUEUE } from '../support/embedded-world.ts';

describe('a fault on request', () => {
  it('pushes the next delivery so many times at once, and one message ends', async () => {
    const { embedded, subscribe, publish, receiver, pass } = await embeddedWorld();
    subscribe();
    embedded.faults.duplicateNext(50);
    const id = await publish(1);
    await embedded.idle();
    await publish(2);
    await pass(60_000);
    expect(receiver.received).toHaveLength(51);
    expect(embedded.pushes().filter(({ messageId, copy }) => messageId === id && !copy)).toHaveLength(1);
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 0, inFlight: 0, dead: 0 });
  });

  it('lets only the delivery itself decide: a 2xx to a copy deletes nothing', async () => {
    const { embedded, subscribe, publish, receiver, pass } = await embeddedWorld();
    subscribe();
    embedded.faults.duplicateNext(2);
    receiver.answerWith(503, 503);
    await publish(1);
    await embedded.idle();
    expect(embedded.stats(QUEUE)).toMatchObject({ inFlight: 1 });
    await pass(6_000);
    expect(receiver.received).toHaveLength(3);
  });

  it('loses a message behind a good answer, and its key with it', async () => {
    const { embedded, subscribe, publish, receiver, pass } = await embeddedWorld();
    subscribe();
    embedded.faults.dropNextPublish();
    const id = await publish(1, { idempotency_key: 'key' });
    expect(await publish(1, { idempotency_key: 'key' })).toBe(id);
    await pass(60_000);
    expect(receiver.received).toHaveLength(0);
    await publish(1, { idempotency_key: 'later' });
    await embedded.idle();
    expect(receiver.received).toHaveLength(1);
  });

  it('loses the answer to a publish: the message is there, and a repeat is the same message', async () => {
    const { embedded, subscribe, receiver } = await embeddedWorld();
    subscribe();
    const baseUrl = await embedded.listen();
    const client = createInfraiQueue({ baseUrl, apiKey: API_KEY, queue: QUEUE, publishMs: 2_000 });
    onTestFinished(() => client.close());
    embedded.faults.loseNextPublishAnswer();
    const publication = { key: 'key', body: '{"n":1}', delaySec: 0 };
    expect(await client.publish(publication)).toMatchObject({ kind: 'failed', code: 'unavailable' });
    expect(await client.publish(publication)).toMatchObject({ kind: 'published' });
    await embedded.idle();
    expect(receiver.received).toHaveLength(1);
  });

  it('fails a publish before it happens: a repeat under its key does happen', async () => {
    const { embedded, post } = await embeddedWorld();
    embedded.faults.failNextPublish();
    const request = { queue: QUEUE, payload: {}, idempotency_key: 'key' };
    expect(await post('publish', request)).toMatchObject({ status: 503, body: { error: { retryable: true } } });
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 0 });
    expect(await post('publish', request)).toMatchObject({ status: 200 });
    expect(embedded.stats(QUEUE)).toMatchObject({ available: 1 });
  });

  it('loses the answer to a push: the message comes again', async () => {
    const { embedded, subscribe, publish, receiver, pass } = await embeddedWorld();
    subscribe();
    embedded.faults.loseNextAnswer();
    await publish(1);
    await embedded.idle();
    await pass(6_000);
    expect(receiver.received).toHaveLength(2);
    expect(embedded.pushes()).toMatchObject([
      { status: 200, lost: true },
      { status: 200, lost: false },
    ]);
  });
});

const CHAOS: Chaos = {
  seed: 7,
  duplicate: 0.3,
  reorder: 0.3,
  delay: { share: 0.3, ms: 5_000 },
  loseAnswer: 0.1,
  losePublishAnswer: 0.2,
};

const ALL = Array.from({ length: 100 }, (_, n) => n);

/** What a run of 100 messages comes to: every push, with its time since the start. */
const run = async (chaos: Chaos) => {
  const { embedded, subscribe, post, pass, numbers, clock } = await embeddedWorld({ chaos, pushesAtOnce: 1 });
  subscribe();
  const statuses: number[] = [];
  const startMs = clock.nowMs();
  for (let n = 0; n < 100; n += 1) {
    statuses.push((await post('publish', { queue: QUEUE, payload: { n } })).status);
  }
  await embedded.idle();
  for (let step = 0; step < 20; step += 1) await pass(1_000);
  const pushes = embedded.pushes().map(({ atMs, durationMs: _, ...push }) => ({ ...push, atMs: atMs - startMs }));
  return { statuses, pushes, numbers: numbers(), stats: embedded.stats(QUEUE) };
};

/** Two pushes at the same moment may end in either order. */
const sorted = (pushes: readonly unknown[]) => pushes.map((push) => JSON.stringify(push)).toSorted();

describe('chaos', () => {
  it('is the same again from the same seed, and another from another', async () => {
    const first = await run(CHAOS);
    const again = await run(CHAOS);
    expect(again.statuses).toEqual(first.statuses);
    expect(sorted(again.pushes)).toEqual(sorted(first.pushes));
    expect(sorted((await run({ ...CHAOS, seed: 8 })).pushes)).not.toEqual(sorted(first.pushes));
  });

  it('of all kinds at once loses no message', async () => {
    const { statuses, numbers, stats } = await run(CHAOS);
    expect(new Set(numbers).size).toBe(100);
    expect(stats).toMatchObject({ available: 0, delayed: 0, inFlight: 0, dead: 0 });
    expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(5);
  });

  it('duplicates about the share asked for, some copies at once and some later', async () => {
    const { pushes, numbers } = await run({ ...NO_CHAOS, duplicate: 0.3 });
    const copiesAtMs = pushes.filter(({ copy }) => copy).map(({ atMs }) => atMs);
    expect(copiesAtMs.length).toBeGreaterThan(15);
    expect(copiesAtMs.length).toBeLessThan(45);
    expect(copiesAtMs.filter((atMs) => atMs === 0).length).toBeGreaterThan(3);
    expect(copiesAtMs.filter((atMs) => atMs > 0 && atMs <= 2_000).length).toBeGreaterThan(3);
    expect(numbers).toHaveLength(100 + copiesAtMs.length);
  });

  it('reorders, and nothing else', async () => {
    const { numbers, pushes } = await run({ ...NO_CHAOS, reorder: 0.3 });
    expect(numbers).not.toEqual(ALL);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(ALL);
    expect(pushes.every(({ atMs }) => atMs === 0)).toBe(true);
  });

  it('delays about the share asked for, and no longer than asked for', async () => {
    const { numbers, pushes } = await run({ ...NO_CHAOS, delay: { share: 0.3, ms: 5_000 } });
    const late = pushes.filter(({ atMs }) => atMs > 0);
    expect(late.length).toBeGreaterThan(15);
    expect(late.length).toBeLessThan(45);
    expect(late.every(({ atMs }) => atMs <= 5_000)).toBe(true);
    expect(numbers.toSorted((a, b) => a - b)).toEqual(ALL);
  });

  it('loses answers, and the message comes again after six seconds', async () => {
    const { pushes, stats } = await run({ ...NO_CHAOS, loseAnswer: 0.2 });
    const again = pushes.filter(({ delivery, copy }) => delivery === 2 && !copy);
    expect(again.length).toBeGreaterThan(5);
    expect(again.length).toBeLessThan(35);
    expect(again.every(({ atMs }) => atMs === 6_000)).toBe(true);
    expect(stats).toMatchObject({
      inFlight: 0,
      dead: pushes.filter(({ delivery, lost }) => delivery === 3 && lost).length,
    });
  });

  it('ends with the queue: no copy comes later', async () => {
    const { embedded, subscribe, publish, clock } = await embeddedWorld({ chaos: { ...NO_CHAOS, duplicate: 1 } });
    subscribe();
    for (let n = 0; n < 10; n += 1) await publish(n);
    await embedded.idle();
    expect(clock.waiting).toBeGreaterThan(0);
    await embedded.close();
    expect(clock.waiting).toBe(0);
  });

  it('is off unless it is asked for: every message once, in order, at once', async () => {
    const { statuses, numbers, pushes } = await run(NO_CHAOS);
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(numbers).toEqual(ALL);
    expect(pushes.every(({ delivery, copy, atMs }) => delivery === 1 && !copy && atMs === 0)).toBe(true);
  });
});

describe('a draw', () => {
  it('always lies from 0 to below 1, and depends on nothing but seed and name', () => {
    fc.assert(
      fc.property(fc.integer(), fc.string(), fc.nat(), (seed, name, n) => {
        const draw = drawOf(seed, name, n);
        expect(draw).toBeGreaterThanOrEqual(0);
        expect(draw).toBeLessThan(1);
        expect(drawOf(seed, name, n)).toBe(draw);
      }),
    );
  });

  it('is spread evenly over the numbers of messages, for every seed', () => {
    for (const seed of [0, 1, 7, 2_147_483_648]) {
      const tenths = Array.from({ length: 10 }, () => 0);
      for (let n = 0; n < 10_000; n += 1) {
        const tenth = Math.floor(drawOf(seed, 'duplicate', n, 1) * 10);
        tenths[tenth] = (tenths[tenth] ?? 0) + 1;
      }
      for (const count of tenths) expect(Math.abs(count - 1_000)).toBeLessThan(150);
    }
  });

  it('differs between two seeds', () => {
    const draws = (seed: number) => Array.from({ length: 20 }, (_, n) => drawOf(seed, 'answer', n));
    expect(draws(1)).not.toEqual(draws(2));
  });
});

describe('the heap of times', () => {
  it('always gives the earliest, and of equal times the one that came first', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20)), (times) => {
        const heap = new DueHeap();
        times.forEach((atMs, nth) => {
          heap.push(atMs, String(nth));
        });
        const given: string[] = [];
        for (let first = heap.first; first !== undefined; first = heap.first) {
          given.push(first.id);
          heap.shift();
        }
        const expected = times.map((atMs, nth) => ({ atMs, nth })).toSorted((a, b) => a.atMs - b.atMs || a.nth - b.nth);
        expect(given).toEqual(expected.map(({ nth }) => String(nth)));
      }),
    );
  });
});
