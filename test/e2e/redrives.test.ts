/** Redrive over many by its routes: what a plan says, and what the report of its run says. */
import { describe, expect, it } from 'vitest';
import { messageOf, mixedDeadLetters, openRedriveWorld, partnerWith, refusedBy } from '../support/redrive-world.ts';
import { answered } from '../support/world-ports.ts';

describe('a plan over a mixed dead-letter queue', () => {
  it('says of every message what is to be done about it, and does nothing', async () => {
    const redrives = openRedriveWorld();
    const { expected } = await mixedDeadLetters(redrives);
    const sends = redrives.world.sender.sends.length;
    const plan = await redrives.plan();
    expect(Object.fromEntries(plan.messages.map(({ messageId, finding }) => [messageId, finding]))).toEqual(expected);
    expect(plan).toMatchObject({ state: 'planned', complete: true, deadBefore: 16, planned: 16, tooSlow: false });
    expect(plan.found).toEqual({
      ...{ drop: 4, redrive: 1, accept: 2, poison: 2, 'in-flight': 1, 'over-budget': 1 },
      ...{ 'key-expired': 1, 'second-effect': 1, foreign: 1, unknown: 1, paused: 1 },
    });
    expect(redrives.world.sender.sends).toHaveLength(sends);
    expect(redrives.dead.done).toEqual([]);
    expect(redrives.dead.ids()).toHaveLength(16);
  });

  it('has on record why each delivery had failed, and how long that call took', async () => {
    const redrives = openRedriveWorld();
    await mixedDeadLetters(redrives);
    const plan = await redrives.plan();
    expect(messageOf(plan, 'm-spent').last).toEqual({ class: 'failed', status: 500, durationMs: 12 });
    expect(messageOf(plan, 'm-unsafe').last).toEqual({ class: 'in-doubt', durationMs: 12 });
    expect(messageOf(plan, 'm-waiting').last).toBeUndefined();
  });

  it('is run: each message has one finding and one result, and only what was safe to send was sent', async () => {
    const redrives = openRedriveWorld();
    const { endBusy } = await mixedDeadLetters(redrives);
    const sends = redrives.world.sender.sends.length;
    const report = await redrives.through();
    expect(Object.fromEntries(report.messages.map(({ messageId, result }) => [messageId, result]))).toEqual({
      'm-delivered': 'deduplicated',
      'm-cancelled': 'dropped',
      'm-waiting': 'delivered',
      'm-spent': 'held',
      'm-unsafe': 'held',
      'm-forgotten': 'held',
      'm-rejected': 'dropped',
      'm-paused': 'held',
      'm-busy': 'held',
      'm-whole': 'accepted',
      'm-homeless': 'held',
      'm-broken': 'dropped',
      'm-nobody': 'dropped',
      'm-strange': 'held',
      'm-newer': 'held',
      'm-tick': 'dropped',
    });
    expect(report).toMatchObject({ state: 'done', deadBefore: 16, deadAfter: 7 });
    expect(report).toHaveProperty('startedBecause', expect.stringContaining(': the plan is right'));
    expect(report).not.toHaveProperty('mismatch');
    expect(report.progress).toMatchObject({ requested: 1, requeued: 1, delivered: 1, removed: 9, waiting: 0, open: 0 });
    // The delivery that waited, and the one of the whole event.
    expect(redrives.world.sender.sends).toHaveLength(sends + 2);
    expect((await redrives.world.row('whole', 'partner')).status).toBe('delivered');
    await endBusy();
  });

  it('leaves on the queue what a person, another program or newer code has to look at', async () => {
    const redrives = openRedriveWorld();
    await mixedDeadLetters(redrives);
    await redrives.through();
    const left = ['m-busy', 'm-forgotten', 'm-homeless', 'm-newer', 'm-paused', 'm-strange', 'm-unsafe'];
    expect(redrives.dead.ids().toSorted()).toEqual(left);
  });

  it('finds nothing new to do in a second plan over what is left', async () => {
    const redrives = openRedriveWorld();
    const { endBusy } = await mixedDeadLetters(redrives);
    await redrives.through();
    await endBusy();
    const sends = redrives.world.sender.sends.length;
    await redrives.world.clock.advance(900_000);
    const second = await redrives.through();
    expect(second.progress).toMatchObject({ requested: 0, requeued: 0, deduplicated: 1, held: 6, removed: 1 });
    expect(redrives.world.sender.sends).toHaveLength(sends);
  });

  it('sends what is in doubt or without a key only where a second effect is accepted', async () => {
    const redrives = openRedriveWorld();
    await mixedDeadLetters(redrives);
    const report = await redrives.through({ acceptSecondEffect: true });
    expect(messageOf(report, 'm-unsafe')).toMatchObject({ finding: 'redrive', result: 'delivered', attempt: 2 });
    // An open delivery has to be held before anybody can accept a second effect of it.
    expect(messageOf(report, 'm-forgotten')).toMatchObject({ finding: 'key-expired', result: 'held' });
    expect(redrives.dead.ids()).not.toContain('m-unsafe');
  });
});

