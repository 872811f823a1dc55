/** The tick by URL in the cloud, for a transport whose own schedule calls one. Deployed only where that is so. */
import { createInfraiQueue } from '../adapters/queue/infrai/client.ts';
import { systemClock } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCronConfig, readInfraiConfig } from '../config.ts';
import { PUBLISH_MS, TICK_MS } from '../core/limits.ts';
import { lambdaEntry } from '../http/lambda.ts';
import { createCronApp } from './app.ts';

const env = environment();
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`));

const app = createCronApp(
  {
    queue: createInfraiQueue({ ...readInfraiConfig(env), publishMs: PUBLISH_MS }),
    telemetry,
    clock: systemClock,
  },
  { ...readCronConfig(env), tickMs: TICK_MS },
);

export const handler = lambdaEntry(app, telemetry);
