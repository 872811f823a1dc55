/**
 * The publishing side of SQS: one SendMessage, one try, one deadline, and no exception ever.
 *
 * A standard queue has no memory of what was published: the key of a publication is not sent, and the same publish twice
 * is two messages. That a repeat does no harm rests on the ledger alone: the row is claimed once, whoever else comes is
 * acknowledged. A FIFO queue would remember, but takes no delay for a single message, and holds a whole group up behind
 * one that fails.
 */
import { SendMessageCommand } from '@aws-sdk/client-sqs';
import type { Published, Queue } from '../../../ports.ts';
import { SQS_LIMITS } from '../transport-facts.ts';
import { unsendable } from '../unsendable.ts';
import { createSqsCalls, type SqsAccess } from './client.ts';
import type { SqsFailure } from './failure.ts';

export interface SqsQueueOptions {
  readonly queueUrl: string;
  /** One deadline over look-up, connect, request and answer. */
  readonly publishMs: number;
  readonly access?: SqsAccess;
}

export type SqsPublishFailure = SqsFailure | 'too-large' | 'delay-too-long' | 'senseless-message' | 'senseless-answer';

export const createSqsQueue = ({ queueUrl, publishMs, access }: SqsQueueOptions): Queue & { close(): void } => {
  const calls = createSqsCalls(access);
  return {
    limits: SQS_LIMITS,
    async publish(publication) {
      const body = sendable(publication.body);
      const fault = unsendable(SQS_LIMITS, { ...publication, body });
      if (fault !== undefined) return failed(fault.code, fault.detail);
      const input = { QueueUrl: queueUrl, MessageBody: body, DelaySeconds: publication.delaySec };
      const sent = await calls.once((client, until) => client.send(new SendMessageCommand(input), until), publishMs);
      if (sent.kind === 'failed') return failed(sent.code, sent.detail);
      const { MessageId: messageId } = sent.output;
      if (messageId === undefined) return failed('senseless-answer', 'SQS took the message and gave it no id');
      return { kind: 'published', messageId };
    },
    close: () => calls.close(),
  };
};

const failed = (code: SqsPublishFailure, detail: string): Published => ({ kind: 'failed', code, detail });

/**
 * SQS takes what XML 1.0 takes, and that leaves out U+FFFE and U+FFFF, which an id may hold. In the text of a JSON object
 * they can only stand inside a string, where their escape means the same; without it, every publish of that delivery
 * would be refused for ever.
 */
const sendable = (json: string): string =>
  json.replace(/[\uFFFE\uFFFF]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16)}`);
