/**
 * A queue that pushes by HTTP and delivers at least once, with the faults of the fire.
 *
 *   publish ──► waits its delay ──► pushed ──2xx──► gone, unless the acknowledgement gets lost
 *                 ▲                   └── refused, or cut off ──┐
 *                 └──────────────── in a second ◄───────────────┘   a message is never given up
 */
import { Agent, request } from 'undici';
import { systemClock } from '../../../functions/adapters/system.ts';
import type { Fire } from './fire.ts';
import type { Pool } from './pool.ts';

export interface PushQueueOptions {
  readonly fire: Fire;
  readonly pool: Pool;
  readonly path: string;
  /** Pushes on their way at once. */
  readonly atOnce: number;
  /** Of a push: what is sent. */
  readonly wrap: (message: Message) => {
    readonly body: Uint8Array;
    readonly headers: Readonly<Record<string, string>>;
  };
}

export interface Message {
  readonly id: string;
  readonly body: string;
  /** Only those of an event meet its copy and its lost acknowledgements. */
  readonly event?: string;
}

export interface PushQueue {
  publish(message: Omit<Message, 'id'>, delayMs: number): string;
  /** Messages that wait or are on their way. */
  readonly waits: number;
  readonly pushes: number;
  /** Resolves when what is on its way has ended; the rest is dropped. */
  close(): Promise<void>;
}

const AGAIN_MS = 1_000;
const PUSH_MS = 45_000;

interface Held extends Message {
  pushes: number;
}

export const openPushQueue = ({ fire, pool, path, atOnce, wrap }: PushQueueOptions): PushQueue => {
  const ready: Held[] = [];
  const underWay = new Set<Promise<void>>();
  const agent = new Agent({ connections: atOnce, bodyTimeout: PUSH_MS, headersTimeout: PUSH_MS });
  let [waiting, pushes, published, isClosed] = [0, 0, 0, false];

  const later = (message: Held, ms: number): void => {
    waiting += 1;
    setTimeout(() => {
      waiting -= 1;
      ready.push(message);
      pump();
    }, ms);
  };
  const pump = (): void => {
    while (!isClosed && underWay.size < atOnce) {
      const next = ready.shift();
      if (next === undefined) return;
      const push = pushOnce(next).finally(() => {
        underWay.delete(push);
        pump();
      });
      underWay.add(push);
    }
  };
  const pushOnce = async (message: Held): Promise<void> => {
    pushes += 1;
    message.pushes += 1;
    const { event } = message;
    const copyMs = event === undefined || message.pushes > 1 ? undefined : fire.copyLaterMs(event);
    if (copyMs !== undefined) later({ id: message.id, body: message.body, pushes: 1 }, copyMs);
    const isTaken = await send(message).catch(() => false);
    const isLost = event !== undefined && fire.losesAck(event, message.pushes);
    if (!isTaken || isLost) later(message, AGAIN_MS);
  };
  const send = async (message: Message): Promise<boolean> => {
    const origin = `http://127.0.0.1:${await pool.port()}`;
    const { body, headers } = wrap(message);
    const answer = await request(`${origin}${path}`, { method: 'POST', headers, body, dispatcher: agent });
    await answer.body.dump();
    return answer.statusCode < 300;
  };

  return {
    publish: (message, delayMs) => {
      published += 1;
      const held = { ...message, id: `message-${published}`, pushes: 0 };
      if (delayMs > 0) later(held, delayMs);
      else {
        ready.push(held);
        pump();
      }
      return held.id;
    },
    get waits() {
      return ready.length + waiting + underWay.size;
    },
    get pushes() {
      return pushes;
    },
    close: async () => {
      isClosed = true;
      await agent.destroy();
      await Promise.all(underWay);
    },
  };
};

const LOOK_MS = 50;
/** Events come as fast as they are delivered: a backlog older than a grace would be swept, which is another matter. */
const BACKLOG = 500;

/** Resolves when the queue can take more. */
export const untilRoom = async (queue: Pick<PushQueue, 'waits'>): Promise<void> => {
  while (queue.waits > BACKLOG) await systemClock.sleep(LOOK_MS);
};

/** Resolves when every message has been acknowledged, and the queue has heard it. */
export const untilEmpty = async (queue: Pick<PushQueue, 'waits'>): Promise<void> => {
  while (queue.waits > 0) await systemClock.sleep(LOOK_MS);
};
