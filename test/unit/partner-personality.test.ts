/**
 * Goal: the partner counts effects as the receiver would that it plays: once for each key, or for each request.
 * Method: one row for each personality over real connections, and a property over its memory of keys alone.
 */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Budget } from '../../infra/local/partner/budget.ts';
import { KEYS, KeyMemory, type Keys } from '../../infra/local/partner/personality.ts';
import { type Manner, replyOf } from '../../infra/local/partner/play.ts';
import type { Settings, Step } from '../../infra/local/partner/script.ts';
import { partnerWorld } from '../support/partner-world.ts';

/** What three requests with one key are answered, and how many effects that has; the third has another body. */
interface Row {
  readonly what: string;
  readonly settings: Settings;
  readonly steps: readonly Step[];
  readonly statuses: readonly number[];
  readonly effects: number;
}

const happy: readonly Step[] = [{ status: 200 }, { status: 201 }, { status: 202 }];
const failing: readonly Step[] = [{ status: 500 }, { status: 201 }, { status: 202 }];
const refusing: readonly Step[] = [{ status: 404 }, { status: 201 }, { status: 202 }];
const secretly: readonly Step[] = [{ status: 500, act: true }, { status: 201 }, { status: 202 }];

const ROWS: readonly Row[] = [
  { what: 'one effect, one answer', settings: {}, steps: happy, statuses: [200, 200, 200], effects: 1 },
  { what: 'a failure is done again', settings: {}, steps: failing, statuses: [500, 201, 201], effects: 1 },
  { what: 'a hidden effect is not had twice', settings: {}, steps: secretly, statuses: [500, 201, 201], effects: 1 },
  { what: 'each has its effect', settings: { keys: 'ignores' }, steps: happy, statuses: [200, 201, 202], effects: 3 },
  { what: 'a hidden one too', settings: { keys: 'ignores' }, steps: secretly, statuses: [500, 201, 202], effects: 3 },
  { what: 'failures stay', settings: { keys: 'replays-all' }, steps: failing, statuses: [500, 500, 500], effects: 0 },
  { what: 'successes stay', settings: { keys: 'replays-all' }, steps: happy, statuses: [200, 200, 200], effects: 1 },
  { what: 'only 2xx stay', settings: { keys: 'replays-2xx' }, steps: failing, statuses: [500, 201, 201], effects: 1 },
  { what: 'a 4xx goes', settings: { keys: 'stores-no-4xx' }, steps: refusing, statuses: [404, 201, 201], effects: 1 },
  { what: 'a 5xx stays', settings: { keys: 'stores-no-4xx' }, steps: failing, statuses: [500, 500, 500], effects: 0 },
  { what: 'nothing runs', settings: { keys: 'busy-409' }, steps: happy, statuses: [200, 200, 200], effects: 1 },
  {
    what: 'once and never again',
    settings: { keys: 'conflict-409' },
    steps: happy,
    statuses: [200, 409, 409],
    effects: 1,
  },
  {
    what: 'one by one, nothing races',
    settings: { keys: 'races' },
    steps: happy,
    statuses: [200, 200, 200],
    effects: 1,
  },
  { what: 'none is older', settings: { keys: 'acts-on-older' }, steps: happy, statuses: [200, 200, 200], effects: 1 },
  {
    what: 'no other body',
    settings: { keys: '422-on-other-body' },
    steps: happy,
    statuses: [200, 200, 422],
    effects: 1,
  },
  {
    what: 'not even after a failure',
    settings: { keys: '422-on-other-body' },
    steps: failing,
    statuses: [500, 201, 422],
    effects: 1,
  },
  { what: 'any body', settings: { keys: 'ignores-body' }, steps: happy, statuses: [200, 200, 200], effects: 1 },
  {
    what: 'once more when it has forgotten',
    settings: { keys: 'forgets-after', forgetsAfterMs: 2_000 },
    steps: happy,
    statuses: [200, 200, 202],
    effects: 2,
  },
];

describe('three requests with one key, the third with another body and a second between them', () => {
  it.each(ROWS.map((row) => [row.settings.keys ?? 'honours', row.what, row] as const))(
    '%s: %s',
    async (_keys, _what, row) => {
      const { clock, partner, send } = await partnerWorld();
      const mailbox = partner.script('box', row.steps, row.settings);
      const statuses: number[] = [];
      for (const body of ['{"n":1}', '{"n":1}', '{"n":2}']) {
        statuses.push((await send('box', { key: 'evt-1', body })).status);
        clock.pass(1_000);
      }
      expect({ statuses, effects: mailbox.effectCount }).toEqual({ statuses: row.statuses, effects: row.effects });
      expect(mailbox.requestCount).toBe(3);
      expect(mailbox.effects.every(({ key }) => key === 'evt-1')).toBe(true);
    },
  );

  it('every personality has a row', () => {
    const played = new Set(ROWS.map(({ settings }) => settings.keys ?? 'honours'));
    expect([...played].sort()).toEqual([...KEYS].sort());
  });
});

