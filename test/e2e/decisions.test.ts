/** What a person decides over the API: what it changes, what is refused by name, and who may. */

import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';
import type { Right } from '../../functions/core/items.ts';
import { ATTEMPTS_MAX, DECISIONS_MAX, GRANT_MAX, REASON_CHARS_MAX, REDRIVES_MAX } from '../../functions/core/limits.ts';
import { RIGHTS } from '../../functions/http/auth.ts';
import { CALLS, type CallChange, type DecisionCall, decideBy, decisionOf, isDecided } from '../support/decisions.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';
import { alter, EVENT, opened, PARTNER, RESTING, ROW, toLaterFormat } from '../support/world-states.ts';

type Call = keyof typeof CALLS;

const inState = async (state: string): Promise<TestWorld> => {
  const world = openTestWorld();
  const enter = RESTING[state];
  if (enter === undefined) throw new Error(`no such state: ${state}`);
  await enter(world);
  return world;
};

/** Its whole schedule is spent, and no answer was good. */
const outOfBudget = async (settings: Readonly<Record<string, unknown>> = {}): Promise<TestWorld> => {
  const world = await opened(openTestWorld(), { schedule: [], ...settings });
  world.sender.script(answered(500));
  await world.deliver(EVENT, PARTNER);
  return world;
};

const inDoubt = async (): Promise<TestWorld> => {
  const world = await opened(openTestWorld(), { repeatSafe: false });
  world.sender.script(unanswered('timeout'));
  await world.deliver(EVENT, PARTNER);
  return world;
};

/** The answer to a refusal, after it is certain that nothing was written, published or sent. */
const refused = async (world: TestWorld, call: DecisionCall, request: string | undefined, change?: CallChange) => {
  const published = world.queue.published.length;
  const sent = world.sender.sends.length;
  let answer: Awaited<ReturnType<typeof decideBy>> | undefined;
  const writes = await world.writesOf(async () => {
    answer = await decideBy(world, call, request, change);
  });
  expect(writes).toEqual([]);
  expect(world.queue.published.length).toBe(published);
  expect(world.sender.sends.length).toBe(sent);
  expect(answer?.contentType).toBe('application/problem+json');
  return answer?.body;
};

// ---- redrive ------------------------------------------------------------------------------------------------------

describe('a redrive', () => {
  it('sends a quarantined delivery again: the same key, the same bytes, on record with actor and reason', async () => {
    const world = await inState('quarantined as rejected');
    const answer = await decideBy(world, CALLS.redrive, 'ticket-9');
    expect(answer.status).toBe(200);
    expect(answer.body).toMatchObject({ event: EVENT, destination: PARTNER, status: 'pending', decision: 'ticket-9' });
    await world.run(5_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2, redrives: 1 });
    const [first, second] = world.sender.sends;
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect(second?.body).toEqual(first?.body);
    expect(answer.body).toHaveProperty('journal.3', {
      ...{ seq: 4, kind: 'redriven', at: '2026-01-01T00:00:00.000Z', cause: 'actor:ticket-9' },
      ...{ requestId: expect.any(String), actor: 'holder-of-resend', reason: CALLS.redrive.body.reason },
    });
    expect(await decisionOf(world, 'ticket-9')).toMatchObject({
      ...{ command: 'redrive', actor: 'holder-of-resend', before: 'quarantined / rejected', result: 'done' },
      ...{ event: EVENT, destination: PARTNER, decidedAtMs: world.clock.nowMs() - 5_000 },
    });
  });

  it('of a spent budget needs a grant, and the grant adds just that', async () => {
    const world = await outOfBudget();
    const problem = await refused(world, CALLS.redrive, 'without');
    expect(problem).toMatchObject({ status: 409, code: 'over-budget' });
    expect(problem).toMatchObject({
      detail: expect.stringContaining('a grant of at least 1 is needed'),
      field: 'grant',
    });
    const granted = await decideBy(world, CALLS.redrive, 'with', { body: { grant: 2 } });
    expect(granted.body).toMatchObject({ status: 'pending', attempts: 1, budget: 3 });
    expect(granted.body).toHaveProperty('journal.3.grant', 2);
  });

  it('of an attempt that may have arrived asks whether a second effect is accepted', async () => {
    const world = await inDoubt();
    const problem = await refused(world, CALLS.redrive, 'not-asked', { body: { grant: 5 } });
    expect(problem).toMatchObject({ status: 409, code: 'second-effect' });
    expect(problem).toMatchObject({ detail: expect.stringContaining('to be accepted'), field: 'acceptSecondEffect' });
    const accepted = await decideBy(world, CALLS.redrive, 'asked', { body: { acceptSecondEffect: true } });
    expect(accepted.body).toMatchObject({ status: 'pending', attemptsInDoubt: [1] });
    expect(accepted.body).toHaveProperty('journal.3.secondEffect', true);
  });

  it.each<[bound: string, change: Record<string, number>, says: string]>([
    ['redrives', { redrives: REDRIVES_MAX }, `at most ${REDRIVES_MAX} redrives`],
    ['attempts', { budget: ATTEMPTS_MAX - GRANT_MAX + 1 }, `at most ${ATTEMPTS_MAX} attempts`],
  ])('beyond the bound of a life names the bound: %s', async (_bound, change, says) => {
    const world = await outOfBudget();
    const row = await world.row(EVENT, PARTNER);
    await world.records.replace(row, { ...row, ...change, version: row.version + 1 });
    const problem = await refused(world, CALLS.redrive, 'too-much', { body: { grant: GRANT_MAX } });
    expect(problem).toMatchObject({ status: 409, code: 'life-bound' });
    expect(problem).toHaveProperty('detail', expect.stringContaining(says));
  });
});

