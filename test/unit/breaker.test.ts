import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  afterFailure,
  afterSuccess,
  BREAKER_ACTOR,
  closedUntil,
  paused,
  probeTaken,
  resumed,
} from '../../functions/core/breaker.ts';
import { viewGate } from '../../functions/core/gate.ts';
import type { Gate, Pause } from '../../functions/core/items.ts';
import {
  BREAKER_FAILURES,
  BREAKER_MS,
  CROWDED_MS,
  CROWDED_STEP_MS,
  PROBE_EVERY_MS,
} from '../../functions/core/limits.ts';
import { destinationOf, HOUR_MS, MINUTE_MS, SECOND_MS, START_MS } from '../support/machine.ts';
import { gateItem } from '../support/rows.ts';

const OPEN = gateItem();
const BY_ANA: Pause = { by: 'ana', reason: 'their maintenance', sinceMs: START_MS };
const BY_BREAKER: Pause = { by: 'system', reason: 'failures', sinceMs: START_MS, probeAtMs: START_MS + 1_000 };

/** One failure after another, at these times after the start. */
const failed = (timesMs: readonly number[], gate: Gate = OPEN, timedOut = false): Gate =>
  timesMs.reduce((before, atMs) => afterFailure(before, timedOut, START_MS + atMs), gate);

const evenly = (count: number, overMs: number): number[] =>
  Array.from({ length: count }, (_, n) => Math.floor((n * overMs) / (count - 1)));

describe('the count of failures', () => {
  it('grows by one with each, and remembers when the first of the row was', () => {
    expect(failed([0]).failures).toEqual({ count: 1, sinceMs: START_MS });
    expect(failed([0, 5_000, 9_000]).failures).toEqual({ count: 3, sinceMs: START_MS });
  });

  it('is gone with one success, and the next failure begins a new row', () => {
    const cleared = afterSuccess(failed(evenly(19, BREAKER_MS)));
    expect(cleared).toEqual(OPEN);
    const again = failed([BREAKER_MS + 1], cleared);
    expect(again.failures).toEqual({ count: 1, sinceMs: START_MS + BREAKER_MS + 1 });
    expect(again.pause).toBeUndefined();
  });

  it('costs a success no write where there is none', () => {
    expect(afterSuccess(OPEN)).toBeUndefined();
    expect(afterSuccess(gateItem({ pause: BY_ANA, closedUntilMs: START_MS }))).toBeUndefined();
  });

  it('takes nothing else away with a success: a pause and a closing stay', () => {
    const gate = gateItem({ pause: BY_ANA, closedUntilMs: START_MS + 1, crowdedUntilMs: START_MS + 2 });
    expect(afterSuccess({ ...gate, failures: { count: 3, sinceMs: START_MS } })).toEqual(gate);
  });
});

