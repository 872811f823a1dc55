/**
 * Edges of the machine that no other test stood at: each of these promises could be broken without anybody noticing,
 * until mutants of the code showed it (`npm run mutate`).
 */
import { describe, expect, it } from 'vitest';
import { closedUntil } from '../../functions/core/breaker.ts';
import { placeWaitMs, slotOf } from '../../functions/core/gate.ts';
import { GRANT_MAX, SKEW_MARGIN_MS } from '../../functions/core/limits.ts';
import { effectsAgain } from '../../functions/core/machine.ts';
import type { Quarantined } from '../../functions/core/model.ts';
import { classify } from '../../functions/core/outcome.ts';
import { dueAfter } from '../../functions/core/schedule.ts';
import {
  cancel,
  claim,
  defer,
  effectsOf,
  entriesOf,
  HOUR_MS,
  LINE,
  lastTaken,
  mark,
  outcomeOf,
  park,
  play,
  redrive,
  resolve,
  SAFE,
  SECOND_MS,
  START_MS,
  saidOf,
  sceneOf,
  settle,
  sweep,
  UNSAFE,
  wait,
} from '../support/machine.ts';

const LAPSE = wait(36 * SECOND_MS);
const held = (over: Partial<Quarantined> = {}): Quarantined => {
  const { row } = play([claim('a'), settle('a', 'rejected')]);
  if (row.status !== 'quarantined') throw new TypeError(row.status);
  return { ...row, ...over };
};

describe('a grant', () => {
  it.each([0, 1, GRANT_MAX])('may be %d', (grant) => {
    expect(saidOf(play([redrive('r-1', { grant })], sceneOf({ row: held() })))).toBe('redriven');
  });

  it.each([-1, 0.5, Number.NaN, GRANT_MAX + 1])('may not be %d: nothing is written', (grant) => {
    const scene = play([redrive('r-1', { grant })], sceneOf({ row: held({ budget: 1 }) }));
    expect(saidOf(scene)).toBe('life-bound');
    expect(scene.row.version).toBe(held().version);
  });
});

describe('a request that comes again when the row is held once more', () => {
  const again = [claim('b'), settle('b', 'rejected')] as const;

  it('is not carried out a second time, whatever it asks for', () => {
    const redriven = play([redrive('r-1'), ...again], sceneOf({ row: held() }));
    expect(redriven.row.status).toBe('quarantined');
    expect(saidOf(play([redrive('r-1')], redriven))).toBe('repeated');
    const resolved = play([resolve('r-1', 'not-delivered'), ...again], sceneOf({ row: held() }));
    expect(resolved.row.status).toBe('quarantined');
    expect(saidOf(play([resolve('r-1', 'not-delivered')], resolved))).toBe('repeated');
    // A request under a name that only a worker has used is new.
    expect(saidOf(play([cancel('r-2')], resolved))).toBe('cancelled');
  });
});

describe('a doubt that is unsafe', () => {
  it('stays so behind attempts under which a repeat would be safe', () => {
    const unsafe = play([claim('a', UNSAFE), mark('a'), LAPSE]).row;
    const accepted = play([claim('b', SAFE)], sceneOf({ row: unsafe, nowMs: START_MS + 36 * SECOND_MS }));
    expect(accepted.row).toMatchObject({ status: 'quarantined', reason: 'in-doubt', doubt: 'unsafe' });
  });

  it('is said to be one where a live claim was made on it, and its answer never comes', () => {
    const claimed = play([claim('a', SAFE)]).row;
    const scene = play([settle('a', 'in-doubt', undefined, SAFE)], {
      ...play([claim('a', SAFE)]),
      row: { ...claimed, doubt: 'unsafe' },
    });
    expect(scene.row).toMatchObject({ status: 'quarantined', reason: 'in-doubt', doubt: 'unsafe' });
  });

  it('and so is one that a lapsed claim leaves behind', () => {
    const claimed = play([claim('a', SAFE)]);
    const scene = play([LAPSE, claim('b', SAFE)], { ...claimed, row: { ...claimed.row, doubt: 'unsafe' } });
    expect(scene.row).toMatchObject({ status: 'quarantined', doubt: 'unsafe' });
  });
});

describe('what is learned of an attempt', () => {
  it('says only what there is: no duration and no next time where there are none', () => {
    const { row } = play([claim('a'), settle('a', 'withheld')]);
    expect(entriesOf(row).at(-1)).not.toHaveProperty('durationMs');
    const last = entriesOf(play([claim('a'), settle('a', 'delivered')]).row).at(-1);
    expect(last).not.toHaveProperty('nextAtMs');
    expect(last).toHaveProperty('durationMs', 120);
  });

  it('keeps the first and the latest excerpt through everything that follows', () => {
    const failed = (text: string) => outcomeOf('failed', { excerpt: text });
    const { row } = play([
      claim('a'),
      settle('a', failed('first')),
      wait(HOUR_MS),
      claim('b'),
      settle('b', failed('second')),
      wait(HOUR_MS),
      claim('c'),
    ]);
    expect(row).toMatchObject({
      status: 'claimed',
      firstExcerpt: { attempt: 1, text: 'first' },
      latestExcerpt: { attempt: 2, text: 'second' },
    });
    expect(play([claim('a')]).row).not.toHaveProperty('firstExcerpt');
    expect(play([claim('a')]).row).not.toHaveProperty('latestExcerpt');
  });

  it('of a wait is told with the claim that ends it, and not with one that takes over', () => {
    const waited = play([defer(2 * SECOND_MS), wait(3 * SECOND_MS), claim('a')]);
    expect(entriesOf(waited.row).at(-1)).toMatchObject({ kind: 'claimed', waits: { count: 1 } });
    const taken = play([claim('a'), LAPSE, claim('b')]);
    expect(entriesOf(taken.row).at(-1)).toMatchObject({ kind: 'claimed', attempt: 2 });
    expect(entriesOf(taken.row).at(-1)).not.toHaveProperty('waits');
    expect(entriesOf(play([claim('a')]).row).at(-1)).not.toHaveProperty('waits');
  });

  it('is planned again for a settle whose answer was lost, and for nothing else', () => {
    const scene = play([claim('a'), settle('a', 'failed')]);
    const { input, nowMs, decision } = lastTaken(scene);
    const planned = decision.kind === 'write' ? decision.after : [];
    expect(planned.map(({ kind }) => kind)).toEqual(['publish']);
    expect(effectsAgain(scene.row, input, nowMs)).toEqual(planned);
    const parked = play([park()]);
    expect(effectsAgain(parked.row, lastTaken(parked).input, nowMs)).toEqual([]);
  });
});

