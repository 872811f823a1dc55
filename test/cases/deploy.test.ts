/**
 * Real failures of deployments: a worker that is ended in the middle of its send, and two versions of the code side by
 * side. What the stack itself has to say for them is tested on its template (test/infra).
 */
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { keyOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { TTL_ATTRIBUTE } from '../../functions/adapters/ledger/schema.ts';
import { createSqsPush } from '../../functions/adapters/queue/sqs/push.ts';
import { createSqsQueue } from '../../functions/adapters/queue/sqs/queue.ts';
import { IDEMPOTENCY_KEY } from '../../functions/core/headers.ts';
import {
  leaseMsOf,
  SKEW_MARGIN_MS,
  SQS_RECEIVES_MAX,
  SQS_VISIBILITY_MS,
  TIMEOUT_MS_MAX,
} from '../../functions/core/limits.ts';
import type { Push } from '../../functions/ports.ts';
import { createSqsEntry } from '../../functions/receiver/sqs-entry.ts';
import { openEmbeddedSqs } from '../../infra/local/queue-sqs/embedded-sqs.ts';
import { EventSource } from '../../infra/local/queue-sqs/event-source.ts';
import { VIRTUAL_START_MS } from '../support/virtual-clock.ts';
import { deliverMessage, destinationId, openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER, ROW, sending } from '../support/world-states.ts';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
const LEASE_OVER_MS = leaseMsOf(TIMEOUT_MS_MAX) + SKEW_MARGIN_MS + 1;

const keysOf = (world: TestWorld): Set<string | undefined> =>
  new Set(world.sender.sends.map(({ headers }) => headers[IDEMPOTENCY_KEY]));

const successesOf = async (world: TestWorld): Promise<number> =>
  (await world.row(EVENT, PARTNER)).journal.lines.filter(
    ({ entry }) => entry.kind === 'outcome' && 'class' in entry && entry.class === 'delivered',
  ).length;

describe('a worker that is ended by a deployment in the middle of its send', () => {
  it('and has the time to finish records its success; the copy that another process gets sends nothing [C038]', async () => {
    const world = await opened(openTestWorld());
    const { answer, push } = await sending(world);
    // Within seconds the queue hands the same message to the new process.
    await world.clock.advance(3_000);
    expect(await world.deliver(EVENT, PARTNER)).toMatchObject({ status: 200, body: { note: 'busy' } });
    answer(answered(200));
    await push;
    expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
    expect([world.sender.sends.length, await successesOf(world)]).toEqual([1, 1]);
  });

  it('and is killed leaves its claim to its lease: the next one sends under the same key, once [C038]', async () => {
    const world = await opened(openTestWorld());
    const { push } = await sending(world);
    push.catch(() => {});
    await world.clock.advance(LEASE_OVER_MS);
    await world.finish(world.deliver(EVENT, PARTNER));
    expect((await world.row(EVENT, PARTNER)).status).toBe('delivered');
    expect([world.sender.sends.length, keysOf(world).size, await successesOf(world)]).toEqual([2, 1, 1]);
  });

  it('and comes back after another one has delivered changes nothing: one success is on record [C038]', async () => {
    const world = await opened(openTestWorld());
    const { answer, push } = await sending(world);
    await world.clock.advance(LEASE_OVER_MS);
    await world.finish(world.deliver(EVENT, PARTNER));
    answer(answered(200));
    await push;
    const { status, journal } = await world.row(EVENT, PARTNER);
    expect([status, await successesOf(world)]).toEqual(['delivered', 1]);
    expect(journal.lines.at(-1)?.entry.kind).toBe('late-outcome');
    expect(keysOf(world).size).toBe(1);
  });
});

describe('a delivery that fails for longer than any queue keeps a message', () => {
  it('waits for a person in the ledger, where nothing lets it go by its age [C046]', async () => {
    const world = await opened(openTestWorld());
    world.sender.always(answered(500));
    await world.run(7 * DAY_MS);
    world.queue.loseAll();
    await world.clock.advance(30 * DAY_MS);
    const row = await world.row(EVENT, PARTNER);
    expect(row).toMatchObject({ status: 'quarantined', reason: 'budget' });
    expect(world.store.peek(keyOf(ROW))).not.toHaveProperty(TTL_ATTRIBUTE);
    const list = { list: 'quarantined', limit: 10, destination: destinationId(PARTNER) } as const;
    expect((await world.ports.pages.list(list)).refs).toHaveLength(1);
  });
});

// ---- two versions -------------------------------------------------------------------------------------------------

const NEWER = JSON.stringify({ ...deliverMessage(EVENT, PARTNER), format: 2 });

/** Stands for the newer code: it knows what format 2 means. */
const upgraded = (push: Push): Push => ({
  ...push,
  unwrap: (body, header) => {
    const unwrapped = push.unwrap(body, header);
    if (unwrapped.kind !== 'message') return unwrapped;
    const text = Buffer.from(unwrapped.body).toString().replace('"format":2', '"format":1');
    return { ...unwrapped, body: Buffer.from(text) };
  },
});

const openOverSqs = async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: VIRTUAL_START_MS });
  const sqs = await openEmbeddedSqs({ visibilitySec: SQS_VISIBILITY_MS / 1_000, deliveriesMax: SQS_RECEIVES_MAX });
  const { queueUrl, access } = sqs;
  const queue = createSqsQueue({ queueUrl, access, publishMs: 2_000 });
  const push = createSqsPush({ queueUrl });
  const world = await opened(openTestWorld());
  const sourceOf = (spoken: Push): EventSource =>
    new EventSource(sqs, createSqsEntry({ ...world.ports, push: spoken }), world.clock);
  onTestFinished(async () => {
    queue.close();
    await sqs.close();
    vi.useRealTimers();
  });
  return {
    world,
    sqs,
    queue,
    old: sourceOf(push),
    next: sourceOf(upgraded(push)),
    /** Polls once a minute, as long as that takes. */
    poll: async (source: EventSource, minutes: number): Promise<void> => {
      for (let minute = 0; minute < minutes; minute += 1) {
        await world.finish(source.drain());
        vi.setSystemTime(Date.now() + MINUTE_MS);
        await world.clock.advance(MINUTE_MS);
      }
    },
  };
};

