/**
 * The reconciler in the cloud: the target of the schedule. What its event says does not matter; the tick is counted from
 * the clock, so that a late, repeated or overlapping call enqueues what it should have enqueued anyway.
 */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { openWatchedStats } from '../adapters/queue/open-dead-letters.ts';
import { openQueue } from '../adapters/queue/open-queue.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readTransportConfig } from '../config.ts';
import { TICK_MS } from '../core/limits.ts';
import type { Ticked } from './tick.ts';
import { reconcile } from './watch.ts';

const env = environment();
const cloud = readCloudConfig(env);
const transport = readTransportConfig(env);
const stats = await openWatchedStats(transport, { clock: systemClock, dice: systemDice });

const world = {
  queue: await openQueue(transport),
  ledger: createDynamoLedger({ client: createLedgerClient(), table: cloud.table }),
  ...(stats === undefined ? {} : { stats }),
  telemetry: createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud),
  clock: systemClock,
};

/** Never throws for a queue that is away: the next tick is the retry, and an alarm stands on what could not be enqueued. */
export const handler = (): Promise<Ticked> => reconcile(world, TICK_MS);
