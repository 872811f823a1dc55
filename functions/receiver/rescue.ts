/**
 * A dead letter that is a whole event may be its only copy: the producer handed it to the queue and has nothing else.
 * It died because the ledger was away for longer than the queue's three tries, so the sweep takes it in, some at a time.
 * All other dead letters are a person's business and are left where they are.
 */
import { causeOf } from '../core/journal.ts';
import { RESCUE_LEASE_SEC, RESCUE_LETTERS } from '../core/limits.ts';
import { readMessage } from '../core/message.ts';
import { type DeadLetter, LedgerCorrupt, PortUnavailable } from '../ports.ts';
import { accept } from '../steps/accept.ts';
import type { Receiver } from './run.ts';

export const rescueEvents = async (world: Receiver): Promise<void> => {
  const read = await world.deadLetters.read(RESCUE_LETTERS, RESCUE_LEASE_SEC);
  if (read.kind === 'failed') return;
  for (const letter of read.letters) await rescueSafely(world, letter);
};

/** One letter whose destination cannot be read must not keep the others. */
const rescueSafely = async (world: Receiver, letter: DeadLetter): Promise<void> => {
  try {
    await rescue(world, letter);
  } catch (error) {
    if (!(error instanceof PortUnavailable) && !(error instanceof LedgerCorrupt)) throw error;
    world.telemetry.line('event.not-rescued', { messageId: letter.messageId, detail: error.message });
  }
};

const rescue = async (world: Receiver, letter: DeadLetter): Promise<void> => {
  const message = readMessage(letter.body, world.clock.nowMs());
  if (message.kind !== 'message' || message.message.kind !== 'event') return;
  const { submission } = message.message;
  const accepted = await accept(world, submission, { kind: 'queue', cause: causeOf('queue', letter.messageId) });
  // What cannot be taken in as it is stays whole in the dead letters.
  if (accepted.kind !== 'accepted' && accepted.kind !== 'conflict') return;
  const discarded = await world.deadLetters.discard(letter);
  world.telemetry.count('event-rescued');
  world.telemetry.line('event.rescued', {
    event: submission.event,
    messageId: letter.messageId,
    accepted: accepted.kind,
    discarded: discarded.kind,
  });
};