describe('a message of newer code that comes to older code', () => {
  it('waits in the queue for ten minutes, is tried a few times, and is delivered after the upgrade [C143]', async () => {
    const { world, sqs, queue, old, next, poll } = await openOverSqs();
    await queue.publish({ key: 'newer', body: NEWER, delaySec: 0 });
    const writes = await world.writesOf(() => poll(old, 10));
    // No tight loop, no use of the delivery's own budget, and far from its last receive.
    expect(old.records.map(({ status }) => status)).toEqual([503, 503]);
    expect(writes).toEqual([]);
    expect(await sqs.stats()).toMatchObject({ dead: 0 });
    await poll(next, 10);
    const { status, attempts } = await world.row(EVENT, PARTNER);
    expect({ status, attempts }).toEqual({ status: 'delivered', attempts: 1 });
    expect(world.sender.sends).toHaveLength(1);
    expect(await sqs.stats()).toEqual({ available: 0, delayed: 0, inFlight: 0, dead: 0 });
  });

  it('is refused by push too, and stands whole among the dead letters where the upgrade takes longer [C143]', async () => {
    const { world, sqs, queue, old, poll } = await openOverSqs();
    await queue.publish({ key: 'newer', body: NEWER, delaySec: 0 });
    await poll(old, (SQS_RECEIVES_MAX * SQS_VISIBILITY_MS) / MINUTE_MS + 1);
    expect(old.records).toHaveLength(SQS_RECEIVES_MAX);
    expect(await sqs.stats()).toMatchObject({ dead: 1 });
    expect(await world.push(NEWER)).toMatchObject({ status: 503, body: { code: 'newer-message' } });
    expect((await world.row(EVENT, PARTNER)).attempts).toBe(0);
  });
});
