/**
 * The dead letters of an SQS queue: the messages of its dead-letter queue, for operations.
 *
 *   dead --read--> leased to us for half a minute --lease ends, or release--> dead again
 *                    |--redrive: still ours? --> sent to the main queue --> deleted here
 *                    +--discard: still ours? --> deleted
 *
 * SQS has no way to reach a message by its id: only who has received one holds the handle that settles it, and only for
 * that reading. So a letter is put back by who has just read it. Its copy is sent before it is deleted: a crash between
 * the two makes a second copy, which the ledger makes harmless, and never loses the only one. The copy gets an id of its
 * own. SQS's own move task is not used: it moves everything, and says nothing about any message.
 */
import {
  ChangeMessageVisibilityBatchCommand,
  ChangeMessageVisibilityCommand,
  DeleteMessageCommand,
  GetQueueAttributesCommand,
  type Message,
  ReceiveMessageCommand,
  SendMessageCommand,
} from '@aws-sdk/client-sqs';
import { DEAD_LETTER_LEASE_SEC } from '../../../core/limits.ts';
import type { Clock, DeadLetter, DeadLetters, Dice, Done, QueueStats } from '../../../ports.ts';
import { traitsOf } from '../transport-facts.ts';
import { OPERATION_RETRIES, type RetryBounds, withRetries } from '../transport-retries.ts';
import { type Answered, type Call, createSqsCalls, type SqsAccess, type SqsCalls } from './client.ts';
import type { SqsFailure } from './failure.ts';

export interface SqsDeadLettersOptions {
  readonly queueUrl: string;
  readonly deadLetterUrl: string;
  readonly clock: Clock;
  readonly dice: Pick<Dice, 'draw'>;
  /** Of one call of the port, `read` with all its batches included. Less for whoever has less time of its own. */
  readonly retries?: RetryBounds;
  /** How long a reading waits for letters. Without a wait SQS asks some of its servers only, and may say "none" of many. */
  readonly waitSec?: number;
  readonly access?: SqsAccess;
}

export type DeadLetterFailure =
  | SqsFailure
  /** The lease of this reading has ended, or the letter is gone. Read again. */
  | 'not-in-flight'
  /** The letter has to be read first. */
  | 'no-handle'
  /** An earlier try was not answered, and what came now may be its doing. */
  | 'in-doubt'
  | 'senseless-answer';

const BATCH_MAX = 10;
/** Letters are held in memory until they are recorded: a read ends early beyond this. */
const HELD_BYTES_MAX = 32 * 1_024 * 1_024;
const RELEASE_MS = 3_000;

type Failed = Extract<Done, { kind: 'failed' }>;
const failed = (code: DeadLetterFailure, detail: string): Failed => ({ kind: 'failed', code, detail });

interface Desk {
  readonly calls: SqsCalls;
  readonly options: SqsDeadLettersOptions;
  readonly retries: RetryBounds;
  endsAtMs(): number;
}

export const createSqsDeadLetters = (options: SqsDeadLettersOptions): DeadLetters & { close(): void } => {
  const calls = createSqsCalls(options.access);
  const retries = options.retries ?? OPERATION_RETRIES;
  const desk: Desk = { calls, options, retries, endsAtMs: () => options.clock.nowMs() + retries.totalMs };
  return {
    traits: traitsOf('sqs'),
    stats: () => statsOf(desk),
    read: (limit, leaseSec = DEAD_LETTER_LEASE_SEC) => readAll(desk, limit, leaseSec),
    redrive: (letter) => redrive(desk, letter),
    discard: (letter) => discard(desk, letter),
    release: (letters) => release(desk, letters),
    close: () => calls.close(),
  };
};

/** `unanswered`: a try before the last had no answer, and may have done its work. */
const ask = async <T>({ calls, options, retries }: Desk, what: string, endsAtMs: number, call: Call<T>) => {
  let tries = 0;
  let unanswered = false;
  const answered: Answered<T> = await withRetries<Answered<T>>(options, retries, endsAtMs, async (tryMs) => {
    tries += 1;
    const result = await calls.once(call, tryMs);
    if (result.kind === 'answered') return { kind: 'final', result };
    unanswered ||= result.code === 'unavailable';
    return { kind: result.code === 'unavailable' || result.code === 'throttled' ? 'again' : 'final', result };
  });
  if (answered.kind === 'answered') return { ...answered, unanswered };
  const detail = `${what}: ${answered.detail}${tries > 1 ? `, after ${tries} tries` : ''}`;
  return { ...answered, detail, unanswered };
};

