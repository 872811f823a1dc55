/** The receiver in the cloud: made once, at cold start, from the environment. Nothing is called before the first push. */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../adapters/ledger/pace.ts';
import { createDynamoPages } from '../adapters/ledger/pages.ts';
import { createInfraiQueue } from '../adapters/queue/infrai/client.ts';
import { createInfraiDeadLetters } from '../adapters/queue/infrai/dead-letters.ts';
import { createInfraiPush } from '../adapters/queue/infrai/push.ts';
import { REQUEST_RETRIES } from '../adapters/queue/infrai/transport-retries.ts';
import { createLedgerSecrets } from '../adapters/secrets.ts';
import { createSender } from '../adapters/sender/sender.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readInfraiConfig, readPushScheme } from '../config.ts';
import { PUBLISH_MS, TICK_MS } from '../core/limits.ts';
import { lambdaEntry, remainingMsOf } from '../http/lambda.ts';
import { createReceiverApp } from './app.ts';

const env = environment();
const cloud = readCloudConfig(env);
const { table, ownHosts } = cloud;
const infrai = readInfraiConfig(env);
const client = createLedgerClient();
const ledger = createDynamoLedger({ client, table });
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);

const app = createReceiverApp(
  {
    ledger,
    pages: createDynamoPages({ client, table }, systemClock),
    pace: createDynamoPace({ client, table }),
    queue: createInfraiQueue({ ...infrai, publishMs: PUBLISH_MS }),
    // A push has no time for the patience of an operation: a sweep's page and one call fit into the sweep's lease.
    deadLetters: createInfraiDeadLetters({ ...infrai, retries: REQUEST_RETRIES, clock: systemClock, dice: systemDice }),
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
