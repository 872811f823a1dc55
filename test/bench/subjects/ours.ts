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
import { createSender } from '../../../functions/adapters/sender/sender.ts';
import { systemClock } from '../../../functions/adapters/system.ts';
import { FUNCTION_MS } from '../../../functions/core/limits.ts';
import { createIntakeApp } from '../../../functions/intake/app.ts';
import type { Ledger, Pace, Pages } from '../../../functions/ports.ts';
import { createReceiverApp } from '../../../functions/receiver/app.ts';
import { openEmbeddedDynamo } from '../../../infra/local/dynamodb/embedded-dynamodb.ts';
import { ensureTable } from '../../../infra/local/ledger-table.ts';
import { putAdminToken } from '../../../infra/local/token.ts';
import { acceptAll, benchWorldOf, setDestinations } from '../stage/bench-world.ts';
import { serve } from '../stage/child.ts';
import { openFront } from '../stage/front.ts';
import { BENCH_TOKEN } from '../stage/messages.ts';

interface Engine {
  readonly ledger: Ledger;
  readonly pages: Pages;
  readonly pace: Pace;
  close(): Promise<void>;
}

const openEmbedded = async (): Promise<Engine> => {
  const path = await mkdtemp(join(tmpdir(), 'onceward-bench-'));
  const dynamo = await openEmbeddedDynamo({ path, sync: false });
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

await serve(async () => {
  const engine = await (process.argv[2] === 'twin' ? openTwin() : openEmbedded());
  const world = benchWorldOf(engine, createSender({ policy: { allowLocal: true }, clock: systemClock }));
  await putAdminToken(world, BENCH_TOKEN);
  const receiver = createReceiverApp(world, { transport: 'infrai', remainingMs: () => FUNCTION_MS });
  const intake = createIntakeApp(world);
  const isPush = (url: string): boolean => url.includes('/push/');
  const listener = getRequestListener((request) => (isPush(request.url) ? receiver : intake).fetch(request));
  const front = await openFront((request, response) => void listener(request, response));
  return {
    url: front.url,
    prepare: async (round) => {
      await setDestinations(world, round);
      await acceptAll(world, round);
    },
    close: async () => {
      await front.close();
      await world.sender.close();
      await engine.close();
    },
  };
});