describe('the report of a run', () => {
  it('names the attempt that came of it, and the delivery names the operation [C027]', async () => {
    const redrives = await partnerWith(1);
    const report = await redrives.through();
    expect(report.messages[0]).toMatchObject({ action: 'requeued', result: 'delivered', attempt: 1 });
    expect((await redrives.world.row('e-1', 'partner')).attempts).toBe(1);
  });

  it('is about the business, not about the queue: what is put back and fails is a failure', async () => {
    const redrives = await partnerWith(1);
    redrives.world.sender.always(answered(500));
    const report = await redrives.through({ stopAbove: 1 }, 30_000);
    expect(report).toMatchObject({ state: 'done', deadAfter: 0 });
    expect(report.progress).toMatchObject({ requeued: 1, delivered: 0, failed: 1 });
  });

  it('fills in what was open when the run ended, once there is an outcome', async () => {
    const redrives = await partnerWith(1);
    redrives.world.sender.script(answered(429, { retryAfter: ['600'] }));
    await redrives.world.accepted('first', 'partner');
    await redrives.world.run(1_000);
    const report = await redrives.through({}, 200_000);
    expect(report).toMatchObject({ state: 'done', progress: { open: 1 } });
    await redrives.world.run(600_000);
    const filled = await redrives.show(report.operation);
    expect(filled.progress).toMatchObject({ open: 0, delivered: 1 });
    expect(filled.messages[0]).toMatchObject({ result: 'delivered' });
  });

  it('is read page by page, and the totals are of all of it', async () => {
    const redrives = await partnerWith(5);
    const { operation } = await redrives.through();
    const first = await redrives.show(operation, '?limit=2');
    expect(first.messages.map(({ position }) => position)).toEqual([0, 1]);
    expect(first.progress).toMatchObject({ delivered: 5 });
    const second = await redrives.show(operation, `?limit=2&cursor=${first.next}`);
    expect(second.messages.map(({ position }) => position)).toEqual([2, 3]);
    const last = await redrives.show(operation, `?limit=2&cursor=${second.next}`);
    expect([last.messages.length, last.next]).toEqual([1, undefined]);
  });

  it('stands in the list of operations, newest first', async () => {
    const redrives = await partnerWith(1);
    const first = await redrives.plan();
    await redrives.world.clock.advance(5_000);
    const second = await redrives.plan({ limit: 1 });
    const list = await redrives.world.call('operator', 'GET', '/v1/redrives', { token: redrives.world.token('view') });
    expect(list.body).toMatchObject({ items: [{ operation: second.operation }, { operation: first.operation }] });
  });
});

