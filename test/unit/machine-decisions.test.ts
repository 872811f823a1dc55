/** What persons decide, and what ends a delivery from outside. */
import { describe, expect, it } from 'vitest';
import { ATTEMPTS_MAX, DECISIONS_MAX, REDRIVES_MAX } from '../../functions/core/limits.ts';
import type { Delivery, Quarantined } from '../../functions/core/model.ts';
import {
  acceptedRow,
  cancel,
  claim,
  DAY_MS,
  effectsOf,
  entriesOf,
  HOUR_MS,
  lastTaken,
  mark,
  park,
  play,
  redrive,
  refuse,
  resolve,
  SAFE,
  type Scene,
  SECOND_MS,
  START_MS,
  type Step,
  saidOf,
  sceneOf,
  settle,
  storyOf,
  UNSAFE,
  wait,
} from '../support/machine.ts';
import { violationsOf } from '../support/machine-invariants.ts';

const LAPSE = wait(36 * SECOND_MS);
const PERSONS: readonly [string, (request: string) => Step][] = [
  ['redrive', (request) => redrive(request)],
  ['resolve', (request) => resolve(request, 'not-delivered')],
  ['cancel', (request) => cancel(request)],
];
const quarantinedRow = (over: Partial<Quarantined> = {}): Quarantined => {
  const { row } = play([claim('a'), settle('a', 'rejected')]);
  if (row.status !== 'quarantined') throw new TypeError(row.status);
  return { ...row, ...over };
};
const on = (row: Delivery, ...steps: Step[]): Scene => play(steps, sceneOf({ row, nowMs: START_MS + HOUR_MS }));

describe('a request of a person', () => {
  it.each(PERSONS)('is decided once, wherever the row has gone since: %s [M29]', (_name, step) => {
    const once = on(quarantinedRow(), step('r-1'));
    const twice = play([step('r-1')], once);
    expect(saidOf(twice)).toBe('repeated');
    expect(twice.row).toBe(once.row);
    if (once.row.status !== 'pending') return;
    const further: readonly Step[][] = [[claim('b')], [claim('b'), LAPSE], [claim('b'), settle('b', 'delivered')]];
    for (const steps of further) {
      const moved = play(steps, once);
      expect(saidOf(play([step('r-1')], moved))).toBe('repeated');
      expect(saidOf(play([step('r-2')], moved))).not.toBe('repeated');
    }
  });

  it('is refused on a live claim with the end of its lease, and changes nothing', () => {
    const live = play([claim('a')]);
    for (const [, step] of PERSONS) {
      const { decision } = lastTaken(play([step('r-1')], live));
      expect(decision).toEqual({ kind: 'refused', code: 'live-claim', leaseEndsAtMs: START_MS + 30_000 });
    }
  });

  it('is refused by the name of the state', () => {
    const early = play([claim('a'), settle('a', 'failed')]);
    const done = play([claim('a'), settle('a', 'delivered')]);
    const ended = play([cancel('r-0')]);
    const said = (scene: Scene) => PERSONS.map(([, step]) => saidOf(play([step('r-1')], scene)));
    const open = ['not-quarantined', 'not-quarantined', 'cancelled'];
    expect(said(early)).toEqual(open);
    expect(said(sceneOf())).toEqual(open);
    expect(said(play([park()]))).toEqual(open);
    expect(said(play([claim('a'), LAPSE]))).toEqual(open);
    expect(said(done)).toEqual(['already-delivered', 'already-delivered', 'already-delivered']);
    expect(said(ended)).toEqual(['already-cancelled', 'already-cancelled', 'already-cancelled']);
  });

  it('stands in the journal with its cause, and is counted [M28]', () => {
    const scene = on(quarantinedRow(), resolve('r-7', 'delivered'));
    expect(entriesOf(scene.row).at(-1)).toMatchObject({
      kind: 'decision',
      decision: 'resolve-delivered',
      cause: 'a:r-7',
      atMs: START_MS + HOUR_MS,
    });
    expect(scene.row).toMatchObject({ decisions: 1, redrives: 0 });
    expect(on(quarantinedRow(), redrive('r-7', { grant: 2 })).row).toMatchObject({ decisions: 0, redrives: 1 });
  });
});

