/**
 * The stated size: which scenes are explored in full. Every scene is one small world (who acts, what the destination may
 * answer, how much may go wrong), and every order of everything in it is run.
 */
import {
  ANSWERS,
  type AnswerName,
  INSIDE_LEASE_MS,
  PAST_LEASE_MS,
  type Part,
  type Scene,
  type Start,
} from './scene.ts';

export interface Family {
  readonly name: string;
  readonly says: string;
  /** What the ci tier explores. */
  readonly scenes: readonly Scene[];
  /** The same with every answer that a destination may give: hours of work, done once for a release. */
  readonly whole: readonly Scene[];
}

const TWO_WORKERS: readonly Part[] = ['worker', 'worker'];

export const CALM: Omit<Scene, 'name' | 'repeatSafe' | 'answer'> = {
  start: 'fresh',
  cast: TWO_WORKERS,
  limit: 'none',
  pushes: 0,
  skewMs: 0,
  jumps: 0,
  jumpsMs: [PAST_LEASE_MS],
  crashes: 0,
  faults: 0,
  faultsAt: 'anything',
  messages: 'kept',
};

type Twist = Partial<typeof CALM>;

const SOME_ANSWERS: readonly AnswerName[] = ['200', '410', '422', 'timeout'];
const MORE_ANSWERS: readonly AnswerName[] = ['200', '500', 'timeout'];

const family = (name: string, says: string, answers: readonly AnswerName[], twists: readonly Twist[]): Family => {
  const scenesOf = (some: readonly AnswerName[]): Scene[] =>
    some.flatMap((answer) =>
      [true, false].flatMap((repeatSafe) =>
        twists.map((twist) => named(name, { ...CALM, ...twist, answer, repeatSafe })),
      ),
    );
  return { name, says, scenes: scenesOf(answers), whole: scenesOf(ANSWERS) };
};

/** The name says all that differs from one scene to the next. */
const named = (family: string, scene: Omit<Scene, 'name'>): Scene => {
  const {
    start,
    cast,
    limit,
    repeatSafe,
    answer,
    jumps,
    jumpsMs,
    crashes,
    faults,
    faultsAt,
    skewMs,
    pushes,
    messages,
  } = scene;
  const trouble = [
    limit === 'none' ? '' : `one ${limit}`,
    jumps > 0 ? `${jumps} jump ${jumpsMs.join('|')}` : '',
    crashes > 0 ? `${crashes} crash` : '',
    faults > 0 ? `${faults} fault at ${faultsAt}` : '',
    skewMs === 0 ? '' : `skew ${skewMs}`,
    pushes > 0 ? `${pushes} push` : '',
    messages === 'lost' ? 'messages lost' : '',
  ];
  const parts = [
    start,
    cast.join('+'),
    repeatSafe ? 'safe' : 'unsafe',
    answer,
    ...trouble.filter((part) => part !== ''),
  ];
  return { ...scene, name: `${family}: ${parts.join(', ')}` };
};

const STARTS: readonly Start[] = ['last', 'dead-unsent', 'dead-sent', 'parked', 'early'];
const SWEPT: Twist = { start: 'overdue', cast: ['worker', 'sweep'], pushes: 1 };
const CANCELLED: Twist = { cast: ['worker', 'cancel'], jumps: 1 };
const RESUMED: Twist = { start: 'shut', cast: ['worker', 'resume'], pushes: 1 };
const decided = (part: Part): Twist => ({ start: 'doubted', cast: ['worker', part], pushes: 1 });

