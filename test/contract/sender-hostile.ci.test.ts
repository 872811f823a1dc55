/** A thousand random mixes of misbehaviours at real sockets: the promise of an attempt, and a bound on memory. */
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { AUTHORITIES } from '../support/hostile-attempt.ts';
import { type Mix, PARTS } from '../support/hostile-mix.ts';
import { brokenMixes, senderUnderTest } from '../support/hostile-mixes.ts';

const MIXES = 1_000;
const SEED = 1;
const GROWTH_BYTES_MAX = 64 * 1_024 * 1_024;

const before = getCACertificates('default');
beforeAll(() => setDefaultCACertificates([...before, ...AUTHORITIES.map(({ cert }) => cert)]));
afterAll(() => setDefaultCACertificates(before));

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

const heldBytes = (): number => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

it(`keeps its promise in ${MIXES} random mixes, each part of which was played, and gives its memory back`, async () => {
  const played = new Map<string, number>();
  const count = (mix: Mix): void => {
    for (const part of Object.keys(PARTS) as (keyof typeof PARTS)[]) {
      const name = `${part}: ${mix[part]}`;
      played.set(name, (played.get(name) ?? 0) + 1);
    }
  };
  await brokenMixes(SEED + 1, 50, senderUnderTest);
  const heldBefore = heldBytes();
  const began = performance.now();
  expect(await brokenMixes(SEED, MIXES, senderUnderTest, count)).toEqual([]);
  const growth = heldBytes() - heldBefore;
  const never = Object.entries(PARTS).flatMap(([part, names]) =>
    names.map((name) => `${part}: ${name}`).filter((name) => !played.has(name)),
  );
  expect(never).toEqual([]);
  expect(growth).toBeLessThan(GROWTH_BYTES_MAX);
  const seconds = Math.round((performance.now() - began) / 1_000);
  console.info(`${MIXES} mixes in ${seconds} s, memory ${Math.round(growth / 1_024)} KB more than before`);
});
