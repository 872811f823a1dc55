import type { Budget, Held } from './budget.ts';

/** The newest of something, oldest first, bounded in number and by a shared budget; the count stays exact. */
export class Kept<T> {
  readonly #budget: Budget;
  readonly #max: number;
  readonly #entries: { readonly item: T; readonly held: Held }[] = [];
  #count = 0;

  constructor(budget: Budget, max: number) {
    this.#budget = budget;
    this.#max = max;
  }

  get count(): number {
    return this.#count;
  }

  /** A copy: it stays as it was. */
  get items(): readonly T[] {
    return this.#entries.map(({ item }) => item);
  }

  add(item: T, bytes: number): void {
    // The budget drops in the order of adding, so what it drops is always the first of this list.
    const held = this.#budget.hold(bytes, () => this.#entries.shift());
    this.#entries.push({ item, held });
    this.#count += 1;
    if (this.#entries.length > this.#max) this.#entries.shift()?.held.release();
  }

  clear(): void {
    for (const { held } of this.#entries.splice(0)) held.release();
    this.#count = 0;
  }
}
