/** Waiting at a gate, and the sweep that looks after whatever waits. */
import { describe, expect, it } from 'vitest';
import type { Rules } from '../../functions/core/inputs.ts';
import {
  PARKED_LOOK_MS,
  REFUNDS_MAX,
  SKEW_MARGIN_MS,
  SWEEP_STEP_MS,
  SWEEP_STEP_MS_MAX,
} from '../../functions/core/limits.ts';
import { phaseOf } from '../../functions/core/phase.ts';
import {
  acceptedRow,
  claim,
  DAY_MS,
  defer,
  effectsOf,
  HOUR_MS,
  lastTaken,
  MINUTE_MS,
  mark,
  numbered,
  outcomeOf,
  park,
  pendingRow,
  play,
  SAFE,
  type Scene,
  SECOND_MS,
  START_MS,
  type Step,
  saidOf,
  sceneOf,
  settle,
  storyOf,
  sweep,
  take,
  UNSAFE,
  wait,
} from '../support/machine.ts';
import { violationsOf } from '../support/machine-invariants.ts';

const LAPSE = wait(36 * SECOND_MS);
const waiting = (scene: Scene) => pendingRow(scene.row);
const wrongIn = (scene: Scene): readonly string[] =>
  scene.taken.flatMap((t) => violationsOf(t.before, t.input, t.decision, t.nowMs));

describe('parking', () => {
  it('keeps the row pending with its due time, in sight, and looked at in an hour [M9]', () => {
    const scene = play([wait(SECOND_MS), park('paused')]);
    expect(scene.row).toMatchObject({
      status: 'pending',
      dueAtMs: START_MS,
      parking: { reason: 'paused', sinceMs: START_MS + 1_000 },
      waits: { count: 1, sinceMs: START_MS + 1_000, reason: 'paused' },
      lookAfterMs: START_MS + 1_000 + HOUR_MS,
      attempts: 0,
    });
    expect(storyOf(scene.row)).toEqual(['accepted']);
    expect(effectsOf(scene)).toEqual([{ kind: 'reread-gate', version: scene.row.version }]);
  });

  it('is looked at when the destination may open by itself, if that is earlier, and at once if that is past', () => {
    const parkedWith = (opensInMs: number) =>
      waiting(play([{ do: 'park', reason: 'paused', opensInMs }])).lookAfterMs - START_MS;
    expect(parkedWith(5 * MINUTE_MS)).toBe(5 * MINUTE_MS);
    expect(parkedWith(2 * HOUR_MS)).toBe(HOUR_MS);
    expect(parkedWith(-MINUTE_MS)).toBe(0);
  });

  it('is written once: a flood of messages at a closed gate writes nothing', () => {
    const first = play([park()]);
    const flood = play(
      Array.from({ length: 50 }, () => park()),
      first,
    );
    expect(flood.row).toBe(first.row);
    expect(saidOf(flood)).toBe('waiting');
  });

  it('takes the place of a slot, and ends with the claim or with a slot', () => {
    const slotted = play([defer(5_000), wait(5_000), park('closed')]);
    expect(Object.keys(slotted.row)).not.toContain('deferral');
    expect(phaseOf(slotted.row, slotted.nowMs)).toBe('parked');
    expect(Object.keys(play([claim('a')], slotted).row)).not.toContain('parking');
    const again = play([defer(7_000)], slotted);
    expect(Object.keys(again.row)).not.toContain('parking');
    expect(waiting(again).waits).toEqual({ count: 3, sinceMs: START_MS, reason: 'rate' });
  });
});

describe('deferring', () => {
  it('gives the row its own time, once: no message takes it before, and that costs nothing [M9] [M10]', () => {
    const scene = play([defer(10_000)]);
    expect(scene.row).toMatchObject({
      status: 'pending',
      dueAtMs: START_MS,
      deferral: { untilMs: START_MS + 10_000, reason: 'rate' },
      lookAfterMs: START_MS + 45_000,
      version: 2,
    });
    expect(effectsOf(scene)).toEqual([{ kind: 'publish', version: 2, dueAtMs: START_MS + 10_000 }]);
    expect(saidOf(play([wait(9_999), claim('a')], scene))).toBe('early');
    expect(saidOf(play([wait(9_999), defer(1_000)], scene))).toBe('early');
    expect(saidOf(play([wait(10_000), claim('a')], scene))).toBe('claimed');
  });

  it('costs no attempt and no entry, however often', () => {
    const steps = Array.from({ length: 10 }, () => [defer(5_000), wait(5_000)]).flat();
    const scene = play([...steps, claim('a'), settle('a', 'delivered')]);
    expect(storyOf(scene.row)).toEqual(['accepted', 'claimed 1', 'outcome 1 delivered']);
    expect(scene.row).toMatchObject({ attempts: 1, refunds: 0, status: 'delivered' });
    expect(wrongIn(scene)).toEqual([]);
  });

  it('far off is looked at ten minutes before, like everything that is far off', () => {
    expect(waiting(play([defer(HOUR_MS)])).lookAfterMs).toBe(START_MS + 50 * MINUTE_MS);
  });

  it('is over with the attempt: the next wait has its own count', () => {
    const scene = play([defer(5_000), wait(5_000), claim('a'), settle('a', 'failed'), wait(MINUTE_MS), defer(5_000)]);
    expect(waiting(scene).waits).toMatchObject({ count: 1 });
  });
});

