/** Whether a destination can be called now. Judged from settings and gate as they were read together. */

import type { Destination, Gate } from './items.ts';
import { CLOSED_PARKS_MS } from './limits.ts';
import type { ParkReason } from './model.ts';

/** As `Found` of the ledger's port; the core knows no ports. */
type Read<T> =
  | { readonly kind: 'found'; readonly item: T }
  | { readonly kind: 'absent' }
  | { readonly kind: 'later'; readonly format: number };

export type GateView =
  | { readonly kind: 'open'; readonly config: Destination }
  | { readonly kind: 'park'; readonly config: Destination; readonly reason: ParkReason }
  | { readonly kind: 'wait'; readonly config: Destination; readonly untilMs: number }
  | { readonly kind: 'no-destination' }
  /** Settings or gate were written by newer code: whatever they say, this code must not act on them. */
  | { readonly kind: 'newer'; readonly format: number };

/**
 * `draw` spreads the deliveries that wait for a closed destination over the first second after its end, so that they
 * do not arrive as one burst.
 */
export const viewGate = (config: Read<Destination>, gate: Read<Gate>, nowMs: number, draw: number): GateView => {
  if (config.kind === 'later') return { kind: 'newer', format: config.format };
  if (gate.kind === 'later') return { kind: 'newer', format: gate.format };
  if (config.kind === 'absent' || config.item.deletedAtMs !== undefined) return { kind: 'no-destination' };
  const settings = config.item;
  if (gate.kind === 'absent') return { kind: 'open', config: settings };
  const { pause, closedUntilMs } = gate.item;
  if (pause) return { kind: 'park', config: settings, reason: 'paused' };
  if (closedUntilMs === undefined || closedUntilMs <= nowMs) return { kind: 'open', config: settings };
  if (closedUntilMs - nowMs > CLOSED_PARKS_MS) return { kind: 'park', config: settings, reason: 'closed' };
  return { kind: 'wait', config: settings, untilMs: closedUntilMs + Math.ceil(draw * 1_000) };
};
