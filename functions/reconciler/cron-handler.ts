/** The tick by URL in the cloud, for a transport whose own schedule calls one. Deployed only where that is so. */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { openWatchedStats } from '../adapters/queue/open-dead-letters.ts';
import { openQueue } from '../adapters/queue/open-queue.ts';
import { renewing, type StoredTexts, withStored } from '../adapters/stored-settings.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import * as config from '../config.ts';
import { TICK_MS } from '../core/limits.ts';
import { type LambdaEntry, lambdaEntry } from '../http/lambda.ts';
import { createCronApp } from './app.ts';

const env = config.environment();
const cloud = config.readCloudConfig(env);
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);
const ledger = createDynamoLedger({ client: createLedgerClient(), table: cloud.table });

const compose = async (stored: StoredTexts): Promise<LambdaEntry> => {
  const settings = withStored(env, stored);
  const transport = config.readTransportConfig(settings);
  const stats = await openWatchedStats(transport, { clock: systemClock, dice: systemDice });
  const queue = await openQueue(transport);
  const world = { queue, ledger, telemetry, clock: systemClock, ...(stats === undefined ? {} : { stats }) };
  return lambdaEntry(createCronApp(world, { ...config.readCronConfig(settings), tickMs: TICK_MS }), telemetry);
};

const places = config.readStoredSettings(env);
export const handler = await renewing({ places, clock: systemClock, telemetry }, compose);
