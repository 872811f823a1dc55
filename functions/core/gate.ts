/**
 * What stands between a due delivery and its destination, judged from settings and gate as they were read together.
 *
 *            paused by a person                         --> park
 *            paused by the breaker, its time come,
 *              and not closed                           --> probe: one delivery may try
 *   gate --  closed for over 15 minutes                 --> park
 *            closed for less                            --> wait for a slot behind the end
 *            open, but a rate or a number of places     --> open, with what has to be asked for first
 *            open                                       --> open
 */
import type { Destination, Gate, Pause } from './items.ts';
import {
  CLOSED_PARKS_MS,
  CROWDED_PLACES,
  DELAY_FLOOR_MS,
  DRAIN_PER_SECOND_DEFAULT,
  JITTER_SHARE,
  PLACE_WAIT_MS_MAX,
  SLOT_GOOD_MS,
} from './limits.ts';
import type { Delivery, ParkReason } from './model.ts';

/** As `Found` of the ledger's port; the core knows no ports. */
type Read<T> =
  | { readonly kind: 'found'; readonly item: T }
  | { readonly kind: 'absent' }
  | { readonly kind: 'later'; readonly format: number };

export type GateView =
  | {
      readonly kind: 'open';
      readonly config: Destination;
      /** In which line its deliveries stand. */
      readonly line: number;
      /** Attempts it may have at once; undefined: as many as there are workers. */
      readonly places: number | undefined;
      /** It has failed since its last success: the next success is worth a write. */
      readonly failing: boolean;
    }
  | {
      readonly kind: 'probe';
      readonly config: Destination;
      /** It needs one too: a person may open the destination while it is under way. */
      readonly places: number | undefined;
    }
  | {
      readonly kind: 'park';
      readonly config: Destination;
      readonly reason: ParkReason;
      /** When it may open by itself; undefined: when a person says so. */
      readonly opensAtMs: number | undefined;
      /** Paused by the breaker, and nothing else stands in the way: the one that has taken the probe may go. */
      readonly probeOnly: boolean;
    }
  | { readonly kind: 'wait'; readonly config: Destination; readonly line: number; readonly untilMs: number }
  | { readonly kind: 'no-destination' }
  /** Settings or gate were written by newer code: whatever they say, this code must not act on them. */
  | { readonly kind: 'newer'; readonly format: number };

export const viewGate = (config: Read<Destination>, gate: Read<Gate>, nowMs: number): GateView => {
  if (config.kind === 'later') return { kind: 'newer', format: config.format };
  if (gate.kind === 'later') return { kind: 'newer', format: gate.format };
  if (config.kind === 'absent' || config.item.deletedAtMs !== undefined) return { kind: 'no-destination' };
  return viewOf(config.item, gate.kind === 'found' ? gate.item : undefined, nowMs);
};

const viewOf = (config: Destination, gate: Gate | undefined, nowMs: number): GateView => {
  const untilMs = gate?.closedUntilMs ?? 0;
  if (gate?.pause) return viewPaused(config, gate, gate.pause, nowMs);
  if (untilMs - nowMs > CLOSED_PARKS_MS) return parkView(config, 'closed', untilMs, false);
  const line = lineOf(config, gate);
  if (untilMs > nowMs) return { kind: 'wait', config, line, untilMs };
  const failing = (gate?.failures?.count ?? 0) > 0;
  return { kind: 'open', config, line, places: placesOf(config, gate, nowMs), failing };
};

/**
 * All deliveries of a destination stand in one line, whatever they wait for: its rate holds for all of them together.
 * New settings and a resume begin a new line, and slots of an earlier one are good no more: they were given at another
 * rate, or behind a closing that was lifted. Both numbers only grow, so their sum names the line and its order.
 */
const lineOf = (config: Destination, gate: Gate | undefined): number => config.version + (gate?.resumes ?? 0);

/** A closing holds for the probe too: the destination has said itself when it wants to hear of us again. */
const viewPaused = (config: Destination, gate: Gate, { probeAtMs }: Pause, nowMs: number): GateView => {
  const { closedUntilMs = 0 } = gate;
  if (probeAtMs === undefined) return parkView(config, 'paused', undefined, false);
  const isClosed = closedUntilMs > nowMs;
  if (probeAtMs <= nowMs && !isClosed) return { kind: 'probe', config, places: placesOf(config, gate, nowMs) };
  return parkView(config, 'paused', Math.max(probeAtMs, closedUntilMs), !isClosed);
};

const parkView = (
  config: Destination,
  reason: ParkReason,
  opensAtMs: number | undefined,
  probeOnly: boolean,
): GateView => ({ kind: 'park', config, reason, opensAtMs, probeOnly });

const placesOf = (config: Destination, gate: Gate | undefined, nowMs: number): number | undefined => {
  const crowded = (gate?.crowdedUntilMs ?? 0) > nowMs;
  if (!crowded) return config.concurrency;
  return Math.min(config.concurrency ?? CROWDED_PLACES, CROWDED_PLACES);
};

/** From one slot to the next, where deliveries have to be let go one after another. */
export const slotStepMs = (config: Pick<Destination, 'ratePerSecond'>): number =>
  1_000 / (config.ratePerSecond ?? DRAIN_PER_SECOND_DEFAULT);

/** The slot that the row was given in this line, if it comes in it: a slot is asked for once, and kept. */
export const slotOf = (row: Delivery, line: number, nowMs: number): number | undefined => {
  if (row.status !== 'pending' || row.deferral?.line !== line) return undefined;
  const { untilMs } = row.deferral;
  return nowMs >= untilMs && nowMs <= untilMs + SLOT_GOOD_MS ? untilMs : undefined;
};

/** How long to wait for a place, after so many waits: 1, 2, 4 ... 30 seconds, each with up to a fifth added. */
export const placeWaitMs = (row: Delivery, draw: number): number => {
  const waits = row.status === 'pending' ? (row.waits?.count ?? 0) : 0;
  const waitMs = Math.min(DELAY_FLOOR_MS * 2 ** Math.min(waits, 10), PLACE_WAIT_MS_MAX);
  return Math.ceil(waitMs * (1 + JITTER_SHARE * draw));
};
