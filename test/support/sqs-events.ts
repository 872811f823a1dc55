/**
 * Events as Lambda hands them to the target of an SQS mapping, and of an EventBridge schedule.
 * Shapes: AWS Lambda developer guide, "Using Lambda with Amazon SQS", "Example standard queue message event";
 * EventBridge user guide, "Scheduled events".
 */
import { createHash } from 'node:crypto';
import type { LambdaContext } from 'hono/aws-lambda';

export const QUEUE_URL = 'https://sqs.eu-central-1.amazonaws.com/123456789012/onceward';
export const QUEUE_ARN = 'arn:aws:sqs:eu-central-1:123456789012:onceward';

export const sqsRecord = (messageId: string, body: string, change: Readonly<Record<string, unknown>> = {}) => ({
  messageId,
  receiptHandle: `AQEBwJnKyrHigUMZj6rYigCgxlaS3SLy0a-${messageId}`,
  body,
  attributes: {
    ApproximateReceiveCount: '1',
    SentTimestamp: '1767225600000',
    SenderId: 'AIDAIENQZJOLO23YVJ4VO',
    ApproximateFirstReceiveTimestamp: '1767225600185',
  },
  messageAttributes: {},
  md5OfBody: createHash('md5').update(body).digest('hex'),
  eventSource: 'aws:sqs',
  eventSourceARN: QUEUE_ARN,
  awsRegion: 'eu-central-1',
  ...change,
});

export const sqsBatch = (...records: readonly ReturnType<typeof sqsRecord>[]) => ({ Records: records });

export const scheduledEvent = {
  version: '0',
  id: '53dc4d37-cffa-4f76-80c9-8b7d4a4d2eaa',
  'detail-type': 'Scheduled Event',
  source: 'aws.events',
  account: '123456789012',
  time: '2026-01-01T00:00:00Z',
  region: 'eu-central-1',
  resources: ['arn:aws:events:eu-central-1:123456789012:rule/onceward-tick'],
  detail: {},
};

/** Of an invocation that has so much time left, or none of whose readings is there. */
export const lambdaContext = (remainingMs: number | undefined): LambdaContext | undefined =>
  remainingMs === undefined
    ? undefined
    : ({ awsRequestId: 'r1', getRemainingTimeInMillis: () => remainingMs } as LambdaContext);
