/**
 * The queues and their movement. Pushed and pulled messages take one way:
 *
 *   publish --delay--> ready --push or consume--> in flight --2xx or ack--> gone
 *                        ^                           |
 *                        +-- six seconds, 3 times ---+--> `<queue>.dlq` --redrive by id--> ready, counted from 1
 *
 * In memory only: the end of the process loses every message. That is meant: a queue that loses messages is one of the
 * faults that the ledger and its sweep have to make good.
 */
import { INFRAI_LIMITS } from '../../../functions/adapters/queue/transport-facts.ts';
import type { Faults } from './faults.ts';
import { Mailbox, type MailboxStats, type Message, type Taken } from './mailbox.ts';
import { PublishedKeys } from './published-keys.ts';
import type { Pusher, Subscription } from './pusher.ts';
import type { Timers } from './timers.ts';

export interface EngineSettings {
  /** From the start of one delivery to the next. */
  readonly redeliverMs: number;
  /** After so many deliveries without success a message is dead. */
  readonly deliveriesMax: number;
  /** Pushes that may be underway at one moment. */
  readonly pushesAtOnce: number;
}

export interface Publish {
  readonly payload: string;
  readonly delayMs: number;
  readonly key?: string | undefined;
}

export type Refusal = 'no-queue' | 'too-large' | 'delay-too-long';

export type PublishResult =
  | { readonly kind: 'published'; readonly messageId: string; readonly repeated: boolean; readonly answered: boolean }
  | { readonly kind: 'failed' }
  | { readonly kind: 'refused'; readonly refusal: Refusal };

export type QueueStats = MailboxStats & { readonly dead: number };

interface QueueState {
  readonly mailbox: Mailbox;
  /** Absent at a dead letter queue: nothing dies there a second time. */
  readonly deadLetters?: Mailbox;
  subscription?: Subscription;
}

export const deadLettersOf = (name: string): string => `${name}.dlq`;

export class QueueEngine {
  readonly #settings: EngineSettings;
  readonly #timers: Timers;
  readonly #faults: Faults;
  readonly #pusher: Pusher;
  readonly #queues = new Map<string, QueueState>();
  readonly #keys = new PublishedKeys();
  readonly #startedMs: number;
  readonly #idleWaiters: (() => void)[] = [];
  readonly #laterCopies = new Set<() => void>();
  #published = 0;
  #alarm: { readonly atMs: number; readonly callOff: () => void } | undefined;
  #closed = false;

  constructor(settings: EngineSettings, timers: Timers, faults: Faults, pusher: Pusher) {
    this.#settings = settings;
    this.#timers = timers;
    this.#faults = faults;
    this.#pusher = pusher;
    this.#startedMs = timers.nowMs();
  }

