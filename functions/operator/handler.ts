/** The operator's API in the cloud: made once, at cold start. Nothing is called before the first request. */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createKmsSealing } from '../adapters/ledger/kms-sealing.ts';
import { createDynamoPace } from '../adapters/ledger/pace.ts';
import { createDynamoPages } from '../adapters/ledger/pages.ts';
import { withSealedSecrets } from '../adapters/ledger/sealed.ts';
import { openDeadLetters } from '../adapters/queue/open-dead-letters.ts';
import { openQueue } from '../adapters/queue/open-queue.ts';
import { createLedgerSecrets } from '../adapters/secrets.ts';
import { createLazySender } from '../adapters/sender/lazy-sender.ts';
import { renewing, type StoredTexts, withStored } from '../adapters/stored-settings.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readStoredSettings, readTransportConfig } from '../config.ts';
import { type LambdaEntry, lambdaEntry } from '../http/lambda.ts';
import { createOperatorApp } from './api/app.ts';

const env = environment();
const cloud = readCloudConfig(env);
const { table, ownHosts, sealingKey } = cloud;
const client = createLedgerClient();
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);
const plain = createDynamoLedger({ client, table });

const compose = async (stored: StoredTexts): Promise<LambdaEntry> => {
  const transport = readTransportConfig(withStored(env, stored));
  const ledger = sealingKey === undefined ? plain : withSealedSecrets(plain, createKmsSealing({ key: sealingKey }));
  const policy = { allowLocal: false, ownHosts };
  const world = {
    ledger,
    pages: createDynamoPages({ client, table }, systemClock),
    pace: createDynamoPace({ client, table }),
    queue: await openQueue(transport),
    deadLetters: await openDeadLetters(transport, { clock: systemClock, dice: systemDice }),
    // Loaded when somebody has a drill run: no other request of a person sends anything to a destination.
    sender: createLazySender({ policy, clock: systemClock }),
    secrets: createLedgerSecrets(ledger, systemClock),
    telemetry,
    clock: systemClock,
    dice: systemDice,
  };
  return lambdaEntry(createOperatorApp(world, policy), telemetry);
};

export const handler = await renewing({ places: readStoredSettings(env), clock: systemClock, telemetry }, compose);
