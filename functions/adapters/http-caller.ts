/**
 * HTTP as a program that talks to our own API, or to the management of a queue, needs it: one request, one deadline, an
 * answer as text. With what Node itself brings: the command line starts fast, and also on a Node that is too old for the
 * client that the functions use.
 */
import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';

export interface CallerRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly timeoutMs: number;
}

export type CallerAnswer =
  | {
      readonly kind: 'answer';
      readonly status: number;
      readonly text: string;
      readonly contentType: string;
      readonly header: (name: string) => string | undefined;
    }
  /** No answer: the code of the system or of the client, such as `ECONNREFUSED`. */
  | { readonly kind: 'none'; readonly code: string };

/** Does not follow redirects: a token must not travel on to another host. */
export const callOnce = async (request: CallerRequest): Promise<CallerAnswer> => {
  try {
    const answer = await send(request);
    const header = (name: string): string | undefined => {
      const value = answer.headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    const text = await textOf(answer);
    return { kind: 'answer', status: answer.statusCode ?? 0, text, contentType: header('content-type') ?? '', header };
  } catch (error) {
    return { kind: 'none', code: codeOf(error) };
  }
};

const send = ({ method, url, headers, body, timeoutMs }: CallerRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    const begin = new URL(url).protocol === 'https:' ? requestHttps : requestHttp;
    const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
    // Of no agent: nothing is kept open, so that a program that is done can end.
    const options = {
      method,
      headers: { ...headers, ...length },
      signal: AbortSignal.timeout(timeoutMs),
      agent: false,
    };
    const asked = begin(url, options, resolve);
    asked.on('error', reject);
    asked.end(body);
  });

/** The signal of the request ends this too. */
const textOf = async (answer: IncomingMessage): Promise<string> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of answer) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
};

const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  // The signal's own error is the cause of the one that the request ends with.
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'timeout';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Several addresses of one name were tried: the first says as much as any.
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.name;
};
