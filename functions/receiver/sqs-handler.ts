/**
 * The receiver behind an SQS event source: made once, at cold start, from the environment. Nothing is called before the
 * first batch. Who may send is for IAM, so there is no secret of a push side here, and no public address.
 */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../adapters/ledger/pace.ts';
import { createDynamoPages } from '../adapters/ledger/pages.ts';
import { openDeadLetters } from '../adapters/queue/open-dead-letters.ts';
import { openQueue } from '../adapters/queue/open-queue.ts';
import { createSqsPush } from '../adapters/queue/sqs/push.ts';
import { createLedgerSecrets } from '../adapters/secrets.ts';
import { createSender } from '../adapters/sender/sender.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readSqsConfig, readTransportConfig } from '../config.ts';
import { TICK_MS } from '../core/limits.ts';
import { createSqsEntry } from './sqs-entry.ts';

const env = environment();
const cloud = readCloudConfig(env);
const { table, ownHosts } = cloud;
const transport = readTransportConfig(env);
const client = createLedgerClient();
const ledger = createDynamoLedger({ client, table });

export const handler = createSqsEntry({
  ledger,
  pages: createDynamoPages({ client, table }, systemClock),
  pace: createDynamoPace({ client, table }),
  queue: await openQueue(transport),
  deadLetters: await openDeadLetters(transport, { clock: systemClock, dice: systemDice }),
  push: createSqsPush(readSqsConfig(env)),
  sender: createSender({ policy: { allowLocal: false, ownHosts }, clock: systemClock }),
  secrets: createLedgerSecrets(ledger, systemClock),
  telemetry: createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud),
  clock: systemClock,
  dice: systemDice,
  tickMs: TICK_MS,
});
