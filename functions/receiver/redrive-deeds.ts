/**
 * What can be done with one message of an operation. Each deed may be done again after a crash: the machine knows the
 * operation, the queue knows the letter, and an event is accepted once.
 */
import { DELIVERED, isOfHeld } from '../core/finding.ts';
import type { WriteId } from '../core/ids.ts';
import type { RefusalCode } from '../core/inputs.ts';
import { causeOf } from '../core/journal.ts';
import { publishKeyOf } from '../core/keys.ts';
import { deliverBody, readMessage } from '../core/message.ts';
import type { Delivery, DeliveryRef } from '../core/model.ts';
import type { Operation, OperationMessage, ResultKind } from '../core/operations.ts';
import type { Submission } from '../core/submission.ts';
import { type DeadLetter, type Done, PortUnavailable } from '../ports.ts';
import { type Accepted, accept, type Source } from '../steps/accept.ts';
import { publishDelivery } from '../steps/effects.ts';
import type { Look } from '../steps/redrive-look.ts';
import { transition } from '../steps/transition.ts';
import { filePoison } from './poison.ts';
import type { Receiver } from './run.ts';

/** One turn at work. */
export interface Scene {
  readonly world: Receiver;
  readonly operation: Operation;
  readonly look: Look;
  /** Joined to every message that this turn chooses. */
  readonly batch: number;
}

/** Members of a message that say what was done, and what came of it where that is certain at once. */
export type Doing = Partial<Pick<OperationMessage, 'finding' | 'detail' | 'action' | 'result'>>;

export type Deed = { readonly kind: 'done'; readonly doing: Doing } | Extract<Done, { kind: 'failed' }>;

const done = (doing: Doing): Deed => ({ kind: 'done', doing });

export const refOf = ({ event, destination }: OperationMessage): DeliveryRef | undefined =>
  event === undefined || destination === undefined ? undefined : { event, destination };

export const act = (
  scene: Scene,
  message: OperationMessage,
  row: Delivery | undefined,
  letter: DeadLetter | undefined,
): Promise<Deed> => {
  switch (message.finding) {
    case 'redrive':
      return redriveOne(scene, message, row, letter);
    case 'drop':
      return discard(scene, message, letter, { action: 'discarded', result: resultOfDrop(message.detail) });
    case 'over-budget':
      return quarantine(scene, message, row, letter);
    case 'accept':
      return letter === undefined ? putBack(scene, message, undefined, '') : acceptLetter(scene, message, letter);
    case 'poison':
      return letter === undefined ? putBack(scene, message, undefined, '') : fileLetter(scene, message, letter);
    case 'in-flight':
    case 'key-expired':
    case 'second-effect':
    case 'foreign':
    case 'unknown':
    case 'paused':
      return Promise.resolve(done({ action: 'left', result: 'held' }));
  }
};

const redriveOne = async (
  scene: Scene,
  message: OperationMessage,
  seen: Delivery | undefined,
  letter: DeadLetter | undefined,
): Promise<Deed> => {
  const row = seen ?? (await loadRow(scene, message));
  if (row === undefined)
    return done({ finding: 'unknown', detail: 'its row cannot be read', action: 'left', result: 'held' });
  // As it was when it was chosen: a delivery that this very redrive has led into the quarantine is not taken out again.
  if (scene.operation.source === 'dead-letters' && !isOfHeld(message.detail)) {
    return putBack(scene, message, letter, deliverBody(row.event, row.destination));
  }
  const cause = causeOf('operation', scene.operation.operation);
  // By the machine's own input, named after the operation: the same operation again is one redrive.
  const writeId = scene.world.dice.id() as WriteId;
  const { acceptSecondEffect, source } = scene.operation;
  const input = { kind: 'redrive', grant: 0, acceptSecondEffect, writeId, cause } as const;
  const result = await transition(scene.world, row, input);
  if (result.kind === 'refused') return done(refusedAs(result.code));
  if (result.kind !== 'applied' && result.kind !== 'kept') {
    return done({ finding: 'unknown', detail: 'its row cannot be read', action: 'left', result: 'held' });
  }
  // It had come through before, but perhaps not its message: the same plan again, under the same key.
  const { row: now } = result;
  if (result.kind === 'kept' && now.status === 'pending' && !now.parking) {
    await publishDelivery(scene.world, now, { kind: 'publish', version: now.version, dueAtMs: now.dueAtMs });
  }
  return source === 'quarantine'
    ? done({ action: 'requeued' })
    : discard(scene, message, letter, { action: 'requeued' });
};