describe('counts that disagree', () => {
  it('are a contradiction where nothing comes out of a queue that counts dead letters, never "nothing to do" [C178]', async () => {
    const redrives = await partnerWith(1);
    redrives.dead.hides = true;
    const plan = await redrives.plan();
    expect(plan).toMatchObject({ planned: 0, complete: false, deadBefore: 1 });
    expect(plan.contradiction).toContain('counts more dead letters than it gives out');
  });

  it('are no contradiction where there is nothing', async () => {
    const redrives = await partnerWith(0);
    const plan = await redrives.plan();
    expect(plan).toMatchObject({ planned: 0, complete: true, deadBefore: 0 });
    expect(plan).not.toHaveProperty('contradiction');
  });

  it('are reported where the queue says done and does nothing [C179]', async () => {
    const redrives = await partnerWith(2);
    redrives.dead.pretends = true;
    const report = await redrives.through();
    expect(report.mismatch).toMatchObject({ expected: 0, counted: 2, says: expect.stringContaining('did not leave') });
    expect(report.progress).toMatchObject({ requeued: 2, delivered: 0, open: 2 });
  });

  it('are reported where somebody else takes letters away', async () => {
    const redrives = await partnerWith(2);
    redrives.dead.add('m-strange', { order: 1 });
    const { operation } = await redrives.plan();
    redrives.dead.lose('m-strange');
    await redrives.run(operation);
    await redrives.world.run(60_000);
    expect((await redrives.show(operation)).mismatch).toMatchObject({ expected: 1, counted: 0 });
  });
});

describe('a plan', () => {
  it('is one plan for one request, however often it is sent', async () => {
    const redrives = await partnerWith(3);
    const first = await redrives.planAnswer({}, 'plan-1');
    const again = await redrives.planAnswer({}, 'plan-1');
    expect([first.status, again.status]).toEqual([201, 200]);
    expect(again.body).toEqual(first.body);
    expect(redrives.dead.asked).toEqual(['read 100', 'read 97']);
  });

  it('is refused where its request id stands for another one', async () => {
    const redrives = await partnerWith(1);
    await redrives.planAnswer({}, 'plan-1');
    const other = await refusedBy(redrives, () => redrives.planAnswer({ limit: 7 }, 'plan-1'));
    expect(other).toMatchObject({ status: 422, body: { code: 'request-reused' } });
  });

  it('reads no more than its limit, and says that there is more to read by the count', async () => {
    const redrives = await partnerWith(5);
    const plan = await redrives.plan({ limit: 3 });
    expect(plan).toMatchObject({ planned: 3, complete: true, deadBefore: 5 });
    expect(redrives.dead.asked).toEqual(['read 3']);
  });

  it('is of one destination where one is named; what else was read is left alone', async () => {
    const redrives = await partnerWith(2);
    await redrives.world.destination('other');
    await redrives.deadLetter('x-1', 'other');
    redrives.dead.add('m-strange', { order: 1 });
    const report = await redrives.through({ destination: 'other' });
    expect(report.messages.map(({ messageId }) => messageId)).toEqual(['m-x-1']);
    expect(redrives.dead.ids()).toEqual(['m-e-1', 'm-e-2', 'm-strange']);
  });

  it('adds up how long it may take, and cannot be run above the stated recovery time', async () => {
    const redrives = await partnerWith(20, { concurrency: 2, timeoutMs: 10_000 });
    const plan = await redrives.plan({ recoveryMinutes: 1.5 });
    expect(plan).toMatchObject({ estimateMs: 100_000, tooSlow: true, state: 'planned' });
    const answer = await refusedBy(redrives, () => redrives.run(plan.operation));
    expect(answer).toMatchObject({ status: 409, body: { code: 'too-slow' } });
    expect(JSON.stringify(answer?.body)).toMatch(/100 s.*90 s/);
    expect((await redrives.show(plan.operation)).state).toBe('planned');
  });

  it('counts on what whole events would send', async () => {
    const redrives = openRedriveWorld();
    await redrives.world.destination('partner', { acceptFromQueue: true, concurrency: 1, timeoutMs: 1_000 });
    for (const id of ['a', 'b', 'c']) {
      redrives.dead.add(`m-${id}`, { kind: 'event', format: 1, event: { id, payload: 1, destinations: ['partner'] } });
    }
    expect(await redrives.plan()).toMatchObject({ found: { accept: 3 }, estimateMs: 3_000 });
  });

  it('is not made where the dead letters cannot be read, and is made by the same request later', async () => {
    const redrives = await partnerWith(1);
    redrives.dead.answer = (call) =>
      call === 'read' ? { kind: 'failed', code: 'unauthorized', detail: 'the key is wrong' } : undefined;
    const answer = await redrives.planAnswer({}, 'plan-1');
    expect(answer).toMatchObject({ status: 503, body: { code: 'dead-letters-unavailable' } });
    expect(answer.text).toContain('the key is wrong');
    redrives.dead.answer = undefined;
    expect(await redrives.plan({}, 'plan-1')).toMatchObject({ state: 'planned', found: { redrive: 1 } });
  });

  it('cannot be run before it is made', async () => {
    const redrives = await partnerWith(1);
    redrives.dead.answer = (call) => (call === 'read' ? { kind: 'failed', code: 'x', detail: 'y' } : undefined);
    await redrives.planAnswer({}, 'plan-1');
    const list = await redrives.world.call('operator', 'GET', '/v1/redrives', { token: redrives.world.token('view') });
    const operation = /rd_[\w-]+/.exec(list.text)?.[0] ?? '';
    const answer = await refusedBy(redrives, () => redrives.run(operation));
    expect(answer).toMatchObject({ status: 409, body: { code: 'not-planned' } });
  });
});

