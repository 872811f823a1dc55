/**
 * The queue that the functions publish to, by the transport of the settings. What is not used is not loaded: the clients
 * of the two transports are the larger part of a small function's cold start.
 */
import { PUBLISH_MS } from '../../core/limits.ts';
import type { Queue } from '../../ports.ts';

export interface SqsSettings {
  readonly queueUrl: string;
  readonly deadLetterUrl: string;
}

export interface InfraiSettings {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly queue: string;
}

/** With `both`, messages of either are taken in, and SQS is published to. */
export type TransportSettings =
  | { readonly transport: 'sqs'; readonly sqs: SqsSettings }
  | { readonly transport: 'infrai'; readonly infrai: InfraiSettings }
  | { readonly transport: 'both'; readonly sqs: SqsSettings; readonly infrai: InfraiSettings };

export const openQueue = async (settings: TransportSettings): Promise<Queue> => {
  if (settings.transport === 'infrai') {
    const { createInfraiQueue } = await import('./infrai/client.ts');
    return createInfraiQueue({ ...settings.infrai, publishMs: PUBLISH_MS });
  }
  const { createSqsQueue } = await import('./sqs/queue.ts');
  return createSqsQueue({ queueUrl: settings.sqs.queueUrl, publishMs: PUBLISH_MS });
};
