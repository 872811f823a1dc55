/** The whole table of the machine, cell by cell, and how a write whose answer was lost is recognised. */
import { describe, expect, it } from 'vitest';
import { INPUTS, type InputKind, type Note, type RefusalCode } from '../../functions/core/inputs.ts';
import { decide, isOurs, signatureOf, TABLE } from '../../functions/core/machine.ts';
import type { Status } from '../../functions/core/model.ts';
import { PHASES, type Phase, phaseOf } from '../../functions/core/phase.ts';
import {
  cancel,
  claim,
  claimIdOf,
  defer,
  HOUR_MS,
  inputOf,
  MINUTE_MS,
  mark,
  outcomeOf,
  park,
  play,
  redrive,
  refuse,
  resolve,
  type Scene,
  SECOND_MS,
  type Step,
  sceneOf,
  settle,
  storyOf,
  sweep,
  take,
  UNSAFE,
  wait,
  writeIdOf,
} from '../support/machine.ts';
import { impuritiesOf, violationsOf } from '../support/machine-invariants.ts';

// ---- one row in each phase ----------------------------------------------------------------------------------------

/** Two attempts: the first by a ghost that was taken over, the second told to come back in an hour. */
const PRELUDE: readonly Step[] = [
  claim('ghost'),
  wait(36 * SECOND_MS),
  claim('first'),
  settle('first', outcomeOf('throttled', { retryAfterMs: HOUR_MS })),
];
const RIPE = [...PRELUDE, wait(HOUR_MS)];

/** In every scene the look-after time has come, so that a sweep has something to decide. */
const HISTORY: Readonly<Record<Phase, readonly Step[]>> = {
  early: [...PRELUDE, wait(55 * MINUTE_MS)],
  due: RIPE,
  parked: [...RIPE, park(), wait(HOUR_MS)],
  live: [...RIPE, claim('owner'), wait(10 * SECOND_MS)],
  lapsed: [...RIPE, claim('owner'), wait(36 * SECOND_MS)],
  delivered: [...RIPE, claim('owner'), settle('owner', 'delivered')],
  cancelled: [...RIPE, cancel('r-1')],
  quarantined: [...RIPE, claim('owner'), settle('owner', 'rejected')],
};
const sceneIn = (phase: Phase): Scene => play(HISTORY[phase]);

/** The owner settles where it still has its claim; everywhere else the ghost comes back. */
const inputFor = (phase: Phase, kind: InputKind): Step => {
  const by = phase === 'live' || phase === 'lapsed' ? 'owner' : 'ghost';
  const steps: Readonly<Record<InputKind, Step>> = {
    claim: claim('next'),
    park: park(),
    defer: defer(10 * SECOND_MS),
    mark: mark(by),
    settle: settle(by, 'failed'),
    sweep: sweep('open'),
    refuse: refuse(),
    redrive: redrive('r-9'),
    resolve: resolve('r-9', 'not-delivered'),
    cancel: cancel('r-9'),
  };
  return steps[kind];
};

// ---- the table as it is meant -------------------------------------------------------------------------------------

type Expected =
  | { readonly kept: Note }
  | { readonly refused: RefusalCode }
  | {
      readonly note: Note;
      readonly status: Status;
      readonly entries: readonly string[];
      /** `ahead` of the write or `behind` it. */
      readonly effects: readonly string[];
    };

const kept = (note: Note): Expected => ({ kept: note });
const refused = (code: RefusalCode): Expected => ({ refused: code });
const writes = (note: Note, status: Status, entries: string[] = [], ...effects: string[]): Expected => ({
  note,
  status,
  entries,
  effects,
});
const lateOn = (status: Status): Expected => writes('late', status, ['late-outcome 1 failed']);
const CLOSED = 'outcome 3 in-doubt';
const REFUSED = 'decision refuse no-destination';

