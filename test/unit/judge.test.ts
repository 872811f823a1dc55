import { describe, expect, it } from 'vitest';
import {
  awaitsResult,
  countedOnce,
  isAbove,
  judge,
  judgedByMs,
  progressOf,
  shareOf,
} from '../../functions/core/judge.ts';
import { leaseMsOf, TIMEOUT_MS_MAX } from '../../functions/core/limits.ts';
import type { OperationMessage, ResultKind } from '../../functions/core/operations.ts';
import type { OutcomeClass } from '../../functions/core/outcome.ts';
import {
  cancel,
  claim,
  destinationIdOf,
  eventIdOf,
  HOUR_MS,
  MINUTE_MS,
  mark,
  park,
  play,
  SAFE,
  SHADOW,
  type Step,
  sceneOf,
  settle,
  UNSAFE,
  wait,
} from '../support/machine.ts';
import { operationMessageItem } from '../support/rows.ts';

const judged = (attemptsBefore: number, ...steps: readonly Step[]) => judge(play(steps).row, attemptsBefore);
const failedOnce = [claim('a'), settle('a', 'failed'), wait(MINUTE_MS)];

describe('the result of a redrive', () => {
  it.each<[OutcomeClass, ResultKind]>([
    ['delivered', 'delivered'],
    ['throttled', 'failed'],
    ['failed', 'failed'],
    ['rejected', 'failed'],
    ['gone', 'failed'],
    ['not-sent', 'failed'],
    ['in-doubt', 'in-doubt'],
  ])('is the first outcome behind it: %s is %s', (outcome, result) => {
    expect(judged(1, ...failedOnce, claim('b'), settle('b', outcome))).toEqual({ result, attempt: 2 });
  });

  it('is not an outcome from before', () => {
    expect(judged(1, ...failedOnce)).toEqual({ result: 'open' });
    expect(judged(0, ...failedOnce)).toEqual({ result: 'failed', attempt: 1 });
  });

  it('stays the first one, whatever comes behind it', () => {
    const steps = [
      ...failedOnce,
      claim('b'),
      settle('b', 'failed'),
      wait(HOUR_MS),
      claim('c'),
      settle('c', 'delivered'),
    ];
    expect(judged(1, ...steps)).toEqual({ result: 'failed', attempt: 2 });
  });

  it('is open as long as the delivery waits or is under way, parked or not', () => {
    expect(judged(0)).toEqual({ result: 'open' });
    expect(judged(0, park())).toEqual({ result: 'open' });
    expect(judged(0, claim('a'))).toEqual({ result: 'open' });
  });

  it('does not count an attempt that ended before its first byte', () => {
    expect(judged(0, claim('a'), settle('a', 'withheld', { kind: 'again' }))).toEqual({ result: 'open' });
    const steps = [
      claim('a'),
      settle('a', 'withheld', { kind: 'again' }),
      wait(MINUTE_MS),
      claim('b'),
      settle('b', 'delivered'),
    ];
    expect(judged(0, ...steps)).toEqual({ result: 'delivered', attempt: 2 });
  });

  it('is deduplicated where the effect turns out to be that of an attempt from before', () => {
    const late = [claim('a'), wait(HOUR_MS), settle('a', 'delivered')];
    expect(judged(1, ...late)).toEqual({ result: 'deduplicated' });
  });

  it('is dropped where somebody has cancelled it, or nothing is ever sent there', () => {
    expect(judged(0, cancel('r'))).toEqual({ result: 'dropped' });
    expect(judge(play([claim('a')], sceneOf({ rules: SHADOW })).row, 0)).toEqual({ result: 'dropped' });
  });

  it('is in doubt where the claim found an old attempt without an answer and made no other', () => {
    const scene = play([claim('a'), mark('a'), wait(HOUR_MS), claim('b')], sceneOf({ rules: UNSAFE }));
    expect(judge(scene.row, 1)).toEqual({ result: 'in-doubt' });
  });

  it('is held where the claim was refused for another reason', () => {
    const spent = [claim('a'), settle('a', 'failed')];
    expect(judge(play(spent, sceneOf({ rules: { ...SAFE, scheduleSec: [] } })).row, 1)).toEqual({ result: 'held' });
  });
});

