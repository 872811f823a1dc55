/** One turn of a redrive, and what it does where the queue, the ledger or another worker gets in its way. */
import { describe, expect, it } from 'vitest';
import { toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { FORMAT_ATTRIBUTE } from '../../functions/adapters/ledger/schema.ts';
import { POISON_PER_MINUTE_MAX } from '../../functions/core/limits.ts';
import { TROUBLE_MS } from '../../functions/receiver/redrive.ts';
import { GONE_AFTER_MS } from '../../functions/receiver/redrive-batch.ts';
import { refused } from '../support/dead-letters.ts';
import {
  partnerWith as lettersWith,
  messageOf,
  openRedriveWorld,
  type RedriveOptions,
  type RedriveWorld,
} from '../support/redrive-world.ts';
import { deliverMessage, destinationId, eventId } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

const partnerWith = (count: number, options: RedriveOptions = {}): Promise<RedriveWorld> =>
  lettersWith(count, { acceptFromQueue: true }, options);

const whole = (id: string, payload: unknown = 1) => ({
  kind: 'event',
  format: 1,
  event: { id, payload, destinations: ['partner'] },
});

const turn = (operation: string, number: number) => ({
  kind: 'redrive',
  format: 1,
  operation,
  position: 0,
  turn: number,
});

/** Planned and asked to run; its first turn is still in the queue. */
const started = async (redrives: RedriveWorld, body?: Readonly<Record<string, unknown>>): Promise<string> => {
  const { operation } = await redrives.plan(body);
  await redrives.run(operation);
  return operation;
};

describe('a turn', () => {
  it('sends at most twenty before it waits for their outcomes', async () => {
    const redrives = await partnerWith(45);
    const held = redrives.world.sender.hold();
    const operation = await started(redrives);
    redrives.world.queue.loseAll();
    await redrives.world.push(turn(operation, 1));
    expect(redrives.dead.done).toHaveLength(20);
    await redrives.world.push(turn(operation, 2));
    expect(redrives.dead.done).toHaveLength(20);
    held.answer(answered(200));
  });

  it('judges a batch by its own outcomes, however many turns it has waited for them', async () => {
    const redrives = await partnerWith(25);
    const operation = await started(redrives);
    redrives.world.queue.loseAll();
    await redrives.world.push(turn(operation, 1));
    for (const number of [2, 3, 4]) await redrives.world.push(turn(operation, number));
    redrives.world.sender.always(answered(500));
    for (let n = 1; n <= 20; n += 1) await redrives.world.deliver(`e-${n}`, 'partner');
    await redrives.world.push(turn(operation, 5));
    expect(await redrives.show(operation)).toMatchObject({ state: 'stopped', progress: { failed: 20, waiting: 5 } });
  });

  it('judges a batch as a whole, also where its outcomes come turn by turn', async () => {
    const redrives = await partnerWith(25);
    const operation = await started(redrives, { stopAbove: 0.45 });
    redrives.world.queue.loseAll();
    await redrives.world.push(turn(operation, 1));
    redrives.world.sender.always(answered(500));
    for (let n = 1; n <= 10; n += 1) await redrives.world.deliver(`e-${n}`, 'partner');
    await redrives.world.push(turn(operation, 2));
    redrives.world.sender.always(answered(200));
    for (let n = 11; n <= 20; n += 1) await redrives.world.deliver(`e-${n}`, 'partner');
    await redrives.world.push(turn(operation, 3));
    const report = await redrives.show(operation);
    expect(report.stoppedBecause).toBe('10 of 20 first outcomes of a batch were failures');
  });

  it('does not stop a run that has nothing left to do: it is done, and its failures are in the report', async () => {
    const redrives = await partnerWith(2);
    redrives.world.sender.always(answered(500));
    const report = await redrives.through({ stopAbove: 0 }, 20_000);
    expect(report).toMatchObject({ state: 'done', progress: { failed: 2 } });
    expect(report).not.toHaveProperty('stoppedBecause');
  });

  it('takes off what needs no sending without a wait', async () => {
    const redrives = await partnerWith(0);
    for (let n = 0; n < 60; n += 1)
      redrives.dead.add(`t-${n}`, { kind: 'sweep', format: 1, shard: 0, tick: n, page: 0 });
    const operation = await started(redrives);
    redrives.world.queue.loseAll();
    await redrives.world.push(turn(operation, 1));
    expect(await redrives.show(operation)).toMatchObject({ state: 'done', progress: { dropped: 60 } });
  });

  it('does nothing for an operation that is not there, not running, or a turn further on', async () => {
    const redrives = await partnerWith(1);
    const { operation } = await redrives.plan();
    const nothing = async (message: unknown) => {
      const writes = await redrives.world.writesOf(async () => {
        expect((await redrives.world.push(message)).status).toBe(200);
      });
      expect(writes).toEqual([]);
    };
    await nothing(turn('rd_nobody', 1));
    await nothing(turn(operation, 0));
    await redrives.run(operation);
    await nothing(turn(operation, 0));
    await nothing(turn(operation, 3));
    expect(redrives.dead.done).toEqual([]);
    await redrives.world.push(turn(operation, 1));
    expect(redrives.dead.done).toEqual(['redrive m-e-1']);
    await nothing(turn(operation, 1));
  });

  it('that comes twice at the same moment acts once, and there is one next turn', async () => {
    const redrives = await partnerWith(5);
    const operation = await started(redrives);
    redrives.world.queue.loseAll();
    const before = redrives.world.queue.published.length;
    await Promise.all([redrives.world.push(turn(operation, 1)), redrives.world.push(turn(operation, 1))]);
    const turns = redrives.world.queue.published.slice(before).filter(({ body }) => body.includes('"redrive"'));
    expect(turns).toHaveLength(1);
    expect(redrives.dead.done.toSorted()).toEqual([1, 2, 3, 4, 5].map((n) => `redrive m-e-${n}`));
    await redrives.world.run(60_000);
    expect((await redrives.show(operation)).progress).toMatchObject({ delivered: 5, requeued: 5 });
  });

  it('is refused, and comes again, where the queue does not take the next one', async () => {
    const redrives = await partnerWith(2);
    const operation = await started(redrives);
    redrives.world.queue.away = true;
    expect((await redrives.world.push(turn(operation, 1))).status).toBe(503);
    redrives.world.queue.away = false;
    await redrives.world.run(60_000);
    const report = await redrives.show(operation);
    expect(report).toMatchObject({ state: 'done', progress: { waiting: 0, requested: 2 } });
    expect(redrives.dead.done).toHaveLength(2);
  });

  it('stops where it is when a person stops the run in its middle', async () => {
    const redrives = await partnerWith(15);
    const operation = await started(redrives);
    let acted = 0;
    redrives.dead.answer = (call) => {
      acted += call === 'redrive' ? 1 : 0;
      if (acted === 5) void redrives.stop(operation);
      return undefined;
    };
    await redrives.world.run(60_000);
    expect((await redrives.show(operation)).state).toBe('stopped');
    expect(redrives.dead.done.length).toBeLessThan(15);
  });
});

describe('a letter that cannot be reached by its id alone', () => {
  it('is read again and acted on with what was read; the plan had read it only to look', async () => {
    const redrives = await partnerWith(3, { needsHandle: true, leaseMs: 1_000 });
    redrives.dead.add('m-tick', { kind: 'sweep', format: 1, shard: 0, tick: 1, page: 0 });
    const { operation } = await redrives.plan();
    await redrives.world.clock.advance(2_000);
    await redrives.run(operation);
    await redrives.world.run(60_000);
    const report = await redrives.show(operation);
    expect(report).toMatchObject({ state: 'done', deadAfter: 0, progress: { delivered: 3, dropped: 1 } });
    expect(redrives.dead.done).toHaveLength(4);
  });

  it('is waited for while it is leased, and the others go on', async () => {
    const redrives = await partnerWith(2, { leaseMs: 30_000 });
    await redrives.world.deliver('e-1', 'partner');
    await redrives.world.clock.advance(1_000);
    const { operation } = await redrives.plan();
    await redrives.world.clock.advance(30_000);
    // Somebody else has it on lease now: a discard by us is refused only where it is not leased at all.
    redrives.dead.answer = (call) => (call === 'discard' ? refused('QUEUE_MESSAGE_NOT_IN_FLIGHT') : undefined);
    await redrives.run(operation);
    await redrives.world.run(20_000);
    expect((await redrives.show(operation)).progress).toMatchObject({ delivered: 1, waiting: 1 });
    redrives.dead.answer = undefined;
    await redrives.world.run(120_000);
    expect(await redrives.show(operation)).toMatchObject({
      state: 'done',
      progress: { deduplicated: 1, delivered: 1 },
    });
  });

  it('is accepted, or filed, from what was read', async () => {
    const redrives = await partnerWith(0, { needsHandle: true, leaseMs: 1_000 });
    redrives.dead.add('m-whole', whole('whole'));
    redrives.dead.add('m-broken', '{"kind": "deliver",');
    const { operation } = await redrives.plan();
    await redrives.world.clock.advance(2_000);
    await redrives.run(operation);
    await redrives.world.run(60_000);
    const report = await redrives.show(operation);
    expect(messageOf(report, 'm-whole')).toMatchObject({ action: 'discarded', result: 'accepted' });
    expect(messageOf(report, 'm-broken')).toMatchObject({ action: 'discarded', result: 'dropped' });
    expect((await redrives.world.row('whole', 'partner')).status).toBe('delivered');
    const poison = await redrives.world.records.load({ item: 'poison', id: 'message:m-broken' });
    expect(poison).toMatchObject({ kind: 'found', item: { bytes: 19 } });
  });

  it('leaves its evidence where another event has its id, and is dropped', async () => {
    const redrives = await partnerWith(1, { needsHandle: true, leaseMs: 1_000 });
    redrives.dead.lose('m-e-1');
    redrives.dead.add('m-other', whole('e-1', { other: true }));
    const { operation } = await redrives.plan();
    await redrives.world.clock.advance(2_000);
    await redrives.run(operation);
    await redrives.world.run(60_000);
    expect(messageOf(await redrives.show(operation), 'm-other')).toMatchObject({
      finding: 'accept',
      result: 'dropped',
    });
    const items = await redrives.world.records.loadEvent(eventId('e-1'));
    expect(items.filter(({ item }) => item === 'conflict')).toHaveLength(1);
  });

  it('is filed a minute later where too many senseless messages came in this one', async () => {
    const redrives = await partnerWith(0, { needsHandle: true, leaseMs: 1_000 });
    for (let n = 0; n <= POISON_PER_MINUTE_MAX; n += 1) redrives.dead.add(`p-${n}`, '{');
    const { operation } = await redrives.plan();
    await redrives.world.clock.advance(2_000);
    await redrives.run(operation);
    await redrives.world.run(200_000);
    const report = await redrives.show(operation);
    expect(report).toMatchObject({ state: 'done', deadAfter: 0, progress: { dropped: POISON_PER_MINUTE_MAX + 1 } });
  });
});

describe('a letter that is gone when the run comes to it', () => {
  it('leaves its delivery to the look-after, and is judged by it', async () => {
    const redrives = await partnerWith(2);
    redrives.dead.add('m-strange', { order: 1 });
    const { operation } = await redrives.plan();
    redrives.dead.lose('m-e-1');
    await redrives.run(operation);
    await redrives.world.run(GONE_AFTER_MS + 10_000);
    await redrives.world.deliver('e-1', 'partner');
    await redrives.world.run(10_000);
    const report = await redrives.show(operation);
    expect(messageOf(report, 'm-e-1')).toMatchObject({ action: 'gone', result: 'delivered' });
    expect(report).toMatchObject({ state: 'done', progress: { requested: 2, requeued: 1, delivered: 2 } });
  });

  it('is gone at once where the queue counts no dead letter any more', async () => {
    const redrives = await partnerWith(0);
    redrives.dead.add('m-whole', whole('whole'));
    redrives.dead.add('m-nobody', deliverMessage('nobody', 'partner'));
    const { operation } = await redrives.plan();
    for (const id of redrives.dead.ids()) redrives.dead.lose(id);
    await redrives.run(operation);
    await redrives.world.run(5_000);
    const report = await redrives.show(operation);
    expect(report.messages.map(({ action, result }) => [action, result])).toEqual([
      ['gone', 'gone'],
      ['gone', 'gone'],
    ]);
    expect(report.state).toBe('done');
  });

  it('is not called gone while the queue itself cannot be asked', async () => {
    const redrives = await partnerWith(1);
    const operation = await started(redrives);
    redrives.dead.answer = () => refused('unavailable');
    await redrives.world.run(GONE_AFTER_MS * 2);
    expect((await redrives.show(operation)).progress).toMatchObject({ gone: 0, waiting: 1 });
    redrives.dead.answer = undefined;
    await redrives.world.run(60_000);
    expect(await redrives.show(operation)).toMatchObject({ state: 'done', progress: { delivered: 1 } });
  });

  it('is not called gone while the queue only wants fewer calls', async () => {
    const redrives = await partnerWith(1);
    const operation = await started(redrives);
    redrives.dead.answer = (call) => (call === 'redrive' ? refused('throttled') : undefined);
    await redrives.world.run(GONE_AFTER_MS * 2);
    expect((await redrives.show(operation)).progress).toMatchObject({ gone: 0, waiting: 1 });
    redrives.dead.answer = undefined;
    await redrives.world.run(60_000);
    expect(await redrives.show(operation)).toMatchObject({ state: 'done', progress: { delivered: 1, removed: 1 } });
  });

  it('stops the run in the end where the queue cannot be asked, by name', async () => {
    const redrives = await partnerWith(1);
    const operation = await started(redrives);
    redrives.dead.answer = () => refused('unauthorized', 'the key is wrong');
    await redrives.world.run(TROUBLE_MS + 30_000);
    const report = await redrives.show(operation);
    expect(report.state).toBe('stopped');
    expect(report.stoppedBecause).toBe('the queue cannot be asked: unauthorized: the key is wrong');
    expect(report.messages[0]).not.toHaveProperty('result');
  });
});

describe('what is read for a plan', () => {
  it('stands in it once, also where the queue gives out the same letters again and again', async () => {
    const redrives = await partnerWith(3, { leaseMs: 0 });
    const plan = await redrives.plan();
    expect(plan.messages.map(({ messageId }) => messageId)).toEqual(['m-e-1', 'm-e-2', 'm-e-3']);
  });

  it('is not in it where the list of held deliveries is behind its rows', async () => {
    const late = { item: 'delivery', event: eventId('e-1'), destination: destinationId('partner') } as const;
    const redrives = await partnerWith(2, {
      reshape: (ports) => ({ ...ports, pages: { ...ports.pages, list: async () => ({ refs: [late] }) } }),
    });
    expect(await redrives.plan({ source: 'quarantine' })).toMatchObject({ planned: 0, complete: true });
  });

  it('ends with its time, and says that there is more', async () => {
    const redrives = await partnerWith(3, {
      reshape: (ports) => ({
        ...ports,
        deadLetters: {
          ...ports.deadLetters,
          read: async () => {
            await redrives.world.clock.advance(13_000);
            return ports.deadLetters.read(1);
          },
        },
      }),
    });
    const plan = await redrives.plan();
    expect(plan).toMatchObject({ state: 'planned', planned: 2, complete: false, deadBefore: 3 });
    expect(plan.incomplete).toContain('time');
  });

  it('is kept where the queue gives no answer any more in its middle', async () => {
    const redrives = await partnerWith(3, {
      reshape: (ports) => ({
        ...ports,
        deadLetters: { ...ports.deadLetters, read: () => ports.deadLetters.read(2) },
      }),
    });
    let reads = 0;
    redrives.dead.answer = (call) => {
      reads += call === 'read' ? 1 : 0;
      return reads > 1 ? refused('unavailable') : undefined;
    };
    const plan = await redrives.plan();
    expect(plan).toMatchObject({ planned: 2, complete: false });
    expect(plan.incomplete).toContain('no answer');
  });
});

describe('an item that this code cannot read', () => {
  const ref = { item: 'delivery', event: eventId('e-1'), destination: destinationId('partner') } as const;

  it("is a finding of its own, left alone, and in nobody's way", async () => {
    const redrives = await partnerWith(2);
    const stored = toItem(await redrives.world.row('e-1', 'partner'));
    const { st: _status, ...broken } = stored;
    redrives.world.store.poke(broken);
    await expect(redrives.world.records.load(ref)).rejects.toThrow('broken');
    const report = await redrives.through();
    expect(messageOf(report, 'm-e-1')).toMatchObject({ finding: 'unknown', result: 'held', action: 'left' });
    expect(messageOf(report, 'm-e-2')).toMatchObject({ result: 'delivered' });
    expect(redrives.dead.ids()).toEqual(['m-e-1']);
  });

  it('may be of newer code, and is left to that', async () => {
    const redrives = await partnerWith(1);
    const { operation } = await redrives.plan();
    const stored = toItem(await redrives.world.row('e-1', 'partner'));
    redrives.world.store.poke({ ...stored, [FORMAT_ATTRIBUTE]: { N: '2' } });
    await redrives.run(operation);
    await redrives.world.run(10_000);
    expect(messageOf(await redrives.show(operation), 'm-e-1')).toMatchObject({
      finding: 'unknown',
      plannedAs: 'redrive',
      result: 'held',
    });
  });
});

describe('a delivery whose last worker died with its budget', () => {
  it('is held by the claim that is asked for, and its letter has done its work', async () => {
    const redrives = openRedriveWorld();
    const { world, dead } = redrives;
    await world.destination('brief', { schedule: [] });
    await redrives.deadLetter('e-1', 'brief');
    const held = world.sender.hold();
    void world.deliver('e-1', 'brief');
    await held.left;
    await world.clock.advance(120_000);
    world.queue.loseAll();
    const report = await redrives.through();
    expect(messageOf(report, 'm-e-1')).toMatchObject({ finding: 'over-budget', action: 'discarded', result: 'held' });
    expect(await world.row('e-1', 'brief')).toMatchObject({ status: 'quarantined', attempts: 1, budget: 1 });
    expect(dead.ids()).toEqual([]);
  });
});
