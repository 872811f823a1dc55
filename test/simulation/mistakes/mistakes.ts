/** All mistakes that are planted: those of the run over all orders, and those that only a whole world can show. */
import { BROKEN_MACHINES } from '../../exhaustive/broken-machines.ts';
import { ATTEMPTING } from './attempting.ts';
import { GATING } from './gating.ts';
import { KEEPING } from './keeping.ts';
import type { Mistake } from './mistake.ts';
import { RECEIVING } from './receiving.ts';
import { TELLING } from './telling.ts';

const OF_THE_EXHAUSTIVE_RUN: readonly Mistake[] = BROKEN_MACHINES.map(({ name, patches }) => ({ name, patches }));

export const MISTAKES: readonly Mistake[] = [
  ...OF_THE_EXHAUSTIVE_RUN,
  ...RECEIVING,
  ...ATTEMPTING,
  ...GATING,
  ...KEEPING,
  ...TELLING,
];

/** Those of the slow tier: seen within a few histories. */
const FASTEST_NAMES: readonly string[] = [
  'an event is promised before its deliveries stand',
  'an event message is acknowledged before the event stands',
  'a claim is looked after a day later',
  'a claim does not count its attempt',
  'the push is acknowledged before the outcome is recorded',
  'the sending mark is left out',
  'a sweep passes over rows that are due',
  'a push without a signature is received',
  'a push is acknowledged although the ledger is away',
  'every attempt has a key of its own',
  'the due time is not looked at',
  'an attempt in doubt gives its unit of the budget back',
];

export const FASTEST: readonly Mistake[] = FASTEST_NAMES.flatMap((wanted) =>
  MISTAKES.filter(({ name }) => name === wanted),
);
