/** A share of memory. When it is full, what was held first is dropped first, whoever held it. */
export class Budget {
  readonly #held = new Set<Held>();
  readonly #bytesMax: number;
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** `drop` is called at most once, never after `release`, and never for what has just been held. */
  hold(bytes: number, drop: () => void): Held {
    const held: Held = {
      bytes,
      drop,
      release: () => {
        if (this.#held.delete(held)) this.#bytes -= bytes;
      },
    };
    this.#held.add(held);
    this.#bytes += bytes;
    for (const oldest of this.#held) {
      if (this.#bytes <= this.#bytesMax || oldest === held) break;
      oldest.release();
      oldest.drop();
    }
    return held;
  }
}

export interface Held {
  readonly bytes: number;
  readonly drop: () => void;
  readonly release: () => void;
}