describe('a partner that honours keys', () => {
  it('counts one effect for a request repeated after its answer was lost, and then gives the answer', async () => {
    const { partner, send } = await partnerWorld();
    const mailbox = partner.script('lost', [{ reset: 'before-answer' }, { status: 500 }]);
    await expect(send('lost', { key: 'evt-1' })).rejects.toThrow();
    expect((await send('lost', { key: 'evt-1' })).status).toBe(200);
    expect(mailbox.effects).toHaveLength(1);
    expect(mailbox.requests.map(({ from, acted }) => ({ from, acted }))).toEqual([
      { from: 'script', acted: true },
      { from: 'memory', acted: false },
    ]);
  });

  it('has nothing to give again where the fault came before the work', async () => {
    const { partner, send } = await partnerWorld();
    const mailbox = partner.script('early', [{ reset: 'before-answer', act: false }, { status: 201 }]);
    await expect(send('early', { key: 'evt-1' })).rejects.toThrow();
    expect((await send('early', { key: 'evt-1' })).status).toBe(201);
    expect(mailbox.effects.map(({ request }) => request)).toEqual([2]);
  });

  it('goes on misbehaving by its script while it remembers the answer', async () => {
    const { partner, send } = await partnerWorld();
    const mailbox = partner.script('again', [{ status: 201 }, { reset: 'before-answer' }, { status: 500 }]);
    expect((await send('again', { key: 'evt-1' })).status).toBe(201);
    await expect(send('again', { key: 'evt-1' })).rejects.toThrow();
    expect((await send('again', { key: 'evt-1' })).status).toBe(201);
    expect(mailbox.effectCount).toBe(1);
  });

  it('tells keys apart, and cannot tell requests without a key apart', async () => {
    const { partner, send } = await partnerWorld();
    const mailbox = partner.mailbox('apart');
    for (const key of ['evt-1', 'evt-2', 'EVT-1', undefined, undefined]) {
      await send('apart', key === undefined ? {} : { key });
    }
    expect(mailbox.effects.map(({ key }) => key)).toEqual(['evt-1', 'evt-2', 'EVT-1', undefined, undefined]);
  });

  it('takes the webhook-id, and the Idempotency-Key where there is none', async () => {
    const { partner, send } = await partnerWorld();
    await send('both', { key: 'evt-1', headers: { 'idempotency-key': 'k1' } });
    expect(partner.mailbox('both').effects).toMatchObject([{ key: 'evt-1' }]);
    for (const _ of [1, 2]) await send('other', { headers: { 'idempotency-key': 'k1' } });
    expect(partner.mailbox('other').effects).toMatchObject([{ key: 'k1' }]);
  });
});

describe('a partner that says 409 while it is busy', () => {
  it('says it until the first answer is out, and then gives that answer', async () => {
    const { clock, partner, send } = await partnerWorld();
    const mailbox = partner.script('busy', [{ status: 201, delayMs: 1_000 }, { status: 202 }], { keys: 'busy-409' });
    const first = send('busy', { key: 'evt-1' });
    await mailbox.received(1);
    expect((await send('busy', { key: 'evt-1' })).status).toBe(409);
    expect((await send('busy', { key: 'evt-2' })).status).toBe(202);
    clock.pass(1_000);
    expect((await first).status).toBe(201);
    expect((await send('busy', { key: 'evt-1' })).status).toBe(201);
    expect(mailbox.effects.map(({ key }) => key)).toEqual(['evt-1', 'evt-2']);
  });

  it('is free again when the client of a hanging request has gone', async () => {
    const { partner, send } = await partnerWorld();
    const mailbox = partner.script('busy', [{ hang: true }, {}], { keys: 'busy-409' });
    const over = Promise.withResolvers<void>();
    partner.onAnswered(({ number }) => number === 1 && over.resolve());
    const patience = new AbortController();
    const first = send('busy', { key: 'evt-1', signal: patience.signal });
    await mailbox.received(1);
    expect((await send('busy', { key: 'evt-1' })).status).toBe(409);
    patience.abort();
    await expect(first).rejects.toThrow(/abort/i);
    await over.promise;
    expect((await send('busy', { key: 'evt-1' })).status).toBe(200);
    expect(mailbox.effectCount).toBe(1);
  });

  it('is the only one that does: others answer a second request of the same key at once', async () => {
    const { clock, partner, send } = await partnerWorld();
    const mailbox = partner.script('open', [{ status: 201, delayMs: 1_000 }, { status: 202 }]);
    const first = send('open', { key: 'evt-1' });
    await mailbox.received(1);
    expect((await send('open', { key: 'evt-1' })).status).toBe(201);
    clock.pass(1_000);
    await first;
    expect(mailbox.effectCount).toBe(1);
  });
});

const manners: readonly Manner[] = [{ kind: 'plain' }, { kind: 'hang' }, { kind: 'reset', when: 'before-answer' }];

const meeting = fc.record({
  key: fc.constantFrom('a', 'b', undefined),
  sha256: fc.constantFrom('one', 'two'),
  status: fc.constantFrom(200, 201, 404, 500),
  acts: fc.boolean(),
  manner: fc.constantFrom(...manners),
  gapMs: fc.nat(50),
  isOver: fc.boolean(),
});

