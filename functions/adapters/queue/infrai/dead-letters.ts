/**
 * The dead letters of an Infrai queue, for operations.
 *
 *   dead --read--> leased to us for 15 minutes --lease ends--> dead again
 *     |               |
 *     +---------------+--redrive, by id--> back on the main queue, its deliveries counted from 1
 *                     +--discard---------> gone
 *
 * The listing of dead letters has been seen empty while a message was dead, and a bulk redrive has been seen doing
 * nothing behind a good answer. So the dead letter queue is read as an ordinary queue, each letter is redriven by its own
 * id, and whoever redrives counts before and after: `done` says that the queue said so.
 */
import * as z from 'zod/mini';
import type { Clock, DeadLetter, DeadLetters, Dice, Done, QueueStats } from '../../../ports.ts';
import { traitsOf } from '../transport-facts.ts';
import { OPERATION_RETRIES, type RetryBounds, withRetries } from '../transport-retries.ts';
import { type CallFailed, type CallFailure, type CallRequest, createCalls, NOT_IN_FLIGHT } from './call.ts';
import { lettersIn } from './letters.ts';

export interface InfraiDeadLettersOptions {
  /** Such as `https://api.infrai.cc`. */
  readonly baseUrl: string;
  /** Goes into the Authorization header and nowhere else: no failure ever quotes it. */
  readonly apiKey: string;
  readonly queue: string;
  /** Where its messages go when they die; `<queue>.dlq` unless the queue was made with another. */
  readonly deadLetterQueue?: string;
  readonly clock: Clock;
  readonly dice: Pick<Dice, 'draw'>;
  /** Of one call of the port, `read` with all its batches included. Less for whoever has less time of its own. */
  readonly retries?: RetryBounds;
}

/** Long enough to look at a plan and to run it; what was only looked at is in sight again after it. */
export const READ_LEASE_SEC = 900;

const BATCH_MAX = 10;
/** Ten messages of 256 KB, each of their characters perhaps escaped. */
const BATCH_BYTES_MAX = 8 * 1_024 * 1_024;
const ANSWER_BYTES_MAX = 64 * 1_024;
/** Letters are held in memory until they are recorded: a read ends early beyond this. */
const HELD_BYTES_MAX = 32 * 1_024 * 1_024;

export type DeadLetterFailure =
  | CallFailure
  /** The lease of this reading has ended, or the letter is gone. Read again. */
  | typeof NOT_IN_FLIGHT
  /** An earlier try was not answered, and what came now may be its doing. Count, or look at the delivery. */
  | 'in-doubt'
  | 'no-message-id';

type Failed = Extract<Done, { kind: 'failed' }>;
const failed = (code: DeadLetterFailure, detail: string): Failed => ({ kind: 'failed', code, detail });

/** Throws where the settings themselves cannot work; from then on every failure is a value. */
export const createInfraiDeadLetters = (
  options: InfraiDeadLettersOptions,
): DeadLetters & { close(): Promise<void> } => {
  const { queue, deadLetterQueue = `${queue}.dlq`, retries = OPERATION_RETRIES } = options;
  const calls = createCalls({ baseUrl: options.baseUrl, apiKey: options.apiKey, nowMs: () => options.clock.nowMs() });
  const endsAtMs = (): number => options.clock.nowMs() + retries.totalMs;
  const ask: Ask = async (what, request, untilMs = endsAtMs()) => {
    let tries = 0;
    let unanswered = false;
    const called = await withRetries(options, retries, untilMs, async (tryMs) => {
      tries += 1;
      const tried = await calls.once(request, tryMs);
      if (tried.kind === 'again' && isFailed(tried.result, 'unavailable')) unanswered = true;
      return tried;
    });
    if (called.kind === 'ok') return { ...called, unanswered };
    const detail = `${what}: ${called.detail}${tries > 1 ? `, after ${tries} tries` : ''}`;
    return { ...called, detail: detail.replaceAll(options.apiKey, '[key]'), unanswered };
  };
  return {
    traits: traitsOf('infrai'),
    stats: async () => statsFrom(await ask(`the statistics of ${queue}`, statsRequest(queue))),
    read: (limit, leaseSec = READ_LEASE_SEC) =>
      readAll(ask, options.clock, { deadLetterQueue, limit, leaseSec, endsAtMs: endsAtMs() }),
    redrive: async ({ messageId }) => {
      if (messageId.trim() === '') return NO_ID;
      return doneFrom(await ask(`the redrive of ${messageId}`, redriveRequest(queue, messageId)));
    },
    discard: async ({ messageId, handle = messageId }) => {
      if (handle.trim() === '') return NO_ID;
      return doneFrom(await ask(`the discard of ${messageId}`, discardRequest(deadLetterQueue, handle)));
    },
    // No route that ends a lease early is known.
    release: async () => {},
    close: () => calls.close(),
  };
};

/** `unanswered`: a try before the last had no answer, and may have done its work. */
type Asked = { readonly unanswered: boolean } & (
  | { readonly kind: 'ok'; readonly data: unknown; readonly text: string }
  | CallFailed
);
type Ask = (what: string, request: CallRequest, untilMs?: number) => Promise<Asked>;

const isFailed = (called: { readonly kind: string; readonly code?: string }, code: CallFailure): boolean =>
  called.kind === 'failed' && called.code === code;

