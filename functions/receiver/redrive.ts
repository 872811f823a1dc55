/**
 * One turn of an operation that redrives.
 *
 *   run --turn 1--> judge the batch --too many failures--> stopped
 *            ^          |  +--outcomes are missing-------> looked at again in a few seconds
 *            |          +--judged--> act on the next ones, at most a batch of them sent
 *            |                          +--none left-----> done: counted against the statistics
 *            +------- next turn enqueued, then this one acknowledged
 *
 * A turn that is cut off comes back with its message and finds on record what it had done. A message of an earlier turn
 * does nothing, and two of the same turn enqueue the same next one.
 */
import { awaitsResult, countedOnce, isAbove, shareOf } from '../core/judge.ts';
import type { Message } from '../core/message.ts';
import { isRecent, type Occasion } from '../core/notice.ts';
import type { Operation, OperationMessage } from '../core/operations.ts';
import { raise } from '../steps/notices.ts';
import { judgeMessage } from '../steps/redrive-judge.ts';
import { changeOperation, enqueueTurn, loadMessages } from '../steps/redrive-record.ts';
import { ack, type Verdict } from './answer.ts';
import { type Worked, workOn } from './redrive-batch.ts';
import type { Receiver, Run } from './run.ts';

/** Messages that a turn looks at: what lies behind them is for a later one. */
const WINDOW = 500;
/** With a queue that cannot be asked for this long, the run stops itself. */
export const TROUBLE_MS = 600_000;
const OUT_OF_REACH_SEC = 5;

type TurnMessage = Extract<Message, { kind: 'redrive' }>;

interface Turn {
  readonly world: Receiver;
  readonly run: Run;
  readonly operation: Operation;
  readonly turn: number;
}

export const redrive = async (world: Receiver, run: Run, message: TurnMessage): Promise<Verdict> => {
  const found = await world.ledger.load({ item: 'operation', operation: message.operation });
  if (found.kind === 'later') return ack('row-of-later-format');
  if (found.kind === 'absent') return ack('done');
  const operation = found.item;
  // The next one may come before this code has counted it; nothing else is of this run.
  const isOurs = message.turn === operation.turn || message.turn === operation.turn + 1;
  if (operation.state !== 'running' || !isOurs) {
    // Whoever has ended it may have died before it could say so.
    if (operation.endedAtMs !== undefined && isRecent(operation.endedAtMs, world.clock.nowMs()))
      await raise(world, [finishing(operation, operation.endedAtMs)]);
    return ack('done');
  }
  await takeTurn({ world, run, operation, turn: message.turn });
  return ack('redriven');
};

const finishing = ({ operation }: Operation, endedAtMs: number): Occasion => ({
  notice: { kind: 'redrive-finished', operation },
  sinceMs: endedAtMs,
});

const takeTurn = async (at: Turn): Promise<void> => {
  const { world, run, operation } = at;
  const seen = await judgeBatch(at);
  if (seen.messages.some(awaitsResult)) return enqueueNext(at, seen);
  const batch = Math.max(operation.batch, ...seen.messages.map((message) => message.batch ?? 0));
  const share = shareOf(countedOnce(seen.messages), batch);
  if (!isAtEnd(seen) && isAbove(share, operation.stopAbove)) {
    const because = `${share.failed} of ${share.judged} first outcomes of a batch were failures`;
    return end(at, seen, 'stopped', because);
  }
  const worked = await workOn(world, run, operation, seen.messages, batch + 1);
  const now: Seen = { ...seen, ...worked, progress: seen.progress || worked.progress };
  if (isAtEnd(now)) return end(at, now, 'done');
  const sinceMs = operation.progressAtMs ?? operation.startedAtMs ?? 0;
  if (worked.trouble !== undefined && !now.progress && world.clock.nowMs() - sinceMs >= TROUBLE_MS) {
    return end(at, now, 'stopped', `the queue cannot be asked: ${worked.trouble}`);
  }
  return enqueueNext(at, now);
};

// ---- judging ------------------------------------------------------------------------------------------------------

