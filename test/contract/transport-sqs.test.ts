import { createSqsPush } from '../../functions/adapters/queue/sqs/push.ts';
import { createSqsQueue } from '../../functions/adapters/queue/sqs/queue.ts';
import { SQS_RECEIVES_MAX, SQS_VISIBILITY_MS } from '../../functions/core/limits.ts';
import { hostileServer, REFUSED_PORT, silent } from '../support/hostile-server.ts';
import { openSqsWorld } from '../support/sqs-world.ts';
import { type TransportHarness, transportContract } from './transport.ts';

/** A standard queue remembers no key: that repeats are harmless is the ledger's work, and tested there. */
const sqs: TransportHarness = {
  deliveriesMax: SQS_RECEIVES_MAX,
  redeliverMs: SQS_VISIBILITY_MS,
  delaySec: 600,
  remembersKeys: false,
  async open(who) {
    const world = await openSqsWorld(who);
    return {
      queue: world.queue,
      push: createSqsPush({ queueUrl: world.sqs.queueUrl }),
      received: world.received,
      nowMs: () => Date.now(),
      answerWith: world.answerWith,
      settled: () => world.pass(0),
      pass: world.pass,
      stats: () => world.sqs.stats(),
      close: world.close,
    };
  },
  async openBroken(how, publishMs) {
    const server = await hostileServer(silent);
    const endpoint = how === 'gone' ? `http://127.0.0.1:${REFUSED_PORT}` : new URL(server.url).origin;
    const credentials = { accessKeyId: 'none', secretAccessKey: 'none' };
    const queue = createSqsQueue({
      queueUrl: `${endpoint}/000000000000/onceward`,
      publishMs,
      access: { region: 'eu-central-1', endpoint, credentials },
    });
    return {
      queue,
      async close() {
        queue.close();
        await server.close();
      },
    };
  },
};

transportContract('SQS', sqs);
