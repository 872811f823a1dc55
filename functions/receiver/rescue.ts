/**
 * A dead letter that is a whole event may be its only copy: the producer handed it to the queue and has nothing else.
 * It died because the ledger was away for longer than the queue's three tries, so the sweep takes it in.
 * All other dead letters are a person's business and are left where they are.
 */
import { causeOf } from '../core/journal.ts';
import { readMessage } from '../core/message.ts';
import { RESCUE_LEASE_SEC, RESCUE_LETTERS_MAX, RESCUE_MS, RESCUE_PAGE_LETTERS } from '../core/rescue-limits.ts';
import { type DeadLetter, LedgerCorrupt, PortUnavailable } from '../ports.ts';
import { accept } from '../steps/accept.ts';
import type { Receiver } from './run.ts';

/**
 * Page after page, until one brings nothing new: an event may lie behind any number of other letters. What is left is
 * given back at the end and not before, or the next page would be the same one again.
 */
export const rescueEvents = async (world: Receiver): Promise<void> => {
  const endsAtMs = world.clock.nowMs() + RESCUE_MS;
  const isOver = (): boolean => world.clock.nowMs() >= endsAtMs;
  const met = new Set<string>();
  const left: { handle: string }[] = [];
  while (met.size < RESCUE_LETTERS_MAX && !isOver()) {
    const read = await world.deadLetters.read(RESCUE_PAGE_LETTERS, RESCUE_LEASE_SEC);
    const unmet = read.kind === 'failed' ? [] : read.letters.filter(({ messageId }) => !met.has(messageId));
    if (unmet.length === 0) break;
    for (const letter of unmet) {
      met.add(letter.messageId);
      const isGone = !isOver() && (await rescueSafely(world, letter));
      if (!isGone && letter.handle !== undefined) left.push({ handle: letter.handle });
    }
  }
  if (left.length > 0) await world.deadLetters.release(left);
};

/** True if the letter is gone. One whose destination cannot be read must not keep the others. */
const rescueSafely = async (world: Receiver, letter: DeadLetter): Promise<boolean> => {
  try {
    return await rescue(world, letter);
  } catch (error) {
    if (!(error instanceof PortUnavailable) && !(error instanceof LedgerCorrupt)) throw error;
    world.telemetry.line('event.not-rescued', { messageId: letter.messageId, detail: error.message });
    return false;
  }
};

const rescue = async (world: Receiver, letter: DeadLetter): Promise<boolean> => {
  const message = readMessage(letter.body, world.clock.nowMs());
  if (message.kind !== 'message' || message.message.kind !== 'event') return false;
  const { submission } = message.message;
  const accepted = await accept(world, submission, { kind: 'queue', cause: causeOf('queue', letter.messageId) });
  // What cannot be taken in as it is stays whole in the dead letters.
  if (accepted.kind !== 'accepted' && accepted.kind !== 'conflict') return false;
  const discarded = await world.deadLetters.discard(letter);
  world.telemetry.count('event-rescued');
  world.telemetry.line('event.rescued', {
    event: submission.event,
    messageId: letter.messageId,
    accepted: accepted.kind,
    discarded: discarded.kind,
  });
  return discarded.kind === 'done';
};
