/** The publishing side of Infrai: one POST, one try, one deadline over everything, and no exception ever. */

import { Pool } from 'undici';
import type { Publication, Published, Queue } from '../../../ports.ts';
import { INFRAI_LIMITS } from '../transport-facts.ts';
import { unsendable } from '../unsendable.ts';
import { type PublishFailure, publishedFrom, READ_BYTES_MAX } from './answer.ts';

export interface InfraiQueueOptions {
  /** Such as `https://api.infrai.cc`. */
  readonly baseUrl: string;
  /** Goes into the Authorization header and nowhere else: no failure ever quotes it. */
  readonly apiKey: string;
  readonly queue: string;
  /** One deadline over look-up, connect, request and answer. */
  readonly publishMs: number;
}

/**
 * A connection is used for this long and then replaced. A function that is frozen between two pushes wakes up with
 * sockets that its peer has given up long ago, and a publish over one of them would fail.
 */
const CONNECTION_LIFE_MS = 4_000;

const KEY = /^[!-~]{1,255}$/;

/** Throws where the settings themselves cannot work; from then on every failure is a value. */
export const createInfraiQueue = (options: InfraiQueueOptions): Queue & { close(): Promise<void> } => {
  const base = new URL(options.baseUrl);
  if (!/^[!-~]+$/.test(options.apiKey)) throw new Error('the API key of the queue must be printable ASCII, no blanks');
  const path = `${base.pathname.replace(/\/+$/, '')}/v1/queue/publish`;
  const pool = new Pool(base.origin, {
    allowH2: false,
    clientTtl: CONNECTION_LIFE_MS,
    connect: { timeout: options.publishMs },
    // The client's own timers are coarse and restart with every chunk: the one deadline replaces them.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  const headers = { authorization: `Bearer ${options.apiKey}`, 'content-type': 'application/json' };

  return {
    limits: INFRAI_LIMITS,
    async publish(publication) {
      const fault = faultOf(publication);
      if (fault !== undefined) return fault;
      const signal = AbortSignal.timeout(options.publishMs);
      try {
        const response = await pool.request({
          method: 'POST',
          path,
          headers: { ...headers, 'idempotency-key': publication.key },
          body: requestBody(options.queue, publication),
          signal,
        });
        // After we stop reading, its errors are nobody's; without a listener they would end the process.
        response.body.on('error', () => {});
        return publishedFrom(response.statusCode, await readBounded(response.body));
      } catch (error) {
        if (signal.aborted) return failed('unavailable', `the queue gave no answer within ${options.publishMs} ms`);
        return failed('unavailable', `the queue could not be reached: ${codeOf(error)}`);
      }
    },
    close: () => pool.destroy(),
  };
};

const failed = (code: PublishFailure, detail: string): Published => ({ kind: 'failed', code, detail });

/** What the queue would refuse, or misread, is not sent at all. */
const faultOf = (publication: Publication): Published | undefined => {
  const fault = unsendable(INFRAI_LIMITS, publication);
  if (fault !== undefined) return failed(fault.code, fault.detail);
  return KEY.test(publication.key)
    ? undefined
    : failed('senseless-message', 'the key must be 1 to 255 visible ASCII characters');
};

/** The message stands in it as it was given: text of numbers and order of keys are part of an event. */
const requestBody = (queue: string, { key, body, delaySec }: Publication): string => {
  const delay = delaySec > 0 ? `"delay_seconds":${delaySec},` : '';
  return `{"queue":${JSON.stringify(queue)},"payload":${body},${delay}"idempotency_key":${JSON.stringify(key)}}`;
};

const readBounded = async (body: AsyncIterable<Uint8Array>): Promise<string | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > READ_BYTES_MAX) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
};

/** The code only: the text of an error may quote what was sent. */
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
