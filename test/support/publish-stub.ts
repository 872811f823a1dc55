/** The queue on loopback: takes every message and keeps it, and says of itself that it is empty. */
import { createServer } from 'node:http';

export interface PublishStub {
  readonly url: string;
  /** The messages themselves, as they were published. */
  readonly messages: readonly unknown[];
  close(): Promise<void>;
}

const EMPTY = {
  available_count: 0,
  delayed_count: 0,
  in_flight_count: 0,
  dlq_count: 0,
  oldest_message_age_seconds: 0,
};

export const openPublishStub = async (): Promise<PublishStub> => {
  const messages: unknown[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const isPublish = request.url === '/v1/queue/publish';
    if (isPublish) messages.push(JSON.parse(Buffer.concat(chunks).toString()).payload);
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ ok: true, data: isPublish ? { message_id: `qmsg_${messages.length}` } : EMPTY }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('the server has no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    messages,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
};
