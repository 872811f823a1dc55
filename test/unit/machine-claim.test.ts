/** Taking the right to make an attempt: from a row that waits, and from a worker that has died. */
import { describe, expect, it } from 'vitest';
import type { ClaimInput, Rules } from '../../functions/core/inputs.ts';
import {
  ATTEMPTS_MAX,
  HORIZON_MS,
  KEY_END_MARGIN_MS,
  REFUNDS_MAX,
  SKEW_MARGIN_MS,
} from '../../functions/core/limits.ts';
import { decide, endsUnsent } from '../../functions/core/machine.ts';
import type { Claimed, Delivery, Pending, QuarantineReason } from '../../functions/core/model.ts';
import {
  acceptedRow,
  claim,
  claimIdOf,
  DAY_MS,
  defer,
  effectsOf,
  entriesOf,
  HOUR_MS,
  MINUTE_MS,
  mark,
  park,
  pendingRow,
  play,
  redrive,
  refuse,
  SAFE,
  type Scene,
  SECOND_MS,
  SHADOW,
  START_MS,
  type Step,
  saidOf,
  sceneOf,
  settle,
  storyOf,
  sweep,
  UNSAFE,
  wait,
  writeIdOf,
} from '../support/machine.ts';
import { violationsOf } from '../support/machine-invariants.ts';

const claimedRow = (scene: Scene): Claimed => {
  if (scene.row.status !== 'claimed') throw new TypeError(`the row is ${scene.row.status}`);
  return scene.row;
};
/** A row that waits, with some of its life set as a long history would leave it. */
const aged = (over: Partial<Pending>): Pending => ({ ...acceptedRow(), ...over });
const claimAt = (row: Delivery, nowMs: number, rules: Rules = SAFE): Scene =>
  play([claim('a', rules)], sceneOf({ row, nowMs }));
const reasonAfter = (row: Delivery, nowMs = START_MS, rules: Rules = SAFE): QuarantineReason | 'claimed' => {
  const { row: next } = claimAt(row, nowMs, rules);
  if (next.status === 'claimed') return 'claimed';
  if (next.status !== 'quarantined') throw new TypeError(`the row is ${next.status}`);
  return next.reason;
};
const LAPSE = wait(36 * SECOND_MS);

describe('a claim', () => {
  it('counts the attempt, names its holder and ends a lease after the time-out and ten seconds [M6]', () => {
    const scene = play([wait(3 * SECOND_MS), claim('worker-1')]);
    const { claim: made, attempts, version } = claimedRow(scene);
    expect({ attempts, version }).toEqual({ attempts: 1, version: 2 });
    expect(made).toEqual({
      id: claimIdOf('c-worker-1'),
      holder: 'worker-1',
      attempt: 1,
      startedAtMs: START_MS + 3_000,
      leaseEndsAtMs: START_MS + 33_000,
      repeatSafe: true,
    });
    expect(entriesOf(scene.row).at(-1)).toMatchObject({ kind: 'claimed', attempt: 1, atMs: START_MS + 3_000 });
    expect(effectsOf(scene)).toEqual([]);
  });

  it.each([1_000, 20_000])('has a lease of its own time-out and ten seconds, and that grace: %d ms', (timeoutMs) => {
    const row = claimedRow(play([claim('a', { ...SAFE, timeoutMs })]));
    expect(row.claim.leaseEndsAtMs).toBe(START_MS + timeoutMs + 10_000);
    expect(row.graceMs).toBe(timeoutMs + 15_000);
  });

  it('remembers the setting of the moment, whatever becomes of it later', () => {
    const scene = play([claim('a', UNSAFE), sweep(), mark('a')]);
    expect(claimedRow(scene).claim).toMatchObject({ repeatSafe: false, sendingAtMs: START_MS });
  });

  it('leaves an earlier look where it is, and pulls a later one to lease end and margin [M24]', () => {
    expect(claimedRow(play([wait(10 * SECOND_MS), claim('a')])).lookAfterMs).toBe(START_MS + 35_000);
    const swept = play([wait(40 * SECOND_MS), sweep(), wait(SECOND_MS), claim('a')]);
    expect(claimedRow(swept).lookAfterMs).toBe(START_MS + 41_000 + 35_000);
  });

  it('folds the waits before it into its entry, and ends them [M9]', () => {
    const scene = play([defer(5_000), wait(6_000), park(), wait(1_000), claim('a')]);
    expect(entriesOf(scene.row)).toHaveLength(2);
    expect(entriesOf(scene.row)[1]?.waits).toEqual({ count: 2, sinceMs: START_MS, reason: 'paused' });
    expect(Object.keys(scene.row)).not.toContain('waits');
    const later = play([settle('a', 'failed'), wait(HOUR_MS), claim('b')], scene);
    expect(entriesOf(later.row).at(-1)?.waits).toBeUndefined();
  });

  it('is refused before its time, and to everybody else while it lives [M10] [M13]', () => {
    expect(saidOf(play([claim('a'), settle('a', 'failed'), claim('b')]))).toBe('early');
    expect(saidOf(play([claim('a'), wait(29_999), claim('b')]))).toBe('busy');
    expect(saidOf(play([claim('a'), wait(30_000 + SKEW_MARGIN_MS), claim('b')]))).toBe('busy');
    expect(saidOf(play([claim('a'), wait(30_001 + SKEW_MARGIN_MS), claim('b')]))).toBe('claimed');
  });
});

