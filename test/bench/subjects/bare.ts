/**
 * The floor under all of them: HTTP in, HTTP out, nothing recorded, nothing signed. With a socket for each request, as our
 * sender has it (`socket`), or a pool of open ones (`pool`), by the same client.
 */
import { Client, Pool } from 'undici';
import { serve } from '../stage/child.ts';
import { eventFront } from '../stage/front.ts';

await serve(async () => {
  let origin = '';
  let pool: Pool | undefined;
  const send = async (body: string): Promise<void> => {
    const request = { method: 'POST', path: '/', body, headers: { 'content-type': 'application/json' } } as const;
    if (pool !== undefined) return (await pool.request(request)).body.dump();
    const client = new Client(origin);
    try {
      const answer = await client.request({ ...request, reset: true });
      await answer.body.dump();
    } finally {
      client.destroy().catch(() => {});
    }
  };
  const front = await eventFront(({ payload }) => send(JSON.stringify(payload)));
  return {
    url: front.url,
    prepare: async ({ destinationUrl }) => {
      origin = new URL(destinationUrl).origin;
      if (process.argv[2] === 'pool') pool ??= new Pool(origin, { connections: 64 });
    },
    close: async () => {
      await front.close();
      await pool?.destroy();
    },
  };
});
