/** The envelope that every answer but discovery's comes in: `{ok, data, error, metadata}`. */

import type { Context } from 'hono';
import type { ContentfulStatusCode } from 'hono/utils/http-status';
import type { Refusal } from './engine.ts';

/** Only INSUFFICIENT_CREDIT and QUEUE_MESSAGE_NOT_IN_FLIGHT are known of the real queue; the other codes are ours. */
export interface Problem {
  readonly status: ContentfulStatusCode;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
}

const problem = (status: ContentfulStatusCode, code: string, message: string, hint: string): Problem => ({
  status,
  code,
  message,
  hint,
});

export const UNAUTHORIZED = problem(
  401,
  'UNAUTHORIZED',
  'the API key is missing or wrong',
  'send Authorization: Bearer <key>',
);
export const NO_ROUTE = problem(404, 'NOT_FOUND', 'there is no such route', 'GET /v1/discovery names the routes');
export const NO_QUEUE = problem(404, 'QUEUE_NOT_FOUND', 'there is no such queue', 'make it with POST /v1/queue/create');
export const NO_DEAD_MESSAGE = problem(
  404,
  'QUEUE_MESSAGE_NOT_FOUND',
  'there is no such dead message',
  'read the dead letter queue with POST /v1/queue/consume',
);
export const NOT_IN_FLIGHT = problem(
  409,
  'QUEUE_MESSAGE_NOT_IN_FLIGHT',
  'the message is not in flight',
  'its lease has ended, or it was acknowledged before',
);
export const KEYS_DIFFER = problem(
  400,
  'VALIDATION_FAILED',
  'the header Idempotency-Key and the field idempotency_key differ',
  'send one of them, or the same in both',
);
export const UNAVAILABLE = problem(503, 'UNAVAILABLE', 'the queue cannot answer now', 'try again');
const TOO_LARGE = problem(413, 'QUEUE_MESSAGE_TOO_LARGE', 'the message is larger than 256 KB', 'send a reference');
const DELAY_TOO_LONG = problem(
  400,
  'QUEUE_DELAY_TOO_LONG',
  'the delay is longer than 604800 seconds',
  'publish again nearer to its time',
);

export const REFUSALS: Readonly<Record<Refusal, Problem>> = {
  'no-queue': NO_QUEUE,
  'too-large': TOO_LARGE,
  'delay-too-long': DELAY_TOO_LONG,
};

export const invalid = (message: string): Problem =>
  problem(400, 'VALIDATION_FAILED', message, 'GET /v1/discovery/{capability} shows what a route takes');

/** Counts answers, for their request ids. */
export class Answers {
  #count = 0;

  ok(c: Context, data: unknown, meta: { readonly costUsd?: number; readonly repeated?: boolean } = {}): Response {
    return this.okText(c, JSON.stringify(data), meta);
  }

  /** `dataText` is JSON already: messages go out as they came in. */
  okText(
    c: Context,
    dataText: string,
    { costUsd = 0, repeated = false }: { readonly costUsd?: number; readonly repeated?: boolean } = {},
  ): Response {
    const metadata = JSON.stringify(this.#metadata(costUsd, repeated));
    return c.body(`{"ok":true,"data":${dataText},"error":null,"metadata":${metadata}}`, 200, {
      'content-type': 'application/json',
    });
  }

  refused(c: Context, { status, code, message, hint }: Problem): Response {
    const error = { code, message, hint, retryable: status >= 500 };
    return c.json({ ok: false, data: null, error, metadata: this.#metadata(0, false) }, status);
  }

  #metadata(costUsd: number, cacheHit: boolean) {
    this.#count += 1;
    const id = `req_${this.#count}`;
    return { cost_usd: costUsd, latency_ms: 0, vendor: 'embedded', cache_hit: cacheHit, request_id: id };
  }
}
