/**
 * The whole product in one process: the same functions as in the cloud, over an embedded DynamoDB, an embedded queue
 * that pushes by real HTTP, a ticker for the schedule, and a partner to deliver to.
 *
 *   openWorld --> table, token --> queue, front --> subscription, ticker --> close: front refuses, ticker, queue, attempts, all
 */

import { createLedgerClient } from '../../functions/adapters/ledger/client.ts';
import { createDynamoLedger } from '../../functions/adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../../functions/adapters/ledger/pace.ts';
import { createDynamoPages } from '../../functions/adapters/ledger/pages.ts';
import { TABLE_NAME } from '../../functions/adapters/ledger/schema.ts';
import { createInfraiQueue } from '../../functions/adapters/queue/infrai/client.ts';
import { createInfraiDeadLetters } from '../../functions/adapters/queue/infrai/dead-letters.ts';
import { createInfraiPush } from '../../functions/adapters/queue/infrai/push.ts';
import { REQUEST_RETRIES } from '../../functions/adapters/queue/infrai/transport-retries.ts';
import { createLedgerSecrets } from '../../functions/adapters/secrets.ts';
import { createSender } from '../../functions/adapters/sender/sender.ts';
import { systemClock, systemDice } from '../../functions/adapters/system.ts';
import { FUNCTION_MS, PUBLISH_MS } from '../../functions/core/limits.ts';
import type { PushScheme } from '../../functions/core/push-signature.ts';
import type { TargetPolicy } from '../../functions/core/target.ts';
import { createIntakeApp } from '../../functions/intake/app.ts';
import { createOperatorApp } from '../../functions/operator/api/app.ts';
import type { Telemetry } from '../../functions/ports.ts';
import { createReceiverApp } from '../../functions/receiver/app.ts';
import type { Receiver } from '../../functions/receiver/run.ts';
import { createCronApp } from '../../functions/reconciler/app.ts';
import { openEmbeddedDynamo } from './dynamodb/embedded-dynamodb.ts';
import { openFront } from './front.ts';
import { ensureTable } from './ledger-table.ts';
import { createPartner, type Partner } from './partner/partner.ts';
import { createEmbeddedQueue, type EmbeddedQueue } from './queue/embedded-queue.ts';
import type { Chaos } from './queue/faults.ts';
import { startTicker } from './ticker.ts';
import { putAdminToken } from './token.ts';

export interface WorldOptions {
  /** 0 takes a free one. */
  readonly port: number;
  /** Without one, everything is in memory and ends with the process. */
  readonly dataDir?: string;
  readonly token: string;
  readonly pushScheme: Pick<PushScheme, 'secrets' | 'signatureHeader' | 'prefix' | 'timestampHeader'>;
  readonly policy: TargetPolicy;
  readonly telemetry: Telemetry;
  readonly tickMs: number;
  readonly chaos?: Chaos;
  /** Demos and tests put a fault between the functions and their ports here. */
  readonly reshape?: (world: Receiver) => Receiver;
}

export interface LocalWorld {
  readonly url: string;
  readonly queueUrl: string;
  readonly partner: Partner;
  readonly queue: EmbeddedQueue;
  readonly ports: Receiver;
  /** Attempts on their way have a moment to end. True where some were cut off: their leases recover them. */
  close(): Promise<boolean>;
}

export const QUEUE_NAME = 'onceward';
const QUEUE_KEY = 'local-queue-key';
/** An attempt may take longer than a person waits for a program to end: its lease recovers it. */
const LAST_ATTEMPTS_MS = 1_500;

export const openWorld = async (options: WorldOptions): Promise<LocalWorld> => {
  const store = await openStore(options.dataDir);
  await putAdminToken(store.ledger, systemClock.nowMs(), options.token);
  const queue = await openQueue(options);
  const sender = createSender({ policy: options.policy, clock: systemClock });
  const plain: Receiver = {
    ledger: store.ledger,
    pages: store.pages,
    pace: store.pace,
    queue: queue.publisher,
    deadLetters: queue.deadLetters,
    push: createInfraiPush(options.pushScheme),
    sender,
    secrets: createLedgerSecrets(store.ledger, systemClock),
    telemetry: options.telemetry,
    clock: systemClock,
    dice: systemDice,
    tickMs: options.tickMs,
  };
  const ports = options.reshape?.(plain) ?? plain;
  const partner = createPartner({ clock: systemClock });
  const [secret = ''] = options.pushScheme.secrets;
  const front = await openFront(facesOf(ports, options.policy, partner, secret), options.port);
  queue.embedded.subscribe(QUEUE_NAME, { url: `${front.url}/push/infrai`, secret });
  const ticker = startTicker(ports, systemClock, options.tickMs);
  return {
    url: front.url,
    queueUrl: queue.url,
    partner,
    queue: queue.embedded,
    ports,
    async close() {
      front.refuse();
      ticker.stop();
      await queue.embedded.close();
      const cutOff = await Promise.race([
        sender.close().then(() => false),
        systemClock.sleep(LAST_ATTEMPTS_MS).then(() => true),
      ]);
      await partner.close();
      await front.close();
      await queue.publisher.close();
      await queue.deadLetters.close();
      await store.close();
      return cutOff;
    },
  };
};

const openStore = async (dataDir: string | undefined) => {
  const dynamo = await openEmbeddedDynamo(dataDir === undefined ? {} : { path: dataDir });
  const client = createLedgerClient({ requestHandler: dynamo.requestHandler });
  await ensureTable(client, TABLE_NAME);
  const table = { client, table: TABLE_NAME };
  return {
    ledger: createDynamoLedger(table),
    pages: createDynamoPages(table, systemClock),
    pace: createDynamoPace(table),
    async close() {
      client.destroy();
      await dynamo.close();
    },
  };
};

const openQueue = async ({ chaos, pushScheme }: WorldOptions) => {
  const embedded = createEmbeddedQueue({
    timers: systemClock,
    apiKey: QUEUE_KEY,
    queues: [QUEUE_NAME],
    signing: {
      header: pushScheme.signatureHeader,
      prefix: pushScheme.prefix,
      timestampHeader: pushScheme.timestampHeader,
    },
    ...(chaos === undefined ? {} : { chaos }),
  });
  const url = await embedded.listen();
  const access = { baseUrl: url, apiKey: QUEUE_KEY, queue: QUEUE_NAME };
  return {
    embedded,
    url,
    publisher: createInfraiQueue({ ...access, publishMs: PUBLISH_MS }),
    deadLetters: createInfraiDeadLetters({
      ...access,
      clock: systemClock,
      dice: systemDice,
      retries: REQUEST_RETRIES,
    }),
  };
};

/** The cron secret of the local world is its push secret: nobody but this process knows either. */
const facesOf = (ports: Receiver, policy: TargetPolicy, partner: Partner, secret: string) => ({
  intake: createIntakeApp(ports).fetch,
  receiver: createReceiverApp(ports, { transport: 'infrai', remainingMs: () => FUNCTION_MS }).fetch,
  operator: createOperatorApp(ports, policy).fetch,
  cron: createCronApp(ports, { secret, header: 'x-cron-secret', tickMs: ports.tickMs }).fetch,
  partner,
});