describe('a claim that must not be made', () => {
  it('ends as budget when no unit is left [M7]', () => {
    expect(reasonAfter(aged({ budget: 0 }))).toBe('budget');
    expect(reasonAfter(aged({ budget: 1 }))).toBe('claimed');
  });

  it('ends as budget at the attempts of a life, even if units came back', () => {
    const row = aged({ attempts: ATTEMPTS_MAX, refunds: REFUNDS_MAX, budget: ATTEMPTS_MAX, dueAtMs: START_MS });
    expect(reasonAfter(row)).toBe('budget');
    expect(reasonAfter({ ...row, attempts: ATTEMPTS_MAX - 1 })).toBe('claimed');
  });

  it('ends as key-expired shortly before the end of the key, where repeats rest on the key [M23]', () => {
    const row = aged({ keyFromMs: START_MS, attempts: 1 });
    expect(reasonAfter(row, START_MS + DAY_MS - KEY_END_MARGIN_MS - 1)).toBe('claimed');
    expect(reasonAfter(row, START_MS + DAY_MS - KEY_END_MARGIN_MS)).toBe('key-expired');
    expect(reasonAfter(row, START_MS + 6 * DAY_MS, { ...SAFE, keyLifeHours: null })).toBe('claimed');
    expect(reasonAfter(row, START_MS + 36_000 - KEY_END_MARGIN_MS - 1, { ...SAFE, keyLifeHours: 0.01 })).toBe(
      'claimed',
    );
    expect(reasonAfter(row, START_MS + 36_000 - KEY_END_MARGIN_MS, { ...SAFE, keyLifeHours: 0.01 })).toBe(
      'key-expired',
    );
    // Where the destination honours no key there is no life of it to wait for.
    expect(reasonAfter(row, START_MS + 2 * DAY_MS, UNSAFE)).toBe('claimed');
  });

  it('ends as horizon seven days after the first due time [M11]', () => {
    const rules = { ...SAFE, keyLifeHours: null };
    expect(reasonAfter(aged({}), START_MS + HORIZON_MS, rules)).toBe('claimed');
    expect(reasonAfter(aged({}), START_MS + HORIZON_MS + 1, rules)).toBe('horizon');
    const later = acceptedRow({ deliverAtMs: START_MS + 30 * DAY_MS });
    expect(reasonAfter(later, START_MS + 37 * DAY_MS, rules)).toBe('claimed');
  });

  it('ends as in-doubt where an unanswered attempt is about to be repeated at an unsafe destination [M22]', () => {
    expect(reasonAfter(aged({ doubt: 'safe' }))).toBe('claimed');
    expect(reasonAfter(aged({ doubt: 'safe' }), START_MS, UNSAFE)).toBe('in-doubt');
    expect(reasonAfter(aged({ doubt: 'unsafe' }))).toBe('in-doubt');
    expect(reasonAfter(aged({ doubt: 'none' }), START_MS, UNSAFE)).toBe('claimed');
  });

  it('is told by the gravest reason: in-doubt, key-expired, budget, horizon', () => {
    const all = {
      doubt: 'unsafe',
      keyFromMs: START_MS - 30 * DAY_MS,
      budget: 0,
      horizonFromMs: START_MS - 30 * DAY_MS,
    };
    expect(reasonAfter(aged({ ...all, doubt: 'unsafe' }))).toBe('in-doubt');
    expect(reasonAfter(aged({ ...all, doubt: 'none' }))).toBe('key-expired');
    expect(reasonAfter(aged({ ...all, doubt: 'none' }), START_MS, { ...SAFE, keyLifeHours: null })).toBe('budget');
    expect(reasonAfter(aged({ ...all, doubt: 'none', budget: 1 }), START_MS, { ...SAFE, keyLifeHours: null })).toBe(
      'horizon',
    );
  });

  it('leaves an entry with its reason, is no attempt, and wakes nobody', () => {
    const scene = claimAt(aged({ budget: 0 }), START_MS);
    expect(storyOf(scene.row)).toEqual(['accepted', 'decision refuse budget']);
    expect(scene.row.attempts).toBe(0);
    expect(saidOf(scene)).toBe('quarantined');
    expect(effectsOf(scene)).toEqual([]);
  });
});

