/**
 * A push becomes one effect.
 *
 *   verify -> unwrap -> read message -+- deliver: load, gate, claim, attempt, settle
 *                                     +- event:   accept, as intake does
 *                                     +- sweep:   look after the rows of a shard
 *                                     +- drain:   publish what is parked, at a rate
 *                                     +- redrive: act on the next messages of an operation
 *                                     +- notice:  tell those who want to know
 *                                     +- newer:   503, the queue keeps it
 *                                     +- senseless: poison item, 2xx
 */
import { causeOf } from '../core/journal.ts';
import { REMAINING_MS_MIN } from '../core/limits.ts';
import { type Message, readMessage } from '../core/message.ts';
import type { Delivery, DeliveryRef } from '../core/model.ts';
import { isRecent, noticesOfRow } from '../core/notice.ts';
import { phaseOf } from '../core/phase.ts';
import type { Submission } from '../core/submission.ts';
import { BadCursor, type HeaderGetter, LedgerCorrupt, PortUnavailable } from '../ports.ts';
import { accept } from '../steps/accept.ts';
import { brokenItem } from '../steps/broken-item.ts';
import { raise } from '../steps/notices.ts';
import { releasePlace } from '../steps/places.ts';
import { ack, later, type Verdict } from './answer.ts';
import { attempt } from './attempt.ts';
import { claim } from './claim.ts';
import { drain } from './drain.ts';
import { comesEarly, meetsClaim } from './early.ts';
import { passGate } from './gate.ts';
import { tellNotice } from './notice.ts';
import { filePoison } from './poison.ts';
import { redrive } from './redrive.ts';
import type { Receiver, Run } from './run.ts';
import { settle } from './settle.ts';
import { sweep } from './sweep.ts';

export interface PushRequest {
  readonly header: HeaderGetter;
  readonly body: Uint8Array;
  /** Names the invocation; one per push. */
  readonly runId: string;
  remainingMs(): number;
}

export const receive = async (world: Receiver, push: PushRequest): Promise<Verdict> => {
  const verified = world.push.verify(push.header, push.body, world.clock.nowMs());
  if (verified.kind === 'refused') {
    world.telemetry.count('push-unauthentic');
    return { kind: 'unauthentic', code: verified.code };
  }
  if (push.remainingMs() < REMAINING_MS_MIN) return later('no-time', 'this invocation is about to end');
  try {
    return await receiveAuthentic(world, push);
  } catch (error) {
    if (error instanceof LedgerCorrupt) return corrupt(world, push.runId, error);
    if (!(error instanceof PortUnavailable)) throw error;
    world.telemetry.count('ledger-unavailable');
    world.telemetry.line('push.later', { run: push.runId, port: error.port, detail: error.message });
    return later('ledger-unavailable', `the ${error.port} is out of reach at the moment`);
  }
};

/** Broken data is a person's to repair. The item stays where it is, and every sweep that meets it says so again. */
const corrupt = (world: Receiver, runId: string, error: LedgerCorrupt): Verdict => {
  brokenItem(world.telemetry, { run: runId }, error);
  return later('ledger-corrupt', 'an item of the ledger is broken; it has been logged');
};

const receiveAuthentic = async (world: Receiver, push: PushRequest): Promise<Verdict> => {
  const unwrapped = world.push.unwrap(push.body, push.header);
  const messageId = unwrapped.messageId;
  if (unwrapped.kind === 'senseless') return filePoison(world, push.body, messageId, unwrapped.reason);
  const read = readMessage(unwrapped.body, world.clock.nowMs());
  if (read.kind === 'senseless') return filePoison(world, push.body, messageId, read.reason);
  if (read.kind === 'newer') {
    world.telemetry.count('push-newer');
    return later('newer-message', read.reason);
  }
  const run: Run = {
    id: push.runId,
    cause: causeOf('push', messageId ?? push.runId),
    ...(messageId === undefined ? {} : { messageId }),
    remainingMs: push.remainingMs,
  };
  try {
    return await dispatch(world, run, read.message, push.body);
  } catch (error) {
    // Only the list itself can tell: no list of ours has given it out, so nobody of ours has sent this message.
    if (!(error instanceof BadCursor)) throw error;
    return filePoison(world, push.body, messageId, 'cursor is not one that this list gave out');
  }
};

const dispatch = async (world: Receiver, run: Run, message: Message, body: Uint8Array): Promise<Verdict> => {
  switch (message.kind) {
    case 'deliver':
      return deliver(world, run, { event: message.event, destination: message.destination }, body);
    case 'event':
      return acceptMessage(world, run, message.submission);
    case 'sweep':
      return sweep(world, run, message);
    case 'drain':
      return drain(world, run, message);
    case 'redrive':
      return redrive(world, run, message);
    case 'notice':
      return tellNotice(world, run, message.notice);
  }
};

/**
 * A whole event from the queue: accepted as intake does. One that names a destination it may not use is refused, not
 * filed: it may be the only copy, and the queue's dead letters keep it whole, where an excerpt would not.
 */
const acceptMessage = async (world: Receiver, run: Run, submission: Submission): Promise<Verdict> => {
  const accepted = await accept(world, submission, { kind: 'queue', cause: run.cause });
  switch (accepted.kind) {
    case 'accepted':
      return ack('accepted');
    case 'conflict':
      return ack('conflict');
    case 'unknown-destination':
    case 'not-from-queue':
      world.telemetry.count('event-message-refused');
      return later('not-acceptable', `${accepted.kind}: ${accepted.destination}`);
  }
};

export const deliver = async (world: Receiver, run: Run, ref: DeliveryRef, body: Uint8Array): Promise<Verdict> => {
  const found = await world.ledger.load({ item: 'delivery', event: ref.event, destination: ref.destination });
  if (found.kind === 'later') {
    world.telemetry.count('row-of-later-format');
    return ack('row-of-later-format');
  }
  // A row stands before its first message is published, so a reference to nothing is not a matter of time.
  if (found.kind === 'absent') return filePoison(world, body, run.messageId, 'names a delivery that does not exist');
  const row = found.item;
  switch (phaseOf(row, world.clock.nowMs())) {
    case 'delivered':
    case 'cancelled':
      return ack('done');
    case 'quarantined':
      return held(world, row);
    case 'live':
      // A live row is a claimed one, an early row a pending one.
      return row.status === 'claimed' ? meetsClaim(world, run, row) : ack('busy');
    case 'early':
      return row.status === 'pending' ? comesEarly(world, run, row) : ack('early');
    case 'due':
    case 'parked':
    case 'lapsed':
      return deliverClaimable(world, run, row);
  }
};

/** Its push comes again where whoever has put it into quarantine died before it could say so. */
const held = async (world: Receiver, row: Delivery): Promise<Verdict> => {
  const isFresh = row.status === 'quarantined' && isRecent(row.endedAtMs, world.clock.nowMs());
  if (isFresh) await raise(world, noticesOfRow(row));
  return ack('held');
};

const deliverClaimable = async (world: Receiver, run: Run, row: Delivery): Promise<Verdict> => {
  const gate = await passGate(world, run, row);
  if (gate.kind === 'answered') return gate.verdict;
  try {
    const claimed = await claim(world, run, row, gate);
    if (claimed.kind === 'answered') return claimed.verdict;
    const made = await attempt(world, run, claimed);
    return await settle(world, run, claimed, made);
  } finally {
    if (gate.place) await releasePlace(world, gate.place);
  }
};
