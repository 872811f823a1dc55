/** Runs of redrives by their routes: started, stopped, taken up again, over dead letters and over the quarantine. */
import { describe, expect, it } from 'vitest';
import { PortUnavailable } from '../../functions/ports.ts';
import { signedIn, wordsIn } from '../support/console.ts';
import {
  decide,
  messageOf,
  openRedriveWorld,
  partnerWith,
  type RedriveWorld,
  refusedBy,
} from '../support/redrive-world.ts';
import { deliverMessage } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';

describe('a run', () => {
  it('of an unknown operation, or without a reason, is refused', async () => {
    const redrives = await partnerWith(1);
    const { operation } = await redrives.plan();
    for (const id of ['rd_nobody', 'rd_%23', 'x'.repeat(300)]) {
      expect(await refusedBy(redrives, () => redrives.run(id))).toMatchObject({
        status: 404,
        body: { code: 'not-found' },
      });
    }
    const without = () =>
      redrives.world.call('operator', 'POST', `/v1/redrives/${operation}/run`, {
        token: redrives.world.token('resend'),
        headers: { 'Idempotency-Key': 'k' },
      });
    expect(await refusedBy(redrives, without)).toMatchObject({ status: 422, body: { field: 'reason' } });
  });

  it('stands in the journal of each delivery with who asked for it, and why', async () => {
    const redrives = openRedriveWorld();
    const { world } = redrives;
    await world.destination('partner');
    world.sender.script(answered(422));
    await world.accepted('e-1', 'partner');
    await world.run(1_000);
    const { operation } = await redrives.plan({ source: 'quarantine', why: 'they have mended it' });
    const ran = await world.call('operator', 'POST', `/v1/redrives/${operation}/run`, {
      token: world.token('admin'),
      body: { reason: 'the plan is right' },
      headers: { 'Idempotency-Key': 'by-another' },
    });
    expect(ran.status).toBe(200);
    await world.run(300_000);
    const path = '/v1/events/e-1/deliveries/partner';
    const { body } = await world.call('operator', 'GET', path, { token: world.token('view') });
    expect(body).toMatchObject({
      status: 'delivered',
      journal: expect.arrayContaining([
        expect.objectContaining({
          ...{
            kind: 'redriven',
            cause: `operation:${operation}`,
            actor: 'holder-of-resend',
            reason: 'they have mended it',
            ranBy: 'holder-of-admin: the plan is right',
          },
        }),
      ]),
    });
    const { text } = await world.call('operator', 'GET', `${path}/explain`, { token: world.token('view') });
    expect(text).toContain(
      'planned by holder-of-resend: they have mended it; run by holder-of-admin: the plan is right',
    );
    const visitor = await signedIn(world, world.token('view'));
    const words = wordsIn((await visitor.get('/console/events/e-1/deliveries/partner')).text);
    expect(words).toContain(
      'planned by holder-of-resend: “they have mended it”, run by “holder-of-admin: the plan is right”',
    );
  });

  it('counts one effect once, however many dead letters stand for its delivery', async () => {
    const redrives = await partnerWith(2);
    redrives.dead.add('m-again', deliverMessage('e-1', 'partner'));
    redrives.dead.add('m-once-more', deliverMessage('e-1', 'partner'));
    const report = await redrives.through();
    expect(redrives.world.sender.sends).toHaveLength(2);
    expect(report.progress).toMatchObject({ requested: 4, delivered: 2, deduplicated: 2, open: 0 });
    expect(['m-e-1', 'm-again', 'm-once-more'].map((id) => messageOf(report, id).result).toSorted()).toEqual([
      'deduplicated',
      'deduplicated',
      'delivered',
    ]);
  });

  it('plans the time of one request for all dead letters of one delivery', async () => {
    for (const deliveries of [1, 2]) {
      const redrives = await partnerWith(deliveries, { concurrency: 1 });
      for (let n = 0; n < 5; n += 1) redrives.dead.add(`m-again-${n}`, deliverMessage('e-1', 'partner'));
      const plan = await redrives.plan();
      expect(plan).toMatchObject({ found: { redrive: deliveries + 5 }, estimateMs: deliveries * 20_000 });
    }
  });

  it('that is done does nothing a second time', async () => {
    const redrives = await partnerWith(3);
    const { operation } = await redrives.through();
    const [sends, done] = [redrives.world.sender.sends.length, redrives.dead.done.length];
    const before = await redrives.show(operation);
    expect((await redrives.run(operation)).status).toBe(200);
    await redrives.world.run(60_000);
    expect(await redrives.show(operation)).toEqual(before);
    expect([redrives.world.sender.sends.length, redrives.dead.done.length]).toEqual([sends, done]);
  });

  it('is stopped by a person, and stays so', async () => {
    const redrives = await partnerWith(45);
    const { operation } = await redrives.plan();
    await redrives.run(operation);
    await redrives.world.run(0);
    const stopped = await redrives.stop(operation, 'stop-1');
    expect(stopped.body).toMatchObject({
      state: 'stopped',
      stoppedBecause: 'holder-of-resend: enough',
      decision: 'stop-1',
    });
    await redrives.world.run(120_000);
    expect(redrives.dead.ids()).toHaveLength(25);
    const again = await refusedBy(redrives, () => redrives.run(operation));
    expect(again).toMatchObject({ status: 409, body: { code: 'operation-stopped' } });
    expect((await redrives.show(operation)).progress).toMatchObject({ delivered: 20, waiting: 25 });
  });

  it('can only be stopped while it runs', async () => {
    const redrives = await partnerWith(1);
    const { operation } = await redrives.plan();
    expect(await refusedBy(redrives, () => redrives.stop(operation))).toMatchObject({ body: { code: 'not-running' } });
    await redrives.run(operation);
    await redrives.world.run(60_000);
    expect(await refusedBy(redrives, () => redrives.stop(operation))).toMatchObject({
      body: { code: 'operation-done' },
    });
    expect(await refusedBy(redrives, () => redrives.stop('rd_x'))).toMatchObject({ status: 404 });
  });

  it('stops itself above the share of failures in a batch, and leaves the rest where it is', async () => {
    const redrives = await partnerWith(45);
    redrives.world.sender.always(answered(500));
    const report = await redrives.through({ stopAbove: 0.5 });
    expect(report).toMatchObject({
      state: 'stopped',
      stoppedBecause: '20 of 20 first outcomes of a batch were failures',
      deadAfter: 25,
    });
    expect(report.progress).toMatchObject({ requeued: 20, failed: 20, waiting: 25 });
  });

  it('goes on at the share itself: only more than that stops it', async () => {
    const redrives = await partnerWith(25);
    for (let n = 0; n < 10; n += 1) redrives.world.sender.script(answered(500), answered(200));
    const report = await redrives.through({ stopAbove: 0.5 }, 20_000);
    expect(report.state).toBe('done');
    expect(report.progress).toMatchObject({ failed: 10, delivered: 15 });
  });

  it('takes time-outs for failures: a destination that hangs stops it', async () => {
    const redrives = await partnerWith(25);
    redrives.world.sender.always(unanswered('timeout'));
    const report = await redrives.through();
    expect(report).toMatchObject({ state: 'stopped', progress: { inDoubt: 20, waiting: 5 } });
  });

  it('looks again at each delivery before it acts, and says what has changed since the plan', async () => {
    const redrives = await partnerWith(3);
    const { operation } = await redrives.plan();
    await redrives.world.deliver('e-1', 'partner');
    await decide(redrives.world, 'e-2', 'partner', 'cancel', { reason: 'a mistake' });
    const sends = redrives.world.sender.sends.length;
    await redrives.run(operation);
    await redrives.world.run(60_000);
    const report = await redrives.show(operation);
    expect(messageOf(report, 'm-e-1')).toMatchObject({ finding: 'drop', plannedAs: 'redrive', result: 'deduplicated' });
    expect(messageOf(report, 'm-e-2')).toMatchObject({ finding: 'drop', plannedAs: 'redrive', result: 'dropped' });
    expect(redrives.world.sender.sends).toHaveLength(sends + 1);
  });

  it('holds what belongs to a destination that was paused since the plan [C130]', async () => {
    const redrives = await partnerWith(2);
    const { operation } = await redrives.plan();
    await redrives.world.call('operator', 'POST', '/v1/destinations/partner/pause', {
      token: redrives.world.token('pause'),
      body: { reason: 'their maintenance' },
      headers: { 'Idempotency-Key': 'pause' },
    });
    await redrives.run(operation);
    await redrives.world.run(60_000);
    expect((await redrives.show(operation)).progress).toMatchObject({ held: 2, requeued: 0 });
    expect(redrives.world.sender.sends).toHaveLength(0);
  });

  it('says that it has stalled, and is taken up where it was by the same request', async () => {
    const redrives = await partnerWith(25);
    const { operation } = await redrives.plan();
    await redrives.run(operation, 'run-1');
    await redrives.world.run(0);
    redrives.world.queue.loseAll();
    await redrives.world.clock.advance(121_000);
    expect((await redrives.show(operation)).stalled).toContain('run it again');
    expect((await redrives.run(operation, 'run-1')).status).toBe(200);
    await redrives.world.run(400_000);
    const report = await redrives.show(operation);
    expect(report).toMatchObject({ state: 'done', progress: { requeued: 25, waiting: 0 } });
    expect(redrives.dead.done).toHaveLength(25);
  });

  it('is taken up by one request where its turn was cut off between its enqueueing and its counting', async () => {
    let isAway = false;
    const redrives = await partnerWith(
      25,
      {},
      {
        reshape: (ports) => ({
          ...ports,
          ledger: {
            ...ports.ledger,
            replace: async (read, next) => {
              if (isAway && next.item === 'operation') throw new PortUnavailable('ledger', 'away');
              return ports.ledger.replace(read, next);
            },
          },
        }),
      },
    );
    const { operation } = await redrives.plan();
    await redrives.run(operation, 'run-1');
    isAway = true;
    await redrives.world.run(0);
    // The ledger is away for longer than either message lives: this turn's, and the next one's that it has enqueued.
    redrives.world.queue.loseAll();
    isAway = false;
    await redrives.world.clock.advance(121_000);
    expect((await redrives.show(operation)).stalled).toContain('run it again');
    expect((await redrives.run(operation, 'run-2')).status).toBe(200);
    await redrives.world.run(400_000);
    expect(await redrives.show(operation)).toMatchObject({ state: 'done', progress: { requeued: 25, waiting: 0 } });
  });

  it('is not lost where the queue does not take its first turn: the caller is told to repeat', async () => {
    const redrives = await partnerWith(1);
    const { operation } = await redrives.plan();
    redrives.world.queue.away = true;
    expect((await redrives.run(operation, 'run-1')).status).toBe(503);
    redrives.world.queue.away = false;
    expect((await redrives.run(operation, 'run-1')).status).toBe(200);
    await redrives.world.run(60_000);
    expect((await redrives.show(operation)).state).toBe('done');
  });
});

