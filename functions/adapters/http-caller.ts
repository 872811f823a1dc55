/** HTTP as a program that talks to our own API needs it: one request, one deadline, an answer as text. */
import { request } from 'undici';

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
export const callOnce = async ({ method, url, headers, body, timeoutMs }: CallerRequest): Promise<CallerAnswer> => {
  try {
    const answer = await request(url, {
      method: method as 'GET',
      headers,
      ...(body === undefined ? {} : { body }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    const header = (name: string): string | undefined => {
      const value = answer.headers[name];
      return Array.isArray(value) ? value[0] : value;
    };
    const text = await answer.body.text();
    return { kind: 'answer', status: answer.statusCode, text, contentType: header('content-type') ?? '', header };
  } catch (error) {
    return { kind: 'none', code: codeOf(error) };
  }
};

const codeOf = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'timeout';
  if ('code' in error && typeof error.code === 'string') return error.code;
  // Several addresses of one name were tried: the first says as much as any.
  if (error instanceof AggregateError) return codeOf(error.errors[0]);
  return error.name;
};
