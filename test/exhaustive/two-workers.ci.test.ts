/**
 * The stated size: every scene of every family, each to its end. Prints how many schedules that were.
 *
 * With ONCEWARD_TEST_WHOLE=1 every family meets every answer of the destination: hours, for a release.
 */
import { beforeAll, describe, expect, it } from 'vitest';
import type { Scene } from './scene.ts';
import { FAMILIES, type Family } from './scenes.ts';
import { exploreAll, type SceneExplored } from './threads.ts';

const WHOLE = process.env['ONCEWARD_TEST_WHOLE'] === '1';
const HOUR_MS = 3_600_000;
const LIMIT_MS = WHOLE ? 12 * HOUR_MS : HOUR_MS / 4;
const THREADS = 2;
/** Fewer would mean that something is not explored any more. */
const SCHEDULES_MIN = 400_000;

/** Every way for something to go wrong, and every end of a row that these scenes can come to. */
const KINDS = ['crash', 'fails', 'missed', 'lost', 'echoed', 'late', 'not-taken', 'jump 29000', 'jump 36000'];
const ENDS = [
  'delivered by attempt',
  'delivered by late-outcome',
  'cancelled: operator',
  'quarantined: in-doubt',
  'quarantined: budget',
  'quarantined: gone',
  'quarantined: rejected',
];

let results: readonly SceneExplored[] = [];
let seconds = 0;

const sum = (list: readonly SceneExplored[], part: (one: SceneExplored['explored']) => number): number =>
  list.reduce((total, { explored }) => total + part(explored), 0);

const scenesOf = (family: Family): readonly Scene[] => (WHOLE ? family.whole : family.scenes);

const resultsOf = (family: Family): readonly SceneExplored[] => {
  const names = new Set(scenesOf(family).map(({ name }) => name));
  return results.filter(({ scene }) => names.has(scene.name));
};

const lineOf = (name: string, list: readonly SceneExplored[]): string => {
  const longest = Math.max(0, ...list.map(({ explored }) => explored.longest));
  const cells = [list.length, sum(list, ({ schedules }) => schedules), sum(list, ({ cut }) => cut), longest];
  return `${name.padEnd(22)}${cells.map((cell) => cell.toLocaleString('en').padStart(12)).join('')}`;
};

const report = (): string =>
  [
    `${'family'.padEnd(22)}${['scenes', 'schedules', 'cut short', 'longest'].map((cell) => cell.padStart(12)).join('')}`,
    ...FAMILIES.map((family) => `${lineOf(family.name, resultsOf(family))}  ${family.says}`),
    lineOf('all', results),
    `${THREADS} threads, ${seconds.toFixed(0)} s, ${Math.round(sum(results, ({ schedules }) => schedules) / seconds)} schedules a second`,
  ].join('\n');

beforeAll(async () => {
  const began = performance.now();
  results = await exploreAll(FAMILIES.flatMap(scenesOf), THREADS);
  seconds = (performance.now() - began) / 1_000;
  console.info(report());
}, LIMIT_MS);

describe('in every order of their steps, two workers with one delivery keep every promise', () => {
  for (const family of FAMILIES) {
    it(`${family.name}: ${family.says}`, () => {
      const list = resultsOf(family);
      expect(list.length).toBe(scenesOf(family).length);
      const failed = list.flatMap(({ told }) => told ?? []);
      if (failed[0] !== undefined) expect.fail(failed[0]);
    });
  }
});

describe('the run over all orders', () => {
  it('is as large as it is said to be', () => {
    expect(sum(results, ({ schedules }) => schedules)).toBeGreaterThan(SCHEDULES_MIN);
  });

  for (const kind of KINDS) {
    it(`meets ${kind}`, () => {
      expect(sum(results, ({ kinds }) => kinds[kind] ?? 0)).toBeGreaterThan(0);
    });
  }

  for (const end of ENDS) {
    it(`ends with ${end}`, () => {
      expect(sum(results, ({ ends }) => ends[end] ?? 0)).toBeGreaterThan(0);
    });
  }
});
