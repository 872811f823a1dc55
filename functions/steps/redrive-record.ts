/** The record of an operation in the ledger: reading it, changing it by swap, and asking for its next turn. */

import { publishKeyOf } from '../core/keys.ts';
import { SWAP_TRIES_MAX } from '../core/limits.ts';
import { redriveBody } from '../core/message.ts';
import type { Operation, OperationMessage } from '../core/operations.ts';
import { PortUnavailable, type World, type Written } from '../ports.ts';
import { notPublished } from './not-published.ts';

type Needs = Pick<World, 'ledger'>;

const PAGE = 500;

/** Of a finding's detail, which may quote a message. */
export const DETAIL_CHARS_MAX = 200;

/** Messages of the plan from this position on, to its end or to the limit. */
export const loadMessages = async (
  world: Needs,
  operation: string,
  from: number,
  limit: number,
): Promise<readonly OperationMessage[]> => {
  const messages: OperationMessage[] = [];
  while (messages.length < limit) {
    const next = (messages.at(-1)?.position ?? from - 1) + 1;
    const page = await world.ledger.loadOperationMessages(operation, next, Math.min(PAGE, limit - messages.length));
    if (page.length === 0) break;
    messages.push(...page);
  }
  return messages;
};

/** All that the operation has in its plan. What stands behind its end was left there by a plan that came too late. */
export const loadPlan = async (
  world: Needs,
  { operation, messages }: Pick<Operation, 'operation' | 'messages'>,
): Promise<readonly OperationMessage[]> => {
  const all = await loadMessages(world, operation, 0, messages);
  return all.filter(({ position }) => position < messages);
};

/** Gives what is to stand there, or undefined where nothing is to be written. */
type Change<T> = (read: T) => T | undefined;

const swap = async <T extends { readonly version: number }>(
  read: T,
  change: Change<T>,
  replace: (read: T, next: T) => Promise<Written<T>>,
): Promise<T | undefined> => {
  let present = read;
  for (let tries = 0; tries < SWAP_TRIES_MAX; tries += 1) {
    const changed = change(present);
    if (changed === undefined) return present;
    const next = { ...changed, version: present.version + 1 };
    const written = await replace(present, next);
    if (written.kind === 'written') return next;
    if (written.present.kind !== 'found') return undefined;
    present = written.present.item;
  }
  return undefined;
};

/** Both give what stands there afterwards. */
export const changeMessage = async (
  world: Needs,
  read: OperationMessage,
  change: Change<OperationMessage>,
): Promise<OperationMessage> => {
  const present = await swap(read, change, (from, to) => world.ledger.replace<OperationMessage>(from, to));
  if (present !== undefined) return present;
  throw new PortUnavailable('ledger', `message ${read.position} of operation ${read.operation} kept changing`);
};

export const changeOperation = async (world: Needs, read: Operation, change: Change<Operation>): Promise<Operation> => {
  const present = await swap(read, change, (from, to) => world.ledger.replace<Operation>(from, to));
  if (present !== undefined) return present;
  throw new PortUnavailable('ledger', `operation ${read.operation} kept changing`);
};

/**
 * Throws where the queue does not take it: the message of this turn then comes back, or the caller repeats. A repeat of
 * one turn has the same key; whoever takes the run up again counts a new turn.
 */
export const enqueueTurn = async (
  world: Pick<World, 'queue' | 'telemetry'>,
  { operation, nextToAct }: Pick<Operation, 'operation' | 'nextToAct'>,
  turn: number,
  delaySec: number,
): Promise<void> => {
  const published = await world.queue.publish({
    key: publishKeyOf('redrive', operation, turn),
    body: redriveBody(operation, nextToAct, turn),
    delaySec,
  });
  if (published.kind === 'published') return;
  notPublished(world.telemetry, { operation, turn }, published);
  throw new PortUnavailable('queue', `turn ${turn} of operation ${operation} could not be enqueued: ${published.code}`);
};