describe('a claim at a closed gate, without leave for an attempt', () => {
  const decided = (row: Delivery, nowMs: number, rules: Rules, leave: Pick<ClaimInput, 'mayAttempt'>) => {
    const ids = { claimId: claimIdOf('a'), writeId: writeIdOf('a'), holder: 'a', cause: 'm:1' };
    return decide(row, { kind: 'claim', rules, ...ids, ...leave }, nowMs, 0);
  };
  const lapsed = (rules: Rules): Scene => play([claim('dead', rules), mark('dead'), LAPSE]);
  const LONG_AGO = START_MS - 30 * DAY_MS;

  it.each([
    ['a delivery in doubt', aged({ doubt: 'unsafe' }), SAFE],
    ['one in doubt since repeats are not safe any more', aged({ doubt: 'safe' }), UNSAFE],
    ['one whose key is over', aged({ keyFromMs: LONG_AGO, attempts: 1 }), SAFE],
    ['one without budget', aged({ budget: 0 }), SAFE],
    ['one behind its horizon', aged({ horizonFromMs: LONG_AGO }), SAFE],
    ['one of a destination in shadow mode', aged({}), SHADOW],
    ['a parked one in doubt', pendingRow(play([park()], sceneOf({ row: aged({ doubt: 'unsafe' }) })).row), SAFE],
    ["a dead worker's, marked where a repeat is not safe", lapsed(UNSAFE).row, UNSAFE],
  ])('ends what it would end with leave, the same way: %s', (_what, row, rules) => {
    const nowMs = row.status === 'claimed' ? lapsed(rules).nowMs : START_MS;
    const decision = decided(row, nowMs, rules, { mayAttempt: false });
    expect(decision).toEqual(decided(row, nowMs, rules, {}));
    expect(decision).toMatchObject({ kind: 'write', next: { status: rules === SHADOW ? 'cancelled' : 'quarantined' } });
    expect(endsUnsent(row, rules, nowMs)).toBe(true);
  });

  it.each([
    ['due', sceneOf()],
    ['parked', play([park()])],
    ['lapsed', lapsed(SAFE)],
  ])('begins no attempt of what could have one: %s [M10]', (_phase, { row, nowMs }) => {
    expect(decided(row, nowMs, SAFE, {})).toMatchObject({ next: { status: 'claimed' } });
    expect(decided(row, nowMs, SAFE, { mayAttempt: false })).toEqual({ kind: 'keep', note: 'waiting' });
    expect(endsUnsent(row, SAFE, nowMs)).toBe(false);
  });

  it.each([
    ['early', play([claim('a'), settle('a', 'failed')])],
    ['live', play([claim('a')])],
    ['delivered', play([claim('a'), settle('a', 'delivered')])],
    ['quarantined', claimAt(aged({ budget: 0 }), START_MS)],
  ])('leaves alone what no claim would change: %s', (_phase, { row, nowMs }) => {
    expect(decided(row, nowMs, SAFE, { mayAttempt: false })).toEqual(decided(row, nowMs, SAFE, {}));
    expect(endsUnsent(row, SAFE, nowMs)).toBe(false);
  });
});

