/** Many histories, one after another, and what came of them. The entry for whoever runs histories inside a program. */
import type { Delivery } from '../../functions/core/model.ts';
import { historySeedOf } from './draws.ts';
import { type Ended, runHistory } from './history.ts';
import { traceHashOf } from './log.ts';
import { judge, type OracleName, type Violation } from './oracles.ts';
import { planOf, type Without } from './plan.ts';

export interface HistoriesOptions {
  /** Any text, such as the hash of a commit. */
  readonly seed: string;
  /** The number of the first history; 0 unless given. */
  readonly from?: number;
  readonly histories: number;
  /** Ends with the first history that breaks one of these; without it, all are run. */
  readonly until?: 'any' | readonly OracleName[];
}

export interface Failed {
  readonly seed: string;
  readonly history: number;
  readonly violations: readonly Violation[];
}

export interface HistoriesDone {
  readonly histories: number;
  readonly violations: readonly Failed[];
  /** How often each class of faults has happened. */
  readonly fired: Readonly<Record<string, number>>;
  /** How many deliveries ended in each state. */
  readonly ends: Readonly<Record<string, number>>;
  /** Of all histories, in whatever order they were run: 16 digits. */
  readonly traceHash: string;
}

export const runHistories = async ({ seed, from = 0, histories, until }: HistoriesOptions): Promise<HistoriesDone> => {
  const violations: Failed[] = [];
  const fired: Record<string, number> = {};
  const ends: Record<string, number> = {};
  let traceHash = NO_TRACE;
  let run = 0;
  for (let history = from; history < from + histories; history += 1) {
    const ended = await runOne(seed, history);
    run += 1;
    for (const [name, count] of ended.fired) add(fired, name, count);
    for (const end of endsOf(ended)) add(ends, end, 1);
    traceHash = bothTraces(traceHash, traceHashOf(ended.log));
    const broken = judge(ended);
    if (broken.length > 0) violations.push({ seed, history, violations: broken });
    if (broken.some(({ oracle }) => until === 'any' || until?.includes(oracle))) break;
  }
  return { histories: run, violations, fired, ends, traceHash };
};

export const runOne = (seed: string, history: number, without?: Without): Promise<Ended> =>
  runHistory(planOf(historySeedOf(seed, history), without), without);

const add = (counts: Record<string, number>, name: string, by: number): void => {
  counts[name] = (counts[name] ?? 0) + by;
};

const endsOf = ({ items }: Ended): readonly string[] =>
  items.flatMap((item) => (item.item === 'delivery' ? [endOf(item)] : []));

const endOf = (row: Delivery): string => {
  switch (row.status) {
    case 'delivered':
      return `delivered by ${row.by}`;
    case 'cancelled':
    case 'quarantined':
      return `${row.status}: ${row.reason}`;
    case 'pending':
      return row.parking ? 'parked' : 'pending';
    case 'claimed':
      return 'claimed';
  }
};

export const NO_TRACE = '0'.repeat(16);

/** The order of the two makes no difference, so that threads may share the histories out as they like. */
export const bothTraces = (a: string, b: string): string =>
  BigInt.asUintN(64, BigInt(`0x${a}`) + BigInt(`0x${b}`))
    .toString(16)
    .padStart(16, '0');

/** Two runs as one. */
export const together = (a: HistoriesDone, b: HistoriesDone): HistoriesDone => ({
  histories: a.histories + b.histories,
  violations: [...a.violations, ...b.violations].toSorted((one, other) => one.history - other.history),
  fired: sums(a.fired, b.fired),
  ends: sums(a.ends, b.ends),
  traceHash: bothTraces(a.traceHash, b.traceHash),
});

const sums = (a: Readonly<Record<string, number>>, b: Readonly<Record<string, number>>): Record<string, number> => {
  const sum = { ...a };
  for (const [name, count] of Object.entries(b)) add(sum, name, count);
  return sum;
};

export const NOTHING_DONE: HistoriesDone = { histories: 0, violations: [], fired: {}, ends: {}, traceHash: NO_TRACE };