describe('a redrive', () => {
  it('makes the same delivery due now, with its budget as it was, and wakes it [M7] [M25]', () => {
    const scene = on(quarantinedRow(), redrive('r-1'));
    expect(scene.row).toMatchObject({
      status: 'pending',
      dueAtMs: START_MS + HOUR_MS,
      horizonFromMs: START_MS + HOUR_MS,
      budget: 8,
      attempts: 1,
      redrives: 1,
    });
    expect(effectsOf(scene)).toEqual([{ kind: 'publish', version: scene.row.version, dueAtMs: START_MS + HOUR_MS }]);
    expect(storyOf(scene.row).at(-1)).toBe('redriven');
  });

  it('needs a grant where the budget is spent, and adds exactly that, on record [M7]', () => {
    const spent = quarantinedRow({ reason: 'budget', attempts: 1, budget: 1 });
    expect(saidOf(on(spent, redrive('r-1')))).toBe('over-budget');
    const granted = on(spent, redrive('r-1', { grant: 3 }));
    expect(granted.row).toMatchObject({ status: 'pending', budget: 4 });
    expect(entriesOf(granted.row).at(-1)).toMatchObject({ kind: 'redriven', grant: 3 });
    expect(entriesOf(on(quarantinedRow(), redrive('r-1')).row).at(-1)).not.toHaveProperty('grant');
  });

  it('ends at the bounds of a life: five redrives, fifty attempts', () => {
    expect(saidOf(on(quarantinedRow({ redrives: REDRIVES_MAX - 1 }), redrive('r-1')))).toBe('redriven');
    expect(saidOf(on(quarantinedRow({ redrives: REDRIVES_MAX }), redrive('r-1')))).toBe('life-bound');
    expect(saidOf(on(quarantinedRow({ budget: 45 }), redrive('r-1', { grant: ATTEMPTS_MAX - 45 })))).toBe('redriven');
    expect(saidOf(on(quarantinedRow({ budget: 45 }), redrive('r-1', { grant: ATTEMPTS_MAX - 44 })))).toBe('life-bound');
    const full = { attempts: ATTEMPTS_MAX, refunds: 5, budget: ATTEMPTS_MAX };
    expect(saidOf(on(quarantinedRow(full), redrive('r-1')))).toBe('life-bound');
  });

  it('of what may have had its effect needs the acceptance of a second one', () => {
    const inDoubt = play([claim('a', UNSAFE), mark('a'), settle('a', 'in-doubt')]);
    expect(inDoubt.row).toMatchObject({ status: 'quarantined', reason: 'in-doubt' });
    expect(saidOf(play([redrive('r-1')], inDoubt))).toBe('second-effect');
    expect(saidOf(play([redrive('r-1', { grant: 5 })], inDoubt))).toBe('second-effect');
    const accepted = play([redrive('r-1', { accept: true })], inDoubt);
    expect(accepted.row).toMatchObject({ status: 'pending', doubt: 'none' });
    expect(play([claim('b', UNSAFE)], accepted).row).toMatchObject({ status: 'claimed', attempts: 2 });
    const expired = quarantinedRow({ reason: 'key-expired', keyFromMs: START_MS });
    expect(saidOf(on(expired, redrive('r-1')))).toBe('second-effect');
    expect(saidOf(on(expired, redrive('r-1', { accept: true })))).toBe('redriven');
    expect(saidOf(on(quarantinedRow({ reason: 'budget', doubt: 'unsafe' }), redrive('r-1')))).toBe('second-effect');
  });

  it('starts a new key life with that acceptance, and only with it [M23]', () => {
    const row = quarantinedRow({ keyFromMs: START_MS });
    expect(on(row, redrive('r-1')).row.keyFromMs).toBe(START_MS);
    expect(on(row, redrive('r-1', { accept: true })).row).not.toHaveProperty('keyFromMs');
    const old = play([redrive('r-1')], sceneOf({ row, nowMs: START_MS + 2 * DAY_MS }));
    expect(play([claim('b')], old).row).toMatchObject({ status: 'quarantined', reason: 'key-expired' });
    const fresh = play([redrive('r-1', { accept: true })], sceneOf({ row, nowMs: START_MS + 2 * DAY_MS }));
    expect(play([claim('b'), settle('b', 'failed')], fresh).row.keyFromMs).toBe(START_MS + 2 * DAY_MS);
  });

  it('keeps a safe doubt: the destination honours the key, and the setting may change again [M21]', () => {
    expect(on(quarantinedRow({ doubt: 'safe' }), redrive('r-1')).row.doubt).toBe('safe');
    const turned = on(quarantinedRow({ doubt: 'safe' }), redrive('r-1'), claim('b', UNSAFE));
    expect(turned.row).toMatchObject({ status: 'quarantined', reason: 'in-doubt' });
  });

  it('puts the horizon seven days ahead again [M11]', () => {
    const row = quarantinedRow({ reason: 'horizon', horizonFromMs: START_MS - 30 * DAY_MS });
    const rules = { ...SAFE, keyLifeHours: null };
    expect(on(row, redrive('r-1'), wait(6 * DAY_MS), claim('b', rules)).row.status).toBe('claimed');
    expect(on(row, redrive('r-1'), wait(8 * DAY_MS), claim('b', rules)).row).toMatchObject({ reason: 'horizon' });
  });

  it('of a destination that is gone ends there again, by name and finitely', () => {
    let scene = play([refuse('no-destination')]);
    for (let n = 1; n <= 8; n += 1) scene = play([redrive(`r-${n}`), refuse('no-destination')], scene);
    expect(scene.row).toMatchObject({ status: 'quarantined', reason: 'no-destination', redrives: REDRIVES_MAX });
    expect(storyOf(scene.row)).toHaveLength(2 + 2 * REDRIVES_MAX);
  });
});