// ---- resolve and cancel -------------------------------------------------------------------------------------------

describe('a resolve', () => {
  it('as delivered ends the delivery by decision, with its evidence, and nothing is sent', async () => {
    const world = await inDoubt();
    const answer = await decideBy(world, CALLS.resolve, 'seen');
    expect(answer.body).toMatchObject({ status: 'delivered', deliveredBy: 'decision', decision: 'seen' });
    expect(answer.body).toHaveProperty('journal.3', expect.objectContaining({ decision: 'resolve-delivered' }));
    expect(answer.body).toHaveProperty('journal.3.evidence', 'seen in their books');
    await world.run(60_000);
    expect(world.sender.sends).toHaveLength(1);
    expect(await decisionOf(world, 'seen')).toMatchObject({
      evidence: 'seen in their books',
      actor: 'holder-of-decide',
    });
  });

  it('as not delivered sends it again, without any doubt left', async () => {
    const world = await inDoubt();
    const answer = await decideBy(world, CALLS.resolve, 'lost', { body: { as: 'not-delivered' } });
    expect(answer.body).toMatchObject({ status: 'pending', attemptsInDoubt: [] });
    await world.run(5_000);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'delivered', attempts: 2 });
  });

  it('as not delivered waits for a grant where the budget is spent', async () => {
    const world = await outOfBudget();
    const answer = await decideBy(world, CALLS.resolve, 'lost', { body: { as: 'not-delivered' } });
    expect(answer.body).toMatchObject({ status: 'quarantined', reason: 'budget' });
    expect(world.queue.published).toHaveLength(1);
  });

  it('is bound in number over a life', async () => {
    const world = await inDoubt();
    const row = await world.row(EVENT, PARTNER);
    await world.records.replace(row, { ...row, decisions: DECISIONS_MAX - 1, version: row.version + 1 });
    const again = { ...CALLS.resolve, body: { reason: 'x', as: 'not-delivered', evidence: 'y' } };
    const problem = await refused(world, again, 'once-more');
    expect(problem).toMatchObject({ status: 409, code: 'life-bound' });
    expect(problem).toHaveProperty('detail', expect.stringContaining(`at most ${DECISIONS_MAX} decisions`));
    // One that ends it is always left.
    expect((await decideBy(world, CALLS.cancel, 'enough')).body).toMatchObject({ status: 'cancelled' });
  });
});

