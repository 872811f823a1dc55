/**
 * The receiver of pushes by HTTP in the cloud: made once, at cold start, from the environment. Nothing is called before
 * the first push. Deployed only where a push transport is on; `sqs-handler.ts` is its twin behind an event source.
 */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createKmsSealing } from '../adapters/ledger/kms-sealing.ts';
import { createDynamoPace } from '../adapters/ledger/pace.ts';
import { createDynamoPages } from '../adapters/ledger/pages.ts';
import { withSealedSecrets } from '../adapters/ledger/sealed.ts';
import { createLedgerNotices } from '../adapters/notices.ts';
import { createInfraiPush } from '../adapters/queue/infrai/push.ts';
import { createLazyDeadLetters, createLazyQueue } from '../adapters/queue/lazy-queue.ts';
import { createLedgerSecrets } from '../adapters/secrets.ts';
import { createLazySender } from '../adapters/sender/lazy-sender.ts';
import { renewing, type StoredTexts, withStored } from '../adapters/stored-settings.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readPushScheme, readStoredSettings, readTransportConfig } from '../config.ts';
import { TICK_MS } from '../core/limits.ts';
import { type LambdaEntry, lambdaEntry, remainingMsOf } from '../http/lambda.ts';
import { createReceiverApp } from './app.ts';

const env = environment();
const cloud = readCloudConfig(env);
const { table, ownHosts, sealingKey } = cloud;
const client = createLedgerClient();
const plain = createDynamoLedger({ client, table });
const ledger = sealingKey === undefined ? plain : withSealedSecrets(plain, createKmsSealing({ key: sealingKey }));
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);
const sender = createLazySender({ policy: { allowLocal: false, ownHosts }, clock: systemClock });

const compose = async (stored: StoredTexts): Promise<LambdaEntry> => {
  const settings = withStored(env, stored);
  const transport = readTransportConfig(settings);
  const world = {
    ledger,
    pages: createDynamoPages({ client, table }, systemClock),
    pace: createDynamoPace({ client, table }),
    queue: createLazyQueue(transport),
    deadLetters: createLazyDeadLetters(transport, { clock: systemClock, dice: systemDice }),
    push: createInfraiPush(readPushScheme(settings)),
    sender,
    secrets: createLedgerSecrets(ledger, systemClock),
    notices: createLedgerNotices(ledger, systemClock),
    telemetry,
    clock: systemClock,
    dice: systemDice,
    tickMs: TICK_MS,
  };
  const entry = lambdaEntry(createReceiverApp(world, { transport: 'infrai', remainingMs: remainingMsOf }), telemetry);
  return (event, context) => {
    sender.warm();
    return entry(event, context);
  };
};

export const handler = await renewing({ places: readStoredSettings(env), clock: systemClock, telemetry }, compose);
