/**
 * Arrivals on a fixed schedule, whatever becomes of those before: a time is counted from the instant at which the request
 * was to leave, so that a stall shows in everything that had to wait for it (no "coordinated omission").
 */
import { Pool } from 'undici';
import { systemClock } from '../../../functions/adapters/system.ts';
import type { Send } from './load.ts';

export interface OpenLoop {
  readonly perSec: number;
  readonly first: number;
  readonly count: number;
  readonly send: Send;
}

/** As many sockets as there may be requests at once, at a rate that can be kept. */
const CONNECTIONS = 256;

/** Milliseconds of each request, in the order of the schedule. */
export const openLoop = async (url: string, { perSec, first, count, send }: OpenLoop): Promise<readonly number[]> => {
  const pool = new Pool(url, { connections: CONNECTIONS, pipelining: 1 });
  const took = new Array<number>(count);
  try {
    const began = performance.now();
    const dueAt = (at: number): number => began + (at * 1_000) / perSec;
    const underway: Promise<void>[] = [];
    for (let at = 0; at < count; at += 1) {
      const wait = dueAt(at) - performance.now();
      // The timer is coarse: what is late by it counts against the one that is measured, on both sides alike.
      if (wait > 0) await systemClock.sleep(wait);
      underway.push(
        send(pool, first + at).then(() => {
          took[at] = performance.now() - dueAt(at);
        }),
      );
    }
    await Promise.all(underway);
    return took;
  } finally {
    await pool.destroy();
  }
};

/** The smallest value that this share of all values does not exceed (nearest rank). */
export const percentile = (values: readonly number[], share: number): number => {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? Number.NaN;
};
