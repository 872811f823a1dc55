/**
 * Looking after the rows of one shard whose time has come. The index only says where to look: every row is loaded, and
 * the machine decides from the row. A sweep sends nothing and changes no outcome; it publishes and puts off the next
 * look.
 */
import { viewGate } from '../core/gate.ts';
import type { SweepInput } from '../core/inputs.ts';
import type { Heartbeat } from '../core/items.ts';
import { deliveryKeyText } from '../core/keys.ts';
import { SWEEP_LEASE_MS, SWEEP_PAGE_MS, SWEEP_PAGE_ROWS } from '../core/limits.ts';
import type { Delivery, DeliveryRef } from '../core/model.ts';
import { phaseOf } from '../core/phase.ts';
import { type Found, LedgerCorrupt } from '../ports.ts';
import { transition } from '../steps/transition.ts';
import { ack, type Verdict } from './answer.ts';
import type { Receiver, Run } from './run.ts';

interface Pass {
  looked: number;
  published: number;
  moved: number;
  largestOverdueMs: number;
}

export const sweep = async (world: Receiver, run: Run, shard: number, tick: number): Promise<Verdict> => {
  const beat = await takeLease(world, run, shard);
  if (beat === undefined) return ack('busy');
  const pass: Pass = { looked: 0, published: 0, moved: 0, largestOverdueMs: 0 };
  const endsAtMs = world.clock.nowMs() + Math.min(SWEEP_PAGE_MS, world.tickMs / 3);
  // Rows that were handled have moved out of the page, so there is no cursor. Those that cannot be handled (broken, or of
  // a later format) stay at its head: the page grows by their number, so that they never hide the rest.
  const stuck = new Set<string>();
  for (let more = true; more; ) {
    const limit = SWEEP_PAGE_ROWS + stuck.size;
    const page = await world.pages.due(shard, world.clock.nowMs(), limit);
    const rows = page.filter((row) => !stuck.has(deliveryKeyText(row.event, row.destination)));
    const late = (): boolean => world.clock.nowMs() >= endsAtMs;
    for (const row of rows) {
      if (late()) break;
      pass.largestOverdueMs = Math.max(pass.largestOverdueMs, world.clock.nowMs() - row.lookAfterMs);
      if (!(await lookAt(world, row, tick, pass))) stuck.add(deliveryKeyText(row.event, row.destination));
    }
    more = page.length >= limit && !late();
  }
  await finish(world, beat, pass);
  return ack('swept');
};

/** True if the row has moved, or was never really here. */
const lookAt = async (world: Receiver, ref: DeliveryRef, tick: number, pass: Pass): Promise<boolean> => {
  const found = await loadRow(world, ref);
  pass.looked += 1;
  if (found.kind !== 'found') return false;
  const row = found.item;
  const phase = phaseOf(row, world.clock.nowMs());
  const input: SweepInput =
    phase === 'parked' ? { kind: 'sweep', tick, gate: await gateOf(world, ref) } : { kind: 'sweep', tick };
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

const gateOf = async (world: Receiver, ref: DeliveryRef): Promise<'open' | 'closed'> => {
  const { config, gate } = await world.ledger.loadDestination(ref.destination);
  const view = viewGate(config, gate, world.clock.nowMs(), world.dice.draw());
  // A row whose destination is gone is published too: the receiver ends it by name.
  return view.kind === 'open' || view.kind === 'no-destination' ? 'open' : 'closed';
};

/** One chain of passes a shard: undefined while another holder's lease is live. */
const takeLease = async (world: Receiver, run: Run, shard: number): Promise<Heartbeat | undefined> => {
  const nowMs = world.clock.nowMs();
  const found = await world.ledger.load({ item: 'heartbeat', shard });
  if (found.kind === 'later') return undefined;
  if (found.kind === 'found' && found.item.leaseEndsAtMs > nowMs) return undefined;
  const next: Heartbeat = {
    item: 'heartbeat',
    version: (found.kind === 'found' ? found.item.version : 0) + 1,
    shard,
    holder: run.id,
    // The lease of a dead pass ends before the next tick, however often this world ticks.
    leaseEndsAtMs: nowMs + Math.min(SWEEP_LEASE_MS, world.tickMs * 0.75),
    passAtMs: found.kind === 'found' ? found.item.passAtMs : nowMs,
    largestOverdueMs: found.kind === 'found' ? found.item.largestOverdueMs : 0,
    looked: 0,
    published: 0,
    moved: 0,
    carried: found.kind === 'found' ? found.item.carried : {},
  };
  const written =
    found.kind === 'found'
      ? await world.ledger.replace<Heartbeat>(found.item, next)
      : await world.ledger.create<Heartbeat>(next);
  return written.kind === 'written' ? next : undefined;
};

const finish = async (world: Receiver, beat: Heartbeat, pass: Pass): Promise<void> => {
  const nowMs = world.clock.nowMs();
  await world.ledger.replace<Heartbeat>(beat, {
    ...beat,
    ...pass,
    version: beat.version + 1,
    leaseEndsAtMs: nowMs,
    passAtMs: nowMs,
  });
  world.telemetry.count('sweep-passed');
  // A pass that found nothing is in the heartbeat; the log is for passes that did something.
  if (pass.looked > 0) world.telemetry.line('sweep.passed', { shard: beat.shard, run: beat.holder, ...pass });
};
