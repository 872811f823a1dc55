/**
 * A server on loopback that speaks just enough of DynamoDB's protocol to answer as a test tells it to, or not at all.
 *
 *   request ──► recorded ──► answer(request) ──┬── a status and a body
 *                                              ├── 'hang': accepted, never answered
 *                                              ├── 'stall': an answer that begins and stands still
 *                                              └── 'reset': the connection is cut
 */
import { EventEmitter, once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';

export interface DynamoRequest {
  /** Such as `PutItem`. */
  readonly operation: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export type DynamoAnswer = { readonly status: number; readonly body: object } | 'hang' | 'stall' | 'reset';

export interface DynamoStub {
  readonly endpoint: string;
  readonly requests: readonly DynamoRequest[];
  answer: (request: DynamoRequest, count: number) => DynamoAnswer;
  /** When the n-th request has come in. */
  reached(count: number): Promise<void>;
  close(): Promise<void>;
}

export const ANSWERED = { status: 200, body: {} } as const;

export const refusedWith = (name: string, status = 400, more: object = {}): DynamoAnswer => ({
  status,
  body: { __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: name, ...more },
});

export const startDynamoStub = async (): Promise<DynamoStub> => {
  const requests: DynamoRequest[] = [];
  const events = new EventEmitter();
  const stub = { answer: (_request: DynamoRequest, _count: number): DynamoAnswer => ANSWERED };
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const target = String(incoming.headers['x-amz-target']);
      const request = { operation: target.split('.')[1] ?? '', body: JSON.parse(Buffer.concat(chunks).toString()) };
      requests.push(request);
      respond(response, stub.answer(request, requests.length));
      events.emit('request');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the system gave no port');
  return Object.assign(stub, {
    endpoint: `http://127.0.0.1:${address.port}`,
    requests,
    reached: async (count: number) => {
      while (requests.length < count) await once(events, 'request');
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  });
};

const respond = (response: ServerResponse, answer: DynamoAnswer): void => {
  const headers = { 'content-type': 'application/x-amz-json-1.0' };
  if (answer === 'hang') return;
  if (answer === 'reset') {
    response.socket?.destroy();
  } else if (answer === 'stall') {
    response.writeHead(200, { ...headers, 'content-length': '100' });
    response.write('{');
  } else {
    response.writeHead(answer.status, headers).end(JSON.stringify(answer.body));
  }
};