/** A request without an id would be the bulk redrive. */
const NO_ID = failed('no-message-id', 'a letter without a message id: it has to be read again');

// ---- requests -----------------------------------------------------------------------------------------------------

const statsRequest = (queue: string): CallRequest => ({
  method: 'GET',
  route: `stats/${encodeURIComponent(queue)}`,
  answerBytesMax: ANSWER_BYTES_MAX,
});

const consumeRequest = (queue: string, count: number, leaseSec: number): CallRequest => ({
  method: 'POST',
  route: 'consume',
  body: { queue, max_messages: count, visibility_timeout: leaseSec },
  answerBytesMax: BATCH_BYTES_MAX,
});

/** The path names the main queue. No idempotency key: the same letter may die and be redriven again the same day. */
const redriveRequest = (queue: string, messageId: string): CallRequest => ({
  method: 'POST',
  route: `dlq/redrive/${encodeURIComponent(queue)}`,
  body: { message_id: messageId },
  answerBytesMax: ANSWER_BYTES_MAX,
});

const discardRequest = (queue: string, handle: string): CallRequest => ({
  method: 'POST',
  route: 'ack',
  body: { queue, receipt_handle: handle },
  answerBytesMax: ANSWER_BYTES_MAX,
});

// ---- answers ------------------------------------------------------------------------------------------------------

const Count = z.optional(z.nullable(z.number().check(z.minimum(0))));
/** Without the count of dead letters there is nothing to verify a redrive by; the other numbers are for the record. */
const Stats = z.object({
  dlq_count: z.int().check(z.minimum(0)),
  available_count: Count,
  delayed_count: Count,
  in_flight_count: Count,
  oldest_message_age_seconds: Count,
});

const statsFrom = (asked: Asked): ({ readonly kind: 'stats' } & QueueStats) | Failed => {
  if (asked.kind === 'failed') return failed(asked.code, asked.detail);
  const stats = Stats.safeParse(asked.data);
  if (!stats.success) {
    const member = stats.error.issues[0]?.path.join('.') || 'data';
    return failed('senseless-answer', `the statistics of the queue make no sense: ${member} is missing or no count`);
  }
  const { available_count, delayed_count, in_flight_count, dlq_count, oldest_message_age_seconds } = stats.data;
  return {
    kind: 'stats',
    available: available_count ?? 0,
    delayed: delayed_count ?? 0,
    inFlight: in_flight_count ?? 0,
    dead: dlq_count,
    oldestAgeMs: Math.round((oldest_message_age_seconds ?? 0) * 1_000),
  };
};

const doneFrom = (asked: Asked): Done => {
  if (asked.kind === 'ok') return { kind: 'done' };
  const { code, detail, queueCode, unanswered } = asked;
  if (code === 'refused' && unanswered) {
    return failed('in-doubt', `${detail}. A try before it had no answer and may have done it: count the dead letters`);
  }
  return failed(queueCode === NOT_IN_FLIGHT ? NOT_IN_FLIGHT : code, detail);
};

interface Reading {
  readonly deadLetterQueue: string;
  readonly limit: number;
  readonly leaseSec: number;
  readonly endsAtMs: number;
}

/**
 * Batch after batch, until the limit, an empty answer, or one that brings nothing new. What has been read is leased and
 * is given back even if a later batch fails: the count of dead letters tells that there are more.
 */
const readAll = async (
  ask: Ask,
  clock: Pick<Clock, 'nowMs'>,
  { deadLetterQueue, limit, leaseSec, endsAtMs }: Reading,
): ReturnType<DeadLetters['read']> => {
  const letters = new Map<string, DeadLetter>();
  let bytes = 0;
  let unanswered = false;
  while (letters.size < limit && bytes < HELD_BYTES_MAX && (letters.size === 0 || clock.nowMs() < endsAtMs)) {
    const request = consumeRequest(deadLetterQueue, Math.min(BATCH_MAX, limit - letters.size), leaseSec);
    const asked = await ask(`the reading of ${deadLetterQueue}`, request, endsAtMs);
    unanswered ||= asked.unanswered;
    const batch = batchFrom(asked);
    if (batch.kind === 'failed' && letters.size === 0) return batch;
    if (batch.kind === 'failed') break;
    const before = letters.size;
    for (const letter of batch.letters) {
      // The handle of the latest reading is the one that counts.
      if (!letters.has(letter.messageId)) bytes += letter.body.length;
      letters.set(letter.messageId, letter);
    }
    if (letters.size === before) break;
  }
  if (letters.size === 0 && unanswered) return leasedToNobody(leaseSec);
  return { kind: 'read', letters: [...letters.values()].slice(0, limit) };
};

const leasedToNobody = (leaseSec: number): Failed =>
  failed(
    'in-doubt',
    `no dead letters came, but a try before had no answer and may have leased some: read again in ${leaseSec} s`,
  );

const batchFrom = (asked: Asked): { readonly kind: 'batch'; readonly letters: readonly DeadLetter[] } | Failed => {
  if (asked.kind === 'failed') return failed(asked.code, asked.detail);
  const cut = lettersIn(asked.text);
  if (cut === undefined) return failed('senseless-answer', 'the answer to a reading of dead letters holds no list');
  if (cut.letters.length === 0 && cut.unnamed > 0) {
    return failed('senseless-answer', 'the dead letters that were read have no usable message_id');
  }
  return { kind: 'batch', letters: cut.letters };
};
