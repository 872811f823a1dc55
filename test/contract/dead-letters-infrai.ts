import { createInfraiQueue } from '../../functions/adapters/queue/infrai/client.ts';
import { createInfraiDeadLetters, READ_LEASE_SEC } from '../../functions/adapters/queue/infrai/dead-letters.ts';
import { createInfraiPush } from '../../functions/adapters/queue/infrai/push.ts';
import { systemClock, systemDice } from '../../functions/adapters/system.ts';
import { createEmbeddedQueue } from '../../infra/local/queue/embedded-queue.ts';
import { hostileServer, REFUSED_PORT, silent } from '../support/hostile-server.ts';
import { pushReceiver } from '../support/push-receiver.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import type { DeadLettersHarness, DeadLetterWorld } from './dead-letters.ts';

const API_KEY = 'ifr_test_key';
const QUEUE = 'deliveries';
const DELIVERIES = 3;
const REDELIVER_MS = 6_000;
const DYING_MS = DELIVERIES * REDELIVER_MS;

/** The real port over real HTTP to the embedded queue, which pushes over real HTTP; only its time is virtual. */
export const infraiDeadLetters: DeadLettersHarness = {
  leaseMs: READ_LEASE_SEC * 1_000,
  dyingMs: DYING_MS,
  async open(): Promise<DeadLetterWorld> {
    const clock = new VirtualClock();
    const embedded = createEmbeddedQueue({ timers: clock, apiKey: API_KEY, queues: [QUEUE] });
    const receiver = await pushReceiver(clock.nowMs);
    embedded.subscribe(QUEUE, { url: receiver.url });
    const at = { baseUrl: await embedded.listen(), apiKey: API_KEY, queue: QUEUE };
    const queue = createInfraiQueue({ ...at, publishMs: 2_000 });
    const deadLetters = createInfraiDeadLetters({ ...at, clock, dice: systemDice });
    const push = createInfraiPush({ secrets: ['unused'], signatureHeader: 'x-infrai-signature', prefix: '' });
    let before = 0;
    const pass = async (ms: number): Promise<void> => {
      const endMs = clock.nowMs() + ms;
      await embedded.idle();
      // A push is answered over a true socket: no virtual time may pass meanwhile.
      for (let leftMs = ms; leftMs > 0; leftMs = endMs - clock.nowMs()) {
        await clock.advance(Math.min(leftMs, REDELIVER_MS));
        await embedded.idle();
      }
    };
    return {
      deadLetters,
      async letDie(...bodies) {
        for (const [nth, body] of bodies.entries()) {
          receiver.answerWith(...Array.from({ length: DELIVERIES }, () => 503));
          const published = await queue.publish({ key: `dies-${nth}`, body, delaySec: 0 });
          if (published.kind === 'failed') throw new Error(published.detail);
        }
        await pass(DYING_MS);
        before = receiver.received.length;
      },
      pushed: () =>
        receiver.received.slice(before).map(({ body, header }) => {
          const unwrapped = push.unwrap(body, header);
          return unwrapped.kind === 'message' ? Buffer.from(unwrapped.body).toString('utf8') : unwrapped.reason;
        }),
      refusePushes: () => receiver.answerWith(...Array.from({ length: DELIVERIES }, () => 503)),
      pass,
      async close() {
        await queue.close();
        await deadLetters.close();
        await embedded.close();
        await receiver.close();
      },
    };
  },
  async openBroken(how, totalMs) {
    const server = await hostileServer(silent);
    const deadLetters = createInfraiDeadLetters({
      baseUrl: how === 'gone' ? `http://127.0.0.1:${REFUSED_PORT}` : new URL(server.url).origin,
      apiKey: API_KEY,
      queue: QUEUE,
      clock: systemClock,
      dice: systemDice,
      retries: { triesMax: 5, tryMs: totalMs / 2, totalMs },
    });
    return {
      deadLetters,
      async close() {
        await deadLetters.close();
        await server.close();
      },
    };
  },
};