describe('the breaker', () => {
  it('opens at the twentieth failure in a row, once ten minutes are over, and not one earlier', () => {
    const nineteen = failed(evenly(20, BREAKER_MS).slice(0, 19));
    expect(nineteen.pause).toBeUndefined();
    const nowMs = START_MS + BREAKER_MS;
    expect(afterFailure(nineteen, false, nowMs).pause).toEqual({
      by: BREAKER_ACTOR,
      reason: '20 failures in a row over 10 minutes',
      sinceMs: nowMs,
      probeAtMs: nowMs + PROBE_EVERY_MS,
    });
  });

  it('stays shut for a burst, however large, and opens with the first failure behind the ten minutes', () => {
    const burst = failed(Array.from({ length: 1_000 }, (_, n) => n));
    expect(burst.pause).toBeUndefined();
    expect(failed([BREAKER_MS - 1], burst).pause).toBeUndefined();
    expect(failed([BREAKER_MS], burst).pause?.reason).toBe('1001 failures in a row over 10 minutes');
  });

  it('stays shut however long few failures last', () => {
    expect(failed(evenly(BREAKER_FAILURES - 1, 24 * HOUR_MS)).pause).toBeUndefined();
  });

  it('opens once: failures behind it change neither its time, its reason nor its probe', () => {
    const open = failed(evenly(20, BREAKER_MS));
    const later = failed([BREAKER_MS + 1, BREAKER_MS + MINUTE_MS], open);
    expect(later.pause).toEqual(open.pause);
    expect(later.failures?.count).toBe(22);
  });

  it("never takes the place of a person's pause", () => {
    expect(failed(evenly(40, BREAKER_MS), gateItem({ pause: BY_ANA })).pause).toEqual(BY_ANA);
  });

  it('may open again after a resume only with a row of its own', () => {
    const open = resumed(failed(evenly(20, BREAKER_MS)));
    expect(open).toEqual({ ...OPEN, resumes: 1 });
    expect(failed([BREAKER_MS + 1], open).pause).toBeUndefined();
  });

  it('opens exactly where both bounds are reached, for any row of failures', () => {
    const rows = fc.array(fc.integer({ min: 0, max: 2 * BREAKER_MS }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(rows, (times) => {
        const sorted = times.toSorted((a, b) => a - b);
        const first = sorted[0] ?? 0;
        const opening = sorted.findIndex((atMs, n) => n + 1 >= BREAKER_FAILURES && atMs - first >= BREAKER_MS);
        const gate = failed(sorted);
        expect(gate.pause?.sinceMs).toBe(opening < 0 ? undefined : START_MS + (sorted[opening] ?? 0));
        expect(gate.failures).toEqual({ count: sorted.length, sinceMs: START_MS + first });
      }),
    );
  });
});

describe('a crowded destination', () => {
  it('is so for ten minutes after a time-out, and not after any other failure', () => {
    expect(failed([0], OPEN, true).crowdedUntilMs).toBe(START_MS + CROWDED_MS);
    expect(failed([0]).crowdedUntilMs).toBeUndefined();
  });

  it('stays so a little longer with each further time-out, but not for every one a write of its end', () => {
    const crowded = failed([0], OPEN, true);
    expect(failed([CROWDED_STEP_MS - 1], crowded, true).crowdedUntilMs).toBe(START_MS + CROWDED_MS);
    expect(failed([CROWDED_STEP_MS], crowded, true).crowdedUntilMs).toBe(START_MS + CROWDED_STEP_MS + CROWDED_MS);
  });

  it('never becomes less crowded by a time-out that is told late', () => {
    const crowded = failed([HOUR_MS], OPEN, true);
    expect(failed([0], crowded, true).crowdedUntilMs).toBe(crowded.crowdedUntilMs);
  });

  it('has its end within a minute of ten minutes behind the latest time-out, for any row of them', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: HOUR_MS }), { minLength: 1, maxLength: 40 }), (times) => {
        const sorted = times.toSorted((a, b) => a - b);
        const latest = START_MS + (sorted.at(-1) ?? 0);
        const untilMs = failed(sorted, OPEN, true).crowdedUntilMs ?? 0;
        expect(untilMs).toBeGreaterThan(latest + CROWDED_MS - CROWDED_STEP_MS);
        expect(untilMs).toBeLessThanOrEqual(latest + CROWDED_MS);
      }),
    );
  });
});

describe('a probe', () => {
  const paused = (probeAtMs: number) => gateItem({ pause: { ...BY_BREAKER, probeAtMs } });

  it('is taken once its time has come, and moves that time five minutes on', () => {
    expect(probeTaken(paused(START_MS), START_MS - 1)).toBeUndefined();
    const taken = probeTaken(paused(START_MS), START_MS);
    expect(taken).toEqual(paused(START_MS + PROBE_EVERY_MS));
    expect(probeTaken(paused(START_MS), START_MS + HOUR_MS)).toEqual(paused(START_MS + HOUR_MS + PROBE_EVERY_MS));
  });

  it('is nothing for a second one: who comes behind it finds it in the future', () => {
    const taken = probeTaken(paused(START_MS), START_MS);
    expect(taken && probeTaken(taken, START_MS)).toBeUndefined();
    expect(taken && probeTaken(taken, START_MS + PROBE_EVERY_MS)).toBeDefined();
  });

  it("is never taken through a person's pause, nor where nothing is paused", () => {
    expect(probeTaken(gateItem({ pause: BY_ANA }), START_MS + HOUR_MS)).toBeUndefined();
    expect(probeTaken(OPEN, START_MS)).toBeUndefined();
  });

  // The view asks for the pause first, so a probe goes out while the destination itself has asked to be left alone.
  it('does not go through a closing: a destination that asked to be left alone until then is', () => {
    const closedUntilMs = START_MS + HOUR_MS;
    const gate = { ...paused(START_MS), closedUntilMs, closedSinceMs: START_MS - MINUTE_MS };
    const view = viewGate({ kind: 'found', item: destinationOf() }, { kind: 'found', item: gate }, START_MS);
    expect(view).toMatchObject({ kind: 'park', opensAtMs: closedUntilMs });
  });
});

