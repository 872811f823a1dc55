/** The checker of the invariants can fail: for each of them one transition that is bent by hand, and must be seen. */
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../functions/core/inputs.ts';
import { append } from '../../functions/core/journal.ts';
import { decide } from '../../functions/core/machine.ts';
import type { Delivery } from '../../functions/core/model.ts';
import {
  cancel,
  claim,
  DAY_MS,
  entriesOf,
  HOUR_MS,
  lastTaken,
  mark,
  park,
  play,
  redrive,
  refuse,
  resolve,
  SECOND_MS,
  SHADOW,
  START_MS,
  type Step,
  settle,
  sweep,
  type Taken,
  UNSAFE,
  wait,
  writeIdOf,
} from '../support/machine.ts';
import { type InvariantId, impuritiesOf, violationsOf } from '../support/machine-invariants.ts';

interface Bent {
  readonly title: string;
  /** A history whose last decision is good. */
  readonly steps: readonly Step[];
  readonly bend: (taken: Taken) => Taken;
}

type Write = Extract<Decision, { kind: 'write' }>;
const written = ({ decision }: Taken): Write => {
  if (decision.kind !== 'write') throw new TypeError(`nothing was written: ${decision.kind}`);
  return decision;
};
/** Changes the row that is written; whatever is given wins, also where it makes no sense. */
const bendRow =
  (change: object | ((taken: Taken, next: Delivery) => object)) =>
  (taken: Taken): Taken => {
    const decision = written(taken);
    const over = typeof change === 'function' ? change(taken, decision.next) : change;
    return { ...taken, decision: { ...decision, next: Object.assign({}, decision.next, over) } };
  };
const bendBefore =
  (change: (row: Delivery) => object) =>
  (taken: Taken): Taken => ({ ...taken, before: Object.assign({}, taken.before, change(taken.before)) });
const bendInput =
  (over: object) =>
  (taken: Taken): Taken => ({ ...taken, input: Object.assign({}, taken.input, over) });
const withoutEffects = (taken: Taken): Taken => ({ ...taken, decision: { ...written(taken), before: [], after: [] } });

const FAILED: readonly Step[] = [claim('a'), settle('a', 'failed')];
const LAPSE = wait(36 * SECOND_MS);
const SUPERSEDED: readonly Step[] = [claim('old'), LAPSE, claim('new'), settle('old', 'failed')];

const BENT: Readonly<Record<InvariantId, Bent>> = {
  M1: {
    title: 'a delivered row that is still due [M1]',
    steps: [claim('a'), settle('a', 'delivered')],
    bend: bendRow({ dueAtMs: START_MS }),
  },
  M2: { title: 'a version that grows by two [M2]', steps: FAILED, bend: bendRow({ version: 4 }) },
  M3: { title: 'another payload [M3]', steps: FAILED, bend: bendRow({ payloadHash: 'other' }) },
  M4: {
    title: 'a cancelled row that becomes delivered [M4]',
    steps: [claim('old'), LAPSE, cancel('r-1'), settle('old', 'delivered')],
    bend: bendRow({ status: 'delivered', by: 'late-outcome' }),
  },
  M5: {
    title: 'a success that nobody has seen [M5]',
    steps: FAILED,
    bend: bendRow({ status: 'delivered', by: 'attempt', endedAtMs: START_MS }),
  },
  M6: { title: 'an attempt that is not counted [M6]', steps: [claim('a')], bend: bendRow({ attempts: 0 }) },
  M7: {
    title: 'a redrive that resets the budget [M7]',
    steps: [refuse(), redrive('r-1')],
    bend: bendRow({ budget: 16 }),
  },
  M8: { title: 'a unit back for a request that was answered [M8]', steps: FAILED, bend: bendRow({ refunds: 1 }) },
  M9: { title: 'a parking that costs an attempt [M9]', steps: [park()], bend: bendRow({ attempts: 1 }) },
  M10: {
    title: 'an attempt before its time [M10]',
    steps: [...FAILED, wait(6_000), claim('b')],
    bend: (taken) => ({ ...taken, nowMs: START_MS + 5_499 }),
  },
  M11: {
    title: 'an attempt behind the horizon [M11]',
    steps: [claim('a')],
    bend: bendBefore(() => ({ horizonFromMs: START_MS - 8 * DAY_MS })),
  },
  M12: {
    title: 'an attempt in shadow mode [M12]',
    steps: [claim('a')],
    bend: bendInput({ rules: SHADOW }),
  },
  M13: {
    title: 'a claim taken over while it lives [M13]',
    steps: [claim('a'), LAPSE, claim('b')],
    bend: (taken) => ({ ...taken, nowMs: START_MS + 35_000 }),
  },
  M14: {
    title: 'an attempt called in doubt of which nothing has left [M14]',
    steps: [claim('a'), LAPSE, claim('b')],
    bend: bendBefore((row) => (row.status === 'claimed' ? { claim: { ...row.claim, repeatSafe: false } } : {})),
  },
  M15: {
    title: 'a superseded outcome that ends the claim of another [M15]',
    steps: SUPERSEDED,
    bend: bendRow({ lookAfterMs: START_MS }),
  },
  M16: {
    title: 'a second outcome of one attempt [M16]',
    steps: FAILED,
    bend: bendRow((_taken, { journal }) => {
      const { entry } = journal.lines.at(-1) ?? {};
      return { journal: entry ? append(journal, entry) : journal };
    }),
  },
  M17: {
    title: 'a journal whose past was changed [M17]',
    steps: FAILED,
    bend: bendRow((_taken, { journal }) => ({
      journal: { ...journal, lines: journal.lines.map((line) => ({ ...line, text: line.text.replace('"a"', '"b"') })) },
    })),
  },
  M18: {
    title: 'an entry that is too long [M18]',
    steps: FAILED,
    bend: bendRow((_taken, { journal }) => ({
      journal: { ...journal, lines: journal.lines.map((line) => ({ ...line, text: line.text.padEnd(141) })) },
    })),
  },
  M19: {
    title: 'an outcome that leaves no entry [M19]',
    steps: FAILED,
    bend: bendRow(({ before }) => ({ journal: before.journal })),
  },
  M20: {
    title: 'the same write a second time [M20]',
    steps: FAILED,
    bend: bendInput({ writeId: writeIdOf('accept') }),
  },
  M21: {
    title: 'a doubt that vanishes by itself [M21]',
    steps: [claim('a'), settle('a', 'in-doubt'), wait(HOUR_MS), claim('b'), settle('b', 'failed')],
    bend: bendRow({ doubt: 'none' }),
  },
  M22: {
    title: 'a blind repeat where a repeat is not safe [M22]',
    steps: [claim('a'), settle('a', 'in-doubt')],
    bend: bendRow({ doubt: 'unsafe' }),
  },
  M23: {
    title: 'a key life that begins again [M23]',
    steps: [...FAILED, wait(HOUR_MS), claim('b'), settle('b', 'failed')],
    bend: bendRow({ keyFromMs: START_MS + HOUR_MS }),
  },
  M24: {
    title: 'a row that nobody looks after for a day [M24]',
    steps: FAILED,
    bend: bendRow({ lookAfterMs: START_MS + DAY_MS }),
  },
  M25: { title: 'a plan that wakes nobody [M25]', steps: FAILED, bend: withoutEffects },
  M26: {
    title: 'a sweep that makes a row due [M26]',
    steps: [wait(HOUR_MS), sweep()],
    bend: bendRow({ dueAtMs: START_MS + HOUR_MS }),
  },
  M27: {
    title: 'a 410 that does not pause the destination [M27]',
    steps: [claim('a'), settle('a', 'gone')],
    bend: withoutEffects,
  },
  M28: {
    title: 'a decision that is not counted [M28]',
    steps: [refuse(), resolve('r-1', 'delivered')],
    bend: bendRow({ decisions: 0 }),
  },
  M29: {
    title: 'one request that is decided twice [M29]',
    steps: [refuse(), redrive('r-1'), refuse(), redrive('r-2')],
    bend: bendRow(({ before, input }) => ({
      journal: append(before.journal, {
        ...{ kind: 'redriven', atMs: START_MS, cause: 'a:r-1' },
        writeId: 'writeId' in input ? input.writeId : writeIdOf('none'),
      }),
    })),
  },
};

