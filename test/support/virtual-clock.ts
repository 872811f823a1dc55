/** A clock that stands still until a test moves it. Timers fire in the order of their times, each at its own time. */

interface Timer {
  readonly atMs: number;
  readonly call: () => void;
}

/** 2026-01-01T00:00:00Z: a time like any other, and the same in every run. */
export const VIRTUAL_START_MS = 1_767_225_600_000;

export class VirtualClock {
  #nowMs: number;
  readonly #timers = new Set<Timer>();

  constructor(startMs: number = VIRTUAL_START_MS) {
    this.#nowMs = startMs;
  }

  readonly nowMs = (): number => this.#nowMs;

  readonly after = (ms: number, call: () => void): (() => void) => {
    const timer = { atMs: this.#nowMs + Math.max(0, ms), call };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  };

  readonly sleep = (ms: number): Promise<void> => new Promise((resolve) => this.after(ms, resolve));

  /** How many timers wait; 0 means that nothing will ever happen by itself. */
  get waiting(): number {
    return this.#timers.size;
  }

  /** Moves on by `ms`. Between two timers, whatever the first has set off gets a turn of the event loop. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    for (let next = this.#nextUntil(endMs); next !== undefined; next = this.#nextUntil(endMs)) {
      this.#timers.delete(next);
      this.#nowMs = next.atMs;
      next.call();
      await turnOfTheLoop();
    }
    this.#nowMs = endMs;
    await turnOfTheLoop();
  }

  #nextUntil(endMs: number): Timer | undefined {
    let first: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.atMs <= endMs && (first === undefined || timer.atMs < first.atMs)) first = timer;
    }
    return first;
  }
}

const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
