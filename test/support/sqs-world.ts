/**
 * SQS for the contracts: the real ports over real HTTP to an engine in this process, whose batches are handed to a
 * function as Lambda does it. The engine reads the time from `Date`, and only that is moved by hand.
 */

import type { LambdaContext } from 'hono/aws-lambda';
import { vi } from 'vitest';
import { createSqsQueue } from '../../functions/adapters/queue/sqs/queue.ts';
import { systemClock } from '../../functions/adapters/system.ts';
import { SQS_RECEIVES_MAX, SQS_VISIBILITY_MS } from '../../functions/core/limits.ts';
import { Batch, type BatchResponse, pushOf } from '../../functions/receiver/sqs-entry.ts';
import { type EmbeddedSqs, openEmbeddedSqs } from '../../infra/local/queue-sqs/embedded-sqs.ts';
import { EventSource } from '../../infra/local/queue-sqs/event-source.ts';
import type { ReceivedPush } from './push-receiver.ts';
import { VIRTUAL_START_MS } from './virtual-clock.ts';

export interface SqsWorld {
  readonly sqs: EmbeddedSqs;
  readonly queue: ReturnType<typeof createSqsQueue>;
  readonly source: EventSource;
  readonly received: readonly ReceivedPush[];
  /** Statuses for the records to come, in turn, as a push would be answered; then 200. */
  answerWith(...statuses: readonly number[]): void;
  /** Lets that much time pass, with a look at the queue whenever a message may have come back. */
  pass(ms: number): Promise<void>;
  close(): Promise<void>;
}

/** As the stack has it. */
export const VISIBILITY_SEC = SQS_VISIBILITY_MS / 1_000;

export const openSqsWorld = async (who: 'subscribed' | 'nobody' = 'subscribed'): Promise<SqsWorld> => {
  vi.useFakeTimers({ toFake: ['Date'], now: VIRTUAL_START_MS });
  const sqs = await openEmbeddedSqs({ visibilitySec: VISIBILITY_SEC, deliveriesMax: SQS_RECEIVES_MAX });
  const queue = createSqsQueue({ queueUrl: sqs.queueUrl, publishMs: 2_000, access: sqs.access });
  const received: ReceivedPush[] = [];
  const statuses: number[] = [];
  const entry = async (event: unknown, _context?: LambdaContext): Promise<BatchResponse> => {
    const failed = Batch.parse(event).Records.flatMap((record) => {
      received.push({ ...pushOf(record), atMs: Date.now() });
      const status = statuses.shift() ?? 200;
      return status >= 200 && status < 300 ? [] : [{ itemIdentifier: record.messageId }];
    });
    return { batchItemFailures: failed };
  };
  const source = new EventSource(sqs, entry, systemClock);
  const look = async (): Promise<void> => {
    if (who === 'subscribed') await source.drain();
  };
  return {
    sqs,
    queue,
    source,
    received,
    answerWith: (...more) => void statuses.push(...more),
    async pass(ms) {
      const endMs = Date.now() + ms;
      await look();
      while (Date.now() < endMs) {
        vi.setSystemTime(Math.min(endMs, Date.now() + VISIBILITY_SEC * 1_000));
        await look();
      }
    },
    async close() {
      queue.close();
      source.stop();
      await sqs.close();
      vi.useRealTimers();
    },
  };
};
