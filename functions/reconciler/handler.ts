/**
 * The reconciler in the cloud: the target of the schedule. What its event says does not matter; the tick is counted from
 * the clock, so that a late, repeated or overlapping call enqueues what it should have enqueued anyway.
 */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { openWatchedStats } from '../adapters/queue/open-dead-letters.ts';
import { openQueue } from '../adapters/queue/open-queue.ts';
import { renewing, type StoredTexts, withStored } from '../adapters/stored-settings.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readStoredSettings, readTransportConfig } from '../config.ts';
import { TICK_MS } from '../core/limits.ts';
import type { Ticked } from './tick.ts';
import { reconcile } from './watch.ts';

const env = environment();
const cloud = readCloudConfig(env);
const telemetry = createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud);
const ledger = createDynamoLedger({ client: createLedgerClient(), table: cloud.table });

/** Never throws for a queue that is away: the next tick is the retry, and an alarm stands on what could not be enqueued. */
const compose = async (stored: StoredTexts): Promise<() => Promise<Ticked>> => {
  const transport = readTransportConfig(withStored(env, stored));
  const stats = await openWatchedStats(transport, { clock: systemClock, dice: systemDice });
  const queue = await openQueue(transport);
  const world = { queue, ledger, telemetry, clock: systemClock, ...(stats === undefined ? {} : { stats }) };
  return () => reconcile(world, TICK_MS);
};

export const handler = await renewing({ places: readStoredSettings(env), clock: systemClock, telemetry }, compose);
