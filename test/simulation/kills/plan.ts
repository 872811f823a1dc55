/** What one world is put through, fixed by its seed: who misbehaves how, when it dies, how far its clock has moved on. */
import type { DestinationSettings } from '../../../infra/local/demo/stage.ts';
import type { Keys } from '../../../infra/local/partner/personality.ts';
import type { Step } from '../../../infra/local/partner/script.ts';
import { drawOf } from '../../../infra/local/queue/chance.ts';

export interface Party {
  readonly name: string;
  readonly settings: DestinationSettings;
  readonly keys: Keys;
  readonly steps: readonly Step[];
}

const SCHEDULE = [1, 1, 1, 1, 1, 1, 1];
const STEPS = 100;

const wellDone: Step = { status: 200, delayMs: 10 };
const FLAKY: readonly Step[] = [
  wellDone,
  { status: 500 },
  { status: 500, act: true },
  { reset: 'before-answer', act: true },
  { status: 201, reset: 'after-status' },
  { status: 429, headers: { 'retry-after': '1' } },
  { status: 409 },
  { garbage: 'no http' },
];
/** Where a repeat is not safe the partner never says "failed" of what it has done: it would be believed. */
const UNSAFE: readonly Step[] = [wellDone, wellDone, { status: 500 }, { reset: 'before-answer', act: true }];

const drawn = (seed: number, name: string, from: readonly Step[], rare: Step): readonly Step[] =>
  Array.from({ length: STEPS }, (_, at) => {
    if (at === STEPS - 1) return wellDone;
    if (drawOf(seed, name, at, 'rare') < 0.02) return rare;
    return from[Math.floor(drawOf(seed, name, at) * from.length)] ?? wellDone;
  });

export const partiesOf = (seed: number): readonly Party[] => [
  { name: 'calm', settings: { repeatSafe: true, schedule: SCHEDULE }, keys: 'honours', steps: [wellDone] },
  {
    name: 'flaky',
    settings: { repeatSafe: true, schedule: SCHEDULE },
    keys: 'honours',
    steps: drawn(seed, 'flaky', FLAKY, { hang: true }),
  },
  {
    name: 'unsafe',
    settings: { repeatSafe: false, schedule: SCHEDULE },
    keys: 'ignores',
    steps: drawn(seed, 'unsafe', UNSAFE, { hang: true, act: true }),
  },
  { name: 'gated', settings: { repeatSafe: true, schedule: SCHEDULE }, keys: 'replays-all', steps: [wellDone] },
];

export type Moment =
  /** From outside, so long after it was up. */
  | { readonly kind: 'from-outside'; readonly afterMs: number }
  /** From outside, so long after its process was started: perhaps before it is up. */
  | { readonly kind: 'starting'; readonly afterMs: number }
  /** By itself, at its n-th call of a port; from outside if it never comes so far. */
  | { readonly kind: 'at-call'; readonly call: number; readonly before: boolean };

export interface Round {
  readonly moment: Moment;
  /** How far the clock has moved on since the round before, in addition to the time that has passed. */
  readonly aheadMs: number;
  readonly events: readonly {
    readonly id: string;
    readonly destinations: readonly string[];
    readonly twice: boolean;
  }[];
  /** `none`, or what a person does. */
  readonly person: 'none' | 'pause' | 'resume' | 'redrive' | 'resolve' | 'cancel';
}

const EVENTS = 8;
const AHEAD_MS = [0, 0, 2_000, 20_000, 20_000, 60_000, 20 * 60_000];
const PERSONS = ['none', 'none', 'pause', 'resume', 'redrive', 'redrive', 'resolve', 'cancel'] as const;
const OUTSIDE_MS_MAX = 1_000;
const STARTING_MS_MAX = 800;
const CALLS_MAX = 500;

const pick = <T>(from: readonly T[], draw: number, otherwise: T): T =>
  from[Math.floor(draw * from.length)] ?? otherwise;

const momentOf = (draw: (name: string) => number): Moment => {
  const kind = draw('moment');
  if (kind < 0.1) return { kind: 'starting', afterMs: Math.floor(draw('after') * STARTING_MS_MAX) };
  if (kind < 0.4) return { kind: 'from-outside', afterMs: Math.floor(draw('after') * OUTSIDE_MS_MAX) };
  return { kind: 'at-call', call: 1 + Math.floor(draw('call') ** 2 * CALLS_MAX), before: draw('side') < 0.5 };
};

export const roundOf = (seed: number, nth: number): Round => {
  const draw = (...name: readonly (string | number)[]): number => drawOf(seed, 'round', nth, ...name);
  const names = partiesOf(seed).map(({ name }) => name);
  return {
    moment: momentOf(draw),
    aheadMs: pick(AHEAD_MS, draw('ahead'), 0),
    events: Array.from({ length: EVENTS }, (_, at) => ({
      id: `e-${nth}-${at}`,
      destinations: names.filter((name, index) => draw('to', at, name) < 0.4 || index === at % names.length),
      twice: draw('twice', at) < 0.2,
    })),
    person: pick(PERSONS, draw('person'), 'none'),
  };
};
