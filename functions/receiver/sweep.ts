/**
 * Looking after the rows of one shard whose time has come.
 *
 *   tick --> page 0 --> (rows are left) --> page 1 --> ... --> the shard has nothing that is late
 *              |
 *              +-- lease of the shard's heartbeat: one chain at a time; a dead one's ends before the next tick
 *
 * The index only says where to look: every row is loaded, and the machine decides from the row. A sweep sends nothing
 * and changes no outcome; it publishes and puts off the next look. Rows that were handled have moved out of the page,
 * so there is no cursor. Those that stay (broken, of a later format, met through an old entry) stand at its head: the page
 * grows by their number, so that they never hide the rest.
 */
import { slotStepMs, viewGate } from '../core/gate.ts';
import type { SweepInput } from '../core/inputs.ts';
import { deliveryKeyText, publishKeyOf } from '../core/keys.ts';
import { RESCUE_EVERY_TICKS, SWEEP_AT_ONCE, SWEEP_PAGE_MS, SWEEP_PAGE_ROWS } from '../core/limits.ts';
import { type Message, sweepBody } from '../core/message.ts';
import type { Delivery, DeliveryRef } from '../core/model.ts';
import { phaseOf } from '../core/phase.ts';
import { type Found, LedgerCorrupt } from '../ports.ts';
import { transition } from '../steps/transition.ts';
import { ack, type Verdict } from './answer.ts';
import { endPass, type Pass, takeShard } from './heartbeat.ts';
import { rescueEvents } from './rescue.ts';
import type { Receiver, Run } from './run.ts';

type SweepMessage = Extract<Message, { kind: 'sweep' }>;

export const sweep = async (world: Receiver, run: Run, message: SweepMessage): Promise<Verdict> => {
  const beat = await takeShard(world, run, message.shard);
  if (beat === undefined) return ack('busy');
  const pass: Pass = { looked: 0, published: 0, moved: 0, largestOverdueMs: 0 };
  const endsAtMs = world.clock.nowMs() + Math.min(SWEEP_PAGE_MS, world.tickMs / 3);
  const more = await sweepPage(world, message, pass, endsAtMs);
  const queue = await endPass(world, beat, pass, message.page === 0 && message.shard === 0);
  if (queue !== undefined && queue.dead > 0 && message.tick % RESCUE_EVERY_TICKS === 0) await rescueEvents(world);
  if (more) await enqueueNext(world, message);
  return ack('swept');
};

/** True if rows are left that this pass had no time for. */
const sweepPage = async (world: Receiver, message: SweepMessage, pass: Pass, endsAtMs: number): Promise<boolean> => {
  const stuck = new Set<string>();
  const isLate = (): boolean => world.clock.nowMs() >= endsAtMs;
  for (;;) {
    const limit = SWEEP_PAGE_ROWS + stuck.size;
    const page = await world.pages.due(message.shard, world.clock.nowMs(), limit);
    const rows = page.filter((row) => !stuck.has(nameOf(row)));
    for (let at = 0; at < rows.length; at += SWEEP_AT_ONCE) {
      if (isLate()) return true;
      const batch = rows.slice(at, at + SWEEP_AT_ONCE);
      const moved = await Promise.all(batch.map((row) => lookAt(world, row, message.tick, pass)));
      batch.forEach((row, index) => {
        if (!moved[index]) stuck.add(nameOf(row));
      });
    }
    if (page.length < limit) return false;
  }
};

const nameOf = (ref: DeliveryRef): string => deliveryKeyText(ref.event, ref.destination);

/** If this publish fails, the next tick begins where this pass has ended. */
const enqueueNext = async (world: Receiver, { shard, tick, page }: SweepMessage): Promise<void> => {
  await world.queue.publish({
    key: publishKeyOf('sweep', shard, tick, page + 1),
    body: sweepBody(shard, tick, page + 1),
    delaySec: 0,
  });
};

/** True if the row has moved out of the page. */
const lookAt = async (
  world: Receiver,
  ref: DeliveryRef & { readonly lookAfterMs: number },
  tick: number,
  pass: Pass,
): Promise<boolean> => {
  pass.looked += 1;
  const found = await loadRow(world, ref);
  if (found.kind !== 'found') return false;
  const row = found.item;
  if (row.status === 'pending' || row.status === 'claimed') {
    pass.largestOverdueMs = Math.max(pass.largestOverdueMs, world.clock.nowMs() - row.lookAfterMs);
  }
  const phase = phaseOf(row, world.clock.nowMs());
  const input: SweepInput = { kind: 'sweep', tick, ...(phase === 'parked' ? await gateOf(world, ref) : {}) };
  const result = await transition(world, row, input);
  if (result.kind !== 'applied') return false;
  pass.moved += 1;
  if (phase !== 'live' && input.gate !== 'closed') pass.published += 1;
  return true;
};

const loadRow = async (world: Receiver, ref: DeliveryRef): Promise<Found<Delivery>> => {
  try {
    const found = await world.ledger.load({ item: 'delivery', event: ref.event, destination: ref.destination });
    if (found.kind === 'later') world.telemetry.count('row-of-later-format');
    return found;
  } catch (error) {
    if (!(error instanceof LedgerCorrupt)) throw error;
    world.telemetry.count('ledger-corrupt');
    world.telemetry.line('ledger.corrupt', { detail: error.message });
    return { kind: 'absent' };
  }
};

/** Parked rows are let go one slot after another, or the sweep itself would be the burst. */
const gateOf = async (world: Receiver, ref: DeliveryRef): Promise<Pick<SweepInput, 'gate' | 'publishAtMs'>> => {
  const { config, gate } = await world.ledger.loadDestination(ref.destination);
  const nowMs = world.clock.nowMs();
  const view = viewGate(config, gate, nowMs);
  switch (view.kind) {
    case 'open':
      return { gate: 'open', publishAtMs: await world.pace.take(ref.destination, nowMs, slotStepMs(view.config)) };
    // The receiver decides who is the probe, and ends by name what has lost its destination.
    case 'probe':
    case 'no-destination':
      return { gate: 'open' };
    case 'park':
    case 'wait':
    case 'newer':
      return { gate: 'closed' };
  }
};
