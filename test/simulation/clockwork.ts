/**
 * Virtual time: what is planned happens one at a time, in the order of its times. Between two happenings everything that
 * can run on runs on, so that the only scheduler of the whole history is this one.
 */
import type { Timer } from '../../functions/adapters/system.ts';

interface Happening {
  readonly atMs: number;
  readonly seq: number;
  /** True: somebody may run on behind it. */
  call: (() => unknown) | undefined;
}

export const START_MS = Date.UTC(2026, 10, 29, 12);

/** All callbacks of promises come before the next turn of the loop. */
const turnOfTheLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

export class Clockwork implements Timer {
  nowMs = START_MS;
  readonly #heap: Happening[] = [];
  #seq = 0;
  /** Happenings so far: bounds a history that does not come to rest. */
  steps = 0;

  /** A call that gives false has woken nobody. */
  at(atMs: number, call: () => unknown): Happening {
    this.#seq += 1;
    const happening = { atMs: Math.max(atMs, this.nowMs), seq: this.#seq, call };
    this.#push(happening);
    return happening;
  }

  readonly after = (ms: number, call: () => void): (() => void) => {
    const happening = this.at(this.nowMs + Math.max(0, ms), call);
    return () => {
      happening.call = undefined;
    };
  };

  /** Runs until that time, or until `done` says so between two happenings. Gives false where `stepsMax` ended it. */
  async run(untilMs: number, stepsMax: number, done: () => boolean = () => false): Promise<boolean> {
    await turnOfTheLoop();
    for (let next = this.#heap[0]; next !== undefined && next.atMs <= untilMs && !done(); next = this.#heap[0]) {
      this.#pop();
      const { call } = next;
      if (call === undefined) continue;
      if (this.steps >= stepsMax) return false;
      this.nowMs = next.atMs;
      if (call() === false) continue;
      this.steps += 1;
      await turnOfTheLoop();
    }
    return true;
  }

  #push(happening: Happening): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(happening);
    while (at > 0) {
      const up = (at - 1) >> 1;
      const above = heap[up];
      if (above === undefined || before(above, happening)) break;
      heap[at] = above;
      at = up;
    }
    heap[at] = happening;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      const left = heap[2 * at + 1];
      const right = heap[2 * at + 2];
      if (left === undefined) break;
      const isRight = right !== undefined && before(right, left);
      const down = isRight ? right : left;
      if (before(last, down)) break;
      heap[at] = down;
      at = 2 * at + (isRight ? 2 : 1);
    }
    heap[at] = last;
  }
}

const before = (a: Happening, b: Happening): boolean => (a.atMs === b.atMs ? a.seq < b.seq : a.atMs < b.atMs);
