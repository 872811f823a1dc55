/**
 * Looking after the rows of one shard whose time has come.
 *
 *   tick --> page 0 --> (rows are left) --> page 1 --> ... --> the shard has nothing that is late
 *              |
 *              +-- lease of the shard's heartbeat: one chain at a time; each page ends its own, also when it fails, and
 *                  that of a dead one ends before the next tick
 *
 * The index only says where to look: every row is loaded, and the machine decides from the row. A sweep sends nothing
 * and changes no outcome; it publishes and puts off the next look. A pass goes through the late rows once, in their
 * order: those that were handled have a later time by then, and those that cannot be (broken, of a later format, met
 * through an old entry) are left behind, so that they never hide the rest.
 */
import { viewGate } from '../core/gate.ts';
import type { SweepInput } from '../core/inputs.ts';
import type { Heartbeat, QueueSeen } from '../core/items.ts';
import { publishKeyOf } from '../core/keys.ts';
import {
  PROBE_EVERY_MS,
  PROBE_KEEPERS,
  PROBE_TURN_MS,
  SWEEP_AT_ONCE,
  SWEEP_PAGE_MS,
  SWEEP_PAGE_ROWS,
  SWEEP_QUERIES_MAX,
} from '../core/limits.ts';
import { endsUnsent } from '../core/machine.ts';
import { type Message, sweepBody } from '../core/message.ts';
import type { Delivery, DeliveryRef } from '../core/model.ts';
import { phaseOf } from '../core/phase.ts';
import { RESCUE_EVERY_TICKS } from '../core/rescue-limits.ts';
import { type DueRow, LedgerCorrupt, PortUnavailable } from '../ports.ts';
import { notPublished } from '../steps/not-published.ts';
import { transition } from '../steps/transition.ts';
import { ack, type Verdict } from './answer.ts';
import { rulesOf, takeSlot } from './gate.ts';
import { abandonPass, endPass, type Pass, takeShard } from './heartbeat.ts';
import { rescueEvents } from './rescue.ts';
import type { Receiver, Run } from './run.ts';

type SweepMessage = Extract<Message, { kind: 'sweep' }>;

export const sweep = async (world: Receiver, run: Run, message: SweepMessage): Promise<Verdict> => {
  const beat = await takeShard(world, run, message);
  if (beat === 'busy') return ack('busy');
  const pass: Pass = { looked: 0, published: 0, moved: 0, largestOverdueMs: 0, failed: 0, probed: new Map() };
  const { more, queue } = await passOver(world, message, beat, pass);
  if (more) await enqueueNext(world, message);
  if (queue !== undefined && queue.dead > 0 && message.tick % RESCUE_EVERY_TICKS === 0) await rescueEvents(world);
  return ack('swept');
};

/** What the queue says of itself is asked by one page of a tick. */
const passOver = async (
  world: Receiver,
  message: SweepMessage,
  beat: Heartbeat | 'unleased',
  pass: Pass,
): Promise<{ more: boolean; queue?: QueueSeen | undefined }> => {
  const endsAtMs = world.clock.nowMs() + Math.min(SWEEP_PAGE_MS, world.tickMs / 3);
  if (beat === 'unleased') return { more: await sweepPage(world, message, pass, endsAtMs) };
  try {
    const more = await sweepPage(world, message, pass, endsAtMs);
    return { more, queue: await endPass(world, beat, pass, message.page === 0 && message.shard === 0) };
  } catch (error) {
    await abandonPass(world, beat, pass);
    throw error;
  }
};

/** True if rows are left that this pass had no time for. Rows that were handled lie ahead; those that stay lie behind. */
const sweepPage = async (world: Receiver, message: SweepMessage, pass: Pass, endsAtMs: number): Promise<boolean> => {
  const untilMs = world.clock.nowMs();
  let after: DueRow | undefined;
  for (let queries = 0; queries < SWEEP_QUERIES_MAX; queries += 1) {
    const rows = await world.pages.due(message.shard, untilMs, SWEEP_PAGE_ROWS, after);
    if (rows.length === 0) return false;
    for (let at = 0; at < rows.length; at += SWEEP_AT_ONCE) {
      if (world.clock.nowMs() >= endsAtMs) return true;
      const batch = rows.slice(at, at + SWEEP_AT_ONCE);
      await Promise.all(batch.map((row) => lookSafely(world, row, message.tick, pass)));
    }
    after = rows.at(-1);
  }
  return true;
};

type Gated = Pick<SweepInput, 'gate' | 'slotAtMs' | 'line' | 'opensAtMs'>;

