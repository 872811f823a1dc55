/** A receiver of the product as a process: its ledger behind a port, its queue at its parent's. It is there to be killed. */
import { serve } from '@hono/node-server';
import { request } from 'undici';
import { createLedgerClient } from '../../../functions/adapters/ledger/client.ts';
import { createDynamoLedger } from '../../../functions/adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../../../functions/adapters/ledger/pace.ts';
import { createDynamoPages } from '../../../functions/adapters/ledger/pages.ts';
import { createInfraiPush } from '../../../functions/adapters/queue/infrai/push.ts';
import { INFRAI_LIMITS } from '../../../functions/adapters/queue/transport-facts.ts';
import { createLedgerSecrets } from '../../../functions/adapters/secrets.ts';
import { createSender } from '../../../functions/adapters/sender/sender.ts';
import { systemClock, systemDice } from '../../../functions/adapters/system.ts';
import { silentTelemetry } from '../../../functions/adapters/telemetry.ts';
import { FUNCTION_MS } from '../../../functions/core/limits.ts';
import type { Queue } from '../../../functions/ports.ts';
import { createReceiverApp } from '../../../functions/receiver/app.ts';
import { heldDeadLetters } from '../../support/world-ports.ts';
import { LOCAL, SCHEME, TICK_MS } from './ours-settings.ts';

const [endpoint = '', table = '', publishUrl = ''] = process.argv.slice(2);

const queue: Queue = {
  limits: INFRAI_LIMITS,
  publish: async (publication) => {
    try {
      const answer = await request(publishUrl, { method: 'POST', body: JSON.stringify(publication) });
      return { kind: 'published', messageId: await answer.body.text() };
    } catch (error) {
      return { kind: 'failed', code: 'unavailable', detail: String(error) };
    }
  },
};

const at = { client: createLedgerClient({ ...LOCAL, endpoint }), table };
const ledger = createDynamoLedger(at);
const app = createReceiverApp(
  {
    ledger,
    pages: createDynamoPages(at, systemClock),
    pace: createDynamoPace(at),
    queue,
    deadLetters: heldDeadLetters(),
    push: createInfraiPush(SCHEME),
    sender: createSender({ policy: { allowLocal: true }, clock: systemClock }),
    secrets: createLedgerSecrets(ledger, systemClock),
    telemetry: silentTelemetry,
    clock: systemClock,
    dice: systemDice,
    tickMs: TICK_MS,
  },
  { transport: 'infrai', remainingMs: () => FUNCTION_MS },
);
serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => process.send?.(port));
process.once('disconnect', () => process.exit(0));
