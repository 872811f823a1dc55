/** The real product beside the model: the world in one process, a partner that does what it is told, crashes on demand. */

import type { Delivery } from '../../functions/core/model.ts';
import type { Answer } from '../../functions/core/outcome.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import { deliveryIn } from '../support/deliveries-of.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, notSent, type Sent, unanswered } from '../support/world-ports.ts';
import { brokenByRow, brokenBySends, DESTINATIONS, type Duty, type Promised } from './promise.ts';

/** What the partner does with its next request. `acts`: the effect happens, whatever comes back. */
export const PLAYS = {
  done: { acts: true, answer: answered(200) },
  'done, answer lost': { acts: true, answer: unanswered('timeout') },
  'not done, no answer': { acts: false, answer: unanswered('reset') },
  failed: { acts: false, answer: answered(500) },
  'come later': { acts: false, answer: answered(429, { retryAfter: ['30'] }) },
  'nobody there': { acts: false, answer: notSent('refused') },
  never: { acts: false, answer: answered(422) },
} as const satisfies Record<string, { acts: boolean; answer: Answer }>;
export type Play = keyof typeof PLAYS;

export class Real {
  readonly world: TestWorld;
  readonly plays: Play[] = [];
  readonly #firsts = new Map<string, Sent>();
  #judged = 0;
  readonly #acted = new Map<string, boolean>();
  readonly #doubted = new Set<string>();

  constructor(reshape?: (ports: Receiver) => Receiver) {
    this.world = openTestWorld(reshape === undefined ? {} : { reshape });
  }

  async open(): Promise<void> {
    const { world } = this;
    world.sender.always(async (request) => {
      const play = PLAYS[this.plays.shift() ?? 'done'];
      const key = nameOfRequest(request);
      // The partner honours keys where a repeat is safe: one effect, and the same answer again.
      const known = request.url.includes('safe.') && !request.url.includes('unsafe.') && this.#acted.get(key) === true;
      if (play.acts && !known) this.#effects.push(key);
      if (play.acts) this.#acted.set(key, true);
      if (play.answer.kind === 'in-doubt') this.#doubted.add(key);
      return play.answer;
    });
    for (const name of DESTINATIONS) {
      await world.destination(name, {
        url: `https://${name}.example/hook`,
        repeatSafe: name === 'safe',
        schedule: [1, 5, 5],
      });
    }
  }

  readonly #effects: string[] = [];

  /** Does something, and stops dead at the n-th request to the ledger if that is asked for. */
  async crashing(work: () => Promise<unknown>, atRequest: number | undefined): Promise<'done' | 'crashed'> {
    const { ledgerHooks } = this.world;
    if (atRequest === undefined) return this.world.finish(work()).then(() => 'done' as const);
    const { promise: crashed, resolve: crash } = Promise.withResolvers<'crashed'>();
    let left = atRequest;
    const dead = new Promise<never>(() => {});
    ledgerHooks.before = () => {
      left -= 1;
      if (left > 0) return undefined;
      crash('crashed');
      return dead;
    };
    const end = await this.world.finish(Promise.race([work().then(() => 'done' as const), crashed]));
    delete ledgerHooks.before;
    return end;
  }

  row(duty: Duty): Promise<Delivery | undefined> {
    return deliveryIn(this.world, duty.event, duty.destination);
  }

  /** Holds everything that has happened since the last time against the model, and lets the model know of it. */
  async judge(model: Promised): Promise<readonly string[]> {
    const broken: string[] = [];
    const sends = this.world.sender.sends.slice(this.#judged);
    this.#judged = this.world.sender.sends.length;
    for (const duty of model.duties) {
      const name = `${duty.event} ${duty.destination}`;
      const mine = sends.filter((sent) => nameOfRequest(sent) === name);
      const [one] = mine;
      if (one !== undefined && !this.#firsts.has(name)) this.#firsts.set(name, one);
      duty.requests += mine.length;
      broken.push(...brokenBySends(model, duty, mine, this.#firsts.get(name)));
      duty.effects = this.#effects.filter((effect) => effect === name).length;
      if (this.#doubted.delete(name)) duty.inDoubt = true;
      const row = await this.row(duty);
      broken.push(...brokenByRow(duty, row));
      if (row?.status === 'delivered' || row?.status === 'cancelled') duty.final = row.status;
    }
    return broken;
  }
}

/** By what the partner sees: the path of its own and the body. */
const nameOfRequest = ({ url, body }: Pick<Sent, 'url' | 'body'>): string => {
  const { id } = JSON.parse(Buffer.from(body).toString()) as { id: string };
  return `${id} ${new URL(url).hostname.split('.')[0]}`;
};