describe('a dead worker at a closed gate', () => {
  const AT_GATE: readonly [string, Step][] = [
    ['parked', park()],
    ['deferred', defer(10_000)],
  ];

  it.each(AT_GATE)('is closed as in doubt, and the row is %s as pending [M14]', (_name, step) => {
    const scene = play([claim('dead'), LAPSE, step]);
    expect(scene.row).toMatchObject({ status: 'pending', doubt: 'safe', attempts: 1, waits: { count: 1 } });
    expect(storyOf(scene.row)).toEqual(['accepted', 'claimed 1', 'outcome 1 in-doubt']);
    expect(wrongIn(scene)).toEqual([]);
  });

  it.each(AT_GATE)('is held for a person instead of %s where a repeat is not safe [M22]', (_name, step) => {
    const unsafe = play([claim('dead', UNSAFE), mark('dead'), LAPSE, step]);
    expect(unsafe.row).toMatchObject({ status: 'quarantined', reason: 'in-doubt' });
    expect(saidOf(unsafe)).toBe('quarantined');
    expect(effectsOf(unsafe)).toEqual([]);
    const turned = play([claim('dead', SAFE), LAPSE, { ...step, rules: UNSAFE } as Step]);
    expect(turned.row).toMatchObject({ status: 'quarantined', reason: 'in-doubt' });
  });

  it.each(AT_GATE)('gives its unit back when nothing has left, and is %s [M8]', (_name, step) => {
    const scene = play([claim('dead', UNSAFE), LAPSE, step]);
    expect(scene.row).toMatchObject({ status: 'pending', refunds: 1, doubt: 'none' });
  });

  it.each(AT_GATE)('ends as in-doubt, or as budget, when no unit is left to be %s for', (_name, step) => {
    const one: Rules = { ...SAFE, scheduleSec: [] };
    const doubt = play([claim('dead'), LAPSE, step], sceneOf({ rules: one }));
    expect(doubt.row).toMatchObject({ status: 'quarantined', reason: 'in-doubt' });
    const row = { ...acceptedRow({ rules: one }), refunds: REFUNDS_MAX, attempts: REFUNDS_MAX };
    const spent = play([claim('dead', UNSAFE), LAPSE, step], sceneOf({ row, rules: one }));
    expect(spent.row).toMatchObject({ status: 'quarantined', reason: 'budget' });
  });
});

