/** The tick by URL in the cloud, for a transport whose own schedule calls one. Deployed only where that is so. */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createInfraiQueue } from '../adapters/queue/infrai/client.ts';
import { createInfraiDeadLetters } from '../adapters/queue/infrai/dead-letters.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readCronConfig, readInfraiConfig } from '../config.ts';
import { PUBLISH_MS, TICK_MS } from '../core/limits.ts';
import { lambdaEntry } from '../http/lambda.ts';
import { createCronApp } from './app.ts';

const env = environment();
const cloud = readCloudConfig(env);
const infrai = readInfraiConfig(env);
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);
/** The next tick is the retry. */
const once = { triesMax: 1, tryMs: PUBLISH_MS, totalMs: PUBLISH_MS };

const app = createCronApp(
  {
    queue: createInfraiQueue({ ...infrai, publishMs: PUBLISH_MS }),
    ledger: createDynamoLedger({ client: createLedgerClient(), table: cloud.table }),
    stats: createInfraiDeadLetters({ ...infrai, retries: once, clock: systemClock, dice: systemDice }).stats,
    telemetry,
    clock: systemClock,
  },
  { ...readCronConfig(env), tickMs: TICK_MS },
);

export const handler = lambdaEntry(app, telemetry);