  /** False where the queue was there already. Its dead letter queue comes with it. */
  create(name: string): boolean {
    if (this.#queues.has(name)) return false;
    const deadLetters = this.#queues.get(deadLettersOf(name))?.mailbox ?? new Mailbox(Number.POSITIVE_INFINITY);
    this.#queues.set(deadLettersOf(name), { mailbox: deadLetters });
    this.#queues.set(name, { mailbox: new Mailbox(this.#settings.deliveriesMax), deadLetters });
    return true;
  }

  remove(name: string): boolean {
    return this.#queues.delete(name);
  }

  names(): readonly string[] {
    return [...this.#queues.keys()].toSorted();
  }

  publish(name: string, { payload, delayMs, key }: Publish): PublishResult {
    const queue = this.#queues.get(name);
    if (queue === undefined) return { kind: 'refused', refusal: 'no-queue' };
    if (Buffer.byteLength(payload, 'utf8') > INFRAI_LIMITS.messageBytesMax) {
      return { kind: 'refused', refusal: 'too-large' };
    }
    if (delayMs > INFRAI_LIMITS.delayMsMax) return { kind: 'refused', refusal: 'delay-too-long' };
    const nowMs = this.#timers.nowMs();
    const first = key === undefined ? undefined : this.#keys.messageIdOf(key, nowMs);
    if (first !== undefined) return { kind: 'published', messageId: first, repeated: true, answered: true };
    const fate = this.#faults.publishFate();
    if (fate === 'failed') return { kind: 'failed' };
    this.#published += 1;
    const id = this.#idOf(this.#published);
    if (key !== undefined) this.#keys.remember(key, id, nowMs);
    if (fate !== 'lost') {
      const fromMs = nowMs + delayMs + this.#faults.extraDelayMs(this.#published);
      queue.mailbox.add({ id, nth: this.#published, payload, publishedAtMs: nowMs }, fromMs, nowMs);
      this.#turn();
    }
    return { kind: 'published', messageId: id, repeated: false, answered: fate !== 'unanswered' };
  }

  /** Undefined where there is no such queue. */
  consume(name: string, messagesMax: number, leaseMs = this.#settings.redeliverMs): readonly Taken[] | undefined {
    const mailbox = this.#queues.get(name)?.mailbox;
    if (mailbox === undefined) return undefined;
    const taken: Taken[] = [];
    while (taken.length < messagesMax) {
      const next = mailbox.take(this.#faults.placesLater());
      if (next === undefined) break;
      mailbox.leaseUntil(next.message.id, this.#timers.nowMs() + leaseMs);
      taken.push(next);
    }
    this.#turn();
    return taken;
  }

  /** False where the message is not in flight: never was, was acknowledged, or its lease has ended. */
  acknowledge(name: string, id: string): boolean {
    const mailbox = this.#queues.get(name)?.mailbox;
    if (mailbox?.isInFlight(id) !== true) return false;
    mailbox.remove(id);
    this.#turn();
    return true;
  }

  /** One subscription a queue: a second one takes the place of the first. */
  subscribe(name: string, subscription: Subscription): boolean {
    const queue = this.#queues.get(name);
    if (queue === undefined) return false;
    queue.subscription = subscription;
    this.#turn();
    return true;
  }

  stats(name: string): QueueStats | undefined {
    const queue = this.#queues.get(name);
    if (queue === undefined) return undefined;
    const stats = queue.mailbox.stats(this.#timers.nowMs());
    return { ...stats, dead: queue.deadLetters?.all().length ?? 0 };
  }

  deadLetters(name: string): readonly Message[] | undefined {
    const queue = this.#queues.get(name);
    return queue === undefined ? undefined : (queue.deadLetters?.all() ?? []);
  }

  /** Puts a message straight to the dead ones, as if it had had its deliveries. Undefined where there is no such queue. */
  bury(name: string, payload: string): string | undefined {
    const deadLetters = this.#queues.get(name)?.deadLetters;
    if (deadLetters === undefined) return undefined;
    const nowMs = this.#timers.nowMs();
    this.#published += 1;
    const id = this.#idOf(this.#published);
    deadLetters.add({ id, nth: this.#published, payload, publishedAtMs: nowMs }, nowMs, nowMs);
    this.#turn();
    return id;
  }

  /** Puts one dead message back, under its own id, also while a reader of the dead letters holds it. */
  redrive(name: string, id: string): boolean {
    const queue = this.#queues.get(name);
    if (queue?.deadLetters?.has(id) !== true) return false;
    if (this.#faults.ignoresRedriveOf(id)) return true;
    const message = queue.deadLetters.remove(id);
    if (message === undefined) return false;
    const nowMs = this.#timers.nowMs();
    queue.mailbox.add(message, nowMs, nowMs);
    this.#turn();
    return true;
  }

  /** Resolves when nothing is left to do at this time: what is still here waits for a later time or for a reader. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#idleWaiters.push(resolve);
      this.#turn();
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#alarm?.callOff();
    for (const callOff of this.#laterCopies) callOff();
    await this.#pusher.close();
    for (const resume of this.#idleWaiters.splice(0)) resume();
  }

  /** New in every run, so that a message of today is never taken for one of yesterday. */
  #idOf(nth: number): string {
    return `qmsg_${this.#startedMs.toString(36).padStart(9, '0')}${nth.toString(36).padStart(8, '0')}`;
  }

  /** Runs after every change: wake what is due, bury the dead, push what is ready, and set the alarm for the next. */
  #turn(): void {
    if (this.#closed) return;
    const nowMs = this.#timers.nowMs();
    for (const { mailbox, deadLetters } of this.#queues.values()) {
      for (const dead of mailbox.wake(nowMs)) deadLetters?.add(dead, nowMs, nowMs);
    }
    for (const queue of this.#queues.values()) this.#pushReady(queue);
    this.#setAlarm(nowMs);
    if (this.#isIdle()) for (const resume of this.#idleWaiters.splice(0)) resume();
  }

  #isIdle(): boolean {
    const subscribed = [...this.#queues.values()].filter(({ subscription }) => subscription !== undefined);
    return this.#pusher.underway === 0 && subscribed.every(({ mailbox }) => mailbox.readyCount === 0);
  }

  #setAlarm(nowMs: number): void {
    const wakes = [...this.#queues.values()].map(({ mailbox }) => mailbox.nextWakeMs() ?? Number.POSITIVE_INFINITY);
    const atMs = Math.min(...wakes, Number.POSITIVE_INFINITY);
    if (this.#alarm?.atMs === atMs) return;
    this.#alarm?.callOff();
    this.#alarm = undefined;
    if (atMs === Number.POSITIVE_INFINITY) return;
    const ring = (): void => {
      this.#alarm = undefined;
      this.#turn();
    };
    this.#alarm = { atMs, callOff: this.#timers.after(atMs - nowMs, ring) };
  }

  #pushReady({ mailbox, subscription }: QueueState): void {
    if (subscription === undefined) return;
    while (this.#pusher.underway < this.#settings.pushesAtOnce && mailbox.readyCount > 0) {
      const taken = mailbox.take(this.#faults.placesLater());
      if (taken === undefined) return;
      void this.#push(mailbox, subscription, taken);
      for (const delayMs of this.#faults.copiesOf(taken)) this.#pushCopy(subscription, taken, delayMs);
    }
  }

  async #push(mailbox: Mailbox, subscription: Subscription, taken: Taken): Promise<void> {
    const startedMs = this.#timers.nowMs();
    const done = await this.#pusher.send(subscription, taken, { copy: false, lost: this.#faults.losesAnswer(taken) });
    const { id } = taken.message;
    if (done) mailbox.remove(id);
    else mailbox.leaseUntil(id, Math.max(this.#timers.nowMs(), startedMs + this.#settings.redeliverMs));
    this.#turn();
  }

  /** What the receiver says to a copy is not waited for by anything: only the delivery itself decides. */
  #pushCopy(subscription: Subscription, taken: Taken, delayMs: number): void {
    const send = (): void => {
      void this.#pusher.send(subscription, taken, { copy: true, lost: false }).then(() => this.#turn());
    };
    if (delayMs === 0) {
      send();
      return;
    }
    const callOff = this.#timers.after(delayMs, () => {
      this.#laterCopies.delete(callOff);
      send();
    });
    this.#laterCopies.add(callOff);
  }
}
