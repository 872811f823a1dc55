/**
 * One call to SQS under one deadline, and never an exception. The SDK's own repeats are off: a publish has one try, and
 * the patience of an operation is `transport-retries.ts`.
 */
import { SQSClient } from '@aws-sdk/client-sqs';
import { CONNECT_MS } from '../../../core/limits.ts';
import { type Failed, failureOf } from './failure.ts';

/** Whatever is left out comes from the platform: region and credentials of the function's role. */
export interface SqsAccess {
  readonly region?: string;
  readonly endpoint?: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

export type Answered<T> = { readonly kind: 'answered'; readonly output: T } | Failed;

/** `until` ends the call. */
export type Call<T> = (client: SQSClient, until: { readonly abortSignal: AbortSignal }) => Promise<T>;

export interface SqsCalls {
  once<T>(call: Call<T>, tryMs: number): Promise<Answered<T>>;
  close(): void;
}

export const createSqsCalls = (access: SqsAccess = {}): SqsCalls => {
  const client = new SQSClient({ ...access, maxAttempts: 1, requestHandler: { connectionTimeout: CONNECT_MS } });
  return {
    async once(call, tryMs) {
      const abortSignal = AbortSignal.timeout(tryMs);
      try {
        return { kind: 'answered', output: await call(client, { abortSignal }) };
      } catch (error) {
        return failureOf(error, abortSignal.aborted, tryMs);
      }
    },
    close: () => client.destroy(),
  };
};
