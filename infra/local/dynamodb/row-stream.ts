import { Stream } from 'node:stream';
import type { LevelIterator } from './level.ts';

const PAGE = 128;

/**
 * An iterator as the kind of stream that dynalite's lazy lists listen to: `data`, `end`, `error`, `destroy`. It starts
 * by itself once the listeners are there, and what a listener throws comes out as `error`.
 */
export class RowStream extends Stream {
  #destroyed = false;

  constructor(iterator: LevelIterator, limit = -1) {
    super();
    setImmediate(() => void this.#pump(iterator, limit > 0 ? Math.min(limit, PAGE) : PAGE));
  }

  destroy(): void {
    this.#destroyed = true;
  }

  async #pump(iterator: LevelIterator, size: number): Promise<void> {
    try {
      while (!this.#destroyed) {
        const page = await iterator.nextv(size);
        if (page.length === 0) break;
        for (const [, row] of page) if (!this.#destroyed) this.emit('data', row);
      }
      this.emit('end');
    } catch (error) {
      this.emit('error', error);
    } finally {
      await iterator.close();
    }
  }
}
