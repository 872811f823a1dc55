/** The event that an attempt would carry, as it was accepted. */
import { payloadHash } from '../core/fingerprint.ts';
import type { WriteId } from '../core/ids.ts';
import type { AcceptedEvent } from '../core/items.ts';
import type { Delivery } from '../core/model.ts';
import { transition } from '../steps/transition.ts';
import { ack, type Verdict, verdictOf } from './answer.ts';
import type { Receiver, Run } from './run.ts';

export type EventFound =
  | { readonly kind: 'found'; readonly event: AcceptedEvent }
  | { readonly kind: 'answered'; readonly verdict: Verdict };

/** A delivery whose payload is gone, or not the accepted one any more, is refused. Throws `LedgerCorrupt` for a broken event. */
export const eventOf = async (world: Receiver, run: Run, row: Delivery): Promise<EventFound> => {
  const found = await world.ledger.load({ item: 'event', event: row.event });
  if (found.kind === 'later') {
    world.telemetry.count('row-of-later-format');
    return { kind: 'answered', verdict: ack('row-of-later-format') };
  }
  if (found.kind === 'found' && payloadHash(found.item.payload) === row.payloadHash) {
    return { kind: 'found', event: found.item };
  }
  world.telemetry.count('payload-changed');
  const writeId = world.dice.id() as WriteId;
  const refused = await transition(world, row, {
    kind: 'refuse',
    reason: 'payload-changed',
    writeId,
    cause: run.cause,
  });
  return { kind: 'answered', verdict: verdictOf(refused) };
};
