/**
 * A worker that dies at one call of its ports while it takes a turn of a redrive, and a queue that brings every message
 * back until it is acknowledged.
 *
 *   push of a turn --call 1, 2 ... n--> dies at the nth: before it has any effect, or behind it with its answer lost
 *                        +--> everything else that this worker asks for goes nowhere --> 6 s --> the same message again
 */
import type { Receiver } from '../../functions/receiver/run.ts';
import type { TestWorld } from './world.ts';

export interface Mortal {
  /** The nth call of a turn, over all turns, is the one it dies at; none: it lives. */
  diesAt: number | undefined;
  readonly when: 'before' | 'after';
  /** Calls that turns have made so far. */
  calls: number;
  /** Dead until its message is pushed again. */
  dead: boolean;
  /** A turn is being taken. */
  busy: boolean;
}

export const mortal = (diesAt: number | undefined, when: Mortal['when']): Mortal => ({
  diesAt,
  when,
  calls: 0,
  dead: false,
  busy: false,
});

class Died extends Error {}

const guarded = <T extends object>(port: T, worker: Mortal): T =>
  new Proxy(port, {
    get: (target, name, receiver) => {
      const member: unknown = Reflect.get(target, name, receiver);
      if (typeof member !== 'function') return member;
      return async (...given: unknown[]): Promise<unknown> => {
        if (!worker.busy) return Reflect.apply(member, target, given);
        if (worker.dead) throw new Died('nobody is there any more');
        worker.calls += 1;
        const dies = worker.calls === worker.diesAt;
        if (dies) worker.dead = true;
        if (dies && worker.when === 'before') throw new Died(`before ${String(name)}`);
        const result: unknown = await Reflect.apply(member, target, given);
        if (dies) throw new Died(`behind ${String(name)}`);
        return result;
      };
    },
  });

export const reshapedFor =
  (worker: Mortal) =>
  (ports: Receiver): Receiver => ({
    ...ports,
    ledger: guarded(ports.ledger, worker),
    deadLetters: guarded(ports.deadLetters, worker),
    queue: guarded(ports.queue, worker),
  });

const BACK_MS = 6_000;

/** Pushes what the queue holds, and what was refused again, until nothing is left by then. */
export const pumpThrough = async (world: TestWorld, worker: Mortal, ms: number): Promise<void> => {
  const endMs = world.clock.nowMs() + ms;
  const back: { readonly atMs: number; readonly body: string; readonly messageId: string }[] = [];
  for (;;) {
    const [first] = back.toSorted((a, b) => a.atMs - b.atMs);
    const fresh = world.queue.take(Math.min(first?.atMs ?? endMs, endMs));
    const next = fresh ?? first;
    if (next === undefined || next.atMs > endMs) return;
    if (fresh === undefined) back.splice(back.indexOf(next), 1);
    await world.clock.advance(Math.max(0, next.atMs - world.clock.nowMs()));
    worker.busy = next.body.includes('"kind":"redrive"');
    worker.dead = false;
    const answer = await world.finish(world.push(next.body, { messageId: next.messageId }));
    worker.busy = false;
    if (answer.status >= 300) {
      back.push({ body: next.body, messageId: next.messageId, atMs: world.clock.nowMs() + BACK_MS });
    }
  }
};
