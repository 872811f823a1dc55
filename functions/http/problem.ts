/** Errors of the API as problem details (RFC 9457): what happened, which input, what to do. */
import type { Context } from 'hono';
import { HTTPException } from 'hono/http-exception';
import { BadCursor, LedgerCorrupt, PortUnavailable, type Telemetry } from '../ports.ts';

export type ProblemStatus = 400 | 401 | 403 | 404 | 405 | 409 | 413 | 415 | 422 | 429 | 500 | 503;

const TITLES: Readonly<Record<ProblemStatus, string>> = {
  400: 'Bad request',
  401: 'Not signed in',
  403: 'Not allowed',
  404: 'Not found',
  405: 'Method not allowed',
  409: 'Conflict',
  413: 'Too large',
  415: 'Unsupported media type',
  422: 'Input refused',
  429: 'Too many requests',
  500: 'Internal error',
  503: 'Not available',
};

export interface Problem {
  readonly status: ProblemStatus;
  /** For machines; stable. */
  readonly code: string;
  /** For people; names the input and says what to do. Never holds a secret. */
  readonly detail: string;
  readonly field?: string;
}

export const problemBody = (problem: Problem): Record<string, string | number> => ({
  type: 'about:blank',
  title: TITLES[problem.status],
  status: problem.status,
  detail: problem.detail,
  code: problem.code,
  ...(problem.field === undefined || problem.field === '' ? {} : { field: problem.field }),
});

export const problem = (context: Context, value: Problem): Response => {
  const headers: Record<string, string> = { 'content-type': 'application/problem+json' };
  if (value.status === 401) headers['www-authenticate'] = 'Bearer';
  if (value.status === 503) headers['retry-after'] = '2';
  context.set('code', value.code);
  return context.body(JSON.stringify(problemBody(value)), value.status, headers);
};

export const notFound = (context: Context): Response =>
  problem(context, {
    status: 404,
    code: 'no-such-route',
    detail: `${context.req.method} ${context.req.path} is not a route here`,
  });

/** The last catch of an app. */
export const problemOfError =
  (telemetry: Telemetry) =>
  (error: Error, context: Context): Response =>
    problem(context, problemIn(error, context, telemetry));

/** What an error is to the caller, and written down: a broken port is 503 and worth a repeat; all else is a bug of ours. */
export const problemIn = (error: Error, context: Context, telemetry: Telemetry): Problem => {
  if (error instanceof HTTPException && error.status === 413) {
    return { status: 413, code: 'body-too-large', detail: 'the request body is too large' };
  }
  if (error instanceof PortUnavailable) {
    telemetry.line('api.unavailable', {
      requestId: context.get('requestId'),
      port: error.port,
      detail: error.message,
    });
    const detail = `the ${error.port} cannot be reached at the moment; nothing is lost, repeat the same request`;
    return { status: 503, code: `${error.port}-unavailable`, detail };
  }
  if (error instanceof BadCursor) {
    return { status: 400, code: 'bad-cursor', detail: error.message, field: 'cursor' };
  }
  if (error instanceof LedgerCorrupt) {
    telemetry.count('ledger-corrupt');
    telemetry.line('ledger.corrupt', { requestId: context.get('requestId'), detail: error.message });
    const detail = 'an item of the ledger is broken; it has been logged, and a person has to repair it';
    return { status: 500, code: 'ledger-corrupt', detail };
  }
  telemetry.line('api.error', {
    requestId: context.get('requestId'),
    route: context.req.path,
    detail: error.stack ?? error.message,
  });
  telemetry.count('internal-error');
  return { status: 500, code: 'internal', detail: 'a fault of ours; it has been logged' };
};
