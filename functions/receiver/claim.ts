/** Taking the right to make one attempt, with everything in hand that the attempt will need. */

import { payloadHash } from '../core/fingerprint.ts';
import type { WriteId } from '../core/ids.ts';
import type { AcceptedEvent, Destination } from '../core/items.ts';
import { LEASE_OVER_TIMEOUT_MS, SKEW_MARGIN_MS } from '../core/limits.ts';
import type { Claimed, Delivery } from '../core/model.ts';
import { transition } from '../steps/transition.ts';
import { ack, later, type Verdict } from './answer.ts';
import { type Passed, rulesOf, verdictOf } from './gate.ts';
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
  const found = await world.ledger.load({ item: 'event', event: row.event });
  if (found.kind === 'later') {
    world.telemetry.count('row-of-later-format');
    return { kind: 'answered', verdict: ack('row-of-later-format') };
  }
  const intact = found.kind === 'found' && payloadHash(found.item.payload) === row.payloadHash;
  const recorded = { writeId: world.dice.id() as WriteId, cause: run.cause };
  if (!intact) {
    world.telemetry.count('payload-changed');
    const refused = await transition(world, row, { kind: 'refuse', reason: 'payload-changed', ...recorded });
    return { kind: 'answered', verdict: verdictOf(refused) };
  }
  const result = await transition(world, row, {
    kind: 'claim',
    claimId,
    holder: run.id,
    rules: rulesOf(config),
    ...recorded,
  });
  // Applied, but the row has moved on since: a rival has already closed this claim, so nothing may be sent under it.
  const ours = result.kind === 'applied' && result.row.status === 'claimed' && result.row.claim.id === claimId;
  if (ours && result.row.status === 'claimed') {
    return { kind: 'claimed', row: result.row, event: found.item, config, passed };
  }
  return { kind: 'answered', verdict: verdictOf(result) };
};