describe('a cancel', () => {
  it.each(['waiting for its retry', 'early: wanted later', 'quarantined in doubt', 'parked at a paused destination'])(
    'ends what is not under way, and nothing more is sent: %s',
    async (state) => {
      const world = await inState(state);
      const sent = world.sender.sends.length;
      const answer = await decideBy(world, CALLS.cancel, 'enough');
      expect(answer.body).toMatchObject({ status: 'cancelled', reason: 'operator', decision: 'enough' });
      await world.run(3_700_000);
      expect(world.sender.sends).toHaveLength(sent);
    },
  );
});

// ---- the wrong state ----------------------------------------------------------------------------------------------

const OPEN = ['waiting for its retry', 'early: wanted later', 'parked at a paused destination'] as const;

const WRONG: readonly (readonly [state: string, call: Call, code: string])[] = [
  ...OPEN.flatMap((state) =>
    (['redrive', 'resolve'] as const).map((call) => [state, call, 'not-quarantined'] as const),
  ),
  ...(['redrive', 'resolve', 'cancel'] as const).flatMap((call) => [
    ['delivered', call, 'already-delivered'] as const,
    ['cancelled', call, 'already-cancelled'] as const,
    ['cancelled as a shadow', call, 'already-cancelled'] as const,
    ['claimed and live', call, 'live-claim'] as const,
  ]),
  ['quarantined as rejected', 'replay', 'not-delivered'],
  ['claimed and live', 'replay', 'not-delivered'],
  ['cancelled', 'replay', 'not-delivered'],
];

describe('a decision that does not fit the state', () => {
  it.each(WRONG)('is refused by name, and nothing has changed: %s, %s, %s', async (state, call, code) => {
    const world = await inState(state);
    expect(await refused(world, CALLS[call], 'wrong')).toMatchObject({ status: 409, code });
    expect(isDecided(world, 'wrong')).toBe(false);
  });

  it('on a live claim is told when its lease ends, and may be sent again then', async () => {
    const world = await inState('claimed and live');
    const problem = await refused(world, CALLS.cancel, 'patient');
    expect(problem).toHaveProperty('detail', expect.stringContaining('2026-01-01T00:00:30.000Z'));
    await world.clock.advance(36_000);
    expect((await decideBy(world, CALLS.cancel, 'patient')).body).toMatchObject({ status: 'cancelled' });
  });

  it('is told of a destination that is gone: there is nothing left to send to', async () => {
    const world = await inState('quarantined as rejected');
    await decideBy(world, CALLS.delete, 'gone');
    expect(await refused(world, CALLS.redrive, 'late')).toMatchObject({ status: 409, code: 'no-destination' });
  });

  it.each<[Call, string]>([
    ['redrive', '/v1/events/nobody/deliveries/partner/redrive'],
    ['resolve', '/v1/events/order-17/deliveries/nobody/resolve'],
    ['cancel', '/v1/events/nobody/deliveries/partner/cancel'],
    ['replay', '/v1/events/nobody/replay'],
    ['pause', '/v1/destinations/nobody/pause'],
    ['resume', '/v1/destinations/nobody/resume'],
    ['test', '/v1/destinations/nobody/test'],
    ['delete', '/v1/destinations/nobody'],
  ])('about something that does not exist is a 404: %s', async (call, path) => {
    const world = await inState('delivered');
    expect(await refused(world, CALLS[call], 'who', { path })).toMatchObject({ status: 404, code: 'not-found' });
  });

  it.each(['redrive', 'resolve', 'cancel'] as const)('leaves a row of newer code alone: %s', async (call) => {
    const world = await inState('quarantined as rejected');
    toLaterFormat(world, ROW);
    expect(await refused(world, CALLS[call], 'old')).toMatchObject({ status: 503, code: 'written-by-newer-code' });
  });

  it('on broken data is a 500 that says so, and changes nothing', async () => {
    const world = await inState('quarantined as rejected');
    alter(world, ROW, ({ bud: _bud, ...rest }) => rest);
    expect(await refused(world, CALLS.redrive, 'broken')).toMatchObject({ status: 500, code: 'ledger-corrupt' });
  });
});

