/** The embedded DynamoDB behind a port, for code that makes its own client from the environment. */
import { createServer, type IncomingMessage } from 'node:http';
import { type EmbeddedDynamo, openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';

export interface DynamoHttp {
  readonly url: string;
  readonly dynamo: EmbeddedDynamo;
  close(): Promise<void>;
}

export const openDynamoHttp = async (): Promise<DynamoHttp> => {
  const dynamo = await openEmbeddedDynamo();
  const server = createServer(async (request, response) => {
    const headers = { 'x-amz-target': String(request.headers['x-amz-target']) };
    const answer = await dynamo.requestHandler.handle({ headers, body: await bodyOf(request) });
    response.writeHead(answer.response.statusCode, answer.response.headers);
    response.end(answer.response.body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    dynamo,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await dynamo.close();
    },
  };
};

const bodyOf = async (request: IncomingMessage): Promise<Uint8Array> => {
  const chunks: Uint8Array[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
};