// ---- counting -----------------------------------------------------------------------------------------------------

const COUNTED = {
  available: 'ApproximateNumberOfMessages',
  delayed: 'ApproximateNumberOfMessagesDelayed',
  inFlight: 'ApproximateNumberOfMessagesNotVisible',
} as const;

type Counts = Pick<QueueStats, keyof typeof COUNTED>;

/** All three are approximate: "may not achieve consistency until at least 1 minute after the producers stop". */
const countsOf = async (desk: Desk, url: string, endsAtMs: number): Promise<Counts | Failed> => {
  const input = { QueueUrl: url, AttributeNames: Object.values(COUNTED) };
  const asked = await ask(desk, 'the counts of the queue', endsAtMs, (client, until) =>
    client.send(new GetQueueAttributesCommand(input), until),
  );
  if (asked.kind === 'failed') return failed(asked.code, asked.detail);
  const count = (name: keyof Counts): number => Number(asked.output.Attributes?.[COUNTED[name]] ?? Number.NaN);
  const counts = { available: count('available'), delayed: count('delayed'), inFlight: count('inFlight') };
  return Object.values(counts).every((one) => Number.isSafeInteger(one) && one >= 0)
    ? counts
    : failed('senseless-answer', 'the counts of the queue are missing, or no counts');
};

/** The age of the oldest message is a metric of CloudWatch only; no call gives it. */
const statsOf = async (desk: Desk): ReturnType<DeadLetters['stats']> => {
  const endsAtMs = desk.endsAtMs();
  const { queueUrl, deadLetterUrl } = desk.options;
  const [counts, dead] = await Promise.all([
    countsOf(desk, queueUrl, endsAtMs),
    countsOf(desk, deadLetterUrl, endsAtMs),
  ]);
  if ('code' in counts) return counts;
  if ('code' in dead) return dead;
  return { kind: 'stats', ...counts, dead: dead.available + dead.delayed + dead.inFlight };
};

// ---- reading ------------------------------------------------------------------------------------------------------

/** Batch after batch, until the limit or an empty answer: less than was asked for is no end, at SQS. */
const readAll = async (desk: Desk, limit: number, leaseSec: number): ReturnType<DeadLetters['read']> => {
  const endsAtMs = desk.endsAtMs();
  const { clock, deadLetterUrl, waitSec = 1 } = desk.options;
  const letters = new Map<string, DeadLetter>();
  let bytes = 0;
  let unanswered = false;
  while (letters.size < limit && bytes < HELD_BYTES_MAX && (letters.size === 0 || clock.nowMs() < endsAtMs)) {
    const input = {
      QueueUrl: deadLetterUrl,
      MaxNumberOfMessages: Math.min(BATCH_MAX, limit - letters.size),
      VisibilityTimeout: leaseSec,
      WaitTimeSeconds: waitSec,
      MessageSystemAttributeNames: ['ApproximateReceiveCount' as const],
    };
    const asked = await ask(desk, 'the reading of the dead letters', endsAtMs, (client, until) =>
      client.send(new ReceiveMessageCommand(input), until),
    );
    unanswered ||= asked.unanswered;
    if (asked.kind === 'failed' && letters.size === 0) return failed(asked.code, asked.detail);
    const batch = asked.kind === 'failed' ? [] : (asked.output.Messages ?? []).flatMap(letterOf);
    const before = letters.size;
    for (const letter of batch) {
      if (!letters.has(letter.messageId)) bytes += letter.body.length;
      // The handle of the latest reading is the one that counts.
      letters.set(letter.messageId, letter);
    }
    if (letters.size === before) break;
  }
  if (letters.size === 0 && unanswered) {
    const detail = `no dead letters came, but a try before had no answer and may have leased some: read again in ${leaseSec} s`;
    return failed('in-doubt', detail);
  }
  return { kind: 'read', letters: [...letters.values()] };
};

const letterOf = ({ MessageId, ReceiptHandle, Body, Attributes }: Message): readonly DeadLetter[] => {
  if (MessageId === undefined || ReceiptHandle === undefined) return [];
  const count = Number(Attributes?.ApproximateReceiveCount ?? Number.NaN);
  return [
    {
      messageId: MessageId,
      handle: ReceiptHandle,
      body: new TextEncoder().encode(Body ?? ''),
      ...(Number.isSafeInteger(count) && count >= 1 ? { deliveryCount: count } : {}),
    },
  ];
};