const EXPECTED: Readonly<Record<Phase, Readonly<Record<InputKind, Expected>>>> = {
  early: {
    claim: kept('early'),
    park: kept('early'),
    defer: kept('early'),
    mark: kept('lost'),
    settle: lateOn('pending'),
    sweep: writes('looked-after', 'pending', [], 'ahead publish'),
    refuse: kept('early'),
    redrive: refused('not-quarantined'),
    resolve: refused('not-quarantined'),
    cancel: writes('cancelled', 'cancelled', ['decision cancel']),
  },
  due: {
    claim: writes('claimed', 'claimed', ['claimed 3']),
    park: writes('parked', 'pending', [], 'behind reread-gate'),
    defer: writes('deferred', 'pending', [], 'behind publish'),
    mark: kept('lost'),
    settle: lateOn('pending'),
    sweep: writes('looked-after', 'pending', [], 'ahead publish'),
    refuse: writes('quarantined', 'quarantined', [REFUSED]),
    redrive: refused('not-quarantined'),
    resolve: refused('not-quarantined'),
    cancel: writes('cancelled', 'cancelled', ['decision cancel']),
  },
  parked: {
    claim: writes('claimed', 'claimed', ['claimed 3']),
    park: kept('waiting'),
    defer: writes('deferred', 'pending', [], 'behind publish'),
    mark: kept('lost'),
    settle: lateOn('pending'),
    sweep: writes('looked-after', 'pending', [], 'ahead publish'),
    refuse: writes('quarantined', 'quarantined', [REFUSED]),
    redrive: refused('not-quarantined'),
    resolve: refused('not-quarantined'),
    cancel: writes('cancelled', 'cancelled', ['decision cancel']),
  },
  live: {
    claim: kept('busy'),
    park: kept('busy'),
    defer: kept('busy'),
    mark: writes('marked', 'claimed'),
    settle: writes('settled', 'pending', ['outcome 3 failed'], 'behind publish'),
    sweep: writes('looked-after', 'claimed'),
    refuse: kept('busy'),
    redrive: refused('live-claim'),
    resolve: refused('live-claim'),
    cancel: refused('live-claim'),
  },
  lapsed: {
    claim: writes('claimed', 'claimed', [CLOSED, 'claimed 4']),
    park: writes('parked', 'pending', [CLOSED], 'behind reread-gate'),
    defer: writes('deferred', 'pending', [CLOSED], 'behind publish'),
    mark: kept('lost'),
    settle: writes('settled', 'pending', ['outcome 3 failed'], 'behind publish'),
    sweep: writes('looked-after', 'claimed', [], 'ahead publish'),
    refuse: writes('quarantined', 'quarantined', [CLOSED, REFUSED]),
    redrive: refused('not-quarantined'),
    resolve: refused('not-quarantined'),
    cancel: writes('cancelled', 'cancelled', [CLOSED, 'decision cancel']),
  },
  delivered: {
    claim: kept('done'),
    park: kept('done'),
    defer: kept('done'),
    mark: kept('lost'),
    settle: lateOn('delivered'),
    sweep: kept('done'),
    refuse: kept('done'),
    redrive: refused('already-delivered'),
    resolve: refused('already-delivered'),
    cancel: refused('already-delivered'),
  },
  cancelled: {
    claim: kept('done'),
    park: kept('done'),
    defer: kept('done'),
    mark: kept('lost'),
    settle: lateOn('cancelled'),
    sweep: kept('done'),
    refuse: kept('done'),
    redrive: refused('already-cancelled'),
    resolve: refused('already-cancelled'),
    cancel: refused('already-cancelled'),
  },
  quarantined: {
    claim: kept('held'),
    park: kept('held'),
    defer: kept('held'),
    mark: kept('lost'),
    settle: lateOn('quarantined'),
    sweep: kept('held'),
    refuse: kept('held'),
    redrive: writes('redriven', 'pending', ['redriven'], 'behind publish'),
    resolve: writes('resolved', 'pending', ['decision resolve-not-delivered'], 'behind publish'),
    cancel: writes('cancelled', 'cancelled', ['decision cancel']),
  },
};

/** What a step came to, in the words of the table above. */
const cameTo = (scene: Scene, step: Step): { came: Expected; wrong: readonly string[] } => {
  const taken = take(scene, { ...step, number: 90 }).taken.at(-1);
  if (taken === undefined) throw new TypeError(`nobody could do ${step.do}`);
  const { before, input, decision, nowMs } = taken;
  const wrong = [...violationsOf(before, input, decision, nowMs), ...impuritiesOf(decide, before, input, nowMs, 0.5)];
  if (decision.kind === 'keep') return { came: kept(decision.note), wrong };
  if (decision.kind === 'refused') return { came: refused(decision.code), wrong };
  const { note, next, before: ahead, after: behind } = decision;
  const effects = [...ahead.map(({ kind }) => `ahead ${kind}`), ...behind.map(({ kind }) => `behind ${kind}`)];
  return { came: writes(note, next.status, storyOf(next).slice(storyOf(before).length), ...effects), wrong };
};

