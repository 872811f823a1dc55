/** The same request is one decision: sent twice, sent at once, sent with other words, overtaken by what happens. */

import { describe, expect, it } from 'vitest';
import {
  type Asked,
  decidedBy,
  fingerprintOfAsked,
  GATE_DECISIONS_KEPT,
  hasDecided,
} from '../../functions/core/decision.ts';
import { parseRequestId, type RequestId } from '../../functions/core/ids.ts';
import type { Gate } from '../../functions/core/items.ts';
import { conclude } from '../../functions/operator/commands/decide.ts';
import { CALLS, decideBy, decisionOf, entriesBy, isDecided } from '../support/decisions.ts';
import { destinationIdOf, eventIdOf } from '../support/rows.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, seededDice, shuffledTurns } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER, RESTING, toLaterFormat } from '../support/world-states.ts';

type Call = keyof typeof CALLS;

const quarantined = async (): Promise<TestWorld> => {
  const world = openTestWorld();
  await RESTING['quarantined as rejected']?.(world);
  return world;
};

/** The state in which each call can be carried out. */
const stateFor = async (call: Call): Promise<TestWorld> => {
  const world = await quarantined();
  if (call !== 'replay') return world;
  const done = openTestWorld();
  await RESTING['delivered']?.(done);
  return done;
};

const requestId = (text: string): RequestId => {
  const parsed = parseRequestId(text);
  if (parsed.kind === 'bad') throw new TypeError(`request id ${parsed.reason}`);
  return parsed.id;
};

const CALL_NAMES = Object.keys(CALLS) as Call[];

describe('the same request', () => {
  it.each(CALL_NAMES)('twice is one decision with one answer, and writes nothing the second time: %s', async (call) => {
    const world = await stateFor(call);
    const first = await decideBy(world, CALLS[call], 'once');
    const published = world.queue.published.length;
    await world.clock.advance(1_000);
    const writes = await world.writesOf(async () => {
      const again = await decideBy(world, CALLS[call], 'once');
      expect([again.status, again.body]).toEqual([first.status, first.body]);
    });
    expect(writes).toEqual([]);
    expect(world.queue.published.length).toBe(published);
    expect(await decisionOf(world, 'once')).toMatchObject({ version: 2, result: 'done' });
  });

  it.each(CALL_NAMES)('at once, five times in any order, is one decision with one answer: %s', async (call) => {
    for (let seed = 1; seed <= 8; seed += 1) {
      const world = await stateFor(call);
      const before = world.store.writes.length;
      const published = world.queue.published.length;
      const turn = shuffledTurns(seededDice(seed));
      world.ledgerHooks.before = turn;
      const answers = await Promise.all(Array.from({ length: 5 }, () => decideBy(world, CALLS[call], 'once')));
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size, `seed ${seed}`).toBe(1);
      expect(answers[0]?.status).toBeLessThan(300);
      const written = world.store.writes.slice(before).map(({ ref }) => ref?.item);
      expect(
        written.filter((item) => item === 'decision'),
        `seed ${seed}`,
      ).toHaveLength(2);
      for (const item of ['gate', 'destination', 'event']) {
        expect(written.filter((one) => one === item).length, `seed ${seed}, ${item}`).toBeLessThanOrEqual(1);
      }
      expect(written.filter((item) => item === 'delivery').length).toBeLessThanOrEqual(1);
      expect(world.queue.published.length - published).toBeLessThanOrEqual(1);
    }
  });

  it('has its answer for ever, whatever has become of the delivery since', async () => {
    const world = await quarantined();
    await decideBy(world, CALLS.redrive, 'once');
    await world.run(5_000);
    const again = await decideBy(world, CALLS.redrive, 'once');
    expect(again.body).toMatchObject({ status: 'delivered', decision: 'once' });
    expect(await entriesBy(world, 'once')).toBe(1);
    expect(world.sender.sends).toHaveLength(2);
  });

  it('that was too long for a journal entry is known all the same', async () => {
    const world = await quarantined();
    const long = `ticket-${'9'.repeat(100)}`;
    expect((await decideBy(world, CALLS.redrive, long)).status).toBe(200);
    expect((await decideBy(world, CALLS.redrive, long)).status).toBe(200);
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ redrives: 1 });
  });
});