const violations = ({ before, input, decision, nowMs }: Taken) => violationsOf(before, input, decision, nowMs);

describe('the checker of the invariants', () => {
  it.each(Object.entries(BENT).map(([id, bent]) => ({ id, ...bent })))('sees $title', ({ id, steps, bend }) => {
    const good = lastTaken(play(steps));
    expect(violations(good)).toEqual([]);
    expect(violations(bend(good)).map((text) => text.split(' ')[0])).toContain(id);
  });

  it('sees an attempt at an unsafe destination behind one that is in doubt [M22]', () => {
    const good = lastTaken(play([claim('a'), settle('a', 'in-doubt'), wait(HOUR_MS), claim('b')]));
    const { next } = written(good);
    if (next.status !== 'claimed') throw new TypeError(next.status);
    const bent = bendRow({ claim: { ...next.claim, repeatSafe: false } })(good);
    expect(violations(bent)).toEqual([expect.stringMatching(/^M22 /)]);
  });

  it('sees a sweep that moves without a publish, and one that publishes a live claim [M26]', () => {
    const due = withoutEffects(lastTaken(play([wait(HOUR_MS), sweep()])));
    expect(violations(due)).toEqual([expect.stringMatching(/^M26 /)]);
    const live = lastTaken(play([wait(30 * SECOND_MS), claim('a', UNSAFE), mark('a'), wait(6_000), sweep()]));
    const woken = {
      ...written(live),
      before: [{ kind: 'publish', version: 3, tick: 5, dueAtMs: live.nowMs } as const],
    };
    expect(violations(live)).toEqual([]);
    expect(violations({ ...live, decision: woken })).toEqual([expect.stringMatching(/^M26 /)]);
  });

  it('has nothing to say about a decision that writes nothing', () => {
    const kept = lastTaken(play([claim('a'), claim('b')]));
    expect([kept.decision.kind, violations(kept)]).toEqual(['keep', []]);
  });
});

describe('the check that a decision is pure and total', () => {
  const { before, input, nowMs } = lastTaken(play(FAILED));

  it('passes the machine, and sees chance, changed arguments and exceptions [M30]', () => {
    let calls = 0;
    const moody = (row: Delivery): Decision => ({
      kind: 'keep',
      note: calls++ % 2 === 0 && row.version > 0 ? 'busy' : 'done',
    });
    const greedy = (row: Delivery): Decision => {
      Object.assign(row, { attempts: 9 });
      return { kind: 'keep', note: 'done' };
    };
    expect(impuritiesOf(decide, before, input, nowMs, 0.5)).toEqual([]);
    for (const bad of [moody, greedy]) {
      expect(impuritiesOf(bad, before, input, nowMs, 0.5)).toEqual([expect.stringMatching(/^M30 /)]);
    }
    expect(entriesOf(before)).toHaveLength(2);
  });
});