describe('a resolution', () => {
  it('as delivered ends the delivery by decision', () => {
    const scene = on(quarantinedRow({ doubt: 'unsafe' }), resolve('r-1', 'delivered'));
    expect(scene.row).toMatchObject({ status: 'delivered', by: 'decision', endedAtMs: START_MS + HOUR_MS });
    expect(effectsOf(scene)).toEqual([]);
  });

  it('as not delivered takes the doubt away, and makes it due now while budget is left [M21]', () => {
    const scene = on(quarantinedRow({ reason: 'in-doubt', doubt: 'unsafe' }), resolve('r-1', 'not-delivered'));
    expect(scene.row).toMatchObject({ status: 'pending', doubt: 'none', dueAtMs: START_MS + HOUR_MS, redrives: 0 });
    expect(effectsOf(scene)).toHaveLength(1);
    const spent = quarantinedRow({ reason: 'in-doubt', doubt: 'unsafe', attempts: 1, budget: 1 });
    const held = on(spent, resolve('r-1', 'not-delivered'));
    expect(held.row).toMatchObject({ status: 'quarantined', reason: 'budget', doubt: 'none', decisions: 1 });
    expect([saidOf(held), effectsOf(held)]).toEqual(['resolved', []]);
    expect(saidOf(play([redrive('r-2', { grant: 1 })], held))).toBe('redriven');
  });
});

describe('a resolution as not delivered', () => {
  it('puts the horizon seven days ahead again, so that the row can still be delivered [M11]', () => {
    const row = quarantinedRow({ reason: 'horizon', horizonFromMs: START_MS - 30 * DAY_MS });
    const scene = on(row, resolve('r-1', 'not-delivered'), claim('b'));
    expect(scene.row).toMatchObject({ status: 'claimed', horizonFromMs: START_MS + HOUR_MS });
  });
});

describe('a cancellation', () => {
  it('ends whatever is not final and not being sent', () => {
    const scenes: readonly Step[][] = [[], [park()], [claim('a'), settle('a', 'failed')], [refuse()]];
    for (const steps of scenes) {
      const scene = play([...steps, cancel('r-1')]);
      expect(scene.row).toMatchObject({ status: 'cancelled', reason: 'operator', decisions: 1 });
      expect(effectsOf(scene)).toEqual([]);
    }
  });

  it('closes the attempt of a dead worker first, so that one can see that it may have arrived [M14]', () => {
    const scene = play([claim('dead'), LAPSE, cancel('r-1')]);
    expect(storyOf(scene.row).slice(1)).toEqual(['claimed 1', 'outcome 1 in-doubt', 'decision cancel']);
    expect(scene.row).toMatchObject({ status: 'cancelled', doubt: 'safe' });
    expect(play([claim('dead', UNSAFE), LAPSE, cancel('r-1')]).row).toMatchObject({ doubt: 'none', refunds: 1 });
  });

  it('is the last but for late outcomes', () => {
    const scene = play([claim('dead'), LAPSE, cancel('r-1'), settle('dead', 'delivered')]);
    expect(scene.row.status).toBe('cancelled');
    expect(storyOf(scene.row).at(-1)).toBe('late-outcome 1 delivered');
  });
});