describe('the time for a result', () => {
  it('is the lease of an attempt and a minute, from the deed on', () => {
    const row = play([]).row;
    expect(judgedByMs(1_000, row)).toBe(1_000 + leaseMsOf(SAFE.timeoutMs) + 60_000);
    expect(judgedByMs(1_000, undefined)).toBe(1_000 + leaseMsOf(TIMEOUT_MS_MAX) + 60_000);
  });

  it('runs for what was put back, and for a letter that was gone while its delivery waits', () => {
    const one = (over: Partial<OperationMessage>) => awaitsResult(operationMessageItem(over));
    expect(one({ action: 'requeued' })).toBe(true);
    expect(one({ action: 'gone' })).toBe(true);
    expect(one({ action: 'gone', finding: 'accept' })).toBe(false);
    expect(one({ action: 'requeued', result: 'open' })).toBe(false);
    expect(one({ action: 'left' })).toBe(false);
    expect(one({})).toBe(false);
  });
});

const of = (batch: number, ...results: readonly (ResultKind | undefined)[]): readonly OperationMessage[] =>
  results.map((result, position) =>
    operationMessageItem({ position, batch, ...(result === undefined ? {} : { result }) }),
  );

describe('one attempt that is the result of several messages', () => {
  const named = (event: string, attempt: number | undefined, result: ResultKind) =>
    operationMessageItem({
      event: eventIdOf(event),
      destination: destinationIdOf('partner'),
      result,
      ...(attempt === undefined ? {} : { attempt }),
    });

  it('is counted for the first of them, whatever it came to', () => {
    const messages = [
      named('a', 2, 'failed'),
      named('a', 2, 'failed'),
      named('b', 2, 'delivered'),
      named('a', 3, 'delivered'),
      named('b', 2, 'delivered'),
      named('c', undefined, 'open'),
      named('c', undefined, 'open'),
    ];
    expect(countedOnce(messages).map(({ result }) => result)).toEqual([
      ...['failed', 'deduplicated', 'delivered', 'delivered', 'deduplicated', 'open', 'open'],
    ]);
  });
});

describe('the share of failures in a batch', () => {
  it('is taken among first outcomes only, of this batch only', () => {
    const batch = [
      ...of(2, 'failed', 'in-doubt', 'delivered', 'open', 'held', 'deduplicated', undefined),
      ...of(1, 'failed'),
    ];
    expect(shareOf(batch, 2)).toEqual({ judged: 3, failed: 2 });
  });

  it('stops a run above the bound, not at it, and never where nothing was judged', () => {
    expect(isAbove({ judged: 4, failed: 2 }, 0.5)).toBe(false);
    expect(isAbove({ judged: 4, failed: 3 }, 0.5)).toBe(true);
    expect(isAbove({ judged: 1, failed: 1 }, 1)).toBe(false);
    expect(isAbove({ judged: 1, failed: 1 }, 0)).toBe(true);
    expect(isAbove({ judged: 0, failed: 0 }, 0)).toBe(false);
  });
});

describe('the progress of a run', () => {
  it('adds up to the plan: every message is waiting, or has one result', () => {
    const messages = [
      operationMessageItem({ position: 0 }),
      operationMessageItem({ position: 1, action: 'requeued' }),
      operationMessageItem({ position: 2, action: 'requeued', result: 'delivered' }),
      operationMessageItem({ position: 3, finding: 'drop', action: 'discarded', result: 'deduplicated' }),
      operationMessageItem({ position: 4, finding: 'foreign', action: 'left', result: 'held' }),
      operationMessageItem({ position: 5, finding: 'poison', action: 'requeued', result: 'dropped' }),
      operationMessageItem({ position: 6, finding: 'accept', action: 'gone', result: 'gone' }),
    ];
    const { results, ...progress } = progressOf(messages);
    expect(progress).toEqual({ requested: 3, requeued: 2, removed: 5, waiting: 1 });
    expect(results).toMatchObject({ open: 1, delivered: 1, deduplicated: 1, held: 1, dropped: 1, gone: 1 });
    expect(Object.values(results).reduce((sum, n) => sum + n, 0) + progress.waiting).toBe(messages.length);
  });
});
