/**
 * The messages of one queue, in memory, each at one place.
 *
 *   add ---> delayed --due--> ready --take--> in flight --remove--> gone
 *    |                          ^                |
 *    +--------------------------+<--lease ends---+--lease ends after the last delivery--> dead: handed to the caller
 *
 * Pure: the time is an argument, and nothing happens by itself; `wake` moves what the time has moved.
 */
import { DueHeap } from './due-heap.ts';

export interface Message {
  readonly id: string;
  /** Counts all messages of the process: chance names a message by it. */
  readonly nth: number;
  /** The JSON text of the message as it was published, untouched. */
  readonly payload: string;
  readonly publishedAtMs: number;
}

/** A message handed out, and which delivery of it this is, from 1. */
export interface Taken {
  readonly message: Message;
  readonly delivery: number;
}

export interface MailboxStats {
  readonly available: number;
  readonly delayed: number;
  readonly inFlight: number;
  readonly oldestAgeMs: number;
}

interface Held {
  readonly message: Message;
  deliveries: number;
  place: 'delayed' | 'ready' | 'in-flight';
  /** When it leaves its place by itself. */
  wakeAtMs?: number | undefined;
}

export class Mailbox {
  readonly #deliveriesMax: number;
  /** In the order in which they came in. */
  readonly #held = new Map<string, Held>();
  readonly #ready = new Set<string>();
  readonly #wakes = new DueHeap();

  constructor(deliveriesMax: number) {
    this.#deliveriesMax = deliveriesMax;
  }

  get readyCount(): number {
    return this.#ready.size;
  }

  /** Its deliveries are counted from the start: a redriven message begins again, as a new one does. */
  add(message: Message, fromMs: number, nowMs: number): void {
    const held: Held = { message, deliveries: 0, place: 'delayed' };
    this.#held.set(message.id, held);
    if (fromMs > nowMs) this.#wakeAt(held, fromMs);
    else this.#makeReady(held);
  }

  has(id: string): boolean {
    return this.#held.has(id);
  }

  isInFlight(id: string): boolean {
    return this.#held.get(id)?.place === 'in-flight';
  }

  all(): readonly Message[] {
    return [...this.#held.values()].map(({ message }) => message);
  }

  /** Takes the ready message that has waited longest, or one that came so many places later. */
  take(placesLater = 0): Taken | undefined {
    let places = 0;
    for (const id of this.#ready) {
      if (places < placesLater && places < this.#ready.size - 1) {
        places += 1;
        continue;
      }
      const held = this.#held.get(id);
      this.#ready.delete(id);
      if (held === undefined) return undefined;
      held.place = 'in-flight';
      held.deliveries += 1;
      return { message: held.message, delivery: held.deliveries };
    }
    return undefined;
  }

  /** Ends the lease of a message in flight at that time; it then returns, or is dead. */
  leaseUntil(id: string, atMs: number): void {
    const held = this.#held.get(id);
    if (held?.place === 'in-flight') this.#wakeAt(held, atMs);
  }

  remove(id: string): Message | undefined {
    const held = this.#held.get(id);
    this.#held.delete(id);
    this.#ready.delete(id);
    return held?.message;
  }

  /** Moves what is due by now. Gives back, removed, the messages that have had their last delivery. */
  wake(nowMs: number): readonly Message[] {
    const dead: Message[] = [];
    for (let first = this.#firstWake(); first !== undefined && first.atMs <= nowMs; first = this.#firstWake()) {
      this.#wakes.shift();
      const held = this.#held.get(first.id);
      if (held === undefined) continue;
      if (held.place === 'delayed' || held.deliveries < this.#deliveriesMax) this.#makeReady(held);
      else {
        this.remove(first.id);
        dead.push(held.message);
      }
    }
    return dead;
  }

  nextWakeMs(): number | undefined {
    return this.#firstWake()?.atMs;
  }

  stats(nowMs: number): MailboxStats {
    let delayed = 0;
    let oldestMs = nowMs;
    for (const { place, message } of this.#held.values()) {
      if (place === 'delayed') delayed += 1;
      oldestMs = Math.min(oldestMs, message.publishedAtMs);
    }
    const inFlight = this.#held.size - delayed - this.#ready.size;
    return { available: this.#ready.size, delayed, inFlight, oldestAgeMs: nowMs - oldestMs };
  }

  #makeReady(held: Held): void {
    held.place = 'ready';
    held.wakeAtMs = undefined;
    this.#ready.add(held.message.id);
  }

  #wakeAt(held: Held, atMs: number): void {
    held.wakeAtMs = atMs;
    this.#wakes.push(atMs, held.message.id);
  }

  /** Entries of messages that are gone, or that have moved since, are dropped here. */
  #firstWake(): { readonly atMs: number; readonly id: string } | undefined {
    for (let first = this.#wakes.first; first !== undefined; first = this.#wakes.first) {
      if (this.#held.get(first.id)?.wakeAtMs === first.atMs) return first;
      this.#wakes.shift();
    }
    return undefined;
  }
}
