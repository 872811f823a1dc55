/**
 * What the reconciler sees of the others, once a tick: whether sweeps pass, how late the latest row is, and what a queue
 * that has no metrics of its own says of itself. It stands outside of the path that it watches: a receiver that is dead
 * cannot say so.
 *
 *   heartbeats --> sweep-age-ms, largest-overdue-ms      nothing said where one was never written: missing data alarms
 *   queue      --> queue-dead, queue-available, queue-in-flight, queue-oldest-age-ms
 */
import { DUE_SHARDS } from '../core/limits.ts';
import type { Measures } from '../core/metrics.ts';
import { type DeadLetters, LedgerCorrupt, PortUnavailable, type World } from '../ports.ts';
import { type Ticked, tick } from './tick.ts';

export interface Watching extends Pick<World, 'ledger' | 'clock' | 'telemetry'> {
  /** Only where the transport keeps no metrics that an alarm could stand on. */
  readonly stats?: DeadLetters['stats'];
}

/** The tick first: what is seen of the others must not hold it up, or stop it. */
export const reconcile = async (world: Watching & Pick<World, 'queue'>, tickMs: number): Promise<Ticked> => {
  const ticked = await tick(world, tickMs);
  await watch(world);
  return ticked;
};

/** Never throws for a port that is away: then there is no number, which is an alarm by itself. */
export const watch = async (world: Watching): Promise<void> => {
  const [sweeps, queue] = await Promise.all([sweepsSeen(world), queueSeen(world)]);
  const measures = { ...sweeps, ...queue };
  if (Object.keys(measures).length > 0) world.telemetry.line('watched', {}, measures);
};

const sweepsSeen = async ({ ledger, clock, telemetry }: Watching): Promise<Measures> => {
  try {
    const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => shard);
    const found = await Promise.all(shards.map((shard) => ledger.load({ item: 'heartbeat', shard })));
    const nowMs = clock.nowMs();
    const beats = found.flatMap((one) => (one.kind === 'found' ? [one.item] : []));
    // One of a later format is kept by newer code, which watches it as well.
    if (beats.length < found.filter(({ kind }) => kind !== 'later').length || beats.length === 0) return {};
    return {
      'sweep-age-ms': Math.max(0, ...beats.map(({ passAtMs }) => nowMs - passAtMs)),
      'largest-overdue-ms': Math.max(0, ...beats.map(({ largestOverdueMs }) => largestOverdueMs)),
    };
  } catch (error) {
    if (!(error instanceof PortUnavailable) && !(error instanceof LedgerCorrupt)) throw error;
    telemetry.line('heartbeats.not-read', { detail: error.message });
    return {};
  }
};

const queueSeen = async ({ stats, telemetry }: Watching): Promise<Measures> => {
  const seen = await stats?.();
  if (seen === undefined) return {};
  if (seen.kind === 'failed') {
    telemetry.line('queue.no-stats', { code: seen.code, detail: seen.detail });
    return {};
  }
  return {
    'queue-dead': seen.dead,
    'queue-available': seen.available,
    'queue-in-flight': seen.inFlight,
    ...(seen.oldestAgeMs === undefined ? {} : { 'queue-oldest-age-ms': seen.oldestAgeMs }),
  };
};
