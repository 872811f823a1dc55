/**
 * One writer for all operations:
 *
 *   commit(a) ──▶ written at once ─────────────▶ a resolves
 *   commit(b) ─┐   (while a is on its way)
 *   commit(c) ─┴▶ wait ──▶ one batch of b + c ─▶ b and c resolve together
 *
 * The changes of one operation are never split, so LevelDB's batch (all or nothing) makes each operation atomic. The
 * gathering makes durability cheap: waiting for the disk costs a few milliseconds per batch, and under load one batch
 * carries all the writes that arrived during the one before.
 */
import type { Change, Level } from './level.ts';

interface Waiting {
  readonly changes: readonly Change[];
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

export class GroupCommit {
  readonly #level: Pick<Level, 'batch'>;
  readonly #sync: boolean;
  #waiting: Waiting[] = [];
  #writing = false;

  constructor(level: Pick<Level, 'batch'>, sync: boolean) {
    this.#level = level;
    this.#sync = sync;
  }

  /** Resolves when the changes are kept. Rejects if the batch failed; then none of them is. */
  commit(changes: readonly Change[]): Promise<void> {
    if (changes.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiting.push({ changes, resolve, reject });
      if (!this.#writing) void this.#write();
    });
  }

  async #write(): Promise<void> {
    this.#writing = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting;
      this.#waiting = [];
      try {
        await this.#level.batch(
          group.flatMap(({ changes }) => changes),
          { sync: this.#sync },
        );
        for (const { resolve } of group) resolve();
      } catch (error) {
        for (const { reject } of group) reject(error);
      }
    }
    this.#writing = false;
  }
}
