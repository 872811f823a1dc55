/** Ids by time, the earliest first; equal times in the order they came. A binary heap. */

interface Entry {
  readonly atMs: number;
  readonly nth: number;
  readonly id: string;
}

const before = (a: Entry, b: Entry): boolean => (a.atMs === b.atMs ? a.nth < b.nth : a.atMs < b.atMs);

export class DueHeap {
  readonly #entries: Entry[] = [];
  #count = 0;

  get first(): { readonly atMs: number; readonly id: string } | undefined {
    return this.#entries[0];
  }

  push(atMs: number, id: string): void {
    this.#count += 1;
    const entry = { atMs, nth: this.#count, id };
    const entries = this.#entries;
    let at = entries.push(entry) - 1;
    while (at > 0) {
      const parentAt = (at - 1) >> 1;
      const parent = entries[parentAt];
      if (parent === undefined || !before(entry, parent)) break;
      entries[at] = parent;
      at = parentAt;
    }
    entries[at] = entry;
  }

  shift(): void {
    const entries = this.#entries;
    const entry = entries.pop();
    if (entry === undefined || entries.length === 0) return;
    let at = 0;
    for (;;) {
      const left = entries[2 * at + 1];
      const right = entries[2 * at + 2];
      const leftWins = right === undefined || (left !== undefined && before(left, right));
      const child = leftWins ? left : right;
      if (child === undefined || !before(child, entry)) break;
      entries[at] = child;
      at = 2 * at + (leftWins ? 1 : 2);
    }
    entries[at] = entry;
  }
}