const effectsOf = (keys: Keys, meetings: readonly (typeof meeting extends fc.Arbitrary<infer M> ? M : never)[]) => {
  const memory = new KeyMemory(new Budget(1_000_000));
  const effects: (string | undefined)[] = [];
  let nowMs = 0;
  for (const { key, sha256, status, acts, manner, gapMs, isOver } of meetings) {
    nowMs += gapMs;
    const play = { reply: replyOf(status, ''), manner, delayMs: 0, acts };
    const course = memory.meet({ key, sha256, nowMs }, play, {
      keys,
      forgetsAfterMs: keys === 'forgets-after' ? 100 : Infinity,
    });
    if (course.acts) effects.push(key);
    if (isOver) course.over();
  }
  return effects;
};

describe('whatever comes', () => {
  const remembering = KEYS.filter((keys) => keys !== 'ignores' && keys !== 'forgets-after' && keys !== 'races');

  it.each(remembering)('%s never has two effects for one key', (keys) => {
    fc.assert(
      fc.property(fc.array(meeting, { maxLength: 40 }), (meetings) => {
        const keyed = effectsOf(keys, meetings).filter((key) => key !== undefined);
        expect(new Set(keyed).size).toBe(keyed.length);
      }),
    );
  });

  it.each(['ignores', 'forgets-after'] as const)('%s has, so that the property above can fail', (keys) => {
    const twice = {
      key: 'a',
      sha256: 'one',
      status: 200,
      acts: true,
      manner: { kind: 'plain' },
      isOver: true,
    } as const;
    expect(
      effectsOf(keys, [
        { ...twice, gapMs: 0 },
        { ...twice, gapMs: 100 },
      ]),
    ).toEqual(['a', 'a']);
  });

  it('races has, where the second comes before the first is over, and only there', () => {
    const first = { key: 'a', sha256: 'one', status: 200, acts: true, manner: { kind: 'plain' }, gapMs: 0 } as const;
    const pair = (isOver: boolean) =>
      effectsOf('races', [
        { ...first, isOver },
        { ...first, isOver: true },
      ]);
    expect([pair(false), pair(true)]).toEqual([['a', 'a'], ['a']]);
  });

  it('acts-on-older has, for what was made before the first, and for nothing else', () => {
    const memory = new KeyMemory(new Budget(1_000_000));
    const acts = (madeSec: number): boolean => {
      const play = { reply: replyOf(200, ''), manner: { kind: 'plain' }, delayMs: 0, acts: true } as const;
      const arrival = { key: 'a', sha256: 'one', nowMs: 0, madeSec };
      const course = memory.meet(arrival, play, { keys: 'acts-on-older', forgetsAfterMs: Infinity });
      course.over();
      return course.acts;
    };
    expect([100, 100, 160, 40].map(acts)).toEqual([true, false, false, true]);
  });

  it('ignores has an effect for every request that acts', () => {
    fc.assert(
      fc.property(fc.array(meeting, { maxLength: 40 }), (meetings) => {
        expect(effectsOf('ignores', meetings)).toHaveLength(meetings.filter(({ acts }) => acts).length);
      }),
    );
  });

  it('a key is known until its time is over, to the millisecond', () => {
    const one = { key: 'a', sha256: 'one', status: 200, acts: true, manner: { kind: 'plain' }, isOver: true } as const;
    expect(
      effectsOf('forgets-after', [
        { ...one, gapMs: 7 },
        { ...one, gapMs: 99 },
      ]),
    ).toEqual(['a']);
    expect(
      effectsOf('forgets-after', [
        { ...one, gapMs: 7 },
        { ...one, gapMs: 100 },
      ]),
    ).toEqual(['a', 'a']);
  });
});

describe('the memory of keys', () => {
  const plain = { reply: replyOf(200, ''), manner: { kind: 'plain' }, delayMs: 0, acts: true } as const;
  const honours = { keys: 'honours', forgetsAfterMs: Infinity } as const;

  it('drops the oldest key when its share is full, and says so', () => {
    const memory = new KeyMemory(new Budget(650));
    for (const key of ['a', 'b', 'c']) memory.meet({ key, sha256: 'x', nowMs: 0 }, plain, honours);
    expect(memory.dropped).toBe(1);
    expect(memory.meet({ key: 'c', sha256: 'x', nowMs: 0 }, plain, honours).acts).toBe(false);
    expect(memory.meet({ key: 'a', sha256: 'x', nowMs: 0 }, plain, honours).acts).toBe(true);
  });

  it('gives its share back when it is cleared', () => {
    const budget = new Budget(1_000_000);
    const memory = new KeyMemory(budget);
    memory.meet({ key: 'a', sha256: 'x', nowMs: 0 }, plain, honours);
    expect(budget.bytes).toBeGreaterThan(0);
    memory.clear();
    expect(budget.bytes).toBe(0);
  });
});
