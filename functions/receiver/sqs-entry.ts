/**
 * Between a batch of an SQS event source and the receiver: each record is a push of its own.
 *
 *   batch --+- record --> receive --ack----------------------> SQS deletes it
 *           |                 +-----later, unauthentic, bug--> named as failed: SQS brings it back, and in the end keeps
 *           |                                                  it among its dead letters
 *           +- at most ten at once; one that is begun with too little time left is named as failed, nothing written
 *
 * The mapping must report batch item failures: without it, one poison among ten brings all ten back, every time.
 * https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html
 */
import type { LambdaContext } from 'hono/aws-lambda';
import * as z from 'zod/mini';
import { RECORDS_AT_ONCE } from '../core/limits.ts';
import { remainingMsOf } from '../http/lambda.ts';
import type { Verdict } from './answer.ts';
import { type PushRequest, receive } from './receive.ts';
import type { Receiver } from './run.ts';

export interface BatchResponse {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}

export type SqsEntry = (event: unknown, context?: LambdaContext) => Promise<BatchResponse>;

/** What is read of a record. Anything else may stand beside it. */
const Record = z.object({
  messageId: z.string().check(z.minLength(1), z.maxLength(256)),
  body: z.string(),
  md5OfBody: z.optional(z.string()),
  eventSource: z.optional(z.string()),
  eventSourceARN: z.optional(z.string()),
  attributes: z.optional(z.object({ ApproximateReceiveCount: z.optional(z.string()) })),
});
type Record = z.infer<typeof Record>;

export const Batch = z.object({ Records: z.array(Record).check(z.maxLength(10_000)) });

/** Rejects only for an event that is no batch of SQS: that is a mapping of something else, and nothing was done. */
export const createSqsEntry = (world: Receiver): SqsEntry => {
  return async (event, context) => {
    const batch = Batch.safeParse(event);
    if (!batch.success) {
      world.telemetry.count('batch-senseless');
      throw new TypeError('the event is not a batch of SQS: is another event source mapped to this function?');
    }
    const { Records: records } = batch.data;
    const failed: string[] = [];
    const left = [...records];
    const worker = async (): Promise<void> => {
      for (let record = left.shift(); record !== undefined; record = left.shift()) {
        const verdict = await receiveRecord(world, record, context);
        if (verdict?.kind !== 'ack') failed.push(record.messageId);
      }
    };
    await Promise.all(Array.from({ length: Math.min(RECORDS_AT_ONCE, records.length) }, worker));
    return { batchItemFailures: failed.map((itemIdentifier) => ({ itemIdentifier })) };
  };
};

/** Undefined for a bug: its record comes back, and the others of the batch are not its business. */
const receiveRecord = async (
  world: Receiver,
  record: Record,
  context: LambdaContext | undefined,
): Promise<Verdict | undefined> => {
  const { messageId } = record;
  try {
    const verdict = await receive(world, {
      ...pushOf(record),
      runId: world.dice.id(),
      remainingMs: () => remainingMsOf({ env: { lambdaContext: context } }),
    });
    if (verdict.kind !== 'ack') world.telemetry.line('record.refused', { messageId, code: verdict.code });
    return verdict;
  } catch (error) {
    world.telemetry.count('internal-error');
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    world.telemetry.line('record.unexpected', { messageId, detail });
    return undefined;
  }
};

/** What stands beside the body goes by its own name, in any case: the push side of SQS asks for it as for headers. */
export const pushOf = ({ attributes, body, ...members }: Record): Pick<PushRequest, 'header' | 'body'> => {
  const fields = new Map(
    Object.entries({ ...members, ...attributes }).map(([name, value]) => [name.toLowerCase(), value]),
  );
  return { header: (name) => fields.get(name.toLowerCase()), body: new TextEncoder().encode(body) };
};
