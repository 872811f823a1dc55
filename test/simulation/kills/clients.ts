/**
 * The people and programs around a world that keeps dying. Whoever has no answer asks again, under the same id; what was
 * answered is written down, and nothing else counts as promised.
 */
import { systemClock } from '../../../functions/adapters/system.ts';
import type { Stage } from '../../../infra/local/demo/stage.ts';
import type { Round } from './plan.ts';

export interface Promised {
  readonly event: string;
  readonly destinations: readonly string[];
}

/** Asked at least once, answered or not: whatever it may have brought about is allowed for. */
export interface Asked {
  readonly event: string;
  readonly destination: string;
  readonly wish: 'redrive' | 'resolve' | 'cancel';
  readonly acceptsSecondEffect: boolean;
}

/** A delivery as it was shown to somebody, at some moment. */
export interface Shown {
  readonly event: string;
  readonly destination: string;
  readonly status: string;
  readonly journal: readonly { readonly kind: string; readonly at: string; readonly requestId: string }[];
}

const AGAIN_MS = 60;
const AGAIN_MS_MAX = 1_000;
const ANSWER_MS = 10_000;
/** More at once would ask a slow machine to death. */
const ASKING_MAX = 8;

export class Clients {
  readonly promised: Promised[] = [];
  readonly asked: Asked[] = [];
  readonly shown: Shown[] = [];
  readonly #stage: Stage;
  readonly #underway = new Set<Promise<void>>();
  readonly #asking = new Set<Promise<unknown>>();
  #requests = 0;
  #over = false;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  /** Begins what clients do in this round; it may end only in a later one. */
  begin({ events, person }: Round): void {
    for (const event of events) this.#track(this.#submit(event));
    this.#track(this.#act(person));
    this.#track(this.#look());
  }

  #track(work: Promise<void>): void {
    this.#underway.add(work);
    void work.finally(() => this.#underway.delete(work));
  }

  /** All requests have their answer. */
  async settled(): Promise<void> {
    while (this.#underway.size > 0) await Promise.all(this.#underway);
  }

  /** Nobody asks any more. */
  async stop(): Promise<void> {
    this.#over = true;
    await this.settled();
  }

  /** Asks again until there is an answer that is no 5xx; undefined when it is all over. */
  async untilAnswered(method: string, path: string, body?: unknown, key?: string) {
    const more = key === undefined ? {} : { 'idempotency-key': key };
    for (let againMs = AGAIN_MS; !this.#over; againMs = Math.min(againMs * 2, AGAIN_MS_MAX)) {
      const answer = await this.#ask(() => this.#stage.call(method, path, body, more));
      if (answer !== undefined && answer.status < 500) return answer;
      await systemClock.sleep(againMs);
    }
    return undefined;
  }

  async #ask<T>(call: () => Promise<T>): Promise<T | undefined> {
    while (this.#asking.size >= ASKING_MAX) await Promise.race(this.#asking);
    const asked = Promise.race([call().catch(() => undefined), systemClock.sleep(ANSWER_MS).then(() => undefined)]);
    this.#asking.add(asked);
    return asked.finally(() => this.#asking.delete(asked));
  }

  async #submit({ id, destinations, twice }: Round['events'][number]): Promise<void> {
    for (let time = 0; time < (twice ? 2 : 1); time += 1) {
      const answer = await this.untilAnswered('POST', '/v1/events', { id, payload: { id }, destinations });
      if (answer === undefined) return;
      if (answer.status !== 202) throw new Error(`event ${id} was answered ${JSON.stringify(answer)}`);
      this.promised.push({ event: id, destinations });
    }
  }

  async #act(person: Round['person']): Promise<void> {
    this.#requests += 1;
    const key = `person-${this.#requests}`;
    const reason = 'the test wants it';
    if (person === 'none') return;
    if (person === 'pause' || person === 'resume') {
      await this.untilAnswered('POST', `/v1/destinations/gated/${person}`, { reason }, key);
      return;
    }
    const list = person === 'cancel' ? 'open' : 'quarantined';
    const listed = await this.untilAnswered('GET', `/v1/deliveries?list=${list}&limit=50`);
    const items = (listed?.body as { items?: readonly Omit<Asked, 'wish'>[] } | undefined)?.items ?? [];
    const item = items[this.#requests % Math.max(1, items.length)];
    if (item === undefined) return;
    const { event, destination } = item;
    const acceptsSecondEffect = person === 'redrive' && this.#requests % 2 === 0;
    this.asked.push({ event, destination, wish: person, acceptsSecondEffect });
    const body = {
      redrive: { reason, grant: 1, acceptSecondEffect: acceptsSecondEffect },
      resolve: { reason, as: 'delivered', evidence: 'the partner says so' },
      cancel: { reason },
    }[person];
    await this.untilAnswered('POST', `/v1/events/${event}/deliveries/${destination}/${person}`, body, key);
  }

  /** Remembers what it is shown, so that nobody can take it back later. */
  async #look(): Promise<void> {
    const seen = this.promised.slice(-12);
    for (const { event, destinations } of seen) {
      const [destination = ''] = destinations;
      const answer = await this.untilAnswered('GET', `/v1/events/${event}/deliveries/${destination}`);
      if (answer?.status === 200) this.shown.push(answer.body as Shown);
    }
  }
}