describe('another request', () => {
  it('is another decision: refused where the first has changed the state', async () => {
    const world = await quarantined();
    await decideBy(world, CALLS.redrive, 'first');
    expect((await decideBy(world, CALLS.redrive, 'second')).body).toMatchObject({ code: 'not-quarantined' });
    expect(await entriesBy(world, 'first')).toBe(1);
  });

  it.each<[string, Parameters<typeof decideBy>[3]]>([
    ['another reason', { body: { reason: 'changed my mind' } }],
    ['another grant', { body: { grant: 1 } }],
    ['another acceptance', { body: { acceptSecondEffect: true } }],
    ['somebody else', { right: 'admin' }],
    ['another delivery', { path: `/v1/events/other/deliveries/${PARTNER}/redrive` }],
  ])('cannot use an id that is taken, and nothing changes: %s', async (_what, change) => {
    const world = await quarantined();
    await decideBy(world, CALLS.redrive, 'taken');
    const writes = await world.writesOf(async () => {
      const answer = await decideBy(world, CALLS.redrive, 'taken', change);
      expect(answer.body).toMatchObject({ status: 422, code: 'request-reused', field: 'Idempotency-Key' });
    });
    expect(writes).toEqual([]);
  });

  it('cannot use the id of another command', async () => {
    const world = await quarantined();
    await decideBy(world, CALLS.pause, 'taken');
    for (const call of CALL_NAMES.filter((name) => name !== 'pause')) {
      const right = { right: 'admin' } as const;
      expect((await decideBy(world, CALLS[call], 'taken', right)).body, call).toMatchObject({ code: 'request-reused' });
    }
  });

  it('waits where newer code has written down its decision', async () => {
    const world = await quarantined();
    await decideBy(world, CALLS.pause, 'newer');
    toLaterFormat(world, { item: 'decision', cause: 'a:newer' });
    expect((await decideBy(world, CALLS.pause, 'newer')).body).toMatchObject({ code: 'written-by-newer-code' });
  });
});

describe('a decision that is overtaken', () => {
  /** A rival's write, made in the moment before the request writes the row. */
  const overtakenBy = (world: TestWorld, rival: () => Promise<unknown>): void => {
    world.ledgerHooks.before = async ({ kind, ref }) => {
      if (kind !== 'replace' || ref?.item !== 'delivery') return;
      delete world.ledgerHooks.before;
      await rival();
    };
  };

  it('is refused by what it finds, and keeps that answer', async () => {
    const world = await quarantined();
    overtakenBy(world, () => decideBy(world, CALLS.cancel, 'rival'));
    const first = await decideBy(world, CALLS.redrive, 'overtaken');
    expect(first.body).toMatchObject({ status: 409, code: 'already-cancelled' });
    expect(await decisionOf(world, 'overtaken')).toMatchObject({ result: 'already-cancelled' });
    const again = await decideBy(world, CALLS.redrive, 'overtaken');
    expect([again.status, again.body]).toEqual([first.status, first.body]);
    expect(await entriesBy(world, 'overtaken')).toBe(0);
  });

  it('stays refused when what stood in its way is gone: it was answered', async () => {
    const world = await opened(openTestWorld());
    const held = world.sender.hold();
    let push: Promise<unknown> = Promise.resolve();
    overtakenBy(world, async () => {
      push = world.deliver(EVENT, PARTNER);
      await held.left;
    });
    const first = await decideBy(world, CALLS.cancel, 'overtaken');
    expect(first.body).toMatchObject({ status: 409, code: 'live-claim' });
    held.answer(answered(500));
    await push;
    const again = await decideBy(world, CALLS.cancel, 'overtaken');
    expect(again.body).toMatchObject({ status: 409, code: 'live-claim' });
    expect(again.body).toHaveProperty('detail', expect.stringContaining('decide anew'));
    expect(await world.row(EVENT, PARTNER)).toMatchObject({ status: 'pending' });
  });

  it('keeps the first of two refusals, and being done before any', async () => {
    const world = await quarantined();
    await decideBy(world, CALLS.pause, 'r');
    const done = await decisionOf(world, 'r');
    const { result: _result, ...open } = done;
    const results: string[] = [];
    for (const [stands, result] of [
      ['live-claim', 'over-budget'],
      ['live-claim', 'done'],
      ['done', 'live-claim'],
    ] as const) {
      const before = await decisionOf(world, 'r');
      await world.records.replace(before, { ...before, version: before.version + 1, result: stands });
      results.push(await conclude(world.ports, { ...open, version: before.version }, result));
    }
    expect(results).toEqual(['live-claim', 'done', 'done']);
  });

  it('is done where the row names it, whatever was written down about it', async () => {
    const world = await quarantined();
    await decideBy(world, CALLS.redrive, 'torn');
    const done = await decisionOf(world, 'torn');
    await world.records.replace(done, { ...done, version: done.version + 1, result: 'live-claim' });
    expect((await decideBy(world, CALLS.redrive, 'torn')).status).toBe(200);
    expect(await decisionOf(world, 'torn')).toMatchObject({ result: 'done' });
  });

  it('is not refused for a write that changes nothing of what it decides', async () => {
    const world = await opened(openTestWorld());
    overtakenBy(world, async () => {
      world.sender.script(answered(500));
      await world.deliver(EVENT, PARTNER);
    });
    expect((await decideBy(world, CALLS.cancel, 'enough')).body).toMatchObject({ status: 'cancelled', attempts: 1 });
  });

  it('leaves nothing behind where it was refused before anything was written', async () => {
    const world = openTestWorld();
    await RESTING['claimed and live']?.(world);
    expect((await decideBy(world, CALLS.cancel, 'early')).status).toBe(409);
    expect(isDecided(world, 'early')).toBe(false);
  });
});

