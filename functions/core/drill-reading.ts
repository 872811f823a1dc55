/**
 * What the answers of one part of a drill show, and what they do not. Answers never show effects: a destination that
 * answers alike may have acted twice. Only a count of effects does, and where there is none, the part is unproven.
 */
import type { DrillPart } from './drill.ts';
import type { Answer } from './outcome.ts';
import { closesDestination } from './outcome.ts';
import { parseRetryAfter } from './retry-after.ts';

/** One request of a drill and what came back. A member may be there and undefined: a drill is kept as JSON, and read again. */
export interface Exchange {
  readonly request: string;
  readonly status?: number | undefined;
  /** Why there is no status: nothing was sent, or no answer came. */
  readonly unanswered?: Exclude<Answer, { kind: 'answered' }>['cause'] | undefined;
  readonly retryAfterMs?: number | undefined;
  /** The body of its answer beside that of the first answer of its part, as far as it was read. */
  readonly body?: 'same' | 'other' | undefined;
  readonly durationMs: number;
  /** Of a refusal or a failure, without what is secret in it. */
  readonly excerpt?: string | undefined;
}

/** Why a part was not tried, or not to its end. */
export type Skipped =
  /** A request before it was not answered, or asked for time: a destination in trouble is left alone. */
  | 'unanswered'
  | 'throttled'
  /** A first request was not taken: there is no success that could be repeated. */
  | 'no-success'
  | 'no-time'
  /** Since the drill began somebody has paused, closed, changed or deleted it. */
  | 'changed'
  /** The destination takes one request at a time, by its settings. */
  | 'concurrency';

export interface PartSeen {
  readonly part: DrillPart;
  readonly exchanges: readonly Exchange[];
  readonly skipped?: Skipped | undefined;
  /** Effects of this part's test event, as somebody has counted them. */
  readonly effects?: number | undefined;
}

export const ANSWER_KINDS = ['accepted', 'busy', 'refused', 'throttled', 'failed', 'unanswered'] as const;
export type AnswerKind = (typeof ANSWER_KINDS)[number];

export const READINGS = [
  'not-tried',
  /** Nothing was accepted, so nothing could come again. */
  'no-success',
  /** Of the request that came second, behind or beside an accepted one. */
  'same-answer',
  'other-answer',
  'busy',
  'refused',
  'throttled',
  'failed',
  'unanswered',
  /** Of a single request. */
  'accepted',
  /** Of a burst. */
  'not-throttled',
] as const;
export type Reading = (typeof READINGS)[number];

/** 409 for a key in use is that of the draft on Idempotency-Key; 423 and 425 are used for the same. */
const BUSY: readonly number[] = [409, 423, 425];

export const answerKindOf = ({ status, retryAfterMs }: Exchange): AnswerKind => {
  if (status === undefined) return 'unanswered';
  if (status <= 299) return 'accepted';
  if (status === 429 || closesDestination(status, retryAfterMs)) return 'throttled';
  if (BUSY.includes(status)) return 'busy';
  return status <= 499 ? 'refused' : 'failed';
};

/** A destination that asks for time or does not answer is left alone from then on. */
export const haltOf = (exchanges: readonly Exchange[]): 'unanswered' | 'throttled' | undefined => {
  const kinds = exchanges.map(answerKindOf);
  if (kinds.includes('throttled')) return 'throttled';
  return kinds.includes('unanswered') ? 'unanswered' : undefined;
};

export const readingOf = ({ part, exchanges }: Pick<PartSeen, 'part' | 'exchanges'>): Reading => {
  const [first] = exchanges;
  if (first === undefined) return 'not-tried';
  if (part === 'stale' || part === 'forged') return answerKindOf(first);
  if (part === 'burst') return burstReading(exchanges.map(answerKindOf));
  // Of two at once either may have been the first.
  const accepted = part === 'twins' ? exchanges.find((one) => answerKindOf(one) === 'accepted') : first;
  if (accepted === undefined || answerKindOf(accepted) !== 'accepted') return 'no-success';
  const second = exchanges.find((one) => one !== accepted);
  if (second === undefined) return 'not-tried';
  const kind = answerKindOf(second);
  if (kind !== 'accepted') return kind;
  return second.status === accepted.status && exchanges.every(({ body }) => body !== 'other')
    ? 'same-answer'
    : 'other-answer';
};

const burstReading = (kinds: readonly AnswerKind[]): Reading => {
  if (kinds.includes('throttled')) return 'throttled';
  return kinds.includes('accepted') ? 'not-throttled' : 'no-success';
};

/** The answer of a sender as an exchange; the excerpt has to be clean already. */
export const exchangeOf = (
  request: string,
  answer: Answer,
  first: Answer | undefined,
  nowMs: number,
): Exchange & { readonly excerpt: string } => {
  const durationMs = Math.round(answer.durationMs);
  if (answer.kind !== 'answered') {
    // What stands behind a blocked address is not shown.
    const excerpt = answer.kind === 'not-sent' && answer.cause === 'blocked' ? '' : answer.detail;
    return { request, unanswered: answer.cause, durationMs, excerpt };
  }
  const asked = parseRetryAfter(answer.retryAfter, nowMs);
  const body = first?.kind === 'answered' ? (first.excerpt === answer.excerpt ? 'same' : 'other') : undefined;
  return {
    request,
    status: answer.status,
    ...(asked.kind === 'after' ? { retryAfterMs: asked.ms } : {}),
    ...(body === undefined ? {} : { body }),
    durationMs,
    // Of a success nothing is kept, as with deliveries.
    excerpt: answer.status <= 299 ? '' : answer.excerpt,
  };
};
