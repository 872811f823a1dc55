/** Where everything goes: a plain server that reads a request to its end and says 204. It counts what it has received. */
import { serve } from '../stage/child.ts';
import { openFront } from '../stage/front.ts';

await serve(async () => {
  let received = 0;
  const front = await openFront((request, response) => {
    if (request.method === 'GET') {
      response.end(String(received));
      return;
    }
    request.resume().once('end', () => {
      received += 1;
      response.writeHead(204).end();
    });
  });
  return { url: `${front.url}/`, close: front.close };
});
