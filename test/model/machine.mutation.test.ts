/**
 * The standard histories of a delivery, each with every input repeated, left out, or swapped with the one behind it.
 * Whatever a queue, a crash or a race makes of a history, the invariants hold, at most one success is recorded, and a
 * row that is still open is found by a sweep and comes to an end.
 */
import { describe, expect, it } from 'vitest';
import {
  cancel,
  claim,
  defer,
  entriesOf,
  HOUR_MS,
  MINUTE_MS,
  mark,
  type NumberedStep,
  numbered,
  outcomeOf,
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
  sceneOf,
  settle,
  sweep,
  take,
  UNSAFE,
  wait,
} from '../support/machine.ts';
import { endOf } from '../support/machine-end.ts';
import { violationsOf } from '../support/machine-invariants.ts';

const LAPSE = wait(36 * SECOND_MS);
const TWO_TRIES = { ...SAFE, scheduleSec: [5] };

interface Scenario {
  readonly name: string;
  readonly steps: readonly Step[];
  /** Status, and reason where there is one, of the history as it stands. */
  readonly ends: string;
  readonly rules?: typeof SAFE;
}

const SCENARIOS: readonly Scenario[] = [
  { name: 'delivered at the first attempt', ends: 'delivered', steps: [claim('a'), settle('a', 'delivered')] },
  {
    name: 'delivered at the third attempt',
    ends: 'delivered',
    steps: [
      ...[claim('a'), settle('a', 'failed'), wait(MINUTE_MS)],
      ...[claim('b'), settle('b', 'not-sent'), wait(MINUTE_MS)],
      ...[claim('c'), settle('c', 'delivered')],
    ],
  },
  {
    name: 'budget spent, granted one more, delivered',
    ends: 'delivered',
    rules: TWO_TRIES,
    steps: [
      ...[claim('a'), settle('a', 'failed'), wait(MINUTE_MS), claim('b'), settle('b', 'failed')],
      ...[redrive('r-1', { grant: 1 }), claim('c'), settle('c', 'delivered')],
    ],
  },
  {
    name: 'a worker dies, another takes over, the first comes back with an answer',
    ends: 'pending',
    steps: [claim('a'), LAPSE, claim('b'), settle('a', 'failed'), settle('b', 'throttled')],
  },
  {
    name: 'a late success while another is at work',
    ends: 'delivered',
    steps: [claim('a'), LAPSE, claim('b'), settle('a', 'delivered'), settle('b', 'delivered')],
  },
  {
    name: 'a worker dies behind its mark at an unsafe destination, and a person resolves',
    ends: 'delivered',
    rules: UNSAFE,
    steps: [
      ...[claim('a'), mark('a'), LAPSE, claim('b'), resolve('r-1', 'not-delivered')],
      ...[claim('c'), mark('c'), settle('c', 'delivered')],
    ],
  },
  {
    name: 'a worker dies before its mark, and nothing is lost',
    ends: 'delivered',
    rules: UNSAFE,
    steps: [claim('a'), LAPSE, sweep(), claim('b'), mark('b'), settle('b', 'delivered')],
  },
  {
    name: 'an unsafe time-out, redriven with the second effect accepted',
    ends: 'delivered',
    rules: UNSAFE,
    steps: [
      ...[claim('a'), mark('a'), settle('a', 'in-doubt'), redrive('r-1'), redrive('r-2', { accept: true })],
      ...[claim('b'), mark('b'), settle('b', 'delivered')],
    ],
  },
  {
    name: 'parked at a paused destination, drained, delivered',
    ends: 'delivered',
    steps: [park(), wait(HOUR_MS), sweep('closed'), wait(HOUR_MS), sweep('open'), claim('a'), settle('a', 'delivered')],
  },
  {
    name: 'a slot, a short wait, a withheld attempt, then delivered',
    ends: 'delivered',
    steps: [
      ...[defer(5_000), wait(5_000), defer(2_000, 'concurrency'), wait(2_000), claim('a')],
      ...[settle('a', 'withheld', { kind: 'defer', reason: 'rate', untilMs: START_MS + 60_000 }), wait(MINUTE_MS)],
      ...[claim('b'), settle('b', 'delivered')],
    ],
  },
  {
    name: 'a lost message, found by two sweeps',
    ends: 'delivered',
    steps: [wait(MINUTE_MS), sweep(), wait(20 * MINUTE_MS), sweep(), claim('a'), settle('a', 'delivered')],
  },
  {
    name: 'throttled for an hour, then gone',
    ends: 'quarantined gone',
    steps: [
      claim('a'),
      settle('a', outcomeOf('throttled', { retryAfterMs: HOUR_MS })),
      wait(50 * MINUTE_MS),
      sweep(),
      wait(11 * MINUTE_MS),
      claim('b'),
      settle('b', 'gone'),
    ],
  },
  {
    name: 'the destination is deleted while a worker is dead, and a person cancels',
    ends: 'cancelled operator',
    steps: [claim('a'), LAPSE, refuse('no-destination'), cancel('r-1'), settle('a', 'failed')],
  },
];

