/** The operator's API in the cloud: made once, at cold start. Nothing is called before the first request. */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../adapters/ledger/pace.ts';
import { createDynamoPages } from '../adapters/ledger/pages.ts';
import { openDeadLetters } from '../adapters/queue/open-dead-letters.ts';
import { openQueue } from '../adapters/queue/open-queue.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readTransportConfig } from '../config.ts';
import { lambdaEntry } from '../http/lambda.ts';
import { createOperatorApp } from './api/app.ts';

const env = environment();
const cloud = readCloudConfig(env);
const { table, ownHosts } = cloud;
const transport = readTransportConfig(env);
const client = createLedgerClient();
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);

const app = createOperatorApp(
  {
    ledger: createDynamoLedger({ client, table }),
    pages: createDynamoPages({ client, table }, systemClock),
    pace: createDynamoPace({ client, table }),
    queue: await openQueue(transport),
    deadLetters: await openDeadLetters(transport, { clock: systemClock, dice: systemDice }),
    telemetry,
    clock: systemClock,
    dice: systemDice,
  },
  { allowLocal: false, ownHosts },
);

export const handler = lambdaEntry(app, telemetry);
