/** A failure is made as small as it gets, and told so that a person can run it again. A mistake makes one on purpose. */
import { Worker } from 'node:worker_threads';
import { describe, expect, it } from 'vitest';
import type { Patch } from '../support/patched-code.ts';
import type { Shrinking, ShrunkThere } from './shrink-thread.ts';

/** A worker that is acknowledged before its outcome is recorded. */
const ACK_FIRST: Patch = {
  file: 'receiver/receive.ts',
  find: 'return await settle(world, run, claimed, made);',
  put: "void settle(world, run, claimed, made);\n    return ack('settled');",
};

const shrinkThere = (workerData: Shrinking): Promise<ShrunkThere> =>
  new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./shrink-thread.ts', import.meta.url), { workerData });
    thread.once('message', resolve);
    thread.once('error', reject);
  });

describe('a failure', () => {
  it('is told as the smallest history that still shows it, with the command that runs it again', async () => {
    const { before, keep, told, oracle } = await shrinkThere({
      patches: [ACK_FIRST],
      seed: 'shrinking',
      histories: 200,
      richer: 12,
    });
    expect(oracle).toMatch(/record-before-ack|success-is-kept/);
    expect(before).toBeGreaterThanOrEqual(12);
    // One event that is sent is all it takes.
    expect(keep).toHaveLength(1);
    expect(keep[0]).toMatch(/^e\d$/);
    expect(told).toContain('ARRIVES at');
    expect(told).toMatch(/npm run simulate -- --seed 'shrinking' --history \d+ --keep 'e\d'/);
    expect(told.split('\n').length).toBeLessThan(60);
  }, 90_000);
});
