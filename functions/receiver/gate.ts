/**
 * The gate of a destination, asked only for a row that could be claimed. It spends no budget, never sleeps here, and
 * never refuses the push: whoever cannot go now waits in the ledger, once, with a time or a reason.
 */
import { type GateView, placeWaitMs, slotOf, slotStepMs, viewGate } from '../core/gate.ts';
import type { ClaimId, WriteId } from '../core/ids.ts';
import type { Input, Rules } from '../core/inputs.ts';
import type { Destination, Slot } from '../core/items.ts';
import {
  DELAY_FLOOR_MS,
  leaseMsOf,
  PLACE_ASK_STEP_MS,
  PROBE_EVERY_MS,
  RATE_BURST_MS,
  SLOT_GOOD_MS,
} from '../core/limits.ts';
import { endsUnsent } from '../core/machine.ts';
import type { Deferral, Delivery, DeliveryRef, ParkReason } from '../core/model.ts';
import type { PaceLine } from '../ports.ts';
import { takeProbe } from '../steps/gate.ts';
import { takePlace } from '../steps/places.ts';
import { transition } from '../steps/transition.ts';
import { ack, type Verdict, verdictOf } from './answer.ts';
import { eventOf } from './event-of.ts';
import type { Receiver, Run } from './run.ts';

export interface Passed {
  readonly kind: 'passed';
  readonly config: Destination;
  /** The claim that will be made: it already holds the place, if there is one. */
  readonly claimId: ClaimId;
  readonly place?: Slot;
  /** The latest instant at which its slot of the rate is good, where there is a rate. */
  readonly slotEndsAtMs?: number;
  /** The one attempt that a breaker lets through. */
  readonly probe: boolean;
}

export type GatePassed = Passed | { readonly kind: 'answered'; readonly verdict: Verdict };

export const rulesOf = (config: Destination): Rules => ({
  repeatSafe: config.repeatSafe,
  keyLifeHours: config.keyLifeHours,
  scheduleSec: config.scheduleSec,
  timeoutMs: config.timeoutMs,
  mode: config.mode,
});

export const passGate = async (world: Receiver, run: Run, row: Delivery): Promise<GatePassed> => {
  const { config, gate } = await world.ledger.loadDestination(row.destination);
  const view = viewGate(config, gate, world.clock.nowMs());
  switch (view.kind) {
    case 'open':
      return passOpen(world, run, row, view);
    case 'probe':
      return passProbe(world, run, row, view);
    case 'park':
      return park(world, run, row, view.config, view.reason, view.opensAtMs);
    case 'wait': {
      const { untilMs, line } = view;
      const slotMs = await takeSlot(world, row, view, untilMs);
      return defer(world, run, row, view.config, { reason: 'closed', untilMs: slotMs, line });
    }
    case 'newer':
      world.telemetry.count('row-of-later-format');
      return { kind: 'answered', verdict: ack('row-of-later-format') };
    case 'no-destination':
      return answered(world, row, { kind: 'refuse', reason: 'no-destination', ...recorded(world, run) });
  }
};

/** The rate first: a slot is kept by the row, a place would be held for nothing while it waits for one. */
const passOpen = async (
  world: Receiver,
  run: Run,
  row: Delivery,
  view: Extract<GateView, { kind: 'open' }>,
): Promise<GatePassed> => {
  const { config, line, places } = view;
  let slot: Pick<Passed, 'slotEndsAtMs'> = {};
  if (config.ratePerSecond !== undefined) {
    const nowMs = world.clock.nowMs();
    const slotMs = slotOf(row, line, nowMs) ?? (await takeSlot(world, row, view, nowMs));
    if (slotMs > nowMs + RATE_BURST_MS)
      return defer(world, run, row, config, { reason: 'rate', untilMs: slotMs, line });
    slot = { slotEndsAtMs: slotMs + SLOT_GOOD_MS };
  }
  const inPlace = await passed(world, config, places, false);
  if (inPlace !== undefined) return { ...inPlace, ...slot };
  return defer(world, run, row, config, { reason: 'concurrency', untilMs: await nextAskMs(world, row) });
};

