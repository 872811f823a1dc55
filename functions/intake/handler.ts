/** The intake in the cloud: made once, at cold start, from the environment. Nothing is called before the first event. */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { openQueue } from '../adapters/queue/open-queue.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readTransportConfig } from '../config.ts';
import { lambdaEntry } from '../http/lambda.ts';
import { createIntakeApp } from './app.ts';

const env = environment();
const cloud = readCloudConfig(env);
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);

const app = createIntakeApp({
  ledger: createDynamoLedger({ client: createLedgerClient(), table: cloud.table }),
  queue: await openQueue(readTransportConfig(env)),
  telemetry,
  clock: systemClock,
  dice: systemDice,
});

export const handler = lambdaEntry(app, telemetry);
