/** The operator's API in the cloud: made once, at cold start. Nothing is called before the first request. */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../adapters/ledger/pace.ts';
import { createDynamoPages } from '../adapters/ledger/pages.ts';
import { createInfraiQueue } from '../adapters/queue/infrai/client.ts';
import { createInfraiDeadLetters } from '../adapters/queue/infrai/dead-letters.ts';
import { REQUEST_RETRIES } from '../adapters/queue/infrai/transport-retries.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readInfraiConfig } from '../config.ts';
import { PUBLISH_MS } from '../core/limits.ts';
import { lambdaEntry } from '../http/lambda.ts';
import { createOperatorApp } from './api/app.ts';

const env = environment();
const cloud = readCloudConfig(env);
const { table, ownHosts } = cloud;
const infrai = readInfraiConfig(env);
const client = createLedgerClient();
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);

const app = createOperatorApp(
  {
    ledger: createDynamoLedger({ client, table }),
    pages: createDynamoPages({ client, table }, systemClock),
    pace: createDynamoPace({ client, table }),
    queue: createInfraiQueue({ ...infrai, publishMs: PUBLISH_MS }),
    deadLetters: createInfraiDeadLetters({
      ...infrai,
      clock: systemClock,
      dice: systemDice,
      retries: REQUEST_RETRIES,
    }),
    telemetry,
    clock: systemClock,
    dice: systemDice,
  },
  { allowLocal: false, ownHosts },
);

export const handler = lambdaEntry(app, telemetry);
