import { createInfraiQueue } from '../../functions/adapters/queue/infrai/client.ts';
import { createInfraiPush } from '../../functions/adapters/queue/infrai/push.ts';
import { createEmbeddedQueue } from '../../infra/local/queue/embedded-queue.ts';
import { hostileServer, REFUSED_PORT, silent } from '../support/hostile-server.ts';
import { pushReceiver } from '../support/push-receiver.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { type TransportHarness, type TransportWorld, transportContract } from './transport.ts';

const API_KEY = 'ifr_test_key';
const QUEUE = 'deliveries';

/** The real client over real HTTP to the embedded queue, which pushes over real HTTP; only its time is virtual. */
const infrai: TransportHarness = {
  deliveriesMax: 3,
  redeliverMs: 6_000,
  delaySec: 3_600,
  remembersKeys: true,
  async open(who): Promise<TransportWorld> {
    const clock = new VirtualClock();
    const embedded = createEmbeddedQueue({ timers: clock, apiKey: API_KEY, queues: [QUEUE] });
    const receiver = await pushReceiver(clock.nowMs);
    const secret = 'a secret of the tests';
    if (who === 'subscribed') embedded.subscribe(QUEUE, { url: receiver.url, secret });
    const baseUrl = await embedded.listen();
    const queue = createInfraiQueue({ baseUrl, apiKey: API_KEY, queue: QUEUE, publishMs: 2_000 });
    return {
      queue,
      push: createInfraiPush({ secrets: [secret], signatureHeader: 'x-infrai-signature', prefix: '' }),
      received: receiver.received,
      nowMs: clock.nowMs,
      answerWith: receiver.answerWith,
      settled: () => embedded.idle(),
      async pass(ms) {
        await clock.advance(ms);
        await embedded.idle();
      },
      async stats() {
        const { available = -1, delayed = -1, inFlight = -1, dead = -1 } = embedded.stats(QUEUE) ?? {};
        return { available, delayed, inFlight, dead };
      },
      async close() {
        await queue.close();
        await embedded.close();
        await receiver.close();
      },
    };
  },
  async openBroken(how, publishMs) {
    const server = await hostileServer(silent);
    const baseUrl = how === 'gone' ? `http://127.0.0.1:${REFUSED_PORT}` : new URL(server.url).origin;
    const queue = createInfraiQueue({ baseUrl, apiKey: API_KEY, queue: QUEUE, publishMs });
    return {
      queue,
      async close() {
        await queue.close();
        await server.close();
      },
    };
  },
};

transportContract('Infrai', infrai);