interface Seen extends Worked {
  /** The window holds all that was open when the turn began. */
  readonly whole: boolean;
}

const judgeBatch = async ({ world, operation }: Turn): Promise<Seen> => {
  const read = await loadMessages(world, operation.operation, operation.nextToJudge, WINDOW);
  const planned = read.filter(({ position }) => position < operation.messages);
  const messages = await Promise.all(
    planned.map((message) => (awaitsResult(message) ? judgeMessage(world, message) : message)),
  );
  const progress = messages.filter(awaitsResult).length < planned.filter(awaitsResult).length;
  return { messages, progress, whole: read.length < WINDOW };
};

const isSettled = (message: OperationMessage): boolean => message.action !== undefined && !awaitsResult(message);

const isAtEnd = ({ whole, messages }: Seen): boolean => whole && messages.every(isSettled);

// ---- ending the turn ----------------------------------------------------------------------------------------------

/** A batch that is not judged to its end is looked at as a whole again: its share of failures is taken over all of it. */
const placesOf = (operation: Operation, messages: readonly OperationMessage[]) => {
  const behind = (messages.at(-1)?.position ?? operation.messages - 1) + 1;
  const current = Math.max(operation.batch, ...messages.map(({ batch }) => batch ?? 0));
  const isWaiting = messages.some(awaitsResult);
  const isOpen = (message: OperationMessage) => !isSettled(message) || (isWaiting && message.batch === current);
  return {
    nextToAct: messages.find(({ action }) => action === undefined)?.position ?? behind,
    nextToJudge: messages.find(isOpen)?.position ?? behind,
    batch: current,
  };
};

/** Enqueued before it is counted: if the queue does not take it, the message of this turn comes back. */
const enqueueNext = async ({ world, operation, turn }: Turn, seen: Seen): Promise<void> => {
  const nowMs = world.clock.nowMs();
  const places = placesOf(operation, seen.messages);
  await enqueueTurn(world, { ...operation, ...places }, turn + 1, delaySecOf(seen, nowMs));
  await changeOperation(world, operation, (read) =>
    read.state === 'running' && read.turn <= turn
      ? { ...read, ...places, turn: turn + 1, turnAtMs: nowMs, ...(seen.progress ? { progressAtMs: nowMs } : {}) }
      : undefined,
  );
};

/** Most outcomes are there after a second; what is not may take a time-out, or wait for its slot. */
const delaySecOf = ({ messages, progress }: Seen, nowMs: number): number => {
  const waiting = messages.filter(awaitsResult).map(({ actedAtMs }) => actedAtMs ?? nowMs);
  if (waiting.length === 0) return progress ? 0 : OUT_OF_REACH_SEC;
  const waitedMs = nowMs - Math.min(...waiting);
  if (waitedMs < 10_000) return 1;
  return waitedMs < 60_000 ? 5 : 15;
};

const end = async (
  { world, operation, turn }: Turn,
  { messages }: Seen,
  state: 'stopped' | 'done',
  stoppedBecause?: string,
): Promise<void> => {
  const stats = operation.source === 'dead-letters' ? await world.deadLetters.stats() : undefined;
  const nowMs = world.clock.nowMs();
  const ended = await changeOperation(world, operation, (read) =>
    read.state === 'running'
      ? {
          ...read,
          ...placesOf(operation, messages),
          turn: turn + 1,
          turnAtMs: nowMs,
          state,
          ...(stoppedBecause === undefined ? {} : { stoppedBecause }),
          ...(stats?.kind === 'stats' ? { deadAfter: stats.dead } : {}),
          endedAtMs: nowMs,
        }
      : undefined,
  );
  if (ended.state === 'done' || ended.state === 'stopped') world.telemetry.count(`redrive-${ended.state}`);
  world.telemetry.line('redrive.ended', {
    operation: ended.operation,
    state: ended.state,
    because: ended.stoppedBecause,
    deadBefore: ended.deadBefore,
    deadAfter: ended.deadAfter,
  });
  if (ended.endedAtMs !== undefined) await raise(world, [finishing(ended, ended.endedAtMs)]);
};
