/** The operator's API in the cloud: made once, at cold start. It publishes nothing itself, so it knows no queue. */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createDynamoPages } from '../adapters/ledger/pages.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig } from '../config.ts';
import { lambdaEntry } from '../http/lambda.ts';
import { createOperatorApp } from './api/app.ts';

const { table, ownHosts } = readCloudConfig(environment());
const client = createLedgerClient();
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`));

const app = createOperatorApp(
  {
    ledger: createDynamoLedger({ client, table }),
    pages: createDynamoPages({ client, table }, systemClock),
    telemetry,
    clock: systemClock,
    dice: systemDice,
  },
  { allowLocal: false, ownHosts },
);

export const handler = lambdaEntry(app, telemetry);
