/** The intake in the cloud: made once, at cold start, from the environment. No table is called before the first event. */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { openQueue } from '../adapters/queue/open-queue.ts';
import { renewing, type StoredTexts, withStored } from '../adapters/stored-settings.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readStoredSettings, readTransportConfig } from '../config.ts';
import { type LambdaEntry, lambdaEntry } from '../http/lambda.ts';
import { createIntakeApp } from './app.ts';

const env = environment();
const cloud = readCloudConfig(env);
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);
const ledger = createDynamoLedger({ client: createLedgerClient(), table: cloud.table });

const compose = async (stored: StoredTexts): Promise<LambdaEntry> => {
  const queue = await openQueue(readTransportConfig(withStored(env, stored)));
  return lambdaEntry(createIntakeApp({ ledger, queue, telemetry, clock: systemClock, dice: systemDice }), telemetry);
};

export const handler = await renewing({ places: readStoredSettings(env), clock: systemClock, telemetry }, compose);