/** If this publish fails, the next tick begins where this pass has ended. */
const enqueueNext = async (world: Receiver, { shard, tick, page }: SweepMessage): Promise<void> => {
  const published = await world.queue.publish({
    key: publishKeyOf('sweep', shard, tick, page + 1),
    body: sweepBody(shard, tick, page + 1),
    delaySec: 0,
  });
  if (published.kind === 'failed') notPublished(world.telemetry, { shard, tick, page: page + 1 }, published);
};

/** One broken item, of the row or of its destination, must not hide all the others of the shard. */
const lookSafely = async (world: Receiver, ref: DueRow, tick: number, pass: Pass): Promise<void> => {
  try {
    await lookAt(world, ref, tick, pass);
  } catch (error) {
    if (!(error instanceof LedgerCorrupt) && !(error instanceof PortUnavailable)) throw error;
    if (error instanceof LedgerCorrupt) world.telemetry.count('ledger-corrupt');
    pass.failed += 1;
    world.telemetry.line('sweep.row-failed', { ...nameFields(ref), detail: error.message });
    // A ledger that is away fails for every row: the pass ends, and the next tick is the retry.
    if (error instanceof PortUnavailable && pass.failed > PASS_FAILURES_MAX) throw error;
  }
};

const PASS_FAILURES_MAX = 20;

const nameFields = ({ event, destination }: DeliveryRef) => ({ event, destination });

const lookAt = async (world: Receiver, ref: DueRow, tick: number, pass: Pass): Promise<void> => {
  pass.looked += 1;
  const found = await world.ledger.load({ item: 'delivery', event: ref.event, destination: ref.destination });
  if (found.kind === 'later') world.telemetry.count('row-of-later-format');
  if (found.kind !== 'found') return;
  const row = found.item;
  if (row.status === 'pending' || row.status === 'claimed') {
    pass.largestOverdueMs = Math.max(pass.largestOverdueMs, world.clock.nowMs() - row.lookAfterMs);
  }
  const phase = phaseOf(row, world.clock.nowMs());
  const input: SweepInput = { kind: 'sweep', tick, ...(phase === 'parked' ? await gateOf(world, row, pass) : {}) };
  const result = await transition(world, row, input);
  if (result.kind !== 'applied') return;
  pass.moved += 1;
  if (phase !== 'live' && input.gate !== 'closed') pass.published += 1;
};

/**
 * What the gate says for a parked row. Rows that go get a slot each, or the sweep itself would be the burst. Of those
 * that wait for a probe, one goes now and some look again at the next one; the others have their hour. Those that can
 * make no attempt any more go too, and are no probe.
 */
const gateOf = async (world: Receiver, row: Delivery, pass: Pass): Promise<Gated> => {
  const { config, gate } = await world.ledger.loadDestination(row.destination);
  const nowMs = world.clock.nowMs();
  const view = viewGate(config, gate, nowMs);
  switch (view.kind) {
    case 'open':
      // A probe of this very pass has opened it, and with it the drain that lets the others go.
      if (pass.probed.has(row.destination)) return { gate: 'closed', opensAtMs: nowMs + PROBE_EVERY_MS };
      return { gate: 'open', slotAtMs: await takeSlot(world, row, view, nowMs), line: view.line };
    case 'wait':
      return { gate: 'open', slotAtMs: await takeSlot(world, row, view, view.untilMs), line: view.line };
    case 'probe': {
      if (endsUnsent(row, rulesOf(view.config), nowMs)) return { gate: 'open' };
      const met = pass.probed.get(row.destination) ?? 0;
      pass.probed.set(row.destination, met + 1);
      const nextMs = nowMs + PROBE_EVERY_MS;
      // Should it lose its turn, break, or meet a clock that is behind, it looks again at the next probe, the last of those.
      if (met === 0) return { gate: 'open', opensAtMs: nextMs + PROBE_TURN_MS };
      return met < PROBE_KEEPERS ? { gate: 'closed', opensAtMs: nextMs } : { gate: 'closed' };
    }
    case 'park': {
      const met = pass.probed.get(row.destination) ?? 0;
      pass.probed.set(row.destination, met + 1);
      const keeps = view.reason === 'closed' || met < PROBE_KEEPERS;
      return view.opensAtMs === undefined || !keeps
        ? { gate: 'closed' }
        : { gate: 'closed', opensAtMs: view.opensAtMs };
    }
    // The receiver ends by name what has lost its destination.
    case 'no-destination':
      return { gate: 'open' };
    case 'newer':
      return { gate: 'closed' };
  }
};
