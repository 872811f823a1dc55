/**
 * Carries pushes to their receiver and remembers how they went.
 *
 *   send ---> POST ---> status ---> answered
 *               |
 *               +--- deadline, broken connection, close ---> no answer
 */
import type { Taken } from './mailbox.ts';
import type { Timers } from './timers.ts';

export interface Subscription {
  readonly url: string;
  /** Signs the pushes; without one they go out unsigned. */
  readonly secret?: string | undefined;
  /** How long the receiver has for its answer. */
  readonly answerMs: number;
}

/** One POST to the subscription. The status, or undefined where none came. Never throws. */
export type PostPush = (to: Subscription, taken: Taken, signal: AbortSignal) => Promise<number | undefined>;

export interface PushRecord {
  readonly messageId: string;
  readonly delivery: number;
  /** Pushed beside the delivery itself, by a fault: its answer changes nothing. */
  readonly copy: boolean;
  readonly atMs: number;
  readonly durationMs: number;
  /** Absent where no answer came in time. */
  readonly status?: number;
  /** The answer came, and a fault took it away. */
  readonly lost: boolean;
}

const RECORDS_MAX = 1_000;

export class Pusher {
  readonly #timers: Timers;
  readonly #post: PostPush;
  readonly #underway = new Map<AbortController, Promise<boolean>>();
  readonly #records: PushRecord[] = [];

  constructor(timers: Timers, post: PostPush) {
    this.#timers = timers;
    this.#post = post;
  }

  get underway(): number {
    return this.#underway.size;
  }

  /** The latest pushes that have ended, oldest first. */
  get records(): readonly PushRecord[] {
    return this.#records;
  }

  /** True where the receiver said 2xx in time and the answer was not lost. */
  send(to: Subscription, taken: Taken, { copy, lost }: { copy: boolean; lost: boolean }): Promise<boolean> {
    const abort = new AbortController();
    const push = this.#sendOnce(to, taken, { copy, lost }, abort).finally(() => this.#underway.delete(abort));
    this.#underway.set(abort, push);
    return push;
  }

  /** Breaks off what is underway, and waits for it to end. */
  async close(): Promise<void> {
    for (const abort of this.#underway.keys()) abort.abort();
    await Promise.all(this.#underway.values());
  }

  async #sendOnce(
    to: Subscription,
    taken: Taken,
    { copy, lost }: { copy: boolean; lost: boolean },
    abort: AbortController,
  ): Promise<boolean> {
    const atMs = this.#timers.nowMs();
    const callOff = this.#timers.after(to.answerMs, () => abort.abort());
    const status = await this.#post(to, taken, abort.signal);
    callOff();
    const durationMs = this.#timers.nowMs() - atMs;
    const { message, delivery } = taken;
    const answer = status === undefined ? {} : { status };
    this.#records.push({ messageId: message.id, delivery, copy, atMs, durationMs, lost, ...answer });
    if (this.#records.length > RECORDS_MAX) this.#records.shift();
    return status !== undefined && status >= 200 && status < 300 && !lost;
  }
}
