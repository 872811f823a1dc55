/**
 * The whole product in one process: the same functions as in the cloud, over an embedded DynamoDB, an embedded queue
 * (Infrai's, which pushes by real HTTP, or SQS with its event source), a ticker for the schedule, and a partner to
 * deliver to.
 *
 *   openWorld --> table, token --> transport, front --> pushes begin, ticker --> close: front refuses, ticker, pushes,
 *     attempts, all
 */

import { createLedgerClient } from '../../functions/adapters/ledger/client.ts';
import { createDynamoLedger } from '../../functions/adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../../functions/adapters/ledger/pace.ts';
import { createDynamoPages } from '../../functions/adapters/ledger/pages.ts';
import { TABLE_NAME } from '../../functions/adapters/ledger/schema.ts';
import { createLedgerNotices } from '../../functions/adapters/notices.ts';
import { createLedgerSecrets } from '../../functions/adapters/secrets.ts';
import { createSender } from '../../functions/adapters/sender/sender.ts';
import { systemClock, systemDice } from '../../functions/adapters/system.ts';
import { FUNCTION_MS } from '../../functions/core/limits.ts';
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
import type { Chaos } from './queue/faults.ts';
import { openLocalInfrai } from './queue/local-infrai.ts';
import { startTicker } from './ticker.ts';
import { putAdminToken } from './token.ts';
import type { LocalQueue, LocalTransport } from './transport.ts';

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
  /** `infrai` unless given. */
  readonly transport?: LocalTransportName;
  /** Of the embedded queue of Infrai only. */
  readonly chaos?: Chaos;
  /** Demos and tests put a fault between the functions and their ports here. */
  readonly reshape?: (world: Receiver) => Receiver;
}

export type LocalTransportName = 'infrai' | 'sqs';

export interface LocalWorld {
  readonly url: string;
  readonly partner: Partner;
  readonly queue: LocalQueue;
  readonly ports: Receiver;
  /** Attempts on their way have a moment to end. True where some were cut off: their leases recover them. */
  close(): Promise<boolean>;
}

/** An attempt may take longer than a person waits for a program to end: its lease recovers it. */
const LAST_ATTEMPTS_MS = 1_500;

export const openWorld = async (options: WorldOptions): Promise<LocalWorld> => {
  const store = await openStore(options.dataDir);
  await putAdminToken({ ledger: store.ledger, clock: systemClock }, options.token);
  const transport = await openTransport(options);
  const sender = createSender({ policy: options.policy, clock: systemClock });
  const plain: Receiver = {
    ledger: store.ledger,
    pages: store.pages,
    pace: store.pace,
    queue: transport.publisher,
    deadLetters: transport.deadLetters,
    push: transport.push,
    sender,
    secrets: createLedgerSecrets(store.ledger, systemClock),
    notices: createLedgerNotices(store.ledger, systemClock),
    telemetry: options.telemetry,
    clock: systemClock,
    dice: systemDice,
    tickMs: options.tickMs,
  };
  const ports = options.reshape?.(plain) ?? plain;
  const partner = createPartner({ clock: systemClock });
  const [secret = ''] = options.pushScheme.secrets;
  const front = await openFront(facesOf(ports, options.policy, partner, secret, transport), options.port);
  transport.begin(ports, front.url);
  const ticker = startTicker(ports, systemClock, options.tickMs);
  return {
    url: front.url,
    partner,
    queue: transport.queue,
    ports,
    async close() {
      front.refuse();
      ticker.stop();
      await transport.stop();
      const cutOff = await Promise.race([
        sender.close().then(() => false),
        systemClock.sleep(LAST_ATTEMPTS_MS).then(() => true),
      ]);
      await partner.close();
      await front.close();
      await transport.close();
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

/** The engine of SQS is a package of development: it is loaded by whoever asks for it. */
const openTransport = async ({ transport, pushScheme, chaos }: WorldOptions): Promise<LocalTransport> =>
  transport === 'sqs' ? (await import('./queue-sqs/local-sqs.ts')).openLocalSqs() : openLocalInfrai(pushScheme, chaos);

/** The cron secret of the local world is its push secret: nobody but this process knows either. */
const facesOf = (
  ports: Receiver,
  policy: TargetPolicy,
  partner: Partner,
  secret: string,
  { pushesByHttp }: LocalTransport,
) => ({
  intake: createIntakeApp(ports).fetch,
  // Where messages come by an event source, there is no public address for pushes, here as in the cloud.
  ...(pushesByHttp
    ? { receiver: createReceiverApp(ports, { transport: 'infrai', remainingMs: () => FUNCTION_MS }).fetch }
    : {}),
  operator: createOperatorApp(ports, policy).fetch,
  cron: createCronApp(ports, { secret, header: 'x-cron-secret', tickMs: ports.tickMs }).fetch,
  partner,
});
