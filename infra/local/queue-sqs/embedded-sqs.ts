/**
 * SQS on this machine: a queue with its dead-letter queue on an engine that speaks the service's own protocol, loopback
 * only, in memory. The end of the process loses every message, which the ledger and its sweep have to make good.
 */
import {
  CreateQueueCommand,
  GetQueueAttributesCommand,
  type QueueAttributeName,
  SendMessageCommand,
  SQSClient,
} from '@aws-sdk/client-sqs';
import { buildApp } from 'fauxqs';
import type { SqsAccess } from '../../../functions/adapters/queue/sqs/client.ts';
import type { LocalQueueStats } from '../transport.ts';

export interface EmbeddedSqsOptions {
  /** From a receive until the message is in sight again, if nobody has deleted it. */
  readonly visibilitySec: number;
  /** After so many receives without success a message is dead. */
  readonly deliveriesMax: number;
}

export interface EmbeddedSqs {
  readonly access: Required<SqsAccess>;
  readonly queueUrl: string;
  readonly queueArn: string;
  readonly deadLetterUrl: string;
  readonly client: SQSClient;
  stats(): Promise<LocalQueueStats>;
  /** Puts a message straight to the dead letters and gives its id: for stories that begin with some. */
  deadLetter(body: string): Promise<string>;
  close(): Promise<void>;
}

const REGION = 'eu-central-1';

export const openEmbeddedSqs = async (options: EmbeddedSqsOptions): Promise<EmbeddedSqs> => {
  await takeAllOfUnicode();
  const app = buildApp({ logger: false, defaultRegion: REGION });
  const endpoint = await app.listen({ port: 0, host: '127.0.0.1' });
  const access = { region: REGION, endpoint, credentials: { accessKeyId: 'local', secretAccessKey: 'local' } };
  const client = new SQSClient(access);
  const create = async (name: string, Attributes: Record<string, string>): Promise<string> => {
    const { QueueUrl = '' } = await client.send(new CreateQueueCommand({ QueueName: name, Attributes }));
    return QueueUrl;
  };
  const attributesOf = async (url: string, ...AttributeNames: readonly QueueAttributeName[]) =>
    (await client.send(new GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: [...AttributeNames] })))
      .Attributes ?? {};
  const arnOf = async (url: string): Promise<string> => (await attributesOf(url, 'QueueArn')).QueueArn ?? '';
  const deadLetterUrl = await create('onceward-dead', {});
  const queueUrl = await create('onceward', {
    VisibilityTimeout: String(options.visibilitySec),
    RedrivePolicy: JSON.stringify({
      deadLetterTargetArn: await arnOf(deadLetterUrl),
      maxReceiveCount: options.deliveriesMax,
    }),
  });
  const countsOf = async (url: string) => {
    const counts = await attributesOf(
      url,
      'ApproximateNumberOfMessages',
      'ApproximateNumberOfMessagesDelayed',
      'ApproximateNumberOfMessagesNotVisible',
    );
    return {
      available: Number(counts.ApproximateNumberOfMessages),
      delayed: Number(counts.ApproximateNumberOfMessagesDelayed),
      inFlight: Number(counts.ApproximateNumberOfMessagesNotVisible),
    };
  };
  return {
    access,
    queueUrl,
    queueArn: await arnOf(queueUrl),
    deadLetterUrl,
    client,
    async stats() {
      const [main, dead] = [await countsOf(queueUrl), await countsOf(deadLetterUrl)];
      return { ...main, dead: dead.available + dead.delayed + dead.inFlight };
    },
    async deadLetter(body) {
      const { MessageId = '' } = await client.send(
        new SendMessageCommand({ QueueUrl: deadLetterUrl, MessageBody: body }),
      );
      return MessageId;
    },
    async close() {
      client.destroy();
      app.server.closeAllConnections();
      await app.close();
    },
  };
};

/**
 * The engine looks at halves of characters and so refuses all beyond U+FFFF, which SQS takes ("#x10000 to #x10FFFF", in
 * the reference of SendMessage). Its own pattern is made to look at whole ones.
 */
const takeAllOfUnicode = async (): Promise<void> => {
  const module: unknown = await import(new URL('./sqs/sqsTypes.js', import.meta.resolve('fauxqs')).href);
  const has = typeof module === 'object' && module !== null && 'INVALID_MESSAGE_BODY_CHAR' in module;
  const pattern = has ? module.INVALID_MESSAGE_BODY_CHAR : undefined;
  if (!(pattern instanceof RegExp)) throw new Error('this version of fauxqs has another check of characters');
  const refused = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/u;
  pattern.test = (text) => refused.test(text);
};