describe('an attempt that was withheld with the last of the budget', () => {
  it('ends it: nothing is planned that could never be claimed', () => {
    const { row } = play([claim('a'), settle('a', 'withheld', { kind: 'park', reason: 'paused' })], {
      ...play([claim('a')]),
      row: { ...play([claim('a')]).row, budget: 1, refunds: 0 },
    });
    // The unit came back, so the row may wait.
    expect(row).toMatchObject({ status: 'pending', refunds: 1 });
    const spent = play([settle('a', 'withheld', { kind: 'park', reason: 'paused' })], {
      ...play([claim('a')]),
      row: { ...play([claim('a')]).row, budget: 1, attempts: 6, refunds: 5 },
    });
    expect(spent.row).toMatchObject({ status: 'quarantined', reason: 'budget', refunds: 5 });
  });
});

describe('a look', () => {
  it('at the last instant of a lease moves nothing: the next one finds it lapsed', () => {
    const claimed = play([claim('a')]).row;
    if (claimed.status !== 'claimed') throw new TypeError(claimed.status);
    const lapsesMs = claimed.claim.leaseEndsAtMs + SKEW_MARGIN_MS;
    const scene = sceneOf({ row: { ...claimed, lookAfterMs: START_MS }, nowMs: lapsesMs });
    expect(saidOf(play([sweep()], scene))).toBe('not-due');
    expect(saidOf(play([sweep()], { ...scene, nowMs: lapsesMs - 1 }))).toBe('looked-after');
  });

  it('that lets a parked row go writes the next version, and publishes for that one', () => {
    const parked = play([park(), wait(2 * HOUR_MS)]);
    const scene = play([{ do: 'sweep', gate: 'open', slotInMs: 3 * SECOND_MS }], parked);
    expect(scene.row).toMatchObject({ version: parked.row.version + 1, deferral: { line: LINE } });
    expect(scene.row).not.toHaveProperty('parking');
    expect(effectsOf(scene)).toMatchObject([{ kind: 'publish', version: parked.row.version }]);
  });
});

describe('a slot', () => {
  const { row } = play([defer(2 * SECOND_MS)]);
  const untilMs = START_MS + 2 * SECOND_MS;

  it('is kept in its own line, from its time on', () => {
    expect(slotOf(row, LINE, untilMs)).toBe(untilMs);
    expect(slotOf(row, LINE, untilMs - 1)).toBeUndefined();
    expect(slotOf(row, LINE + 1, untilMs)).toBeUndefined();
    expect(slotOf(play([claim('a')]).row, LINE, untilMs)).toBeUndefined();
  });

  it('of a crowd is waited for longer each time, and by nobody who does not wait', () => {
    const waits = [0, 1, 2].map((count) =>
      placeWaitMs({ ...play([]).row, waits: { count, sinceMs: START_MS, reason: 'concurrency' } } as typeof row, 0),
    );
    expect(waits).toEqual([1_000, 2_000, 4_000]);
    expect(placeWaitMs(play([claim('a')]).row, 0)).toBe(1_000);
  });
});

describe('at a boundary', () => {
  it('a closing that ends now is over: the next one begins anew', () => {
    const gate = { item: 'gate', version: 1, destination: 'd' as never, carried: {} } as const;
    const closed = { ...gate, closedUntilMs: START_MS, closedSinceMs: START_MS - HOUR_MS };
    expect(closedUntil(closed, START_MS + 1, START_MS)?.closedSinceMs).toBe(START_MS);
    expect(closedUntil(closed, START_MS + 1, START_MS - 1)?.closedSinceMs).toBe(START_MS - HOUR_MS);
  });

  it('399 is still a redirect, 400 is none', () => {
    const detailOf = (status: number) =>
      classify(
        { kind: 'answered', status, retryAfter: [], excerpt: '', durationMs: 1 },
        { repeatSafe: true, rejectOn: [] },
        START_MS,
      ).detail;
    expect([detailOf(399), detailOf(400)]).toEqual(['redirect', 'status-400']);
  });

  it('a wish beyond all numbers ends as horizon, however long the horizon is', () => {
    const due = { nowMs: START_MS, delayMs: 1_000, horizonEndMs: Number.MAX_SAFE_INTEGER };
    expect(dueAfter({ ...due, retryAfterMs: 'beyond' })).toEqual({ kind: 'horizon' });
    expect(dueAfter(due).kind).toBe('due');
  });
});