describe('a redrive over the quarantine', () => {
  const heldWorld = async (): Promise<RedriveWorld> => {
    const redrives = openRedriveWorld();
    const { world } = redrives;
    await world.destination('partner');
    await world.destination('brief', { schedule: [] });
    for (const [event, destination, status] of [
      ['r-1', 'partner', 422],
      ['r-2', 'partner', 422],
      ['b-1', 'brief', 500],
    ] as const) {
      await world.accepted(event, destination);
      world.sender.script(answered(status));
      await world.run(0);
    }
    return redrives;
  };

  it('makes them pending again, once, and reports what came of it', async () => {
    const redrives = await heldWorld();
    const report = await redrives.through({ source: 'quarantine' });
    expect(report.progress).toMatchObject({ requested: 2, requeued: 2, delivered: 2, held: 1 });
    expect(report.found).toEqual({ redrive: 2, 'over-budget': 1 });
    const row = await redrives.world.row('r-1', 'partner');
    expect(row).toMatchObject({ status: 'delivered', redrives: 1, budget: 8, attempts: 2 });
    const entry = row.journal.lines.find((line) => line.entry.kind === 'redriven')?.entry;
    expect(entry?.cause).toBe(`o:${report.operation}`);
    expect(redrives.dead.asked).toEqual([]);
  });

  it('never adds to a budget', async () => {
    const redrives = await heldWorld();
    await redrives.through({ source: 'quarantine', destination: 'brief' });
    expect(await redrives.world.row('b-1', 'brief')).toMatchObject({ status: 'quarantined', budget: 1, redrives: 0 });
  });

  it('takes those of one reason where one is named', async () => {
    const redrives = await heldWorld();
    expect((await redrives.plan({ source: 'quarantine', reason: 'rejected' })).found).toEqual({ redrive: 2 });
    expect((await redrives.plan({ source: 'quarantine', reason: 'budget' })).found).toEqual({ 'over-budget': 1 });
    expect((await redrives.plan({ source: 'quarantine', reason: 'gone' })).planned).toBe(0);
  });

  it('reads no more than its limit', async () => {
    const redrives = await heldWorld();
    expect((await redrives.plan({ source: 'quarantine', limit: 2 })).planned).toBe(2);
  });

  it('leaves alone what a person has decided since the plan', async () => {
    const redrives = await heldWorld();
    const { operation } = await redrives.plan({ source: 'quarantine', reason: 'rejected' });
    await decide(redrives.world, 'r-1', 'partner', 'resolve', {
      reason: 'seen there',
      as: 'delivered',
      evidence: 'log',
    });
    await decide(redrives.world, 'r-2', 'partner', 'cancel', { reason: 'a mistake' });
    const sends = redrives.world.sender.sends.length;
    await redrives.run(operation);
    await redrives.world.run(60_000);
    const report = await redrives.show(operation);
    expect(report.progress).toMatchObject({ requeued: 0, deduplicated: 1, dropped: 1 });
    expect(redrives.world.sender.sends).toHaveLength(sends);
  });
});

describe('a letter that was not in the plan', () => {
  it('stays where it is, whoever its neighbours are', async () => {
    const redrives = await partnerWith(2);
    const { operation } = await redrives.plan();
    await redrives.deadLetter('later');
    redrives.dead.add('m-copy', deliverMessage('e-1', 'partner'));
    await redrives.run(operation);
    await redrives.world.run(60_000);
    expect(redrives.dead.ids()).toEqual(['m-later', 'm-copy']);
    expect((await redrives.show(operation)).planned).toBe(2);
  });
});
