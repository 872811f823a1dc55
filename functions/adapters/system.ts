/** The one place that knows the time, waits, and throws dice. Everything else is given these as arguments. */
import { randomBytes, randomFillSync } from 'node:crypto';
import type { Clock, Dice } from '../ports.ts';

export interface Timer {
  /** Calls back once after `ms`; gives the way to call it off. Does not keep the process alive by itself. */
  after(ms: number, call: () => void): () => void;
}

export const systemClock: Clock & Timer = {
  nowMs: () => Date.now(),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};

/**
 * Random bytes are drawn from the kernel's generator by the block, as `randomUUID` of Node does it: one call each costs
 * ten times as much, and a delivery takes five ids.
 */
const block = Buffer.alloc(9 * 512);
let used = block.length;

const freshId = (): string => {
  if (used === block.length) {
    randomFillSync(block);
    used = 0;
  }
  used += 9;
  return block.toString('base64url', used - 9, used).slice(0, 11);
};

export const systemDice: Dice = {
  draw: () => Math.random(),
  id: freshId,
  bytes: (count) => new Uint8Array(randomBytes(count)),
};