const run = ({ rules }: Scenario, steps: readonly NumberedStep[]): Scene =>
  steps.reduce((scene, step) => take(scene, step), sceneOf(rules ? { rules } : {}));

// The same write a second time is recognised by `transition`, before it decides; here `decide` stands alone.
const BEFORE_DECIDE = /^M20 /;

const wrongIn = (scene: Scene): readonly string[] =>
  scene.taken
    .flatMap((t) => violationsOf(t.before, t.input, t.decision, t.nowMs))
    .filter((text) => !BEFORE_DECIDE.test(text));

const successesIn = ({ row }: Scene): number =>
  entriesOf(row).filter((entry) => entry.kind === 'outcome' && entry.class === 'delivered').length;

const ending = ({ row }: Scene): string => ('reason' in row ? `${row.status} ${row.reason}` : row.status);

type Mutation = readonly [
  name: string,
  make: (steps: readonly NumberedStep[], at: number) => NumberedStep[] | undefined,
];
const MUTATIONS: readonly Mutation[] = [
  ['repeated at once', (steps, at) => steps.flatMap((step, index) => (index === at ? [step, step] : [step]))],
  ['repeated at the end', (steps, at) => [...steps, ...steps.slice(at, at + 1)]],
  ['repeated much later', (steps, at) => [...steps, ...later(steps.length), ...steps.slice(at, at + 1)]],
  ['left out', (steps, at) => steps.filter((_step, index) => index !== at)],
  ['swapped with the next', (steps, at) => (at + 1 < steps.length ? swapped(steps, at) : undefined)],
];
const later = (number: number): NumberedStep[] => [{ ...wait(2 * HOUR_MS), number: number + 1 }];
const swapped = (steps: readonly NumberedStep[], at: number): NumberedStep[] => [
  ...steps.slice(0, at),
  ...steps.slice(at, at + 2).reverse(),
  ...steps.slice(at + 2),
];

describe.each(SCENARIOS)('$name', (scenario) => {
  const steps = numbered(scenario.steps);

  it('ends as it should when nothing goes wrong', () => {
    const scene = run(scenario, steps);
    expect(ending(scene)).toBe(scenario.ends);
    expect(wrongIn(scene)).toEqual([]);
  });

  it.each(MUTATIONS)('keeps the invariants and comes to an end with any input %s', (_name, make) => {
    for (const at of steps.keys()) {
      const mutated = make(steps, at);
      if (mutated === undefined) continue;
      const scene = run(scenario, mutated);
      const end = endOf(scene);
      const where = `${steps[at]?.do} at ${at}`;
      expect(wrongIn(end.scene), where).toEqual([]);
      expect(end.stuck, where).toBeUndefined();
      expect(successesIn(end.scene), where).toBeLessThanOrEqual(1);
    }
  });
});

describe('the mutations', () => {
  it('do change the histories: most end in another journal than the one that was meant', () => {
    const told = (scene: Scene) => scene.row.journal.head;
    const all = SCENARIOS.flatMap((scenario) => {
      const steps = numbered(scenario.steps);
      const meant = told(run(scenario, steps));
      return [...steps.keys()].flatMap((at) =>
        MUTATIONS.flatMap(([, make]) => {
          const mutated = make(steps, at);
          return mutated ? [told(run(scenario, mutated)) !== meant] : [];
        }),
      );
    });
    expect(all.length).toBeGreaterThan(350);
    expect(all.filter(Boolean).length / all.length).toBeGreaterThan(0.3);
  });

  it('would be seen to leave a row behind, if its look-after time were lost or a year away', () => {
    const scene = play([claim('a'), settle('a', 'failed')]);
    const year = { ...scene, row: Object.assign({}, scene.row, { lookAfterMs: START_MS + 365 * 24 * HOUR_MS }) };
    expect(endOf(scene).stuck).toBeUndefined();
    expect(endOf(year).stuck).toContain('too late');
  });
});
