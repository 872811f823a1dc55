/**
 * The reconciler in the cloud: the target of the schedule. What its event says does not matter; the tick is counted from
 * the clock, so that a late, repeated or overlapping call enqueues what it should have enqueued anyway.
 */
import { createLedgerClient } from '../adapters/ledger/client.ts';
import { createDynamoLedger } from '../adapters/ledger/dynamodb.ts';
import { createInfraiQueue } from '../adapters/queue/infrai/client.ts';
import { createInfraiDeadLetters } from '../adapters/queue/infrai/dead-letters.ts';
import { systemClock, systemDice } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readCloudConfig, readInfraiConfig } from '../config.ts';
import { PUBLISH_MS, TICK_MS } from '../core/limits.ts';
import type { Ticked } from './tick.ts';
import { reconcile } from './watch.ts';

const env = environment();
const cloud = readCloudConfig(env);
const infrai = readInfraiConfig(env);
/** The next tick is the retry. */
const once = { triesMax: 1, tryMs: PUBLISH_MS, totalMs: PUBLISH_MS };

const world = {
  queue: createInfraiQueue({ ...infrai, publishMs: PUBLISH_MS }),
  ledger: createDynamoLedger({ client: createLedgerClient(), table: cloud.table }),
  stats: createInfraiDeadLetters({ ...infrai, retries: once, clock: systemClock, dice: systemDice }).stats,
  telemetry: createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`), cloud),
  clock: systemClock,
};

/** Never throws for a queue that is away: the next tick is the retry, and an alarm stands on what could not be enqueued. */
export const handler = (): Promise<Ticked> => reconcile(world, TICK_MS);
