/**
 * What was published under which key, for 24 hours. The same key again is answered with the first message id and puts
 * nothing into the queue, whatever the request says and also after the message has long been consumed: a later publish
 * under a used key is swallowed.
 */
export const KEY_WINDOW_MS = 24 * 3_600_000;

/** Bounds the memory of a long run; beyond it the oldest keys are forgotten early. */
const KEYS_MAX = 500_000;

export class PublishedKeys {
  readonly #first = new Map<string, { readonly messageId: string; readonly atMs: number }>();

  messageIdOf(key: string, nowMs: number): string | undefined {
    this.#forget(nowMs);
    return this.#first.get(key)?.messageId;
  }

  remember(key: string, messageId: string, nowMs: number): void {
    this.#first.set(key, { messageId, atMs: nowMs });
  }

  /** A map keeps its order, so the oldest keys come first. */
  #forget(nowMs: number): void {
    for (const [key, { atMs }] of this.#first) {
      if (nowMs - atMs < KEY_WINDOW_MS && this.#first.size <= KEYS_MAX) return;
      this.#first.delete(key);
    }
  }
}
