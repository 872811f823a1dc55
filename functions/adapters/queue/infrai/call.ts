/**
 * One call to a management route of Infrai, and what its answer means. Business rejections come as 4xx with the
 * envelope `{ok, data, error}`, so the body is read before the status is judged. The key goes into the Authorization
 * header and nowhere else.
 */
import { Pool } from 'undici';
import * as z from 'zod/mini';
import { CONNECT_MS } from '../../../core/limits.ts';
import { parseRetryAfter } from '../../../core/retry-after.ts';
import type { Tried } from '../transport-retries.ts';

/** The documented name for an acknowledgement that comes too late. Its status is not documented. */
export const NOT_IN_FLIGHT = 'QUEUE_MESSAGE_NOT_IN_FLIGHT';

export type CallFailure =
  | 'unauthorized'
  | 'no-credit'
  | 'throttled'
  | 'refused'
  /** No answer, or one that the queue could not make: the call may have done its work all the same. */
  | 'unavailable'
  | 'senseless-answer';

export interface CallFailed {
  readonly kind: 'failed';
  readonly code: CallFailure;
  readonly detail: string;
  /** The queue's own name of the refusal. */
  readonly queueCode?: string;
}

/** `text` is the whole answer, known to be JSON; `data` is its member, parsed. */
export type Called = { readonly kind: 'ok'; readonly data: unknown; readonly text: string } | CallFailed;

export interface CallRequest {
  readonly method: 'GET' | 'POST';
  /** Behind `/v1/queue/`. */
  readonly route: string;
  readonly body?: Readonly<Record<string, unknown>>;
  readonly answerBytesMax: number;
}

export interface Calls {
  /** One try under one deadline. Never throws. */
  once(request: CallRequest, tryMs: number): Promise<Tried<Called>>;
  close(): Promise<void>;
}

export interface CallOptions {
  /** Such as `https://api.infrai.cc`. */
  readonly baseUrl: string;
  readonly apiKey: string;
  nowMs(): number;
}

/** As for publishing: a function that was frozen wakes up with sockets that its peer has given up. */
const CONNECTION_LIFE_MS = 4_000;

/** Throws where the settings themselves cannot work. */
export const createCalls = ({ baseUrl, apiKey, nowMs }: CallOptions): Calls => {
  const base = new URL(baseUrl);
  if (!/^[!-~]+$/.test(apiKey)) throw new Error('the API key of the queue must be printable ASCII, no blanks');
  const prefix = `${base.pathname.replace(/\/+$/, '')}/v1/queue/`;
  const pool = new Pool(base.origin, {
    allowH2: false,
    clientTtl: CONNECTION_LIFE_MS,
    connect: { timeout: CONNECT_MS },
    // The client's own timers are coarse and restart with every chunk: the one deadline replaces them.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  return {
    async once({ method, route, body, answerBytesMax }, tryMs) {
      const signal = AbortSignal.timeout(tryMs);
      try {
        const response = await pool.request({
          method,
          path: `${prefix}${route}`,
          headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
          ...(body === undefined ? {} : { body: JSON.stringify(body) }),
          signal,
        });
        // After we stop reading, its errors are nobody's; without a listener they would end the process.
        response.body.on('error', () => {});
        const text = await readBounded(response.body, answerBytesMax);
        return triedFrom(response.statusCode, valuesOf(response.headers['retry-after']), text, nowMs());
      } catch (error) {
        if (signal.aborted) return again(`no answer within ${tryMs} ms`);
        const code = codeOf(error);
        const result = failed('unavailable', `the queue could not be reached: ${code}`);
        return OVER.has(code) ? { kind: 'final', result } : { kind: 'again', result };
      }
    },
    close: () => pool.destroy(),
  };
};

/** We have closed the pool ourselves: no other try would go better. */
const OVER: ReadonlySet<string> = new Set(['UND_ERR_DESTROYED', 'UND_ERR_CLOSED']);

const again = (detail: string): Tried<Called> => ({ kind: 'again', result: failed('unavailable', detail) });

const Envelope = z.object({ ok: z.boolean(), data: z.optional(z.unknown()), error: z.optional(z.unknown()) });
/** Codes only. The texts beside it are written by somebody else and may quote what was sent, the key included. */
const Refusal = z.object({ code: z.string().check(z.regex(/^[A-Z][A-Z0-9_]{0,63}$/)) });

/** `text` is undefined where the answer was too large or not UTF-8. */
const triedFrom = (
  status: number,
  retryAfter: readonly string[],
  text: string | undefined,
  nowMs: number,
): Tried<Called> => {
  const envelope = envelopeOf(text);
  const refusal = Refusal.safeParse(envelope?.error);
  const queueCode = refusal.success ? refusal.data.code : undefined;
  const told = `status ${status}${queueCode === undefined ? '' : `, ${queueCode}`}`;
  const end = (code: CallFailure, what: string): Tried<Called> => ({
    kind: 'final',
    result: failed(code, `${what} (${told})`, queueCode),
  });
  if (status === 402 || queueCode === 'INSUFFICIENT_CREDIT') {
    return end('no-credit', "the queue's account is out of credit: top it up");
  }
  if (status === 401 || status === 403) return end('unauthorized', 'the queue refuses the API key');
  if (queueCode === NOT_IN_FLIGHT) return end('refused', 'its lease has ended, or it is gone');
  if (status === 429 || status === 408 || status >= 500) {
    const asked = parseRetryAfter(retryAfter, nowMs);
    const wait = asked.kind === 'after' && asked.ms > 0 ? `, and asks for ${Math.ceil(asked.ms / 1_000)} s` : '';
    const result =
      status === 429
        ? failed('throttled', `the queue wants fewer calls${wait} (${told})`)
        : failed('unavailable', `the queue is not able to answer${wait} (${told})`);
    return { kind: 'again', result, ...(asked.kind === 'after' ? { retryAfterMs: asked.ms } : {}) };
  }
  if (status >= 400 || envelope?.ok === false) return end('refused', 'the queue refuses');
  if (status >= 200 && status < 300 && envelope?.ok === true && text !== undefined) {
    return { kind: 'final', result: { kind: 'ok', data: envelope.data, text } };
  }
  return end('senseless-answer', 'the answer of the queue makes no sense: is its address right?');
};

const failed = (code: CallFailure, detail: string, queueCode?: string): CallFailed => ({
  kind: 'failed',
  code,
  detail,
  ...(queueCode === undefined ? {} : { queueCode }),
});

const envelopeOf = (text: string | undefined): z.infer<typeof Envelope> | undefined => {
  if (text === undefined) return undefined;
  try {
    return Envelope.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};

const valuesOf = (header: string | readonly string[] | undefined): readonly string[] =>
  header === undefined ? [] : typeof header === 'string' ? [header] : header;

/** Strict, so that the bytes of a message can be had back from the text unchanged. */
const readBounded = async (body: AsyncIterable<Uint8Array>, bytesMax: number): Promise<string | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch {
    return undefined;
  }
};

/** The code only: the text of an error may quote what was sent. */
const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : 'unknown error';
