/**
 * The reconciler in the cloud: the target of the schedule. What its event says does not matter; the tick is counted from
 * the clock, so that a late, repeated or overlapping call enqueues what it should have enqueued anyway.
 */
import { createInfraiQueue } from '../adapters/queue/infrai/client.ts';
import { systemClock } from '../adapters/system.ts';
import { createTelemetry } from '../adapters/telemetry.ts';
import { environment, readInfraiConfig } from '../config.ts';
import { PUBLISH_MS, TICK_MS } from '../core/limits.ts';
import { type Ticked, tick } from './tick.ts';

const world = {
  queue: createInfraiQueue({ ...readInfraiConfig(environment()), publishMs: PUBLISH_MS }),
  telemetry: createTelemetry(systemClock, (text) => process.stdout.write(`${text}\n`)),
  clock: systemClock,
};

/** Never throws for a queue that is away: the next tick is the retry, and an alarm stands on what could not be enqueued. */
export const handler = (): Promise<Ticked> => tick(world, TICK_MS);