// ---- bad input ----------------------------------------------------------------------------------------------------

const BAD: readonly (readonly [what: string, call: Call, body: Readonly<Record<string, unknown>>, field: string])[] = [
  ...(Object.keys(CALLS) as Call[]).flatMap((call) => [
    ['no reason', call, { reason: undefined }, 'reason'] as const,
    ['a member that does not exist', call, { because: 'x' }, 'because'] as const,
  ]),
  ['an empty reason', 'cancel', { reason: '' }, 'reason'],
  ['a reason of blanks', 'cancel', { reason: ' \u00a0' }, 'reason'],
  ...['\u200b', '\u200b \u2060\ufeff', '\u2800', '\u3164', '\u00ad', '\u202e', '\ue000'].map(
    (reason) => [`a reason that nobody can see: ${JSON.stringify(reason)}`, 'cancel', { reason }, 'reason'] as const,
  ),
  ['a reason over its length', 'cancel', { reason: 'x'.repeat(REASON_CHARS_MAX + 1) }, 'reason'],
  ['a reason of two lines', 'cancel', { reason: 'a\nb' }, 'reason'],
  ['half of a letter', 'cancel', { reason: 'a\ud800' }, 'reason'],
  ['a number as reason', 'cancel', { reason: 5 }, 'reason'],
  ['a grant beyond its bound', 'redrive', { grant: GRANT_MAX + 1 }, 'grant'],
  ['a negative grant', 'redrive', { grant: -1 }, 'grant'],
  ['half a grant', 'redrive', { grant: 1.5 }, 'grant'],
  ['a grant as text', 'redrive', { grant: '1' }, 'grant'],
  ['an acceptance as text', 'redrive', { acceptSecondEffect: 'yes' }, 'acceptSecondEffect'],
  ['no evidence', 'resolve', { evidence: undefined }, 'evidence'],
  ['empty evidence', 'resolve', { evidence: '' }, 'evidence'],
  ['nothing said of what happened', 'resolve', { as: undefined }, 'as'],
  ['another word for what happened', 'resolve', { as: 'done' }, 'as'],
  ['no destination in the list', 'replay', { destinations: [] }, 'destinations'],
  ['a destination twice', 'replay', { destinations: [PARTNER, PARTNER] }, 'destinations'],
  ['an id that is none', 'replay', { destinations: [PARTNER, ''] }, 'destinations[1]'],
  ['a destination that the event is not for', 'replay', { destinations: [PARTNER, 'nobody'] }, 'destinations[1]'],
];

// ---- who and why --------------------------------------------------------------------------------------------------

describe('the request id of a decision', () => {
  const LONG = 'cancel-8e03978e-40d5-43dd-bc93-6894a57f9324';
  const who = { actor: 'holder-of-decide', reason: CALLS.cancel.body.reason };

  it.each([
    ['of 38 characters, as it stands in a journal', 'x'.repeat(38)],
    ['of 39', 'x'.repeat(39)],
    ['with a word before a UUID', LONG],
    ['of 128', 'x'.repeat(128)],
    ['with what a journal would have to escape', 'a"b\\c'],
    ['that looks like a hash', '#abcdefghijklmnopqrstuv'],
  ])('leads from the journal to actor and reason, and is answered as it came: %s', async (_what, request) => {
    const world = await inState('quarantined as rejected');
    const answer = await decideBy(world, CALLS.cancel, request);
    expect(answer.body).toMatchObject({ status: 'cancelled', decision: request });
    const shown = await world.call('operator', 'GET', CALLS.cancel.path.replace('/cancel', ''), {
      token: world.token('view'),
    });
    const { journal } = z.parse(z.object({ journal: z.array(z.looseObject({})) }), shown.body);
    expect(journal.at(-1)).toMatchObject({ kind: 'decision', decision: 'cancel', ...who });
    // The same again is the same decision.
    expect(await world.writesOf(() => decideBy(world, CALLS.cancel, request))).toEqual([]);
  });

  it('is the same with the quotes of a structured field and without them', async () => {
    const world = await inState('quarantined as rejected');
    const quoted = await decideBy(world, CALLS.cancel, '"8e03978e-40d5-43dd-bc93-6894a57f9324"');
    expect(quoted.body).toMatchObject({ status: 'cancelled', decision: '8e03978e-40d5-43dd-bc93-6894a57f9324' });
    const bare = () => decideBy(world, CALLS.cancel, '8e03978e-40d5-43dd-bc93-6894a57f9324');
    expect(await world.writesOf(bare)).toEqual([]);
  });

  it.each([
    ['an escaped quote', '"a\\"b"', 'a"b'],
    ['a quote at one end only', '"ab', '"ab'],
    ['a quote in its middle', '"a"b"', '"a"b"'],
  ])('loses only quotes that are around it: %s', async (_what, sent, request) => {
    const world = await inState('quarantined as rejected');
    expect((await decideBy(world, CALLS.cancel, sent)).body).toMatchObject({ decision: request });
  });

  it('is none where there is nothing between the quotes', async () => {
    const world = await inState('quarantined as rejected');
    expect(await refused(world, CALLS.cancel, '""')).toMatchObject({ status: 400, field: 'Idempotency-Key' });
  });
});