/** Everything: the slow tier. The largest stand first, so that no thread is left alone with one at the end. */
export const FAMILIES: readonly Family[] = [
  family(
    'fault and pause',
    'one failed call or lost answer at the row, one pause longer than a lease (only in the whole size)',
    [],
    [{ faults: 1, faultsAt: 'row', jumps: 1 }],
  ),
  family('two pauses', 'no fault, two pauses longer than a lease', ['200'], [{ jumps: 2 }]),
  family('two crashes', 'two crashes anywhere, one pause longer than a lease', ['200'], [{ crashes: 2, jumps: 1 }]),
  family('crash and pause', 'one crash anywhere, one pause longer than a lease, every message lost', SOME_ANSWERS, [
    { crashes: 1, jumps: 1, messages: 'lost' },
  ]),
  family('pause', 'no fault, one pause inside the lease or longer than it', ANSWERS, [
    { jumps: 1, jumpsMs: [INSIDE_LEASE_MS, PAST_LEASE_MS] },
  ]),
  family('two faults', 'two failed calls or lost answers anywhere', ['200', 'timeout'], [{ faults: 2 }]),
  family('crash and fault', 'one crash and one failed call or lost answer anywhere', MORE_ANSWERS, [
    { crashes: 1, faults: 1 },
  ]),
  family(
    'other starts',
    'the last attempt, a dead worker before us, a row parked at an open gate: one crash and one fault',
    MORE_ANSWERS,
    STARTS.map((start) => ({ start, crashes: 1, faults: 1 })),
  ),
  family(
    'other starts, pause',
    'the same starts with a pause longer than a lease',
    MORE_ANSWERS,
    STARTS.map((start) => ({ start, jumps: 1 })),
  ),
  family(
    'sweep',
    'a worker, a sweep, and the push that the sweep publishes: one crash or one fault',
    ['200', '422'],
    [
      { ...SWEPT, faults: 1 },
      { ...SWEPT, crashes: 1 },
    ],
  ),
  family(
    'sweep, pause',
    'a worker and a sweep, one pause longer than a lease',
    ['200'],
    [{ ...SWEPT, pushes: 0, jumps: 1 }],
  ),
  family('cancel', 'a worker and a person who cancels: one crash or one fault, one pause', MORE_ANSWERS, [
    { ...CANCELLED, crashes: 1 },
    { ...CANCELLED, faults: 1 },
  ]),
  family(
    'cancel, two workers',
    'two workers and a person who cancels, one pause',
    ['200'],
    [{ cast: [...TWO_WORKERS, 'cancel'], jumps: 1 }],
  ),
  family('redrive, resolve', 'a row in doubt, a person who lets it be sent again, two pushes', MORE_ANSWERS, [
    ...(['redrive', 'resolve'] as const).flatMap((part) => [
      { ...decided(part), faults: 1 },
      { ...decided(part), crashes: 1 },
      { ...decided(part), jumps: 1 },
    ]),
  ]),
  family(
    'resume',
    'a paused destination, a person who opens it, the drain beside a worker',
    ['200', '500'],
    [
      { ...RESUMED, pushes: 2 },
      { ...RESUMED, faults: 2 },
      { ...RESUMED, crashes: 1, faults: 1 },
      { ...RESUMED, jumps: 1 },
      { ...RESUMED, cast: [...TWO_WORKERS, 'resume'] },
    ],
  ),
  family(
    'settings',
    'a worker, and a person who changes or deletes the destination',
    ['200', '500'],
    [
      ...(['edit', 'delete'] as const).flatMap((part) => [
        { cast: ['worker', part] as const, faults: 1, jumps: 1 },
        { cast: ['worker', part] as const, crashes: 1, jumps: 1 },
        { cast: [...TWO_WORKERS, part] },
      ]),
    ],
  ),
  family(
    'probe',
    'a destination paused by its breaker, and two workers of which one may try',
    ['200', '500'],
    [
      { start: 'probing', faults: 1 },
      { start: 'probing', crashes: 1, jumps: 1 },
    ],
  ),
  family(
    'limits',
    'two workers at a destination with one place, or one slot a second',
    ['200', '500'],
    [
      ...(['place', 'rate'] as const).flatMap((limit) => [
        { limit, faults: 1 },
        { limit, crashes: 1 },
        { limit, jumps: 1 },
      ]),
    ],
  ),
  family('pause by a person', 'a worker, and a person who pauses the destination', MORE_ANSWERS, [
    { cast: ['worker', 'pause'], faults: 2 },
    { cast: ['worker', 'pause'], crashes: 1, jumps: 1 },
    { cast: [...TWO_WORKERS, 'pause'], jumps: 0 },
  ]),
  family(
    'clocks',
    'clocks that differ by the whole margin, one pause around the end of the lease',
    ['200', '500'],
    [
      { skewMs: 5_000, jumps: 1, jumpsMs: [INSIDE_LEASE_MS, 30_001] },
      { skewMs: -5_000, jumps: 1, jumpsMs: [30_001, PAST_LEASE_MS] },
    ],
  ),
];
