/**
 * What the reconciler sees of the others, once a tick: whether sweeps pass, how late the latest row is, and what a queue
 * that has no metrics of its own says of itself. It stands outside of the path that it watches: a receiver that is dead
 * cannot say so.
 *
 *   heartbeats --> sweep-age-ms, largest-overdue-ms      nothing said where one was never written: missing data alarms
 *              --> a notice where no sweep has passed for minutes: somebody may want to be told
 *   queue      --> queue-dead, queue-available, queue-in-flight, queue-oldest-age-ms
 */
import type { Heartbeat } from '../core/items.ts';
import { DUE_SHARDS } from '../core/limits.ts';
import type { Measures } from '../core/metrics.ts';
import { noticeKey, silentFact } from '../core/notice.ts';
import { type DeadLetters, LedgerCorrupt, PortUnavailable, type World } from '../ports.ts';
import { publishNotice } from '../steps/notices.ts';
import { type Ticked, tick } from './tick.ts';

export interface Watching extends Pick<World, 'ledger' | 'clock' | 'telemetry'> {
  /** Only where the transport keeps no metrics that an alarm could stand on. */
  readonly stats?: DeadLetters['stats'];
}

/** The tick first: what is seen of the others must not hold it up, or stop it. */
export const reconcile = async (world: Watching & Pick<World, 'queue'>, tickMs: number): Promise<Ticked> => {
  const ticked = await tick(world, tickMs);
  const beats = await watch(world);
  if (beats !== undefined) await tellSilence(world, beats);
  return ticked;
};

/** Said at every tick, under a key that is the same for a quarter of an hour. Who is to be told, the receiver knows. */
const tellSilence = async (
  world: Pick<World, 'queue' | 'telemetry' | 'clock'>,
  beats: readonly Heartbeat[],
): Promise<void> => {
  const nowMs = world.clock.nowMs();
  const fact = silentFact(beats, nowMs);
  if (fact === undefined) return;
  const occasion = { notice: { kind: 'sweep-silent' }, sinceMs: fact.atMs } as const;
  await publishNotice(world, occasion, noticeKey(occasion, nowMs));
};

/** Never throws for a port that is away: then there is no number, which is an alarm by itself. Gives the heartbeats. */
export const watch = async (world: Watching): Promise<readonly Heartbeat[] | undefined> => {
  const [beats, queue] = await Promise.all([beatsSeen(world), queueSeen(world)]);
  const measures = { ...(beats === undefined ? {} : sweepsOf(beats, world.clock.nowMs())), ...queue };
  if (Object.keys(measures).length > 0) world.telemetry.line('watched', {}, measures);
  return beats;
};

/** Undefined where one was never written, or nobody could read it. */
const beatsSeen = async ({ ledger, telemetry }: Watching): Promise<readonly Heartbeat[] | undefined> => {
  try {
    const shards = Array.from({ length: DUE_SHARDS }, (_, shard) => shard);
    const found = await Promise.all(shards.map((shard) => ledger.load({ item: 'heartbeat', shard })));
    const beats = found.flatMap((one) => (one.kind === 'found' ? [one.item] : []));
    // One of a later format is kept by newer code, which watches it as well.
    const isWhole = beats.length === found.filter(({ kind }) => kind !== 'later').length;
    return isWhole && beats.length > 0 ? beats : undefined;
  } catch (error) {
    if (!(error instanceof PortUnavailable) && !(error instanceof LedgerCorrupt)) throw error;
    telemetry.line('heartbeats.not-read', { detail: error.message });
    return undefined;
  }
};

const sweepsOf = (beats: readonly Heartbeat[], nowMs: number): Measures => ({
  'sweep-age-ms': Math.max(0, ...beats.map(({ passAtMs }) => nowMs - passAtMs)),
  'largest-overdue-ms': Math.max(0, ...beats.map(({ largestOverdueMs }) => largestOverdueMs)),
});

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
