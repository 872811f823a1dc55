/** The heartbeat of a sweep: its lease over a shard, and the record of what its last pass did and saw. */
import type { DestinationId } from '../core/ids.ts';
import type { Heartbeat, QueueSeen } from '../core/items.ts';
import { SWEEP_LEASE_MS } from '../core/limits.ts';
import type { Message } from '../core/message.ts';
import type { Found } from '../ports.ts';
import type { Receiver, Run } from './run.ts';

export interface Pass {
  looked: number;
  published: number;
  moved: number;
  largestOverdueMs: number;
  failed: number;
  /** Parked rows met so far of each destination that may open by itself. */
  readonly probed: Map<DestinationId, number>;
}

const NOTHING_DONE = { looked: 0, published: 0, moved: 0, largestOverdueMs: 0 } as const;

const doneIn = ({ looked, published, moved, largestOverdueMs }: Heartbeat) => ({
  looked,
  published,
  moved,
  largestOverdueMs,
});

/** `busy` while another holder's lease is live; `unleased` where the record is not ours to write. */
export const takeShard = async (
  world: Receiver,
  run: Run,
  { shard, tick }: Pick<Extract<Message, { kind: 'sweep' }>, 'shard' | 'tick'>,
): Promise<Heartbeat | 'busy' | 'unleased'> => {
  const nowMs = world.clock.nowMs();
  const found = await world.ledger.load({ item: 'heartbeat', shard });
  if (found.kind === 'later') {
    // Newer code has kept the record, and is perhaps gone again. Two chains at once do no harm; none at all would.
    world.telemetry.count('row-of-later-format');
    return 'unleased';
  }
  const before = found.kind === 'found' ? found.item : undefined;
  if (before !== undefined && before.leaseEndsAtMs > nowMs) return 'busy';
  const next: Heartbeat = {
    item: 'heartbeat',
    version: (before?.version ?? 0) + 1,
    shard,
    holder: run.id,
    // The lease of a dead pass ends before the next tick, however often this world ticks.
    leaseEndsAtMs: nowMs + Math.floor(Math.min(SWEEP_LEASE_MS, world.tickMs * 0.75)),
    passAtMs: before?.passAtMs ?? nowMs,
    // All pages of one tick are one pass, and a repeated message of it adds nothing that was not done.
    ...(before?.tick === tick ? doneIn(before) : NOTHING_DONE),
    tick,
    ...(before?.queue === undefined ? {} : { queue: before.queue }),
    carried: before?.carried ?? {},
  };
  const written = before
    ? await world.ledger.replace<Heartbeat>(before, next)
    : await world.ledger.create<Heartbeat>(next);
  return written.kind === 'written' || isOurs(written.present, next) ? next : 'busy';
};

/**
 * A lost answer is not a lost race: who stands there may be this very run. Two runs of one message never take each other
 * for themselves, as the name of a run is drawn anew for every push, and not made from the message.
 */
const isOurs = (present: Found<Heartbeat>, { holder, version }: Heartbeat): boolean =>
  present.kind === 'found' && present.item.holder === holder && present.item.version === version;

/** Over by every clock: the next page may meet one that is behind. */
const LEASE_OVER_MS = 0;

const added = (beat: Heartbeat, pass: Pass) => ({
  looked: beat.looked + pass.looked,
  published: beat.published + pass.published,
  moved: beat.moved + pass.moved,
  largestOverdueMs: Math.max(beat.largestOverdueMs, pass.largestOverdueMs),
});

/** Gives what the queue said of itself, where this pass has asked. */
export const endPass = async (
  world: Receiver,
  beat: Heartbeat,
  pass: Pass,
  asksQueue: boolean,
): Promise<QueueSeen | undefined> => {
  const asked = asksQueue ? await seen(world) : undefined;
  const queue = asked ?? beat.queue;
  const nowMs = world.clock.nowMs();
  await world.ledger.replace<Heartbeat>(beat, {
    ...beat,
    ...added(beat, pass),
    version: beat.version + 1,
    leaseEndsAtMs: LEASE_OVER_MS,
    passAtMs: nowMs,
    ...(queue === undefined ? {} : { queue }),
  });
  world.telemetry.count('sweep-passed');
  // A pass that found nothing is in the heartbeat; the log is for passes that did something.
  const { probed: _met, ...numbers } = pass;
  if (pass.looked > 0) world.telemetry.line('sweep.passed', { shard: beat.shard, run: beat.holder, ...numbers });
  return asked;
};

/**
 * Ends the lease of a pass that has failed: its message comes again within seconds, and would find its own shard busy.
 * What was done counts, and that the shard was passed over is not said. Why the pass failed is what its caller has to
 * tell, so nothing is thrown here: what cannot be written is left to the end of the lease.
 */
export const abandonPass = async (world: Receiver, beat: Heartbeat, pass: Pass): Promise<void> => {
  try {
    const next = { ...beat, ...added(beat, pass), version: beat.version + 1, leaseEndsAtMs: LEASE_OVER_MS };
    await world.ledger.replace<Heartbeat>(beat, next);
  } catch (error) {
    const detail = error instanceof Error ? error.message : String(error);
    world.telemetry.line('sweep.not-abandoned', { shard: beat.shard, run: beat.holder, detail });
  }
};

const seen = async (world: Receiver): Promise<QueueSeen | undefined> => {
  const stats = await world.deadLetters.stats();
  if (stats.kind === 'failed') {
    world.telemetry.line('queue.no-stats', { code: stats.code, detail: stats.detail });
    return undefined;
  }
  const { kind: _kind, ...numbers } = stats;
  return numbers;
};
