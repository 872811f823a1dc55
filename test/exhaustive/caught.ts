/** Looks for a deliberate mistake until its own judge sees it. */
import { expect } from 'vitest';
import type { BrokenMachine } from './broken-machines.ts';
import { exploreBroken } from './threads.ts';

const SCHEDULES_MAX = 10_000;

export const expectCaught = async ({ name, patches, scene, caughtBy }: BrokenMachine): Promise<void> => {
  const { schedules, failure } = await exploreBroken(patches, scene, caughtBy, SCHEDULES_MAX);
  expect(failure?.verdicts.map(({ oracle }) => oracle)).toEqual([caughtBy]);
  console.info(`${name}: ${caughtBy}, after ${schedules} schedules: ${failure?.verdicts[0]?.message}`);
};
