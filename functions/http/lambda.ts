/**
 * Between the event of a function URL and an app.
 *
 *   event --fault--> 400 problem+json, counted
 *     |
 *     +--> the framework's adapter --> app --> answer
 *
 * The adapter turns an event into a request before any handler of an app runs, so what it cannot turn into one would be
 * answered by a bare text that nobody counts, and the queue would bring it back. It is looked for here, ahead of it.
 */
import type { Env, Hono } from 'hono';
import { type APIGatewayProxyResult, handle, type LambdaContext, type LambdaEvent } from 'hono/aws-lambda';
import { FUNCTION_MS } from '../core/limits.ts';
import type { CountName } from '../core/metrics.ts';
import type { Telemetry } from '../ports.ts';
import { type Problem, problemBody } from './problem.ts';

export type LambdaEntry = (event: LambdaEvent, context?: LambdaContext) => Promise<APIGatewayProxyResult>;

/** Both payload formats. A header that came twice reaches the app as one value, joined by a comma. */
export const lambdaEntry = <E extends Env>(app: Hono<E>, telemetry: Pick<Telemetry, 'count'>): LambdaEntry => {
  const serve = handle(app);
  return async (event, context) => {
    const fault = faultOf(event);
    if (fault === undefined) return serve(event, context);
    telemetry.count(fault.code);
    return {
      statusCode: fault.status,
      headers: { 'content-type': 'application/problem+json' },
      body: JSON.stringify(problemBody(fault)),
      isBase64Encoded: false,
    };
  };
};

type Fault = Problem & { readonly code: Extract<CountName, 'body-not-base64' | 'unexpected-body'> };

const faultOf = (event: LambdaEvent): Fault | undefined => {
  if (!event.body) return undefined;
  if (event.isBase64Encoded && !isBase64(event.body)) {
    const detail = 'the body is marked as base64 and is none; send the bytes themselves, the platform encodes them';
    return { status: 400, code: 'body-not-base64', detail };
  }
  const method = methodOf(event);
  if (method === 'GET' || method === 'HEAD') {
    return { status: 400, code: 'unexpected-body', detail: `a ${method} request has no body; send it without one` };
  }
  return undefined;
};

/** RFC 4648, section 4, with padding. The platform's decoder would skip or guess at the rest. */
const isBase64 = (text: string): boolean => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

const methodOf = (event: LambdaEvent): string => {
  if ('rawPath' in event) return event.requestContext.http.method;
  return 'httpMethod' in event ? event.httpMethod : event.method;
};

/**
 * Milliseconds until the platform ends this invocation; 0 and less mean that it is over. Only where there is no reading
 * at all does the function's own limit stand for it: a reading of 0 is a reading, and one that is no number promises
 * nothing.
 */
export const remainingMsOf = ({ env }: { readonly env: unknown }): number => {
  const reading = readingOf(env);
  if (reading === undefined) return FUNCTION_MS;
  return typeof reading === 'number' && !Number.isNaN(reading) ? Math.min(reading, FUNCTION_MS) : 0;
};

const readingOf = (env: unknown): unknown => {
  if (!isObject(env) || !('lambdaContext' in env)) return undefined;
  const context = env.lambdaContext;
  if (!isObject(context) || !('getRemainingTimeInMillis' in context)) return undefined;
  return typeof context.getRemainingTimeInMillis === 'function' ? context.getRemainingTimeInMillis() : undefined;
};

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;
