/**
 * The push side of SQS: records of a Lambda event source. Nobody signs them; who may send to the queue, and that nobody
 * else may call the function, is for IAM. What is looked at is what IAM does not see: that the record is of our own queue
 * (a mapping of another one would have its messages filed as senseless and deleted), and that its bytes are those that
 * the queue has taken the digest of.
 *
 * https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html, "Example standard queue message event"
 */
import { createHash } from 'node:crypto';
import type { Push, Unwrapped } from '../../../ports.ts';

export interface SqsPushSettings {
  readonly queueUrl: string;
}

/** The members of a record that stand beside its body, as headers of the push. */
export const SQS_RECORD_FIELDS = {
  source: 'eventSource',
  queue: 'eventSourceARN',
  digest: 'md5OfBody',
  messageId: 'messageId',
  receiveCount: 'ApproximateReceiveCount',
} as const;

export const createSqsPush = ({ queueUrl }: SqsPushSettings): Push => {
  const queue = new URL(queueUrl).pathname.split('/').slice(-2).join(':');
  return {
    verify(field, body) {
      if (field(SQS_RECORD_FIELDS.source) !== 'aws:sqs') return { kind: 'refused', code: 'not-sqs' };
      if (nameOf(field(SQS_RECORD_FIELDS.queue)) !== queue) return { kind: 'refused', code: 'other-queue' };
      const digest = createHash('md5').update(body).digest('hex');
      return field(SQS_RECORD_FIELDS.digest) === digest
        ? { kind: 'authentic' }
        : { kind: 'refused', code: 'altered-body' };
    },
    unwrap: (body, field) => unwrapped(body, field(SQS_RECORD_FIELDS.messageId), field(SQS_RECORD_FIELDS.receiveCount)),
  };
};

/** `account:name`, the end of `arn:aws:sqs:eu-central-1:123456789012:orders`. */
const nameOf = (arn: string | undefined): string | undefined =>
  /^arn:[a-z0-9-]+:sqs:[a-z0-9-]+:(\d{12}:[A-Za-z0-9_-]{1,80})$/.exec(arn ?? '')?.[1];

/** What a journal can carry as the cause of an entry. */
const MESSAGE_ID = /^[!-~]{1,128}$/;

/** There is no wrapping: the body of the record is the message. */
const unwrapped = (body: Uint8Array, messageId = '', receiveCount = ''): Unwrapped => ({
  kind: 'message',
  body,
  ...(MESSAGE_ID.test(messageId) ? { messageId } : {}),
  ...(/^[1-9]\d{0,8}$/.test(receiveCount) ? { deliveryCount: Number(receiveCount) } : {}),
});
