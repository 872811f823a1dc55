/**
 * The receiver of pushes by HTTP in the cloud: made once, at cold start, from the environment. Nothing is called before
 * the first push. Deployed only where a push transport is on; `sqs-handler.ts` is its twin behind an event source.
 */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../adapters/ledger/pace.ts';
import { createDynamoPages } from '../adapters/ledger/pages.ts';
import { createInfraiPush } from '../adapters/queue/infrai/push.ts';
import { openDeadLetters } from '../adapters/queue/open-dead-letters.ts';
import { openQueue } from '../adapters/queue/open-queue.ts';
import { createLedgerSecrets } from '../adapters/secrets.ts';
import { createSender } from '../adapters/sender/sender.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readPushScheme, readTransportConfig } from '../config.ts';
import { TICK_MS } from '../core/limits.ts';
import { lambdaEntry, remainingMsOf } from '../http/lambda.ts';
import { createReceiverApp } from './app.ts';

const env = environment();
const cloud = readCloudConfig(env);
const { table, ownHosts } = cloud;
const transport = readTransportConfig(env);
const client = createLedgerClient();
const ledger = createDynamoLedger({ client, table });
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);

const app = createReceiverApp(
  {
    ledger,
    pages: createDynamoPages({ client, table }, systemClock),
    pace: createDynamoPace({ client, table }),
    queue: await openQueue(transport),
    deadLetters: await openDeadLetters(transport, { clock: systemClock, dice: systemDice }),
    push: createInfraiPush(readPushScheme(env)),
    sender: createSender({ policy: { allowLocal: false, ownHosts }, clock: systemClock }),
    secrets: createLedgerSecrets(ledger, systemClock),
    telemetry,
    clock: systemClock,
    dice: systemDice,
    tickMs: TICK_MS,
  },
  { transport: 'infrai', remainingMs: remainingMsOf },
);

export const handler = lambdaEntry(app, telemetry);
