/** Lets the work on one key run one after the other, in the order of asking; work on other keys is not held up. */
export class KeyLocks {
  readonly #last = new Map<string, Promise<void>>();

  async hold<Result>(key: string, work: () => Promise<Result>): Promise<Result> {
    const before = this.#last.get(key);
    const gate = Promise.withResolvers<void>();
    this.#last.set(key, gate.promise);
    await before;
    try {
      return await work();
    } finally {
      // Whoever came later has put its own gate there; the last one leaves nothing behind.
      if (this.#last.get(key) === gate.promise) this.#last.delete(key);
      gate.resolve();
    }
  }
}
