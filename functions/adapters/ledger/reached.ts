/** What becomes of a request to DynamoDB that fails: an answer, a bug of ours, or a ledger out of reach. */
import { ConditionalCheckFailedException } from '@aws-sdk/client-dynamodb';
import { PortUnavailable } from '../../ports.ts';
import { LEDGER_CALL_MS } from './client.ts';

/** The end of one call, over all its tries. */
export const untilLate = () => ({ abortSignal: AbortSignal.timeout(LEDGER_CALL_MS) });

/** Refusals that are an answer, or a mistake of ours: repeating the request cannot help. */
const isAnswer = (error: Error): boolean =>
  error instanceof ConditionalCheckFailedException ||
  error instanceof TypeError ||
  error instanceof RangeError ||
  error.name === 'ValidationException' ||
  error.name === 'SerializationException';

/** Throws PortUnavailable for everything that is not an answer. */
export const reached = async <Result>(request: Promise<Result>): Promise<Result> => {
  try {
    return await request;
  } catch (cause) {
    if (!(cause instanceof Error) || isAnswer(cause)) throw cause;
    throw new PortUnavailable('ledger', `no answer from the ledger: ${cause.name}: ${cause.message}`, { cause });
  }
};
