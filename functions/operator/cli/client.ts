/**
 * The HTTP API as the command line uses it.
 *
 *   call --> try --answer--> body, or a problem as a Stop
 *             ^ \--no answer, 408, 429, 502, 503, 504--+
 *             +-- wait, up to 5 tries in 45 s ---------+   only what is safe to send twice
 *
 * Reading is, and so is what has an `Idempotency-Key` or an id of its own: which is every call that this client makes,
 * but it has to be said of each.
 */
import type { CliConfig } from '../../config.ts';
import { shellWord } from '../../core/command-line.ts';
import { FAILED, Stop, USAGE } from './stop.ts';

export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  /** A value that becomes JSON, or text that is JSON already and must stay as it is. */
  readonly body?: unknown;
  readonly rawBody?: string;
  /** The `Idempotency-Key`: the same id again is the same decision. */
  readonly requestId?: string;
  readonly face?: 'intake';
  /** It may be sent again without asking, since a repeat changes nothing more. Reading and decisions always may. */
  readonly repeatable?: boolean;
  /** One try, which may take so long: for what takes its time there, and would only be refused the second time. */
  readonly onceMs?: number;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

export interface Client {
  readonly url: string;
  /** Throws Stop for every answer that is not a 2xx, and where there is none. */
  call(call: Call): Promise<Answer>;
}

type Raw =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly text: string;
      readonly contentType: string;
      readonly header: (name: string) => string | undefined;
    }
  | { readonly kind: 'none'; readonly code: string };

type Tried =
  | { readonly kind: 'final'; readonly result: Raw }
  | { readonly kind: 'again'; readonly result: Raw; readonly retryAfterMs?: number };

export interface Wire {
  callOnce(request: {
    method: string;
    url: string;
    headers: Record<string, string>;
    body?: string;
    timeoutMs: number;
  }): Promise<Raw>;
  retries(once: (tryMs: number) => Promise<Tried>): Promise<Raw>;
  readonly tryMs: number;
}

/** `/v1/events/{event}` with its ids in: each is one segment, percent-encoded once. */
export const path = (strings: TemplateStringsArray, ...ids: readonly string[]): string =>
  strings.reduce((made, part, index) => `${made}${encodeURIComponent(ids[index - 1] ?? '')}${part}`);

export const createClient = (config: CliConfig, wire: Wire): Client => ({
  url: config.url,
  call: async (call) => {
    const base = call.face === 'intake' ? config.intakeUrl : config.url;
    const request = requestOf(config, base, call);
    const repeatable = call.method === 'GET' || call.requestId !== undefined || call.repeatable === true;
    const once = async (tryMs: number): Promise<Tried> =>
      triedOf(await wire.callOnce({ ...request, timeoutMs: tryMs }));
    const raw =
      call.onceMs === undefined && repeatable
        ? await wire.retries(once)
        : (await once(call.onceMs ?? wire.tryMs)).result;
    if (raw.kind === 'none') throw unreachable(base, raw.code, call);
    return answerOf(raw, base, call);
  },
});

const requestOf = (config: CliConfig, base: string, call: Call) => {
  if (config.token === undefined) {
    throw new Stop(USAGE, 'no token: set ONCEWARD_TOKEN (npm start prints that of the local world)', {
      code: 'no-token',
      detail: 'ONCEWARD_TOKEN is not set',
    });
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(call.query ?? {})) if (value !== undefined) query.set(name, String(value));
  const search = query.size === 0 ? '' : `?${query}`;
  const body = call.rawBody ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
  return {
    method: call.method,
    url: `${base}${call.path}${search}`,
    headers: {
      authorization: `Bearer ${config.token}`,
      accept: 'application/json',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(call.requestId === undefined ? {} : { 'idempotency-key': call.requestId }),
    },
    ...(body === undefined ? {} : { body }),
  };
};

/** 500 is a fault of ours that a repeat meets again; these may be over in a moment. */
const PASSING = new Set([408, 429, 502, 503, 504]);

const triedOf = (raw: Raw): Tried => {
  if (raw.kind === 'none') return { kind: 'again', result: raw };
  if (!PASSING.has(raw.status)) return { kind: 'final', result: raw };
  const seconds = Number(raw.header('retry-after') ?? '0');
  return { kind: 'again', result: raw, retryAfterMs: Number.isFinite(seconds) ? Math.max(0, seconds) * 1_000 : 0 };
};

const answerOf = (raw: Extract<Raw, { kind: 'answer' }>, base: string, call: Call): Answer => {
  const body = /json/.test(raw.contentType) ? jsonOf(raw.text) : undefined;
  if (raw.status >= 200 && raw.status < 300 && body !== undefined) return { status: raw.status, body };
  if (isProblem(body)) throw refused(body, raw, call);
  const detail = `${base} answered ${raw.status} and not in the way of this API: is ONCEWARD_URL right?`;
  throw new Stop(FAILED, detail, { code: 'not-this-api', status: raw.status, detail });
};

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

interface Problem {
  readonly code: string;
  readonly detail: string;
}

const isProblem = (body: unknown): body is Problem =>
  typeof body === 'object' &&
  body !== null &&
  'code' in body &&
  typeof body.code === 'string' &&
  'detail' in body &&
  typeof body.detail === 'string';

const refused = (problem: Problem, raw: Extract<Raw, { kind: 'answer' }>, { requestId }: Call): Stop => {
  const known = raw.header('x-request-id');
  const where = raw.status >= 500 && known !== undefined ? ` (request ${known} in the log)` : '';
  const again =
    raw.status >= 500 && requestId !== undefined
      ? `; it may have been done: the same command with --request-id ${shellWord(requestId)} completes it and decides nothing twice`
      : '';
  return new Stop(FAILED, `${problem.code}: ${problem.detail}${where}${again}`, { ...problem });
};

const CAUSES: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing listens there',
  ENOTFOUND: 'DNS does not know this host',
  EAI_AGAIN: 'DNS gives no answer',
  timeout: 'no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'no connection in time',
  ECONNRESET: 'the connection was cut',
  UND_ERR_SOCKET: 'the connection was cut',
};

const unreachable = (base: string, code: string, { requestId }: Call): Stop => {
  const again =
    requestId === undefined
      ? ''
      : `; if it was cut off on the way, the same command with --request-id ${shellWord(requestId)} completes it and decides nothing twice`;
  const detail = `${base} cannot be reached: ${CAUSES[code] ?? code}. Is it running, and is ONCEWARD_URL right?${again}`;
  return new Stop(FAILED, detail, { code: 'unreachable', cause: code, detail });
};
