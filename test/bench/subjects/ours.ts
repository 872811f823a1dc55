/**
 * Onceward's intake and receiver behind HTTP, over the embedded DynamoDB or the twin. The queue is whoever measures: what
 * intake publishes is taken and dropped, and the pushes come from outside.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getRequestListener } from '@hono/node-server';
import { createLedgerClient } from '../../../functions/adapters/ledger/client.ts';
import { createDynamoLedger } from '../../../functions/adapters/ledger/dynamodb.ts';
import { createDynamoPace } from '../../../functions/adapters/ledger/pace.ts';
import { createDynamoPages } from '../../../functions/adapters/ledger/pages.ts';
import { TABLE_NAME } from '../../../functions/adapters/ledger/schema.ts';
import { createTwin } from '../../../functions/adapters/ledger/twin.ts';
import { createInfraiPush } from '../../../functions/adapters/queue/infrai/push.ts';
import { INFRAI_LIMITS } from '../../../functions/adapters/queue/transport-facts.ts';
import { createLedgerSecrets } from '../../../functions/adapters/secrets.ts';
import { createSender } from '../../../functions/adapters/sender/sender.ts';
import { systemClock, systemDice } from '../../../functions/adapters/system.ts';
import { silentTelemetry } from '../../../functions/adapters/telemetry.ts';
import { readDestination } from '../../../functions/core/destination-input.ts';
import { readJson } from '../../../functions/core/json-tree.ts';
import { FUNCTION_MS, TICK_MS } from '../../../functions/core/limits.ts';
import { readSubmission } from '../../../functions/core/submission.ts';
import { createIntakeApp } from '../../../functions/intake/app.ts';
import { putDestination } from '../../../functions/operator/commands/destinations.ts';
import type { Ledger, Pace, Pages } from '../../../functions/ports.ts';
import { createReceiverApp } from '../../../functions/receiver/app.ts';
import type { Receiver } from '../../../functions/receiver/run.ts';
import { accept } from '../../../functions/steps/accept.ts';
import { openEmbeddedDynamo } from '../../../infra/local/dynamodb/embedded-dynamodb.ts';
import { ensureTable } from '../../../infra/local/ledger-table.ts';
import { putAdminToken } from '../../../infra/local/token.ts';
import { destinationIdOf } from '../../support/rows.ts';
import { heldDeadLetters } from '../../support/world-ports.ts';
import { type Round, serve } from '../stage/child.ts';
import { openFront } from '../stage/front.ts';
import { BENCH_TOKEN, DESTINATION, eventBodyOf, PUSH_SECRET } from '../stage/messages.ts';

interface Engine {
  readonly ledger: Ledger;
  readonly pages: Pages;
  readonly pace: Pace;
  close(): Promise<void>;
}

const openEmbedded = async (): Promise<Engine> => {
  const path = await mkdtemp(join(tmpdir(), 'onceward-bench-'));
  const dynamo = await openEmbeddedDynamo({ path });
  const client = createLedgerClient({ requestHandler: dynamo.requestHandler });
  await ensureTable(client, TABLE_NAME);
  const table = { client, table: TABLE_NAME };
  return {
    ledger: createDynamoLedger(table),
    pages: createDynamoPages(table, systemClock),
    pace: createDynamoPace(table),
    close: async () => {
      client.destroy();
      await dynamo.close();
      await rm(path, { recursive: true, force: true });
    },
  };
};

const openTwin = async (): Promise<Engine> => ({
  ...createTwin({ clock: systemClock, keepsHistory: false }),
  close: async () => {},
});

const worldOf = (engine: Engine): Receiver => ({
  ...engine,
  queue: { limits: INFRAI_LIMITS, publish: async ({ key }) => ({ kind: 'published', messageId: key }) },
  deadLetters: heldDeadLetters(),
  push: createInfraiPush({ secrets: [PUSH_SECRET], signatureHeader: 'x-infrai-signature', prefix: '' }),
  sender: createSender({ policy: { allowLocal: true }, clock: systemClock }),
  secrets: createLedgerSecrets(engine.ledger, systemClock),
  telemetry: silentTelemetry,
  clock: systemClock,
  dice: systemDice,
  tickMs: TICK_MS,
});

const setDestination = async (world: Receiver, url: string): Promise<void> => {
  const read = readDestination(destinationIdOf(DESTINATION), { url, repeatSafe: true }, { allowLocal: true });
  if (read.kind !== 'ok') throw new TypeError('the destination of the benchmark is not a valid one');
  await putDestination(world, read);
};

/** Events that were accepted some time ago: their pushes are what the round brings. */
const acceptAll = async (world: Receiver, { first, count, payloadBytes }: Round): Promise<void> => {
  for (let n = first; n < first + count; n += 1) {
    const document = readJson(Buffer.from(eventBodyOf(n, payloadBytes)));
    if (document.kind === 'bad') throw new TypeError(document.reason);
    const read = readSubmission(document, document.root, systemClock.nowMs());
    if (read.kind === 'bad') throw new TypeError(read.reason);
    await accept(world, read.submission, { kind: 'api', cause: 'i:bench' });
  }
};

await serve(async () => {
  const engine = await (process.argv[2] === 'twin' ? openTwin() : openEmbedded());
  const world = worldOf(engine);
  await putAdminToken(world, BENCH_TOKEN);
  const receiver = createReceiverApp(world, { transport: 'infrai', remainingMs: () => FUNCTION_MS });
  const intake = createIntakeApp(world);
  const isPush = (url: string): boolean => url.includes('/push/');
  const listener = getRequestListener((request) => (isPush(request.url) ? receiver : intake).fetch(request));
  const front = await openFront((request, response) => void listener(request, response));
  return {
    url: front.url,
    prepare: async (round) => {
      await setDestination(world, round.destinationUrl);
      await acceptAll(world, round);
    },
    close: async () => {
      await front.close();
      await world.sender.close();
      await engine.close();
    },
  };
});
