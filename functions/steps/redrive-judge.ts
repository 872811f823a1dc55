/** Writing down what came of a message of an operation, once its row, or the ledger, says so. */
import { OTHER_CONTENT } from '../core/finding.ts';
import type { EventId } from '../core/ids.ts';
import { awaitsResult, type Judgement, judge, judgedByMs } from '../core/judge.ts';
import { poisonName } from '../core/keys.ts';
import type { Delivery } from '../core/model.ts';
import type { OperationMessage, ResultKind } from '../core/operations.ts';
import { LedgerCorrupt, type World } from '../ports.ts';
import { changeMessage } from './redrive-record.ts';

type Needs = Pick<World, 'ledger' | 'clock'>;

/** A message without an outcome is called open once its time is over; until then it stays as it is. */
export const judgeMessage = async (world: Needs, message: OperationMessage): Promise<OperationMessage> => {
  if (!awaitsResult(message) && message.result !== 'open') return message;
  const row = await rowOf(world, message);
  const judgement = await judgementOf(world, message, row);
  const nowMs = world.clock.nowMs();
  const isEarly = judgement.result === 'open' && nowMs < judgedByMs(message.actedAtMs ?? nowMs, row);
  if (isEarly || judgement.result === message.result) return message;
  return changeMessage(world, message, (read) =>
    awaitsResult(read) || read.result === 'open' ? { ...read, ...judgement, judgedAtMs: nowMs } : undefined,
  );
};

const rowOf = async (world: Needs, { event, destination }: OperationMessage): Promise<Delivery | undefined> => {
  if (event === undefined || destination === undefined) return undefined;
  try {
    const found = await world.ledger.load({ item: 'delivery', event, destination });
    return found.kind === 'found' ? found.item : undefined;
  } catch (error) {
    // It cannot be read: as long as nobody has repaired it, nobody can say what came of it.
    if (error instanceof LedgerCorrupt) return undefined;
    throw error;
  }
};

const judgementOf = async (
  world: Needs,
  { finding, detail, event, messageId, attemptsBefore }: OperationMessage,
  row: Delivery | undefined,
): Promise<Judgement> => {
  if (finding === 'accept' && event !== undefined) {
    return { result: (await isAccepted(world, event)) ? resultOfAccept(detail) : 'open' };
  }
  if (finding === 'poison' && messageId !== undefined)
    return { result: (await isFiled(world, messageId)) ? 'dropped' : 'open' };
  return row === undefined ? { result: 'open' } : judge(row, attemptsBefore ?? 0);
};

/** The event and all its deliveries stand. */
export const isAccepted = async (world: Pick<World, 'ledger'>, event: EventId): Promise<boolean> => {
  const items = await world.ledger.loadEvent(event);
  const standing = new Set(items.flatMap((item) => (item.item === 'delivery' ? [item.destination] : [])));
  const known = items.find((item) => item.item === 'event');
  return known?.destinations.every((destination) => standing.has(destination)) ?? false;
};

/** The event that stands there may be another one: then the message has only left its evidence. */
export const resultOfAccept = (detail: string): ResultKind => (detail === OTHER_CONTENT ? 'dropped' : 'accepted');

/** The receiver files a senseless message under its id on the queue. */
export const isFiled = async (world: Pick<World, 'ledger'>, messageId: string): Promise<boolean> =>
  (await world.ledger.load({ item: 'poison', id: poisonName(messageId, '') })).kind !== 'absent';