/** The time of the probe moves on last: whoever can make no attempt must not keep it from those who can. */
const passProbe = async (
  world: Receiver,
  run: Run,
  row: Delivery,
  { config, places }: Extract<GateView, { kind: 'probe' }>,
): Promise<GatePassed> => {
  if (endsUnsent(row, rulesOf(config), world.clock.nowMs())) return endUnsent(world, run, row, config);
  const event = await eventOf(world, run, row);
  if (event.kind === 'answered') return event;
  const mayTry = await takeProbe(world, row.destination);
  const inPlace = mayTry ? await passed(world, config, places, true) : undefined;
  return inPlace ?? park(world, run, row, config, 'paused', world.clock.nowMs() + PROBE_EVERY_MS);
};

/** The next slot in the line of the destination, at its rate. */
export const takeSlot = (
  world: Receiver,
  { destination }: DeliveryRef,
  { line, config }: Extract<GateView, { kind: 'open' | 'wait' }>,
  fromMs: number,
): Promise<number> => world.pace.take(destination, { kind: 'rate', number: line }, fromMs, slotStepMs(config));

/** Its own wait, and its turn among all that wait for the same destination. */
const nextAskMs = async (world: Receiver, row: Delivery): Promise<number> => {
  const nowMs = world.clock.nowMs();
  const turnMs = await world.pace.take(row.destination, ASKING, nowMs + DELAY_FLOOR_MS, PLACE_ASK_STEP_MS);
  return Math.max(turnMs, nowMs + placeWaitMs(row, world.dice.draw()));
};

const ASKING: PaceLine = { kind: 'places', number: 0 };

/** With a place, where the destination gives out places; undefined: all of them are taken. */
const passed = async (
  world: Receiver,
  config: Destination,
  places: number | undefined,
  probe: boolean,
): Promise<Passed | undefined> => {
  const claimId = world.dice.id() as ClaimId;
  if (places === undefined) return { kind: 'passed', config, claimId, probe };
  const place = await takePlace(world, config.destination, places, claimId, leaseMsOf(config.timeoutMs));
  if (place !== undefined) return { kind: 'passed', config, claimId, place, probe };
  world.telemetry.count('places-full');
  return undefined;
};

const recorded = (world: Receiver, run: Run) => ({ writeId: world.dice.id() as WriteId, cause: run.cause });

const park = (
  world: Receiver,
  run: Run,
  row: Delivery,
  config: Destination,
  reason: ParkReason,
  opensAtMs: number | undefined,
) =>
  answered(world, row, {
    kind: 'park',
    reason,
    rules: rulesOf(config),
    ...(opensAtMs === undefined ? {} : { opensAtMs }),
    ...recorded(world, run),
  });

/** Nothing will be sent, so there is nothing to learn of the destination: the row ends here, or is held. */
const endUnsent = (world: Receiver, run: Run, row: Delivery, config: Destination): Promise<GatePassed> =>
  answered(world, row, {
    kind: 'claim',
    claimId: world.dice.id() as ClaimId,
    holder: run.id,
    rules: rulesOf(config),
    mayAttempt: false,
    ...recorded(world, run),
  });

const defer = (
  world: Receiver,
  run: Run,
  row: Delivery,
  config: Destination,
  deferral: Deferral,
): Promise<GatePassed> =>
  answered(world, row, {
    kind: 'defer',
    ...deferral,
    untilMs: Math.ceil(deferral.untilMs),
    rules: rulesOf(config),
    ...recorded(world, run),
  });

const answered = async (world: Receiver, row: Delivery, input: Input): Promise<GatePassed> => ({
  kind: 'answered',
  verdict: verdictOf(await transition(world, row, input)),
});
