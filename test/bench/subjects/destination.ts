/**
 * Where everything goes: a plain server that reads a request to its end, takes so many milliseconds (none unless given) and
 * says 204. It counts what it has received.
 */
import { systemClock } from '../../../functions/adapters/system.ts';
import { serve } from '../stage/child.ts';
import { openFront } from '../stage/front.ts';

const takesMs = Number(process.argv[2] ?? 0);

await serve(async () => {
  let received = 0;
  const front = await openFront((request, response) => {
    if (request.method === 'GET') {
      response.end(String(received));
      return;
    }
    const answer = (): void => {
      received += 1;
      response.writeHead(204).end();
    };
    request.resume().once('end', () => (takesMs === 0 ? answer() : systemClock.after(takesMs, answer)));
  });
  return { url: `${front.url}/`, close: front.close };
});
