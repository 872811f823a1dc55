/**
 * How the embedded queue misbehaves: by chance from a seed, and on request for a test or a demonstration. Everything
 * here is something that a queue which delivers at least once may do.
 */
import { drawOf } from './chance.ts';
import type { Taken } from './mailbox.ts';

/** Shares run from 0 (never) to 1 (always). */
export interface Chaos {
  readonly seed: number;
  /** Deliveries that are pushed twice: half of the copies at once, half up to two seconds later. */
  readonly duplicate: number;
  /** Pushes that take a later message of the queue instead of the oldest. */
  readonly reorder: number;
  /** Messages that come up to `ms` later than asked. */
  readonly delay: { readonly share: number; readonly ms: number };
  /** Pushes whose 2xx gets lost on its way back: the message comes again. */
  readonly loseAnswer: number;
  /** Publishes that happen, and whose answer gets lost. */
  readonly losePublishAnswer: number;
}

export const NO_CHAOS: Chaos = {
  seed: 0,
  duplicate: 0,
  reorder: 0,
  delay: { share: 0, ms: 0 },
  loseAnswer: 0,
  losePublishAnswer: 0,
};

const COPY_LATER_MS_MAX = 2_000;
const REORDER_PLACES = 16;

/** What happens to one publish. `lost`: answered as if it were in the queue. `unanswered`: the other way round. */
export type PublishFate = 'kept' | 'lost' | 'unanswered' | 'failed';

type Wanted = Exclude<PublishFate, 'kept'> | 'answer-lost' | 'no-stats';

export class Faults {
  readonly #chaos: Chaos;
  #publishes = 0;
  #picks = 0;
  #copies = 0;
  #copiesOnlyOf = '';
  /** How many more times each fault was asked for. */
  readonly #wanted: Record<Wanted, number> = { lost: 0, unanswered: 0, failed: 0, 'answer-lost': 0, 'no-stats': 0 };
  readonly #idleRedrives = new Set<string>();

  constructor(chaos: Chaos) {
    this.#chaos = chaos;
  }

  /** The next delivery, of a message that holds `text`, is pushed `copies` times in all, at the same moment. */
  duplicateNext(copies: number, text = ''): void {
    this.#copies = Math.max(0, copies - 1);
    this.#copiesOnlyOf = text;
  }
  /** The next publishes are answered as always, and their messages are lost. */
  dropNextPublish(count = 1): void {
    this.#wanted.lost += count;
  }
  /** The next publishes happen, and their answers are lost. */
  loseNextPublishAnswer(count = 1): void {
    this.#wanted.unanswered += count;
  }
  /** The next publishes fail with a 503. */
  failNextPublish(count = 1): void {
    this.#wanted.failed += count;
  }
  /** The answers to the next pushes are lost, so that a 2xx deletes nothing. */
  loseNextAnswer(count = 1): void {
    this.#wanted['answer-lost'] += count;
  }

  /** The next requests for statistics fail with a 503. */
  failNextStats(count = 1): void {
    this.#wanted['no-stats'] += count;
  }
  /** From now on a redrive of this message is answered as always, and nothing happens. */
  ignoreRedriveOf(messageId: string): void {
    this.#idleRedrives.add(messageId);
  }

  publishFate(): PublishFate {
    this.#publishes += 1;
    if (this.#use('failed')) return 'failed';
    if (this.#use('lost')) return 'lost';
    if (this.#use('unanswered')) return 'unanswered';
    return this.#happens(this.#chaos.losePublishAnswer, 'publish answer', this.#publishes) ? 'unanswered' : 'kept';
  }

  /** How much later than asked the message numbered `nth` becomes available. */
  extraDelayMs(nth: number): number {
    const { share, ms } = this.#chaos.delay;
    return this.#happens(share, 'delay', nth) ? Math.ceil(this.#draw('delay ms', nth) * ms) : 0;
  }

  /** How many places behind the oldest message the next one is taken from. */
  placesLater(): number {
    this.#picks += 1;
    if (!this.#happens(this.#chaos.reorder, 'reorder', this.#picks)) return 0;
    return 1 + Math.floor(this.#draw('reorder places', this.#picks) * REORDER_PLACES);
  }

  /** For each copy that this delivery is pushed beside itself: how much later. */
  copiesOf({ message, delivery }: Taken): readonly number[] {
    if (this.#copies > 0 && message.payload.includes(this.#copiesOnlyOf)) {
      const wanted = Array.from({ length: this.#copies }, () => 0);
      this.#copies = 0;
      return wanted;
    }
    if (!this.#happens(this.#chaos.duplicate, 'duplicate', message.nth, delivery)) return [];
    const draw = this.#draw('duplicate ms', message.nth, delivery);
    return [draw < 0.5 ? 0 : Math.ceil((draw - 0.5) * 2 * COPY_LATER_MS_MAX)];
  }

  losesAnswer({ message, delivery }: Taken): boolean {
    return this.#use('answer-lost') || this.#happens(this.#chaos.loseAnswer, 'answer', message.nth, delivery);
  }

  failsStats(): boolean {
    return this.#use('no-stats');
  }

  ignoresRedriveOf(messageId: string): boolean {
    return this.#idleRedrives.has(messageId);
  }

  #use(what: Wanted): boolean {
    if (this.#wanted[what] === 0) return false;
    this.#wanted[what] -= 1;
    return true;
  }

  #draw(...name: readonly (string | number)[]): number {
    return drawOf(this.#chaos.seed, ...name);
  }

  #happens(share: number, ...name: readonly (string | number)[]): boolean {
    return share > 0 && this.#draw(...name) < share;
  }
}