describe('a bad request for a plan', () => {
  it.each<[string, Readonly<Record<string, unknown>>, string]>([
    ['no limit', { limit: undefined }, 'limit'],
    ['a limit of nothing', { limit: 0 }, 'limit'],
    ['a limit above what one plan can hold', { limit: 5_001 }, 'limit'],
    ['half a message', { limit: 1.5 }, 'limit'],
    ['no reason', { why: undefined }, 'why'],
    ['its reason in the member that filters', { source: 'quarantine', why: undefined, reason: 'the outage' }, 'why'],
    ['blanks for a reason', { why: '  ' }, 'why'],
    ['another source', { source: 'archive' }, 'source'],
    ['a reason of the quarantine for dead letters', { reason: 'budget' }, 'reason'],
    ['a reason that does not exist', { source: 'quarantine', reason: 'bad luck' }, 'reason'],
    ['no time to recover', { recoveryMinutes: 0 }, 'recoveryMinutes'],
    ['a share above one', { stopAbove: 1.1 }, 'stopAbove'],
    ['a text for a choice', { acceptSecondEffect: 'yes' }, 'acceptSecondEffect'],
    ['a destination that does not exist', { destination: 'nowhere' }, 'destination'],
    ['a grant, which is for one delivery at a time', { grant: 3 }, 'grant'],
  ])('is refused by its name, and nothing is read or written: %s', async (_what, body, field) => {
    const redrives = await partnerWith(1);
    const answer = await refusedBy(redrives, () => redrives.planAnswer(body));
    expect(answer).toMatchObject({ status: 422, body: { code: 'invalid', field } });
  });

  it('is refused without a request id, and without the right to resend', async () => {
    const redrives = await partnerWith(1);
    const body = { source: 'dead-letters', limit: 1, why: 'x' };
    const call = (right: 'view' | 'resend') =>
      redrives.world.call('operator', 'POST', '/v1/redrives', { token: redrives.world.token(right), body });
    expect(await refusedBy(redrives, () => call('resend'))).toMatchObject({
      status: 400,
      body: { code: 'idempotency-key-missing' },
    });
    expect(await refusedBy(redrives, () => call('view'))).toMatchObject({ status: 403 });
  });
});
