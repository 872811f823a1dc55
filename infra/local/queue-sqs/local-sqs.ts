/** SQS in the local world: an embedded engine, and an event source that calls the entry of the Lambda function. */
import { createSqsDeadLetters } from '../../../functions/adapters/queue/sqs/dead-letters.ts';
import { createSqsPush } from '../../../functions/adapters/queue/sqs/push.ts';
import { createSqsQueue } from '../../../functions/adapters/queue/sqs/queue.ts';
import { REQUEST_RETRIES } from '../../../functions/adapters/queue/transport-retries.ts';
import { systemClock, systemDice } from '../../../functions/adapters/system.ts';
import { FUNCTION_MS, PUBLISH_MS, SQS_RECEIVES_MAX } from '../../../functions/core/limits.ts';
import { createSqsEntry } from '../../../functions/receiver/sqs-entry.ts';
import type { LocalTransport } from '../transport.ts';
import { openEmbeddedSqs } from './embedded-sqs.ts';
import { EventSource } from './event-source.ts';

/** Sooner than in the cloud: as soon as its function must have ended, a refused record comes back. */
const VISIBILITY_SEC = FUNCTION_MS / 1_000;

export const openLocalSqs = async (): Promise<LocalTransport> => {
  const sqs = await openEmbeddedSqs({ visibilitySec: VISIBILITY_SEC, deliveriesMax: SQS_RECEIVES_MAX });
  const { queueUrl, deadLetterUrl, access } = sqs;
  const publisher = createSqsQueue({ queueUrl, publishMs: PUBLISH_MS, access });
  const deadLetters = createSqsDeadLetters({
    queueUrl,
    deadLetterUrl,
    access,
    clock: systemClock,
    dice: systemDice,
    retries: REQUEST_RETRIES,
  });
  let source: EventSource | undefined;
  return {
    publisher,
    deadLetters,
    push: createSqsPush({ queueUrl }),
    queue: {
      url: queueUrl,
      duplicateNext: (copies, text) => source?.duplicateNext(copies, text),
      pushes: () => source?.records ?? [],
      idle: async () => source?.idle(),
      stats: () => sqs.stats(),
      deadLetter: (message) => sqs.deadLetter(message),
    },
    pushesByHttp: false,
    begin: (ports) => {
      source = new EventSource(sqs, createSqsEntry(ports), systemClock);
      source.start();
    },
    stop: async () => source?.stop(),
    async close() {
      publisher.close();
      deadLetters.close();
      await sqs.close();
    },
  };
};