describe('a sweep', () => {
  it('leaves a row alone whose time has not come, whatever the index said [M26]', () => {
    const scenes: readonly Step[][] = [
      [],
      [claim('a')],
      [park()],
      [claim('a'), settle('a', 'failed')],
      [wait(40 * SECOND_MS), sweep(), wait(MINUTE_MS)],
      [wait(40 * SECOND_MS), claim('a'), LAPSE, sweep(), wait(MINUTE_MS)],
    ];
    for (const steps of scenes) {
      const scene = play([...steps, sweep('open')]);
      expect([saidOf(scene), lastTaken(scene).decision.kind]).toEqual(['not-due', 'keep']);
    }
  });

  it('publishes a due row under its present version and the tick, then moves the next look [M26]', () => {
    const scene = play([wait(35 * SECOND_MS), sweep()]);
    const { decision } = lastTaken(scene);
    expect(decision).toMatchObject({
      before: [{ kind: 'publish', version: 1, tick: 2, dueAtMs: scene.nowMs }],
      after: [],
    });
    expect(waiting(scene)).toMatchObject({ version: 2, sweeps: 1, lookAfterMs: scene.nowMs + SWEEP_STEP_MS });
  });

  it('looks again after 15 minutes, doubling to two hours, and never gives up', () => {
    let scene = play([wait(35 * SECOND_MS)]);
    const steps: number[] = [];
    for (let n = 0; n < 8; n += 1) {
      const { lookAfterMs } = waiting(scene);
      scene = play([wait(Math.max(0, lookAfterMs - scene.nowMs)), sweep()], scene);
      steps.push(waiting(scene).lookAfterMs - scene.nowMs);
    }
    const quarter = SWEEP_STEP_MS;
    expect(steps).toEqual([quarter, 2 * quarter, 4 * quarter, ...Array(5).fill(SWEEP_STEP_MS_MAX)]);
  });

  it('starts again at 15 minutes once the row has gone a step on', () => {
    const worn = play([wait(MINUTE_MS), sweep(), wait(HOUR_MS), sweep(), claim('a'), settle('a', 'failed')]);
    expect(worn.row.sweeps).toBe(0);
  });

  it('publishes a far-off row ten minutes ahead with what is left, then waits for due + grace', () => {
    const start = sceneOf({ deliverAtMs: START_MS + 3 * DAY_MS });
    const scene = play([wait(3 * DAY_MS - 10 * MINUTE_MS), sweep()], start);
    expect(lastTaken(scene).decision).toMatchObject({ before: [{ dueAtMs: START_MS + 3 * DAY_MS }] });
    expect(waiting(scene)).toMatchObject({ lookAfterMs: START_MS + 3 * DAY_MS + 35_000, sweeps: 0 });
    expect(saidOf(play([wait(MINUTE_MS), sweep()], scene))).toBe('not-due');
  });

  it('moves a live claim to its lease end and margin, and publishes nothing [M13] [M26]', () => {
    const scene = play([wait(30 * SECOND_MS), claim('a'), wait(5 * SECOND_MS), sweep()]);
    expect(scene.row).toMatchObject({ status: 'claimed', lookAfterMs: START_MS + 60_000 + SKEW_MARGIN_MS, sweeps: 0 });
    expect(effectsOf(scene)).toEqual([]);
  });

  it('publishes a lapsed claim and changes nothing of it: the claim behind it decides', () => {
    const scene = play([claim('dead'), LAPSE, sweep()]);
    expect(scene.row).toMatchObject({ status: 'claimed', attempts: 1, lookAfterMs: scene.nowMs + SWEEP_STEP_MS });
    expect(effectsOf(scene)).toEqual([{ kind: 'publish', version: 2, tick: 3, dueAtMs: scene.nowMs }]);
    expect(storyOf(scene.row)).toEqual(['accepted', 'claimed 1']);
  });

  it('publishes a parked row only where its gate is open, and else looks again in an hour', () => {
    const parked = play([park(), wait(HOUR_MS)]);
    for (const gate of ['closed', undefined] as const) {
      const scene = play([sweep(gate)], parked);
      expect(waiting(scene).lookAfterMs).toBe(scene.nowMs + PARKED_LOOK_MS);
      expect([waiting(scene).sweeps, effectsOf(scene)]).toEqual([0, []]);
    }
    const open = play([sweep('open')], parked);
    expect(effectsOf(open)).toHaveLength(1);
    expect(waiting(open)).toMatchObject({ parking: { reason: 'paused' }, lookAfterMs: open.nowMs + SWEEP_STEP_MS });
  });

  it('gives a parked row the slot that it was told, never one in the past, and looks after it from there', () => {
    const parked = play([park(), wait(HOUR_MS)]);
    const slotted = play([{ do: 'sweep', gate: 'open', slotInMs: 7 * MINUTE_MS }], parked);
    expect(effectsOf(slotted)).toMatchObject([{ kind: 'publish', dueAtMs: slotted.nowMs + 7 * MINUTE_MS }]);
    expect(waiting(slotted)).toMatchObject({ deferral: { untilMs: slotted.nowMs + 7 * MINUTE_MS } });
    expect(waiting(slotted).parking).toBeUndefined();
    expect(waiting(slotted).lookAfterMs).toBe(slotted.nowMs + 7 * MINUTE_MS + slotted.row.graceMs);
    const past = play([{ do: 'sweep', gate: 'open', slotInMs: -MINUTE_MS }], parked);
    expect(effectsOf(past)).toMatchObject([{ dueAtMs: past.nowMs }]);
    const closed = play([{ do: 'sweep', gate: 'closed', slotInMs: MINUTE_MS }], parked);
    expect(effectsOf(closed)).toEqual([]);
  });

  it('does the same again under the same key when its move was lost', () => {
    const due = play([wait(MINUTE_MS)]);
    const [step] = numbered([sweep()]);
    if (step === undefined) throw new RangeError('no step');
    expect(lastTaken(take(due, step)).decision).toEqual(lastTaken(take(due, step)).decision);
    // Three sweeps for one tick: the first moves the row, the others find nothing to do.
    const thrice = [step, step, step].reduce((scene, one) => take(scene, one), due);
    expect(thrice.taken.map(({ decision }) => decision.kind)).toEqual(['write', 'keep', 'keep']);
  });

  it('finds every row that is open, and none that is not', () => {
    const open: readonly Step[][] = [[], [defer(5_000)], [park()], [claim('a')], [claim('a'), settle('a', 'failed')]];
    for (const steps of open) expect(play([...steps, wait(DAY_MS), sweep('open')]).row.sweeps).toBe(1);
    const asked = outcomeOf('failed', { status: 503, retryAfterMs: 2 * DAY_MS });
    const unsafe = [claim('a', UNSAFE), mark('a'), settle('a', asked, undefined, UNSAFE), wait(DAY_MS), sweep()];
    expect(saidOf(play(unsafe))).toBe('not-due');
    expect(saidOf(play([claim('a'), settle('a', 'gone'), wait(DAY_MS), sweep()]))).toBe('held');
    expect(saidOf(play([claim('a'), settle('a', 'delivered'), wait(DAY_MS), sweep()]))).toBe('done');
  });
});
