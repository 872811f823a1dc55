/**
 * The schedules of the embedded queue: each calls its URL, and a call that fails is not made up for.
 *
 *   create --> waits for the next minute that fits --> POST --> waits ...
 *                                                       +--still underway at the next one: that one is left out
 *
 * Of the grammar only "every n minutes" is known here: nothing else is asked for by what this stands in for.
 */
import { Pool } from 'undici';
import type { Timers } from './timers.ts';

export interface CronJob {
  readonly id: string;
  readonly name: string;
  readonly everyMinutes: number;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
}

const MINUTE_MS = 60_000;

/** Undefined for what is not known here. */
export const minutesOf = (expression: string): number | undefined => {
  const every = /^(?:\*|\*\/([1-9]|[1-5]\d)) \* \* \* \*$/.exec(expression);
  return every === null ? undefined : Number(every[1] ?? '1');
};

export class CronJobs {
  readonly #timers: Timers;
  readonly #jobs = new Map<string, CronJob>();
  readonly #underway = new Map<string, Promise<void>>();
  readonly #closing = new AbortController();
  #callOff: () => void = () => {};

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  list(): readonly CronJob[] {
    return [...this.#jobs.values()];
  }

  create(job: Omit<CronJob, 'id'>): CronJob {
    const made = { ...job, id: `cron_${this.#jobs.size + 1}` };
    this.#jobs.set(made.id, made);
    if (this.#jobs.size === 1) this.#wait();
    return made;
  }

  /** Resolves when no call is underway. */
  async idle(): Promise<void> {
    await Promise.all(this.#underway.values());
  }

  async close(): Promise<void> {
    this.#callOff();
    this.#closing.abort();
    await this.idle();
  }

  #wait(): void {
    const nowMs = this.#timers.nowMs();
    this.#callOff = this.#timers.after(MINUTE_MS - (nowMs % MINUTE_MS), () => {
      const minute = Math.floor(this.#timers.nowMs() / MINUTE_MS);
      for (const job of this.#jobs.values()) if (minute % job.everyMinutes === 0) this.#run(job);
      this.#wait();
    });
  }

  #run(job: CronJob): void {
    if (this.#underway.has(job.id)) return;
    const call = this.#call(job).finally(() => this.#underway.delete(job.id));
    this.#underway.set(job.id, call);
  }

  async #call({ url, headers, timeoutMs }: CronJob): Promise<void> {
    const { origin, pathname, search } = new URL(url);
    const pool = new Pool(origin, { allowH2: false });
    const late = new AbortController();
    const callOff = this.#timers.after(timeoutMs, () => late.abort());
    try {
      const signal = AbortSignal.any([late.signal, this.#closing.signal]);
      const answer = await pool.request({ method: 'POST', path: `${pathname}${search}`, headers, signal });
      await answer.body.dump();
    } catch {
      // The run failed; the next minute is the next one.
    } finally {
      callOff();
      await pool.destroy();
    }
  }
}