describe('a closing', () => {
  it('has an end that only grows, and remembers when it began', () => {
    const closed = closedUntil(OPEN, START_MS + MINUTE_MS, START_MS);
    expect(closed).toEqual(gateItem({ closedUntilMs: START_MS + MINUTE_MS, closedSinceMs: START_MS }));
    const at = (untilMs: number) => closed && closedUntil(closed, untilMs, START_MS + SECOND_MS);
    expect(at(START_MS + MINUTE_MS)).toBeUndefined();
    expect(at(START_MS + MINUTE_MS - 1)).toBeUndefined();
    expect(at(START_MS + MINUTE_MS + 1)).toMatchObject({
      closedUntilMs: START_MS + MINUTE_MS + 1,
      closedSinceMs: START_MS,
    });
  });

  it('begins anew where the one before is over', () => {
    const old = gateItem({ closedUntilMs: START_MS - 1, closedSinceMs: START_MS - HOUR_MS });
    expect(closedUntil(old, START_MS + 1, START_MS)).toMatchObject({ closedSinceMs: START_MS });
  });

  it('is nothing when its end is not ahead', () => {
    for (const untilMs of [START_MS, START_MS - 1, 0]) expect(closedUntil(OPEN, untilMs, START_MS)).toBeUndefined();
  });

  it('leaves a pause and a count as they are', () => {
    const gate = gateItem({ pause: BY_ANA, failures: { count: 2, sinceMs: START_MS } });
    expect(closedUntil(gate, START_MS + 9, START_MS)).toMatchObject({ pause: gate.pause, failures: gate.failures });
  });

  it('never ends earlier than any that was asked for, in whatever order they are told', () => {
    const asked = fc.array(
      fc.record({ atMs: fc.integer({ min: 0, max: HOUR_MS }), forMs: fc.integer({ min: 1, max: HOUR_MS }) }),
      { minLength: 1, maxLength: 30 },
    );
    fc.assert(
      fc.property(asked, (all) => {
        const gate = all.reduce<Gate>(
          (before, { atMs, forMs }) => closedUntil(before, START_MS + atMs + forMs, START_MS + atMs) ?? before,
          OPEN,
        );
        expect(gate.closedUntilMs).toBe(Math.max(...all.map(({ atMs, forMs }) => START_MS + atMs + forMs)));
      }),
    );
  });
});

describe('a pause', () => {
  it('of a person stands: a second one changes neither its name nor its reason', () => {
    const byAna = paused(OPEN, BY_ANA);
    expect(byAna?.pause).toEqual(BY_ANA);
    expect(byAna && paused(byAna, { ...BY_ANA, by: 'ben', reason: 'other' })).toBeUndefined();
  });

  it("takes the place of the breaker's, so that no probe ends what a person began", () => {
    const gate = paused(gateItem({ pause: BY_BREAKER, failures: { count: 20, sinceMs: START_MS } }), BY_ANA);
    expect(gate?.pause).toEqual(BY_ANA);
    expect(gate && probeTaken(gate, START_MS + 24 * HOUR_MS)).toBeUndefined();
  });

  it('ends with a resume, and closing and count with it; a crowd does not', () => {
    const gate = gateItem({
      pause: BY_ANA,
      closedUntilMs: START_MS,
      closedSinceMs: START_MS,
      failures: { count: 1, sinceMs: START_MS },
      crowdedUntilMs: START_MS,
    });
    expect(resumed(gate)).toEqual(gateItem({ crowdedUntilMs: START_MS, resumes: 1 }));
  });

  it('that is not there needs no write to end', () => {
    expect(resumed(OPEN)).toBeUndefined();
    expect(resumed(gateItem({ crowdedUntilMs: START_MS }))).toBeUndefined();
  });
});

describe('every change of a gate', () => {
  const changes: readonly [string, (gate: Gate) => Gate | undefined][] = [
    ['failure', (gate) => afterFailure(gate, true, START_MS)],
    ['success', afterSuccess],
    ['probe', (gate) => probeTaken(gate, START_MS + HOUR_MS)],
    ['closing', (gate) => closedUntil(gate, START_MS + HOUR_MS, START_MS)],
    ['pause', (gate) => paused(gate, BY_ANA)],
    ['resume', resumed],
  ];

  it.each(changes)(
    'carries along what this code does not know, and leaves version and name to the swap: %s',
    (_n, change) => {
      const gate = gateItem({
        version: 7,
        pause: BY_BREAKER,
        failures: { count: 3, sinceMs: START_MS },
        carried: { later: 'attribute' },
      });
      const before = structuredClone(gate);
      expect(change(gate)).toMatchObject({
        version: 7,
        destination: gate.destination,
        carried: { later: 'attribute' },
      });
      expect(gate).toEqual(before);
    },
  );
});
