/** The intake in the cloud: made once, at cold start, from the environment. Nothing is called before the first event. */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createInfraiQueue } from '../adapters/queue/infrai/client.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readInfraiConfig } from '../config.ts';
import { PUBLISH_MS } from '../core/limits.ts';
import { lambdaEntry } from '../http/lambda.ts';
import { createIntakeApp } from './app.ts';

const env = environment();
const cloud = readCloudConfig(env);
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);

const app = createIntakeApp({
  ledger: createDynamoLedger({ client: createLedgerClient(), table: cloud.table }),
  queue: createInfraiQueue({ ...readInfraiConfig(env), publishMs: PUBLISH_MS }),
  telemetry,
  clock: systemClock,
  dice: systemDice,
});

export const handler = lambdaEntry(app, telemetry);
