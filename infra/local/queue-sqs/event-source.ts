/**
 * What Lambda does between a queue and a function: receives batches, calls the function with them, and deletes what the
 * function has not named as failed. The rest comes back by itself when its time out of sight is over.
 *
 *   receive --batch--> function --answer--> delete all but the failed ones
 *                         +-----throws-----> nothing is deleted
 */
import { DeleteMessageBatchCommand, type Message, ReceiveMessageCommand } from '@aws-sdk/client-sqs';
import type { LambdaContext } from 'hono/aws-lambda';
import { CROWDED_PLACES, FUNCTION_MS, SQS_BATCH_MESSAGES } from '../../../functions/core/limits.ts';
import type { Clock } from '../../../functions/ports.ts';
import type { SqsEntry } from '../../../functions/receiver/sqs-entry.ts';
import type { EmbeddedSqs } from './embedded-sqs.ts';

export interface RecordOutcome {
  readonly messageId: string;
  /** As a push by HTTP would have been answered. */
  readonly status: 200 | 503;
}

const RECORDS_KEPT = 1_000;
const WAIT_SEC = 1;
const LOOK_MS = 20;
/**
 * A call takes as long as its slowest record. A crowded destination may hold as many calls as it has places, and some
 * more have to be left for the others.
 */
const CALLS_AT_ONCE = CROWDED_PLACES + 5;

export class EventSource {
  readonly #sqs: EmbeddedSqs;
  readonly #entry: SqsEntry;
  readonly #clock: Clock;
  readonly #records: RecordOutcome[] = [];
  readonly #stopping = new AbortController();
  #copies: { readonly more: number; readonly text: string } | undefined;
  #underway = 0;

  constructor(sqs: EmbeddedSqs, entry: SqsEntry, clock: Clock) {
    this.#sqs = sqs;
    this.#entry = entry;
    this.#clock = clock;
  }

  /** The latest records that were handed over and answered, oldest first. */
  get records(): readonly RecordOutcome[] {
    return this.#records;
  }

  /** Polls until it is stopped. */
  start(): void {
    for (let n = 0; n < CALLS_AT_ONCE; n += 1) void this.#poll();
  }

  /** Calls the function for all that is in sight, until nothing is: for whoever moves time by hand. */
  async drain(): Promise<void> {
    for (let batch = await this.#receive(0); batch.length > 0; batch = await this.#receive(0)) await this.#hand(batch);
  }

  /** The next message that holds `text` is handed over so many times in all, in calls of the same moment. */
  duplicateNext(copies: number, text: string): void {
    this.#copies = { more: copies - 1, text };
  }

  /** Resolves when no call is underway and nothing is in sight. */
  async idle(): Promise<void> {
    while (this.#underway > 0 || (await this.#sqs.stats()).available > 0) await this.#clock.sleep(LOOK_MS);
  }

  /** Receives nothing more. Calls that are underway go on; what they have not answered by the end comes back. */
  stop(): void {
    this.#stopping.abort();
  }

  async #poll(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      try {
        const batch = await this.#receive(WAIT_SEC);
        if (batch.length > 0) await this.#hand(batch);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  async #receive(waitSec: number): Promise<readonly Message[]> {
    const input = {
      QueueUrl: this.#sqs.queueUrl,
      MaxNumberOfMessages: SQS_BATCH_MESSAGES,
      WaitTimeSeconds: waitSec,
      MessageSystemAttributeNames: ['All' as const],
    };
    const received = await this.#sqs.client.send(new ReceiveMessageCommand(input), {
      abortSignal: this.#stopping.signal,
    });
    return received.Messages ?? [];
  }

  /** The batch, and what a queue that delivers at least once may hand over beside it. */
  async #hand(batch: readonly Message[]): Promise<void> {
    const copies = this.#copies;
    const copied = batch.find(({ Body = '' }) => copies !== undefined && Body.includes(copies.text));
    if (copied !== undefined) this.#copies = undefined;
    const more = copied === undefined ? [] : Array.from({ length: copies?.more ?? 0 }, () => [copied]);
    this.#underway += 1;
    try {
      await Promise.all([batch, ...more].map((one) => this.#call(one)));
    } finally {
      this.#underway -= 1;
    }
  }

  async #call(batch: readonly Message[]): Promise<void> {
    const startedMs = this.#clock.nowMs();
    const remaining = (): number => FUNCTION_MS - (this.#clock.nowMs() - startedMs);
    const event = { Records: batch.map((message) => recordOf(message, this.#sqs)) };
    const all = batch.map(({ MessageId = '' }) => MessageId);
    const context = { getRemainingTimeInMillis: remaining } as LambdaContext;
    const failed = await this.#entry(JSON.parse(JSON.stringify(event)), context).then(
      ({ batchItemFailures }) => new Set(batchItemFailures.map(({ itemIdentifier }) => itemIdentifier)),
      () => new Set(all),
    );
    for (const messageId of all) this.#records.push({ messageId, status: failed.has(messageId) ? 503 : 200 });
    this.#records.splice(0, Math.max(0, this.#records.length - RECORDS_KEPT));
    const done = batch.filter(({ MessageId = '' }) => !failed.has(MessageId));
    if (done.length === 0) return;
    const Entries = done.map(({ ReceiptHandle }, index) => ({ Id: String(index), ReceiptHandle }));
    await this.#sqs.client.send(new DeleteMessageBatchCommand({ QueueUrl: this.#sqs.queueUrl, Entries }));
  }
}

/**
 * As Lambda hands it over, its names spelt as there.
 * https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html, "Example standard queue message event"
 */
const recordOf = (message: Message, { queueArn, access }: EmbeddedSqs) => ({
  messageId: message.MessageId,
  receiptHandle: message.ReceiptHandle,
  body: message.Body,
  attributes: message.Attributes ?? {},
  messageAttributes: {},
  md5OfBody: message.MD5OfBody,
  eventSource: 'aws:sqs',
  eventSourceARN: queueArn,
  awsRegion: access.region,
});