describe('twenty decisions', () => {
  const full = { decisions: DECISIONS_MAX - 1 };

  it('are the bound of a life: the last one is refused to whatever would let the delivery go on [M28]', () => {
    expect(saidOf(on(quarantinedRow(full), resolve('r', 'not-delivered')))).toBe('life-bound');
    const oneLess = quarantinedRow({ decisions: DECISIONS_MAX - 2 });
    expect(saidOf(on(oneLess, resolve('r', 'not-delivered')))).toBe('resolved');
    expect(saidOf(on(quarantinedRow(full), redrive('r')))).toBe('redriven');
  });

  it('leave the last one to a decision that ends the delivery, in every state that a person may end', () => {
    expect(saidOf(on(quarantinedRow(full), resolve('r', 'delivered')))).toBe('resolved');
    expect(saidOf(on(quarantinedRow(full), cancel('r')))).toBe('cancelled');
    expect(saidOf(on({ ...acceptedRow(), ...full }, cancel('r')))).toBe('cancelled');
    const lapsed = play([claim('a'), LAPSE], sceneOf({ row: { ...acceptedRow(), ...full } }));
    expect(saidOf(play([cancel('r')], lapsed))).toBe('cancelled');
  });

  it('end a row that has all of them by an older rule', () => {
    expect(saidOf(on(quarantinedRow({ decisions: DECISIONS_MAX }), cancel('r')))).toBe('cancelled');
  });
});

describe('a refusal from outside', () => {
  it.each(['no-destination', 'payload-changed'] as const)('holds the row as %s, on record [M19]', (reason) => {
    for (const steps of [[], [park()]]) {
      const scene = play([...steps, refuse(reason)]);
      expect(scene.row).toMatchObject({ status: 'quarantined', reason, attempts: 0, decisions: 0 });
      expect(storyOf(scene.row)).toEqual(['accepted', `decision refuse ${reason}`]);
    }
    const lapsed = play([claim('dead'), LAPSE, refuse(reason)]);
    expect(lapsed.row).toMatchObject({ status: 'quarantined', reason, doubt: 'safe' });
    expect(storyOf(lapsed.row).slice(2)).toEqual(['outcome 1 in-doubt', `decision refuse ${reason}`]);
  });

  it('waits for a live claim and for the time of an early row', () => {
    expect(saidOf(play([claim('a'), refuse()]))).toBe('busy');
    expect(saidOf(play([claim('a'), settle('a', 'failed'), refuse()]))).toBe('early');
  });

  it('is written once', () => {
    const once = play([refuse()]);
    expect(play([refuse(), refuse()], once).row).toBe(once.row);
  });
});

describe('a long quarrel over one delivery', () => {
  it('keeps the invariants', () => {
    const steps: Step[] = [claim('a', UNSAFE), mark('a'), settle('a', 'in-doubt')];
    for (let n = 1; n <= 4; n += 1) {
      steps.push(
        redrive(`r-${n}`),
        redrive(`r-${n}`, { accept: true }),
        claim(`b-${n}`, UNSAFE),
        mark(`b-${n}`),
        LAPSE,
      );
      steps.push(claim(`c-${n}`, UNSAFE), resolve(`s-${n}`, 'not-delivered'), cancel(`r-${n}`), refuse());
    }
    const { taken } = play(steps);
    expect(taken.flatMap((t) => violationsOf(t.before, t.input, t.decision, t.nowMs))).toEqual([]);
    expect(taken.filter(({ decision }) => decision.kind === 'write').length).toBeGreaterThan(15);
  });
});
