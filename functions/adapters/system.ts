/** The one place that knows the time, waits, and throws dice. Everything else is given these as arguments. */
import { randomBytes } from 'node:crypto';
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

export const systemDice: Dice = {
  draw: () => Math.random(),
  id: () => randomBytes(9).toString('base64url').slice(0, 11),
  bytes: (count) => new Uint8Array(randomBytes(count)),
};
