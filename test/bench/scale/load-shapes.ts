/** A backlog drained by more and more workers, and one destination that gets half of everything. */
import type { BenchContext, Table } from '../report.ts';
import { inTurns, median, ratio } from '../rounds.ts';
import { type Child, openChild } from '../stage/child.ts';
import { closedLoop, post } from '../stage/load.ts';
import { pushBodyOf, pushHeadersOf, type Spread } from '../stage/messages.ts';
import type { Part } from './table-sizes.ts';

/** As a destination that is somewhere else: what workers wait for. */
const DESTINATION_MS = 20;
const WORKERS = [1, 2, 4, 8] as const;
const BACKLOG = 100;
const AT_ONCE = 16;
const HOT_COUNT = 1_000;

interface Numbers {
  next: number;
}

const play = async (
  ours: Child,
  destinationUrl: string,
  numbers: Numbers,
  { count, workers, spread }: { readonly count: number; readonly workers: number; readonly spread: Spread },
): Promise<{ readonly perSec: number; readonly cpuUs: number }> => {
  const first = numbers.next;
  numbers.next += count;
  await ours.prepare({ first, count, payloadBytes: 1_024, destinationUrl, spread });
  const before = await ours.cpuMs();
  const ms = await closedLoop(ours.url, workers, first, count, async (pool, n) => {
    const body = pushBodyOf(n, spread);
    await post(pool, '/push/infrai', body, pushHeadersOf(body), 200);
  });
  return { perSec: (count / ms) * 1_000, cpuUs: (((await ours.cpuMs()) - before) / count) * 1_000 };
};

export const drainByWorkers = async ({ short, say }: BenchContext): Promise<Part> => {
  say('drain: 1, 2, 4 and 8 workers');
  const destination = await openChild('destination.ts', { args: [String(DESTINATION_MS)] });
  const ours = await openChild('ours.ts', { args: ['embedded'] });
  try {
    const numbers = { next: 0 };
    const drain = (workers: number) => () =>
      play(ours, destination.url, numbers, { count: short ? 16 : BACKLOG, workers, spread: 'one' });
    await drain(8)();
    const rounds = await inTurns(Object.fromEntries(WORKERS.map((n) => [String(n), drain(n)])), short ? 1 : undefined);
    const of = (workers: number): number => median((rounds[String(workers)] ?? []).map(({ perSec }) => perSec));
    const table: Table = {
      title: `a backlog drained on the embedded engine, at a destination that takes ${DESTINATION_MS} ms`,
      columns: ['workers', 'deliveries a second', 'to one'],
      rows: WORKERS.map((n) => [n, Math.round(of(n)), ratio(of(n), of(1))]),
    };
    return { tables: [table], notes: [], missed: [] };
  } finally {
    await Promise.all([ours.end(), destination.end()]);
  }
};

export const hotDestination = async ({ short, say }: BenchContext): Promise<Part> => {
  say('one hot destination among 1,000');
  const destination = await openChild('destination.ts');
  const ours = await openChild('ours.ts', { args: ['twin'] });
  try {
    const numbers = { next: 0 };
    const of = (spread: Spread) => () =>
      play(ours, destination.url, numbers, { count: short ? 40 : HOT_COUNT, workers: AT_ONCE, spread });
    await of('even')();
    const rounds = await inTurns({ even: of('even'), hot: of('hot') }, short ? 1 : undefined);
    const [even, hot] = [rounds.even, rounds.hot].map((all) => ({
      perSec: median(all.map(({ perSec }) => perSec)),
      cpuUs: median(all.map(({ cpuUs }) => cpuUs)),
    }));
    if (even === undefined || hot === undefined) throw new Error('nothing was measured');
    const table: Table = {
      title: '1,000 destinations, rows in memory: as many deliveries to each, and half of all to one',
      columns: ['deliveries', 'a second', 'to even', 'CPU us', 'to even, CPU'],
      rows: [
        ['even', Math.round(even.perSec), ratio(1, 1), Math.round(even.cpuUs), ratio(1, 1)],
        [
          'one hot',
          Math.round(hot.perSec),
          ratio(hot.perSec, even.perSec),
          Math.round(hot.cpuUs),
          ratio(hot.cpuUs, even.cpuUs),
        ],
      ],
    };
    return { tables: [table], notes: [], missed: [] };
  } finally {
    await Promise.all([ours.end(), destination.end()]);
  }
};
