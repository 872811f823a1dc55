/** A handler made idempotent by Powertools, as a process. Its record stands in the same engine as ours. It is there to be killed. */
import { request } from 'undici';
import { createLedgerClient } from '../../../functions/adapters/ledger/client.ts';
import { peerPackages } from '../peers/packages.ts';
import { powertools } from '../peers/powertools.ts';
import { bodyOf } from './destination.ts';
import { openLoopback } from './loopback.ts';
import { LOCAL } from './ours-settings.ts';

const [endpoint = '', table = '', destination = '', folder = ''] = process.argv.slice(2);

/** The life of an invocation: a record in progress may be taken over once it has passed. */
const INVOCATION_MS = 5_000;

const handle = await powertools(await peerPackages(folder), {
  client: createLedgerClient({ ...LOCAL, endpoint }),
  table,
  remainingMs: INVOCATION_MS,
  work: async ({ id }) => {
    const answer = await request(destination, { method: 'POST', body: bodyOf(id) });
    await answer.body.dump();
    if (answer.statusCode >= 300) throw new Error(`the destination answered ${answer.statusCode}`);
    return { status: answer.statusCode };
  },
});
const { url } = await openLoopback((body, response) => {
  handle(JSON.parse(body) as { readonly id: string }).then(
    () => response.writeHead(200).end(),
    // In progress elsewhere, or the effect threw: the queue is to bring it again.
    () => response.writeHead(500).end(),
  );
});
process.send?.(new URL(url).port);
process.once('disconnect', () => process.exit(0));