// ---- the pure part ------------------------------------------------------------------------------------------------

const ASKED: Asked = {
  request: requestId('r'),
  command: 'redrive',
  actor: 'ann',
  reason: 'because',
  event: eventIdOf('e'),
  destination: destinationIdOf('d'),
  more: [0, false],
};

describe('the fingerprint of a request', () => {
  it('is the same for the same words, under whatever id', () => {
    expect(fingerprintOfAsked({ ...ASKED, request: requestId('other') })).toBe(fingerprintOfAsked({ ...ASKED }));
    expect(fingerprintOfAsked(ASKED)).toMatch(/^[A-Za-z0-9_-]{43}$/);
  });

  it.each<[string, Partial<Asked>]>([
    ['command', { command: 'cancel' }],
    ['actor', { actor: 'bob' }],
    ['reason', { reason: 'because ' }],
    ['event', { event: eventIdOf('f') }],
    ['destination', { destination: destinationIdOf('e') }],
    ['operation', { operation: 'o' }],
    ['evidence', { evidence: 'x' }],
    ['grant', { more: [1, false] }],
    ['acceptance', { more: [0, true] }],
    ['number as text', { more: ['0', false] }],
    ['number of members', { more: [0] }],
  ])('changes with its %s', (_member, change) => {
    expect(fingerprintOfAsked({ ...ASKED, ...change })).not.toBe(fingerprintOfAsked(ASKED));
  });

  it('does not mix up what stands side by side', () => {
    const one = fingerprintOfAsked({ ...ASKED, actor: 'a","b', reason: 'c' });
    expect(one).not.toBe(fingerprintOfAsked({ ...ASKED, actor: 'a', reason: 'b","c' }));
  });
});

describe('a gate', () => {
  const gate: Gate = { item: 'gate', version: 1, destination: destinationIdOf('d'), carried: {} };

  it('knows the requests that changed it, the latest few of them', () => {
    const requests = Array.from({ length: GATE_DECISIONS_KEPT + 1 }, (_, n) => requestId(`r${n}`));
    const changed = requests.reduce(decidedBy, gate);
    expect(requests.map((request) => hasDecided(changed, request))).toEqual([
      false,
      ...requests.slice(1).map(() => true),
    ]);
    expect(hasDecided(gate, requestId('r0'))).toBe(false);
  });
});
