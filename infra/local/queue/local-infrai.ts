/** Infrai in the local world: the embedded queue, which pushes by real HTTP. */
import { createInfraiQueue } from '../../../functions/adapters/queue/infrai/client.ts';
import { createInfraiDeadLetters } from '../../../functions/adapters/queue/infrai/dead-letters.ts';
import { createInfraiPush, type InfraiPushSettings } from '../../../functions/adapters/queue/infrai/push.ts';
import { REQUEST_RETRIES } from '../../../functions/adapters/queue/transport-retries.ts';
import { systemClock, systemDice } from '../../../functions/adapters/system.ts';
import { PUBLISH_MS } from '../../../functions/core/limits.ts';
import type { LocalTransport } from '../transport.ts';
import { createEmbeddedQueue } from './embedded-queue.ts';
import type { Chaos } from './faults.ts';

const QUEUE_NAME = 'onceward';
const QUEUE_KEY = 'local-queue-key';

const NOTHING = { available: 0, delayed: 0, inFlight: 0, dead: 0 };

export const openLocalInfrai = async (pushScheme: InfraiPushSettings, chaos?: Chaos): Promise<LocalTransport> => {
  const embedded = createEmbeddedQueue({
    timers: systemClock,
    apiKey: QUEUE_KEY,
    queues: [QUEUE_NAME],
    signing: {
      header: pushScheme.signatureHeader,
      prefix: pushScheme.prefix,
      timestampHeader: pushScheme.timestampHeader,
    },
    ...(chaos === undefined ? {} : { chaos }),
  });
  const url = await embedded.listen();
  const access = { baseUrl: url, apiKey: QUEUE_KEY, queue: QUEUE_NAME };
  const publisher = createInfraiQueue({ ...access, publishMs: PUBLISH_MS });
  const deadLetters = createInfraiDeadLetters({
    ...access,
    clock: systemClock,
    dice: systemDice,
    retries: REQUEST_RETRIES,
  });
  const [secret = ''] = pushScheme.secrets;
  return {
    publisher,
    deadLetters,
    push: createInfraiPush(pushScheme),
    queue: {
      url,
      duplicateNext: (copies, text) => embedded.faults.duplicateNext(copies, text),
      pushes: () => embedded.pushes(),
      idle: () => embedded.idle(),
      stats: async () => embedded.stats(QUEUE_NAME) ?? NOTHING,
      deadLetter: async (message) => embedded.deadLetter(message),
    },
    pushesByHttp: true,
    begin: (_ports, frontUrl) => void embedded.subscribe(QUEUE_NAME, { url: `${frontUrl}/push/infrai`, secret }),
    stop: () => embedded.close(),
    async close() {
      await publisher.close();
      await deadLetters.close();
    },
  };
};
