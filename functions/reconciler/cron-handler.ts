/** The tick by URL in the cloud, for a transport whose own schedule calls one. Deployed only where that is so. */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { openWatchedStats } from '../adapters/queue/open-dead-letters.ts';
import { openQueue } from '../adapters/queue/open-queue.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readCronConfig, readTransportConfig } from '../config.ts';
import { TICK_MS } from '../core/limits.ts';
import { lambdaEntry } from '../http/lambda.ts';
import { createCronApp } from './app.ts';

const env = environment();
const cloud = readCloudConfig(env);
const transport = readTransportConfig(env);
const stats = await openWatchedStats(transport, { clock: systemClock, dice: systemDice });
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);

const app = createCronApp(
  {
    queue: await openQueue(transport),
    ledger: createDynamoLedger({ client: createLedgerClient(), table: cloud.table }),
    ...(stats === undefined ? {} : { stats }),
    telemetry,
    clock: systemClock,
  },
  { ...readCronConfig(env), tickMs: TICK_MS },
);

export const handler = lambdaEntry(app, telemetry);