describe('a claim behind a dead worker', () => {
  const dead = (rules: Rules, ...between: Step[]): Scene => play([claim('dead', rules), ...between, LAPSE]);

  it('calls the attempt in doubt where a repeat is safe, and goes on with the next number [M14]', () => {
    const scene = play([claim('next')], dead(SAFE));
    expect(storyOf(scene.row)).toEqual(['accepted', 'claimed 1', 'outcome 1 in-doubt', 'claimed 2']);
    expect(entriesOf(scene.row)[2]).toMatchObject({ detail: 'lease-lapsed' });
    expect(claimedRow(scene)).toMatchObject({ doubt: 'safe', refunds: 0, keyFromMs: START_MS, attempts: 2 });
  });

  it('calls it abandoned, and gives the unit back, where it is certain that nothing has left [M8] [M14]', () => {
    const scene = play([claim('next', UNSAFE)], dead(UNSAFE));
    expect(storyOf(scene.row).slice(2)).toEqual(['outcome 1 abandoned', 'claimed 2']);
    expect(claimedRow(scene)).toMatchObject({ doubt: 'none', refunds: 1 });
    expect(scene.row.keyFromMs).toBeUndefined();
  });

  it('is held for a person where the sending mark stands at an unsafe destination [M22]', () => {
    const scene = play([claim('next', UNSAFE)], dead(UNSAFE, mark('dead')));
    expect(scene.row).toMatchObject({ status: 'quarantined', reason: 'in-doubt', doubt: 'unsafe', attempts: 1 });
    expect(storyOf(scene.row)).toEqual(['accepted', 'claimed 1', 'outcome 1 in-doubt']);
  });

  it('judges by the setting as it was when the attempt was made, not as it is', () => {
    // Made as unsafe and marked: in doubt and unsafe, though the setting has become safe since.
    expect(play([claim('next', SAFE)], dead(UNSAFE, mark('dead'))).row).toMatchObject({ reason: 'in-doubt' });
    // Made as unsafe, not marked: certain, whatever the setting is now.
    expect(storyOf(play([claim('next', SAFE)], dead(UNSAFE)).row)).toContain('outcome 1 abandoned');
    // Made as safe, hence never marked: nobody knows, and now a repeat is not safe any more.
    expect(play([claim('next', UNSAFE)], dead(SAFE)).row).toMatchObject({ status: 'quarantined', reason: 'in-doubt' });
  });

  it('gives units back five times in a life, then abandoned attempts cost theirs [M8]', () => {
    const rules = { ...UNSAFE, scheduleSec: [5] };
    let scene = sceneOf({ rules });
    const spent: number[] = [];
    for (let n = 1; n <= 7; n += 1) {
      scene = play([claim(`dead-${n}`), LAPSE], scene);
      spent.push(scene.row.attempts - scene.row.refunds);
    }
    expect(spent).toEqual([1, 1, 1, 1, 1, 1, 2]);
    expect(scene.row.refunds).toBe(REFUNDS_MAX);
    expect(play([claim('last')], scene).row).toMatchObject({ status: 'quarantined', reason: 'budget', attempts: 7 });
  });

  it('ends as in-doubt rather than budget or horizon: whoever looks must first learn what may have arrived', () => {
    const one = { ...SAFE, scheduleSec: [] };
    expect(play([claim('next', one)], play([claim('dead'), LAPSE], sceneOf({ rules: one }))).row).toMatchObject({
      reason: 'in-doubt',
    });
    const old = aged({ horizonFromMs: START_MS - HORIZON_MS });
    const lapsed = play([claim('dead'), LAPSE], sceneOf({ row: old }));
    expect(play([claim('next')], lapsed).row).toMatchObject({ status: 'quarantined', reason: 'in-doubt' });
  });

  it('ends as key-expired where the key has ended meanwhile', () => {
    const short = { ...SAFE, keyLifeHours: 0.01 };
    expect(play([claim('next', short)], dead(short)).row).toMatchObject({ reason: 'key-expired' });
  });

  it('leaves a chain of dead workers finite: the budget counts claims, not answers [M7]', () => {
    let scene = sceneOf({ rules: { ...SAFE, scheduleSec: [5, 5, 5] } });
    for (let n = 1; n <= 10; n += 1) scene = play([claim(`dead-${n}`), LAPSE], scene);
    expect(scene.row).toMatchObject({ status: 'quarantined', reason: 'in-doubt', attempts: 4 });
  });
});

describe('a destination in shadow mode', () => {
  it('gets nothing: the row ends as shadow when it would have been claimed [M12]', () => {
    const scene = play([claim('a', SHADOW)]);
    expect(scene.row).toMatchObject({ status: 'cancelled', reason: 'shadow', attempts: 0 });
    expect(saidOf(scene)).toBe('shadowed');
    expect(storyOf(scene.row)).toEqual(['accepted', 'decision refuse shadow']);
    expect(effectsOf(scene)).toEqual([]);
  });

  it('ends a parked row, and a row on its way to the second attempt', () => {
    expect(play([park(), claim('a', SHADOW)]).row).toMatchObject({ reason: 'shadow' });
    const second = play([claim('a'), settle('a', 'failed'), wait(MINUTE_MS), claim('b', SHADOW)]);
    expect(second.row).toMatchObject({ status: 'cancelled', reason: 'shadow', attempts: 1 });
  });

  it('is still held for a person where an attempt of the live mode is in doubt', () => {
    expect(reasonAfter(aged({ doubt: 'unsafe' }), START_MS, SHADOW)).toBe('in-doubt');
  });

  // Broken at present: the claim behind a dead worker does not look at the mode, and a real request would leave.
  it('gets nothing from behind a dead worker either [M12]', () => {
    const scene = play([claim('dead'), LAPSE, claim('next', SHADOW)]);
    expect(scene.row.status).not.toBe('claimed');
  });
});

describe('a long history of claims, safe and unsafe in turn', () => {
  it('keeps the invariants', () => {
    const steps: Step[] = [refuse(), redrive('r-1')];
    for (let n = 1; n <= 6; n += 1) steps.push(claim(`w-${n}`, n % 2 === 0 ? UNSAFE : SAFE), LAPSE, wait(HOUR_MS));
    const { taken } = play(steps);
    expect(taken).toHaveLength(8);
    expect(taken.flatMap((t) => violationsOf(t.before, t.input, t.decision, t.nowMs))).toEqual([]);
  });
});
