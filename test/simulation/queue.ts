/**
 * The queue of a history: the engine of the embedded queue (24 hours of known keys, three deliveries, dead letters) on
 * virtual time, with faults that are drawn by name, and the port that a worker has of it.
 */
import { INFRAI_LIMITS } from '../../functions/adapters/queue/transport-facts.ts';
import { PUSH_ANSWER_MS } from '../../functions/core/limits.ts';
import type { DeadLetters, Published, Queue } from '../../functions/ports.ts';
import { deadLettersOf, QueueEngine } from '../../infra/local/queue/engine.ts';
import { Faults, NO_CHAOS, type PublishFate } from '../../infra/local/queue/faults.ts';
import type { Taken } from '../../infra/local/queue/mailbox.ts';
import { type PostPush, Pusher } from '../../infra/local/queue/pusher.ts';
import type { FaultName } from './fault-classes.ts';
import type { Actor, Stage } from './stage.ts';

const NAME = 'onceward';
const LEASE_MS = 900_000;
const HOUR_MS = 3_600_000;

/** Draws whether a fault falls upon one thing, by its number. */
const falls = ({ draws, fates, plan }: Stage, fault: FaultName, n: number): boolean =>
  fates.isOn(fault) && draws.at(fault, n, 30) < (plan.shares.get(fault) ?? 0) && fates.happens(fault, 'message', n);

class DrawnFaults extends Faults {
  readonly #stage: Stage;
  #picks = 0;
  /** Of the next publish. */
  fate: PublishFate = 'kept';
  extraMs = 0;

  constructor(stage: Stage) {
    super(NO_CHAOS);
    this.#stage = stage;
  }

  override publishFate(): PublishFate {
    return this.fate;
  }

  override extraDelayMs(): number {
    return this.extraMs;
  }

