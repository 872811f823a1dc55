/** How many histories the simulator plays and judges in a second, by one thread and by all processors, and how much time that is. */
import { availableParallelism } from 'node:os';
import { START_MS } from '../simulation/clockwork.ts';
import { runOne } from '../simulation/histories.ts';
import { judge } from '../simulation/oracles.ts';
import { simulate } from '../simulation/threads.ts';
import type { Bench } from './report.ts';
import { inTurns, median, ratio } from './rounds.ts';

const SEED = 'bench';
const HISTORIES = 1_000;
const HISTORIES_SHORT = 50;
/** Of these the virtual time and the share of the judges are taken. */
const LOOKED_AT = 100;

interface Round {
  readonly perSecond: number;
  readonly broken: readonly number[];
}

export const simulationBench: Bench = async ({ short, say }) => {
  const histories = short ? HISTORIES_SHORT : HISTORIES;
  const all = availableParallelism();
  // Each rival plays the same histories, and each round others.
  const rounds = { one: 0, all: 0 };
  const play = (rival: keyof typeof rounds, threads: number) => async (): Promise<Round> => {
    const from = rounds[rival] * histories;
    rounds[rival] += 1;
    const beganMs = performance.now();
    const done = await simulate({ threads, seed: SEED, from, histories });
    const perSecond = (histories * 1_000) / (performance.now() - beganMs);
    say(`${rival === 'one' ? 1 : all} threads: ${Math.round(perSecond)} a second`);
    return { perSecond, broken: done.violations.map(({ history }) => history) };
  };
  const measured = await inTurns({ one: play('one', 1), all: play('all', all) }, short ? 1 : undefined);
  const looked = await look(short ? HISTORIES_SHORT : LOOKED_AT);
  const perSecond = (rival: keyof typeof rounds): number => median(measured[rival].map((round) => round.perSecond));
  const row = (name: string, rate: number): readonly (string | number)[] => [
    name,
    Math.round(rate),
    ratio(rate, perSecond('one')),
    Math.round((rate * looked.virtualMs) / MS_OF_HOUR),
  ];
  const broken = [...new Set(Object.values(measured).flatMap((done) => done.flatMap((round) => round.broken)))];
  return {
    title: 'histories of the simulator a second',
    method: [
      `${histories} histories a round, played and judged, seed "${SEED}", the start of the threads included; the rivals take turns, medians of ${measured.one.length} rounds.`,
      `A history of the first ${looked.histories} takes ${(looked.virtualMs / MS_OF_HOUR).toFixed(1)} virtual hours and ${(looked.playMs + looked.judgeMs).toFixed(1)} ms by one thread, ${Math.round((looked.judgeMs * 100) / (looked.playMs + looked.judgeMs))} % of them for the judges.`,
    ],
    versions: {},
    tables: [
      {
        title: 'Speed',
        columns: ['threads', 'histories a second', 'to one thread', 'virtual hours a second'],
        rows: [row('1', perSecond('one')), row(`${all}, one a processor`, perSecond('all'))],
      },
    ],
    notes: [
      'No peer publishes such a figure: the ratio is that of two threads to one, and of virtual time to true time.',
    ],
    missed: broken.map((history) => `history ${history} of seed ${SEED} breaks an invariant`),
  };
};

const MS_OF_HOUR = 3_600_000;

/** Means of a history. */
const look = async (histories: number) => {
  const sum = { virtualMs: 0, playMs: 0, judgeMs: 0 };
  for (let history = 0; history < histories; history += 1) {
    const beganMs = performance.now();
    const ended = await runOne(SEED, history);
    const playedMs = performance.now();
    judge(ended);
    sum.playMs += playedMs - beganMs;
    sum.judgeMs += performance.now() - playedMs;
    sum.virtualMs += ended.restedAtMs - START_MS;
  }
  const mean = (ms: number): number => ms / histories;
  return { histories, virtualMs: mean(sum.virtualMs), playMs: mean(sum.playMs), judgeMs: mean(sum.judgeMs) };
};
