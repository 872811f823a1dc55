/**
 * One tick of the schedule: a sweep message for each shard, and that is all. No row is read or written here, and no
 * destination is called; a tick that is missed, repeated or overlaps another does no harm, since the key of each
 * message names its shard and tick.
 */
import { publishKeyOf } from '../core/keys.ts';
import { DUE_SHARDS } from '../core/limits.ts';
import { sweepBody } from '../core/message.ts';
import type { World } from '../ports.ts';
import { notPublished } from '../steps/not-published.ts';

export interface Ticked {
  readonly tick: number;
  readonly enqueued: number;
  readonly failed: number;
}

export const tick = async (world: Pick<World, 'queue' | 'clock' | 'telemetry'>, everyMs: number): Promise<Ticked> => {
  const number = Math.floor(world.clock.nowMs() / everyMs);
  const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => shard);
  const results = await Promise.all(
    shards.map((shard) =>
      world.queue.publish({
        key: publishKeyOf('sweep', shard, number),
        body: sweepBody(shard, number, 0),
        delaySec: 0,
      }),
    ),
  );
  for (const [shard, result] of results.entries()) {
    if (result.kind === 'failed') notPublished(world.telemetry, { shard, tick: number }, result);
  }
  const failed = results.filter((result) => result.kind === 'failed').length;
  const ticked = { tick: number, enqueued: results.length - failed, failed };
  if (failed === 0) world.telemetry.count('tick');
  else world.telemetry.line('tick.failed', { ...ticked }, { tick: 1, 'tick-failed': failed });
  return ticked;
};