  override placesLater(): number {
    this.#picks += 1;
    return falls(this.#stage, 'reorder', this.#picks) ? 1 : 0;
  }

  override copiesOf({ message, delivery }: Taken): readonly number[] {
    const n = message.nth * 4 + delivery;
    const { draws } = this.#stage;
    if (falls(this.#stage, 'duplicate-many', n)) {
      return Array.from({ length: 12 }, (_, copy) => Math.floor(draws.at('copy', n, copy) ** 2 * 6 * HOUR_MS));
    }
    if (falls(this.#stage, 'duplicate-later', n)) return [Math.floor(draws.at('copy', n) * 60_000)];
    return falls(this.#stage, 'duplicate-now', n) ? [0] : [];
  }

  override losesAnswer({ message, delivery }: Taken): boolean {
    return falls(this.#stage, 'ack-lost', message.nth * 4 + delivery);
  }

  override ignoresRedriveOf(id: string): boolean {
    const { draws } = this.#stage;
    return falls(this.#stage, 'redrive-ignored', draws.nth(`redrive ${id}`));
  }
}

/** Begins the work of a push; the status comes when the receiver has given it, or never. */
export type BeginPush = (messageId: string, payload: string, answer: (status: number) => void) => void;

export class SimulatedQueue {
  readonly #stage: Stage;
  readonly #faults: DrawnFaults;
  readonly #engine: QueueEngine;
  /** Messages of sweeps that could only find nothing are mostly left out. */
  skips: (body: string) => boolean = () => false;

  constructor(stage: Stage, begin: BeginPush) {
    this.#stage = stage;
    this.#faults = new DrawnFaults(stage);
    const timers = { nowMs: () => stage.nowMs, after: stage.clockwork.after };
    this.#engine = new QueueEngine(
      { redeliverMs: 6_000, deliveriesMax: 3, pushesAtOnce: 50 },
      timers,
      this.#faults,
      new Pusher(timers, postOf(stage, begin)),
    );
    this.#engine.create(NAME);
    this.#engine.subscribe(NAME, { url: '', answerMs: PUSH_ANSWER_MS });
  }

  get deadCount(): number {
    return this.#engine.stats(NAME)?.dead ?? 0;
  }

  /** Bodies of the dead letters. */
  dead(): readonly string[] {
    return (this.#engine.deadLetters(NAME) ?? []).map(({ payload }) => payload);
  }

  /** Messages that are still to come, or in flight. */
  get open(): number {
    const stats = this.#engine.stats(NAME);
    return stats === undefined ? 0 : stats.available + stats.delayed + stats.inFlight;
  }

  /** Somebody else's publish, such as a producer that only has the queue. It has no faults but its own. */
  publishFrom(payload: string, delayMs = 0): void {
    this.#faults.fate = 'kept';
    this.#faults.extraMs = 0;
    this.#engine.publish(NAME, { payload, delayMs });
  }

  portOf(actor: Actor): Queue {
    const stage = this.#stage;
    return {
      limits: INFRAI_LIMITS,
      publish: ({ key, body, delaySec }) => {
        if (actor.role === 'tick' && this.skips(body)) {
          return Promise.resolve({ kind: 'published', messageId: 'left-out' });
        }
        let taken = false;
        return stage.call<Published>(actor, {
          what: 'publish',
          site: 'publish',
          perform: () => {
            this.#drawFate(delaySec * 1_000);
            const result = this.#engine.publish(NAME, { payload: body, delayMs: delaySec * 1_000, key });
            taken = result.kind === 'published';
            stage.note(actor, { kind: 'publish', key, body, delaySec, taken });
            if (result.kind !== 'published') return { kind: 'failed', code: result.kind, detail: 'as drawn' } as const;
            return { kind: 'published', messageId: result.messageId } as const;
          },
          failed: () => {
            if (!taken) stage.note(actor, { kind: 'publish', key, body, delaySec, taken });
            return { kind: 'failed', code: 'unavailable', detail: 'no answer' } as const;
          },
        });
      },
    };
  }

  /** What becomes of the message of a publish that is taken. */
  #drawFate(delayMs: number): void {
    const { draws } = this.#stage;
    const n = draws.nth('fate of a message');
    this.#faults.fate = falls(this.#stage, 'message-lost', n) ? 'lost' : 'kept';
    this.#faults.extraMs = this.#faults.fate === 'lost' ? 0 : this.#extraMs(n, delayMs);
  }

  #extraMs(n: number, delayMs: number): number {
    const { draws } = this.#stage;
    if (delayMs > 0 && falls(this.#stage, 'message-early', n)) return -delayMs;
    if (falls(this.#stage, 'message-late', n)) return Math.floor(draws.at('late', n) ** 3 * 2 * HOUR_MS);
    return falls(this.#stage, 'message-very-late', n) ? Math.floor(draws.at('very late', n) * 29 * 24 * HOUR_MS) : 0;
  }

  lettersOf(actor: Actor): DeadLetters {
    const stage = this.#stage;
    const call = <T>(what: string, perform: () => T): Promise<T> => stage.call(actor, { what, site: 'none', perform });
    const dead = deadLettersOf(NAME);
    return {
      traits: { reachesById: true, countsExactly: true },
      release: async () => {},
      stats: () =>
        call('queue stats', () => {
          const stats = this.#engine.stats(NAME);
          const fails = stats === undefined || falls(stage, 'stats-fail', stage.draws.nth('stats'));
          if (fails || stage.isAway('queue-outage')) return refused('unavailable');
          return { kind: 'stats', ...stats } as const;
        }),
      read: (limit, leaseSec) =>
        call('read letters', () => {
          if (stage.isAway('queue-outage')) return refused('unavailable');
          if (falls(stage, 'letters-hidden', stage.draws.nth('letters'))) return { kind: 'read', letters: [] } as const;
          const taken = this.#engine.consume(dead, limit, leaseSec === undefined ? LEASE_MS : leaseSec * 1_000) ?? [];
          const letters = taken.map(({ message, delivery }) => ({
            messageId: message.id,
            body: Buffer.from(message.payload),
            deliveryCount: delivery,
            handle: message.id,
          }));
          return { kind: 'read', letters } as const;
        }),
      redrive: ({ messageId }) =>
        call('redrive a letter', () => {
          if (stage.isAway('queue-outage')) return refused('unavailable');
          const body = this.#bodyOf(messageId);
          if (!this.#engine.redrive(NAME, messageId)) return refused('refused');
          if (this.#bodyOf(messageId) === undefined) this.#noteLetter(actor, 'redriven', messageId, body);
          return { kind: 'done' } as const;
        }),
      discard: ({ messageId }) =>
        call('discard a letter', () => {
          if (stage.isAway('queue-outage')) return refused('unavailable');
          const body = this.#bodyOf(messageId);
          if (!this.#engine.acknowledge(dead, messageId)) return refused('QUEUE_MESSAGE_NOT_IN_FLIGHT');
          this.#noteLetter(actor, 'discarded', messageId, body);
          return { kind: 'done' } as const;
        }),
    };
  }

  #bodyOf(messageId: string): string | undefined {
    return this.#engine.deadLetters(NAME)?.find(({ id }) => id === messageId)?.payload;
  }

  #noteLetter(actor: Actor, done: 'redriven' | 'discarded', messageId: string, body: string | undefined): void {
    this.#stage.note(actor, { kind: 'letter', done, messageId, body: body ?? '' });
  }
}

const refused = (code: string) => ({ kind: 'failed', code, detail: 'as drawn' }) as const;

/** The way of a push to the receiver and of its answer back. */
const postOf =
  (stage: Stage, begin: BeginPush): PostPush =>
  (_to, { message, delivery }, signal) =>
    new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
      const n = message.nth * 4 + delivery;
      const onTheWayMs = 1 + Math.floor(stage.draws.at('on the way', n) * 10);
      const forbidden = stage.isAway('forbidden-for-long');
      if (forbidden) stage.fates.count('forbidden-for-long');
      if (forbidden || falls(stage, 'push-refused', n)) {
        stage.clockwork.at(stage.nowMs + onTheWayMs, () => resolve(forbidden ? 403 : 503));
        return;
      }
      const backMs = falls(stage, 'ack-late', n) ? 1.2 * PUSH_ANSWER_MS : onTheWayMs;
      stage.clockwork.at(stage.nowMs + onTheWayMs, () => {
        begin(message.id, message.payload, (status) => {
          stage.clockwork.at(stage.nowMs + backMs, () => resolve(status));
        });
      });
    });
