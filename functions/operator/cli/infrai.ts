/**
 * The management of a queue on Infrai, as the command line uses it: discovery, which is public and comes bare, and calls
 * in the envelope `{ok, data, error}`. The key goes into the Authorization header and nowhere else.
 */
import * as z from 'zod/mini';
import {
  type Environment,
  type InfraiConfig,
  readCronConfig,
  readInfraiConfig,
  readInfraiUrl,
  readPushScheme,
} from '../../config.ts';
import type { Discovered } from '../commands/queue-contract.ts';
import type { QueueManagement } from '../commands/queue-subscribe.ts';
import type { Wire } from './client.ts';

type Raw = Awaited<ReturnType<Wire['callOnce']>>;

const Envelope = z.object({ ok: z.boolean(), data: z.optional(z.unknown()), error: z.optional(z.unknown()) });
/** Codes only: the texts beside it are written by somebody else and may quote what was sent, the secret included. */
const Refusal = z.object({ code: z.string().check(z.regex(/^[A-Z][A-Z0-9_]{0,63}$/)) });

/** What a command about the queue may need; each part is read when it is asked for. Throws ConfigError. */
export interface QueueDesk {
  readonly url: () => string;
  readonly infrai: () => InfraiConfig;
  readonly pushSecret: () => string;
  readonly cron: () => { readonly header: string; readonly secret: string };
  /** Without a key, discovery alone. */
  readonly management: (apiKey?: string) => QueueManagement;
}

export const createQueueDesk = (env: Environment, wire: Wire): QueueDesk => ({
  url: () => readInfraiUrl(env),
  infrai: () => readInfraiConfig(env),
  pushSecret: () => readPushScheme(env).secrets[0] ?? '',
  cron: () => readCronConfig(env),
  management: (apiKey) => createManagement(readInfraiUrl(env), apiKey, wire),
});

const createManagement = (url: string, apiKey: string | undefined, wire: Wire): QueueManagement => {
  const base = url.replace(/\/+$/, '');
  const ask = (request: {
    method: string;
    path: string;
    headers?: Record<string, string>;
    body?: string;
  }): Promise<Raw> =>
    wire.retries(async (tryMs) => {
      const { method, path, headers = {}, body } = request;
      const call = {
        method,
        url: `${base}${path}`,
        headers: { accept: 'application/json', ...headers },
        timeoutMs: tryMs,
      };
      const result = await wire.callOnce({ ...call, ...(body === undefined ? {} : { body }) });
      return isPassing(result) ? { kind: 'again', result, ...retryAfterOf(result) } : { kind: 'final', result };
    });
  return {
    discover: async (capability) => discovered(await ask({ method: 'GET', path: `/v1/discovery/${capability}` })),
    call: async ({ method, path, body, idempotencyKey }) => {
      const raw = await ask({
        method,
        path,
        headers: {
          authorization: `Bearer ${apiKey ?? ''}`,
          ...(body === undefined ? {} : { 'content-type': 'application/json' }),
          ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      return called(raw);
    },
  };
};

const PASSING = new Set([408, 429, 500, 502, 503, 504]);

const isPassing = (raw: Raw): boolean => raw.kind === 'none' || PASSING.has(raw.status);

const retryAfterOf = (raw: Raw): { readonly retryAfterMs?: number } => {
  const seconds = raw.kind === 'none' ? Number.NaN : Number(raw.header('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? { retryAfterMs: seconds * 1_000 } : {};
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

const discovered = (raw: Raw): Discovered => {
  if (raw.kind === 'none') return { kind: 'failed', detail: `not reached: ${raw.code}` };
  if (raw.status === 404) return { kind: 'absent' };
  const document = jsonOf(raw.text);
  if (raw.status !== 200 || document === undefined) return { kind: 'failed', detail: `answered ${raw.status}` };
  return { kind: 'document', document };
};

const called = (raw: Raw): Awaited<ReturnType<QueueManagement['call']>> => {
  const failed = (code: string, detail: string) => ({ kind: 'failed', code, detail }) as const;
  if (raw.kind === 'none') return failed('unavailable', `the queue could not be reached: ${raw.code}`);
  const envelope = Envelope.safeParse(jsonOf(raw.text));
  const refusal = Refusal.safeParse(envelope.data?.error);
  const told = `status ${raw.status}${refusal.success ? `, ${refusal.data.code}` : ''}`;
  if (raw.status === 402) return failed('no-credit', `the account is out of credit (${told})`);
  if (raw.status === 401 || raw.status === 403) return failed('unauthorized', `the queue refuses the key (${told})`);
  if (raw.status >= 400 || envelope.data?.ok === false) return failed('refused', `the queue refuses (${told})`);
  if (!envelope.success)
    return failed('senseless-answer', `the answer makes no sense: is the address right? (${told})`);
  return { kind: 'ok', data: envelope.data.data };
};
