/**
 * What the receiver adds to the destination's own time, at 10, 50 and 90 % of its throughput. The destination is asked
 * directly at the same rates, on the same schedule: what a delivery takes beyond that is ours.
 */
import type { Bench, BenchContext, Table } from './report.ts';
import { inTurns, median } from './rounds.ts';
import { type Child, openChild } from './stage/child.ts';
import { closedLoop, post, type Send } from './stage/load.ts';
import { payloadOf } from './stage/messages.ts';
import { openLoop, percentile } from './stage/open-loop.ts';
import { OURS, OURS_TWIN, openOurs, type Rival } from './stage/rivals.ts';

const CONCURRENCY = 16;
const CAPACITY_COUNT = 600;
const SHARES = [0.1, 0.5, 0.9] as const;
const PERCENTILES = [0.5, 0.99, 0.999] as const;
const PAYLOAD_BYTES = 1_024;
const ROUNDS = 3;
const ROUND_SEC = 5;
/** In a round, at a rate at which fewer would come in its time. */
const COUNT_MIN = 150;
const SHORT_COUNT = 30;

/** Straight to the destination, as the receiver sends it but for the signature. */
const direct: Send = async (pool, n) => post(pool, '/', payloadOf(n, PAYLOAD_BYTES), {}, 204);

export const latencyBench: Bench = async (context) => {
  const destination = await openChild('destination.ts');
  const rivals: Rival[] = [];
  try {
    rivals.push(...(await openOurs()));
    const tables: Table[] = [];
    const numbers = { next: 0 };
    for (const name of [OURS, OURS_TWIN]) {
      const rival = rivals.find((one) => one.name === name);
      if (rival === undefined) throw new Error(`${name} does not take part`);
      tables.push(await ofRival(context, rival, destination, numbers));
    }
    return {
      title: 'what the receiver adds to the destination',
      method: METHOD,
      versions: {},
      tables,
      notes: [],
      missed: [],
    };
  } finally {
    await Promise.all([...rivals, destination].map((one) => one.end()));
  }
};

const ofRival = async (
  { short, say }: BenchContext,
  rival: Rival,
  destination: Child,
  numbers: { next: number },
): Promise<Table> => {
  const taking = async (count: number): Promise<number> => {
    const first = numbers.next;
    numbers.next += count;
    await rival.prepare({ first, count, payloadBytes: PAYLOAD_BYTES, destinationUrl: destination.url });
    return first;
  };
  const send = rival.send(PAYLOAD_BYTES);
  const capacity = async (): Promise<number> => {
    const count = short ? SHORT_COUNT : CAPACITY_COUNT;
    const first = await taking(count);
    return (count / (await closedLoop(rival.url, CONCURRENCY, first, count, send))) * 1_000;
  };
  // The first time compiles the code.
  await capacity();
  const perSecMax = median([await capacity(), await capacity(), await capacity()]);
  const rows: (string | number)[][] = [];
  for (const share of SHARES) {
    const perSec = perSecMax * share;
    say(`${rival.name}: ${Math.round(perSec)} a second, ${share * 100} % of its throughput`);
    const count = short ? SHORT_COUNT : Math.max(COUNT_MIN, Math.round(perSec * ROUND_SEC));
    const took = await inTurns(
      {
        alone: async () => openLoop(destination.url, { perSec, first: 0, count, send: direct }),
        ours: async () => openLoop(rival.url, { perSec, first: await taking(count), count, send }),
      },
      short ? 1 : ROUNDS,
    );
    // A percentile of all: that of one short round has too few beyond it.
    const [alone, ours] = [took.alone.flat(), took.ours.flat()];
    const added = PERCENTILES.map((part) => percentile(ours, part) - percentile(alone, part));
    const shown = [...PERCENTILES.map((part) => percentile(alone, part)), ...added];
    rows.push([`${share * 100} %`, Math.round(perSec), ours.length, ...shown.map((ms) => ms.toFixed(1))]);
  }
  const columns = [
    'of its throughput',
    'a second',
    'deliveries',
    ...PERCENTILES.map((part) => `destination p${part * 100}`),
  ];
  return {
    title: `${rival.name}: milliseconds of the destination alone, and what is added to them`,
    columns: [...columns, ...PERCENTILES.map((part) => `added p${part * 100}`)],
    rows,
  };
};

const METHOD = [
  `Throughput: the median of three closed loops of ${CAPACITY_COUNT} deliveries, ${CONCURRENCY} at once, payload 1 KB, after one that is not counted. Then arrivals on a fixed schedule (open loop) at 10, 50 and 90 % of it: each time counts from the instant at which the request was to leave, so that a stall shows in all that wait for it.`,
  `The destination alone and through the receiver in turn, ${ROUNDS} rounds of some ${ROUND_SEC} seconds each (not 9: a percentile wants many deliveries more than many rounds); percentiles over all of them, nearest rank. Added: the difference of the percentiles.`,
  'A time below zero is the timer, which may fire up to a millisecond early, on both sides alike.',
  'An open loop near the limit queues: at 90 % the tail is that of the queue, and shows every other thing the machine had to do.',
  'In memory, every row that was ever written stays in the heap: a full collection of it, some every second round, is the tail of that side above p50.',
];
