/**
 * The receiver behind an SQS event source: made once, at cold start, from the environment. Nothing is called before the
 * first batch. Who may send is for IAM, so there is no secret of a push side here, and no public address.
 */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createKmsSealing } from '../adapters/ledger/kms-sealing.ts';
import { createDynamoPace } from '../adapters/ledger/pace.ts';
import { createDynamoPages } from '../adapters/ledger/pages.ts';
import { withSealedSecrets } from '../adapters/ledger/sealed.ts';
import { createLedgerNotices } from '../adapters/notices.ts';
import { createLazyDeadLetters, createLazyQueue } from '../adapters/queue/lazy-queue.ts';
import { createSqsPush } from '../adapters/queue/sqs/push.ts';
import { createLedgerSecrets } from '../adapters/secrets.ts';
import { createLazySender } from '../adapters/sender/lazy-sender.ts';
import { renewing, type StoredTexts, withStored } from '../adapters/stored-settings.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readSqsConfig, readStoredSettings, readTransportConfig } from '../config.ts';
import { TICK_MS } from '../core/limits.ts';
import { createSqsEntry, type SqsEntry } from './sqs-entry.ts';

const env = environment();
const cloud = readCloudConfig(env);
const { table, ownHosts, sealingKey } = cloud;
const client = createLedgerClient();
const plain = createDynamoLedger({ client, table });
const ledger = sealingKey === undefined ? plain : withSealedSecrets(plain, createKmsSealing({ key: sealingKey }));
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);
const sender = createLazySender({ policy: { allowLocal: false, ownHosts }, clock: systemClock });

const compose = async (stored: StoredTexts): Promise<SqsEntry> => {
  const settings = withStored(env, stored);
  const transport = readTransportConfig(settings);
  const entry = createSqsEntry({
    ledger,
    pages: createDynamoPages({ client, table }, systemClock),
    pace: createDynamoPace({ client, table }),
    queue: createLazyQueue(transport),
    deadLetters: createLazyDeadLetters(transport, { clock: systemClock, dice: systemDice }),
    push: createSqsPush(readSqsConfig(settings)),
    sender,
    secrets: createLedgerSecrets(ledger, systemClock),
    notices: createLedgerNotices(ledger, systemClock),
    telemetry,
    clock: systemClock,
    dice: systemDice,
    tickMs: TICK_MS,
  });
  return (event, context) => {
    sender.warm();
    return entry(event, context);
  };
};

export const handler = await renewing({ places: readStoredSettings(env), clock: systemClock, telemetry }, compose);
