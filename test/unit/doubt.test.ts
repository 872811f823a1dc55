import { describe, expect, it } from 'vitest';
import { attemptsInDoubt } from '../../functions/core/doubt.ts';
import type { WriteId } from '../../functions/core/ids.ts';
import type { DecisionKind, Entry } from '../../functions/core/model.ts';
import type { OutcomeClass } from '../../functions/core/outcome.ts';

const base = { atMs: 1_767_225_600_000, writeId: 'w' as WriteId };
const outcome = (attempt: number, outcomeClass: OutcomeClass): Entry => ({
  kind: 'outcome',
  ...base,
  attempt,
  class: outcomeClass,
});
const late = (attempt: number, outcomeClass: OutcomeClass): Entry => ({
  ...outcome(attempt, outcomeClass),
  kind: 'late-outcome',
});
const decided = (decision: DecisionKind): Entry => ({ kind: 'decision', ...base, decision });
const ACCEPTED: Entry = { kind: 'accepted', ...base };
const SECOND: Entry = { kind: 'redriven', ...base, secondEffect: true };

describe('the attempts in doubt', () => {
  it.each<[story: string, entries: Entry[], open: number[]]>([
    ['none before the first attempt', [ACCEPTED], []],
    ['none where every attempt had an answer', [outcome(1, 'failed'), outcome(2, 'delivered')], []],
    ['none where nothing left', [outcome(1, 'not-sent'), outcome(2, 'withheld'), outcome(3, 'abandoned')], []],
    ['the one without an answer, though a later one succeeded', [outcome(1, 'in-doubt'), outcome(2, 'delivered')], [1]],
    ['not one whose answer came late', [outcome(1, 'in-doubt'), late(1, 'delivered')], []],
    ['each of several', [outcome(1, 'in-doubt'), outcome(2, 'failed'), outcome(3, 'in-doubt')], [1, 3]],
    ['still the first, where a person accepted a second effect', [outcome(1, 'in-doubt'), SECOND], [1]],
    ['not after a person said that it arrived', [outcome(1, 'in-doubt'), decided('resolve-delivered')], []],
    ['not after a person said that it did not', [outcome(1, 'in-doubt'), decided('resolve-not-delivered')], []],
    ['still there when it was cancelled', [outcome(1, 'in-doubt'), decided('cancel')], [1]],
    ['one that came after a resolution', [decided('resolve-not-delivered'), outcome(2, 'in-doubt')], [2]],
  ])('%s', (_story, entries, open) => {
    expect(attemptsInDoubt(entries)).toEqual(open);
  });
});