describe('the table of phase and input', () => {
  it('is written for every phase and every input, and for nothing else', () => {
    expect(Object.keys(TABLE).sort()).toEqual([...PHASES].sort());
    for (const phase of PHASES) expect(Object.keys(TABLE[phase]).sort(), phase).toEqual([...INPUTS].sort());
    expect(new Set(PHASES).size * new Set(INPUTS).size).toBe(80);
  });

  it.each(PHASES)('is tested with a row that is %s', (phase) => {
    const { row, nowMs } = sceneIn(phase);
    expect(phaseOf(row, nowMs)).toBe(phase);
    if ('lookAfterMs' in row) expect(nowMs).toBeGreaterThanOrEqual(row.lookAfterMs);
  });

  const cells = PHASES.flatMap((phase) => INPUTS.map((kind) => [phase, kind] as const));

  it.each(cells)('%s x %s writes, keeps or refuses as it is meant [M2] [M19]', (phase, kind) => {
    const { came, wrong } = cameTo(sceneIn(phase), inputFor(phase, kind));
    expect(came).toEqual(EXPECTED[phase][kind]);
    expect(wrong).toEqual([]);
  });

  it('carries identity, and what newer code has added, through every write [M3]', () => {
    const carried = { zz: { added: 'later' } };
    for (const [phase, kind] of cells) {
      const scene = sceneIn(phase);
      const { row } = take({ ...scene, row: { ...scene.row, carried } }, { ...inputFor(phase, kind), number: 90 });
      const { event, destination, payloadHash, acceptedAtMs } = scene.row;
      expect(row, `${phase} x ${kind}`).toMatchObject({ event, destination, payloadHash, acceptedAtMs });
      expect(row.carried).toBe(carried);
    }
  });

  it('has no cell that leaves a final row, whatever comes [M4]', () => {
    for (const phase of ['delivered', 'cancelled'] as const) {
      const scene = sceneIn(phase);
      for (const kind of INPUTS) {
        const after = take(scene, { ...inputFor(phase, kind), number: 90 }).row;
        expect({ ...after, version: 0, journal: [] }, kind).toEqual({ ...scene.row, version: 0, journal: [] });
      }
    }
  });
});

// ---- a write whose answer was lost --------------------------------------------------------------------------------

const LOST: Readonly<
  Record<InputKind, { readonly history: readonly Step[]; readonly step: Step; readonly found: boolean }>
> = {
  claim: { history: [], step: claim('me'), found: true },
  mark: { history: [claim('me', UNSAFE)], step: mark('me'), found: true },
  settle: { history: [claim('me')], step: settle('me', 'failed'), found: true },
  refuse: { history: [], step: refuse(), found: true },
  redrive: { history: [refuse()], step: redrive('r-1'), found: true },
  resolve: { history: [refuse()], step: resolve('r-1', 'not-delivered'), found: true },
  cancel: { history: [], step: cancel('r-1'), found: true },
  // These leave no entry: they are decided again, and what they planned is covered by the look-after time.
  park: { history: [], step: park(), found: false },
  defer: { history: [], step: defer(5_000), found: false },
  sweep: { history: [wait(HOUR_MS)], step: sweep(), found: false },
};

describe('a refused write that had been applied all the same', () => {
  const applied = (kind: InputKind) => {
    const before = play(LOST[kind].history);
    const step = { ...LOST[kind].step, number: 50 };
    const input = inputOf(before, step);
    if (input === undefined) throw new TypeError(kind);
    return { input, before, after: take(before, step) };
  };

  it.each(INPUTS)('is found again in the present row, if %s leaves a trace', (kind) => {
    const { input, before, after } = applied(kind);
    expect(after.row.version).toBe(before.row.version + 1);
    expect(isOurs(after.row, input)).toBe(LOST[kind].found);
    expect(isOurs(before.row, input)).toBe(false);
  });

  it.each(['claim', 'settle', 'refuse', 'redrive', 'resolve', 'cancel'] as const)(
    'is found even where a rival has written since: %s',
    (kind) => {
      const { input, after } = applied(kind);
      const later = play([wait(2 * MINUTE_MS), sweep(), claim('rival'), settle('rival', 'failed')], after);
      expect(isOurs(later.row, input)).toBe(true);
    },
  );

  it('is the claim, by its claim id alone, before anybody else has claimed', () => {
    const { row } = play([claim('me')]);
    const input = { ...claimOf(), writeId: writeIdOf('other') };
    expect(isOurs(row, input)).toBe(true);
    expect(isOurs(row, { ...input, claimId: claimIdOf('c-other') })).toBe(false);
  });

  it('is no mark while the mark is missing, and none after another has claimed', () => {
    const unmarked = play([claim('me', UNSAFE)]);
    const input = inputOf(unmarked, { ...mark('me'), number: 9 });
    if (input === undefined) throw new TypeError('mark');
    expect(isOurs(unmarked.row, input)).toBe(false);
    expect(isOurs(play([mark('me')], unmarked).row, input)).toBe(true);
    expect(isOurs(play([wait(HOUR_MS), claim('rival', UNSAFE), mark('rival')], unmarked).row, input)).toBe(false);
  });

  it('is recognised by the write id, by the claim id, by both, or not at all', () => {
    const signs = Object.fromEntries(
      INPUTS.map((kind) => [kind, Object.keys(signatureOf(applied(kind).input)).sort()]),
    );
    const written = ['writeId'];
    expect(signs).toEqual({
      claim: ['claimId', 'writeId'],
      mark: ['claimId'],
      ...{ settle: written, refuse: written, redrive: written, resolve: written, cancel: written },
      ...{ park: written, defer: written, sweep: [] },
    });
  });
});

const claimOf = () => {
  const input = inputOf(sceneOf(), { ...claim('me'), number: 1 });
  if (input?.kind !== 'claim') throw new TypeError('claim');
  return input;
};
