/** Events as the platform hands them to a function behind a URL, in both payload formats. */
import type { LambdaEvent } from 'hono/aws-lambda';

export interface LambdaRequest {
  readonly method?: string;
  readonly path?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly base64?: boolean;
}

const HOST = 'abc123.lambda-url.eu-central-1.on.aws';

const common = { accountId: 'anonymous', apiId: 'abc123', domainName: HOST, domainPrefix: 'abc123', requestId: 'r1' };

export const eventV2 = (request: LambdaRequest): LambdaEvent => ({
  version: '2.0',
  routeKey: '$default',
  rawPath: request.path ?? '/',
  rawQueryString: '',
  headers: { host: HOST, ...request.headers },
  body: request.body ?? null,
  isBase64Encoded: request.base64 ?? false,
  requestContext: {
    ...common,
    authentication: null,
    authorizer: {},
    http: {
      method: request.method ?? 'POST',
      path: request.path ?? '/',
      protocol: 'HTTP/1.1',
      sourceIp: '192.0.2.1',
      userAgent: 'test',
    },
    routeKey: '$default',
    stage: '$default',
    time: '01/Jan/2026:00:00:00 +0000',
    timeEpoch: 1_767_225_600_000,
  },
});

export interface LambdaRequestV1 extends LambdaRequest {
  readonly multiValueHeaders?: Record<string, string[]>;
}

export const eventV1 = (request: LambdaRequestV1): LambdaEvent => ({
  version: '1.0',
  resource: '/',
  path: request.path ?? '/',
  httpMethod: request.method ?? 'POST',
  headers: { host: HOST, ...request.headers },
  ...(request.multiValueHeaders === undefined ? {} : { multiValueHeaders: request.multiValueHeaders }),
  body: request.body ?? null,
  isBase64Encoded: request.base64 ?? false,
  requestContext: {
    ...common,
    authorizer: {},
    extendedRequestId: 'r1',
    httpMethod: request.method ?? 'POST',
    identity: { sourceIp: '192.0.2.1', userAgent: 'test', userArn: '' },
    path: request.path ?? '/',
    protocol: 'HTTP/1.1',
    requestTime: '01/Jan/2026:00:00:00 +0000',
    requestTimeEpoch: 1_767_225_600_000,
    resourceId: 'none',
    resourcePath: '/',
    stage: '$default',
  },
});