describe('bad input', () => {
  it.each(BAD)('is refused by its name, and nothing has changed: %s (%s)', async (_what, call, body, field) => {
    const world = await inState('delivered');
    expect(await refused(world, CALLS[call], 'bad', { body })).toMatchObject({ status: 422, code: 'invalid', field });
  });

  it.each(Object.keys(CALLS) as Call[])('without a request id names the header: %s', async (call) => {
    const world = await inState('delivered');
    const problem = { status: 400, code: 'idempotency-key-missing', field: 'Idempotency-Key' };
    expect(await refused(world, CALLS[call], undefined)).toMatchObject(problem);
    expect(await refused(world, CALLS[call], '')).toMatchObject(problem);
  });

  it.each(['two words', 'x'.repeat(129), 'caf\u00e9'])('with a request id that is none: %s', async (request) => {
    const world = await inState('delivered');
    expect(await refused(world, CALLS.replay, request)).toMatchObject({ status: 400, field: 'Idempotency-Key' });
  });

  it.each([
    ['', 422, 'reason'],
    ['[]', 422, undefined],
    ['{', 400, undefined],
    ['{"reason":"a","reason":"b"}', 400, 'reason'],
    [`{"reason":"${'x'.repeat(2_100_000)}"}`, 413, undefined],
  ])('as a body that is none: %.20s', async (body, status, field) => {
    const world = await inState('delivered');
    const writes = await world.writesOf(async () => {
      const headers = { 'idempotency-key': 'k' };
      const answer = await world.call('operator', 'POST', CALLS.pause.path, {
        token: world.token('pause'),
        body,
        headers,
      });
      expect(answer.body).toMatchObject({ status, ...(field === undefined ? {} : { field }) });
    });
    expect(writes).toEqual([]);
  });
});

// ---- rights -------------------------------------------------------------------------------------------------------

const MATRIX = (Object.keys(CALLS) as Call[]).flatMap((call) =>
  RIGHTS.map((right): readonly [Call, Right, boolean] => [
    call,
    right,
    right === 'admin' || right === CALLS[call].right,
  ]),
);

describe('who may decide', () => {
  it.each(MATRIX)('%s with the right "%s": %s', async (call, right, may) => {
    const world = await inState('delivered');
    if (may) expect((await decideBy(world, CALLS[call], 'mine', { right })).status).not.toBe(403);
    else
      expect(await refused(world, CALLS[call], 'mine', { right })).toMatchObject({
        status: 403,
        code: 'right-missing',
      });
  });

  it.each(Object.keys(CALLS) as Call[])('nobody without a token: %s', async (call) => {
    const world = await inState('delivered');
    const { path, body, ...rest } = CALLS[call];
    const method = 'method' in rest ? rest.method : 'POST';
    const answer = await world.call('operator', method, path, { body, headers: { 'idempotency-key': 'k' } });
    expect(answer.status).toBe(401);
    expect(isDecided(world, 'k')).toBe(false);
  });
});