// ---- settling -----------------------------------------------------------------------------------------------------

const NO_HANDLE = failed('no-handle', 'SQS reaches no message by its id: the letter has to be read again');
const NOT_IN_FLIGHT = 'its lease has ended, or it is gone: read again';

/**
 * Whether this reading of the letter still holds, and if so for long enough to settle it. Deleting by a handle that has
 * run out says yes and may do nothing; this one says no. The lease may have been made longer by a try whose answer was
 * lost, which does no harm.
 */
const hold = async (desk: Desk, handle: string, what: string, endsAtMs: number): Promise<Failed | undefined> => {
  const longestSec = Math.ceil(desk.retries.totalMs / 1_000);
  const input = {
    QueueUrl: desk.options.deadLetterUrl,
    ReceiptHandle: handle,
    VisibilityTimeout: Math.max(DEAD_LETTER_LEASE_SEC, 2 * longestSec),
  };
  const asked = await ask(desk, what, endsAtMs, (client, until) =>
    client.send(new ChangeMessageVisibilityCommand(input), until),
  );
  if (asked.kind === 'answered') return undefined;
  const isOver = /^(MessageNotInflight|ReceiptHandleIsInvalid|InvalidParameterValue\w*)$/.test(asked.name);
  return isOver
    ? failed('not-in-flight', `${what}: ${NOT_IN_FLIGHT} (${asked.name})`)
    : failed(asked.code, asked.detail);
};

const remove = (desk: Desk, handle: string, what: string, endsAtMs: number) =>
  ask(desk, what, endsAtMs, (client, until) =>
    client.send(new DeleteMessageCommand({ QueueUrl: desk.options.deadLetterUrl, ReceiptHandle: handle }), until),
  );

const redrive = async (desk: Desk, { messageId, handle, body }: Parameters<DeadLetters['redrive']>[0]) => {
  if (handle === undefined) return NO_HANDLE;
  const what = `the redrive of ${messageId}`;
  const endsAtMs = desk.endsAtMs();
  const lost = await hold(desk, handle, what, endsAtMs);
  if (lost !== undefined) return lost;
  const input = { QueueUrl: desk.options.queueUrl, MessageBody: new TextDecoder().decode(body), DelaySeconds: 0 };
  const sent = await ask(desk, what, endsAtMs, (client, until) => client.send(new SendMessageCommand(input), until));
  if (sent.kind === 'failed') return failed(sent.code, sent.detail);
  const removed = await remove(desk, handle, what, endsAtMs);
  if (removed.kind === 'answered') return DONE;
  return failed(
    'in-doubt',
    `${removed.detail}. It is on the main queue again, and perhaps still among the dead letters`,
  );
};

const discard = async (desk: Desk, { messageId, handle }: Parameters<DeadLetters['discard']>[0]): Promise<Done> => {
  if (handle === undefined) return NO_HANDLE;
  const what = `the discard of ${messageId}`;
  const endsAtMs = desk.endsAtMs();
  const lost = await hold(desk, handle, what, endsAtMs);
  if (lost !== undefined) return lost;
  const removed = await remove(desk, handle, what, endsAtMs);
  return removed.kind === 'answered' ? DONE : failed(removed.code, removed.detail);
};

const DONE: Done = { kind: 'done' };

/** A courtesy: what cannot be given back in this short time comes back by the end of its lease. */
const release = async (desk: Desk, letters: readonly Pick<DeadLetter, 'handle'>[]): Promise<void> => {
  const handles = letters.flatMap(({ handle }) => handle ?? []);
  const endsAtMs = desk.options.clock.nowMs() + RELEASE_MS;
  for (let at = 0; at < handles.length && desk.options.clock.nowMs() < endsAtMs; at += BATCH_MAX) {
    const Entries = handles
      .slice(at, at + BATCH_MAX)
      .map((handle, index) => ({ Id: String(index), ReceiptHandle: handle, VisibilityTimeout: 0 }));
    const input = { QueueUrl: desk.options.deadLetterUrl, Entries };
    await desk.calls.once(
      (client, until) => client.send(new ChangeMessageVisibilityBatchCommand(input), until),
      RELEASE_MS,
    );
  }
};
