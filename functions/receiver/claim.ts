/** Taking the right to make one attempt, with everything in hand that the attempt will need. */

import type { WriteId } from '../core/ids.ts';
import type { AcceptedEvent, Destination } from '../core/items.ts';
import { LEASE_OVER_TIMEOUT_MS, SKEW_MARGIN_MS } from '../core/limits.ts';
import type { Claimed, Delivery } from '../core/model.ts';
import { transition } from '../steps/transition.ts';
import { later, type Verdict, verdictOf } from './answer.ts';
import { eventOf } from './event-of.ts';
import { type Passed, rulesOf } from './gate.ts';
import type { Receiver, Run } from './run.ts';

export interface ClaimMade {
  readonly kind: 'claimed';
  readonly row: Claimed;
  readonly event: AcceptedEvent;
  readonly config: Destination;
  /** What the gate let it pass with: the re-check asks whether it still holds. */
  readonly passed: Passed;
}

export type ClaimResult = ClaimMade | { readonly kind: 'answered'; readonly verdict: Verdict };

/** What must remain of the invocation beside the attempt itself: the writes before it and the settle after it. */
const BESIDE_ATTEMPT_MS = LEASE_OVER_TIMEOUT_MS - SKEW_MARGIN_MS;

export const claim = async (world: Receiver, run: Run, row: Delivery, passed: Passed): Promise<ClaimResult> => {
  const { config, claimId } = passed;
  if (run.remainingMs() < config.timeoutMs + BESIDE_ATTEMPT_MS) {
    return { kind: 'answered', verdict: later('no-time', 'the attempt could not end before this invocation') };
  }
  const found = await eventOf(world, run, row);
  if (found.kind === 'answered') return found;
  const result = await transition(world, row, {
    kind: 'claim',
    claimId,
    holder: run.id,
    rules: rulesOf(config),
    writeId: world.dice.id() as WriteId,
    cause: run.cause,
  });
  // Applied, but the row has moved on since: a rival has already closed this claim, so nothing may be sent under it.
  const ours = result.kind === 'applied' && result.row.status === 'claimed' && result.row.claim.id === claimId;
  if (ours && result.row.status === 'claimed') {
    return { kind: 'claimed', row: result.row, event: found.event, config, passed };
  }
  return { kind: 'answered', verdict: verdictOf(result) };
};
