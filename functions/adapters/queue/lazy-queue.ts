/**
 * Queue and dead letters of a receiver, opened when they are first used and not when the process starts: a message whose
 * attempt succeeds publishes nothing, and dead letters are read by operations only.
 *
 *   cold start ──► messages that succeed ──► the first that has to come again: the client is loaded, the message published
 *
 * Whatever is to be known without them stands in `transport-facts.ts`.
 */
import type { DeadLetters, Published, Queue } from '../../ports.ts';
import { openDeadLetters } from './open-dead-letters.ts';
import { openQueue, type TransportSettings } from './open-queue.ts';
import { limitsOf, traitsOf } from './transport-facts.ts';

export const createLazyQueue = (settings: TransportSettings): Queue => {
  const opened = once(() => openQueue(settings));
  return {
    limits: limitsOf(settings.transport),
    publish: async (publication) => {
      const queue = await openedOr(opened);
      return 'publish' in queue ? queue.publish(publication) : queue;
    },
  };
};

export const createLazyDeadLetters = (
  settings: TransportSettings,
  needs: Parameters<typeof openDeadLetters>[1],
): DeadLetters => {
  const opened = once(() => openDeadLetters(settings, needs));
  return {
    traits: traitsOf(settings.transport),
    stats: async () => (await opened()).stats(),
    read: async (limit, leaseSec) => (await opened()).read(limit, leaseSec),
    redrive: async (letter) => (await opened()).redrive(letter),
    discard: async (letter) => (await opened()).discard(letter),
    release: async (letters) => (await opened()).release(letters),
  };
};

/** The port never throws: a client that cannot be had is a publish that failed. */
const openedOr = async (opened: () => Promise<Queue>): Promise<Queue | Extract<Published, { kind: 'failed' }>> => {
  try {
    return await opened();
  } catch (error) {
    return { kind: 'failed', code: 'not-opened', detail: error instanceof Error ? error.message : String(error) };
  }
};

/** One that failed is tried again by the next who asks. */
const once = <T>(open: () => Promise<T>): (() => Promise<T>) => {
  let opening: Promise<T> | undefined;
  return () => {
    opening ??= open().catch((error: unknown) => {
      opening = undefined;
      throw error;
    });
    return opening;
  };
};