/** The row has moved between the look and the deed. Nothing was changed. */
const refusedAs = (code: RefusalCode): Doing => {
  const left = (finding: OperationMessage['finding'], detail: string, result: ResultKind): Doing => ({
    finding,
    detail,
    action: 'left',
    result,
  });
  switch (code) {
    case 'live-claim':
      return left('in-flight', 'claimed right now', 'held');
    case 'not-quarantined':
      return left('drop', 'no longer held', 'dropped');
    case 'already-delivered':
      return left('drop', DELIVERED, 'deduplicated');
    case 'already-cancelled':
      return left('drop', 'cancelled', 'dropped');
    case 'over-budget':
    case 'life-bound':
      return left('over-budget', 'the bound of its life is reached', 'held');
    case 'second-effect':
      return left('second-effect', 'an attempt may have arrived', 'held');
  }
};

const loadRow = async ({ world }: Scene, message: OperationMessage): Promise<Delivery | undefined> => {
  const ref = refOf(message);
  if (ref === undefined) return undefined;
  const found = await world.ledger.load({ item: 'delivery', ...ref });
  return found.kind === 'found' ? found.item : undefined;
};

/** Back on the main queue, under its own id, where the normal worker applies all its rules. */
const putBack = async (
  { world }: Scene,
  { messageId }: OperationMessage,
  letter: DeadLetter | undefined,
  body: string,
): Promise<Deed> => {
  const target = letter ?? { messageId: messageId ?? '', body: new TextEncoder().encode(body) };
  const result = await world.deadLetters.redrive(target);
  return result.kind === 'failed' ? result : done({ action: 'requeued' });
};

const discard = async (
  { world }: Scene,
  { messageId }: OperationMessage,
  letter: DeadLetter | undefined,
  doing: Doing,
): Promise<Deed> => {
  const result = await world.deadLetters.discard(letter ?? { messageId: messageId ?? '' });
  return result.kind === 'failed' ? result : done(doing);
};

/** A row that is not held yet is held by its own next claim: it is asked for, and the letter has done its work. */
const quarantine = async (
  scene: Scene,
  message: OperationMessage,
  seen: Delivery | undefined,
  letter: DeadLetter | undefined,
): Promise<Deed> => {
  const row = seen ?? (await loadRow(scene, message));
  if (row?.status === 'pending' || row?.status === 'claimed') {
    // One try: if it fails, the row's own look-after does the same.
    await scene.world.queue.publish({
      key: publishKeyOf('redrive-claim', message.operation, message.position),
      body: deliverBody(row.event, row.destination),
      delaySec: 0,
    });
  }
  return discard(scene, message, letter, { action: 'discarded', result: 'held' });
};

const acceptLetter = async (scene: Scene, message: OperationMessage, letter: DeadLetter): Promise<Deed> => {
  const { world } = scene;
  const read = readMessage(letter.body, world.clock.nowMs());
  if (read.kind !== 'message' || read.message.kind !== 'event') {
    return done({
      finding: 'unknown',
      detail: 'the letter is not the one of the plan',
      action: 'left',
      result: 'held',
    });
  }
  const source = { kind: 'queue', cause: causeOf('operation', message.operation) } as const;
  const accepted = await acceptedBy(world, read.message.submission, source);
  switch (accepted.kind) {
    case 'failed':
      return accepted;
    case 'accepted':
      return discard(scene, message, letter, { action: 'discarded', result: 'accepted' });
    case 'conflict':
      return discard(scene, message, letter, { action: 'discarded', result: 'dropped' });
    case 'unknown-destination':
    case 'not-from-queue':
      return done({
        detail: `needs destination ${accepted.destination}`,
        action: 'left',
        result: 'held',
      });
  }
};

/** One event that newer code has a hand in must not stop the run; a ledger that is away stops it all by itself. */
const acceptedBy = async (
  world: Receiver,
  ...asked: readonly [Submission, Source]
): Promise<Accepted | Extract<Done, { kind: 'failed' }>> => {
  try {
    return await accept(world, ...asked);
  } catch (error) {
    if (!(error instanceof PortUnavailable)) throw error;
    return { kind: 'failed', code: 'unavailable', detail: error.message };
  }
};

const fileLetter = async (scene: Scene, message: OperationMessage, letter: DeadLetter): Promise<Deed> => {
  const verdict = await filePoison(scene.world, letter.body, letter.messageId, message.detail);
  if (verdict.kind !== 'ack') return { kind: 'failed', code: 'poison-overflow', detail: 'too many in this minute' };
  return discard(scene, message, letter, { action: 'discarded', result: 'dropped' });
};

export const resultOfDrop = (detail: string): ResultKind => (detail === DELIVERED ? 'deduplicated' : 'dropped');
