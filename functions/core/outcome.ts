/** What an attempt came to: the one table that turns the answer of a destination into an outcome. */

import { parseRetryAfter } from './retry-after.ts';

/** What the sender saw. `answered` needs no more than a status line; what happened to the body after it is a note. */
export type Answer =
  | {
      readonly kind: 'answered';
      readonly status: number;
      /** The values of Retry-After, one per header line. */
      readonly retryAfter: readonly string[];
      readonly excerpt: string;
      readonly durationMs: number;
      readonly bodyNote?: 'reset' | 'deadline' | 'too-large';
    }
  | {
      /** Certain: no byte of the request has left. */
      readonly kind: 'not-sent';
      readonly cause: 'dns' | 'refused' | 'tls' | 'blocked' | 'connect-timeout' | 'argument';
      readonly detail: string;
      readonly durationMs: number;
    }
  | {
      /** Bytes may have left, and there is no answer that says what they did. */
      readonly kind: 'in-doubt';
      readonly cause: 'timeout' | 'reset' | 'protocol' | 'header-overflow';
      readonly detail: string;
      readonly durationMs: number;
    };

/** `withheld` and `abandoned` are never an answer: they name attempts that ended before their first byte. */
export type OutcomeClass =
  | 'delivered'
  | 'throttled'
  | 'failed'
  | 'rejected'
  | 'gone'
  | 'not-sent'
  | 'in-doubt'
  | 'withheld'
  | 'abandoned';

/** What the destination's settings say about reading its answers. */
export interface AnswerRules {
  readonly repeatSafe: boolean;
  /** Statuses that end the delivery instead of being tried again. A 2xx and a 410 keep their meaning. */
  readonly rejectOn: readonly number[];
}

export interface Classified {
  readonly class: OutcomeClass;
  /** A stable code for journal and operator, such as `status-500`, `redirect`, `busy-there`, `dns`, `timeout`. */
  readonly detail: string;
  /** What was asked for, from now on, where it counts: for this delivery's due time, or for the whole destination. */
  readonly retryAfterMs?: number;
  readonly mayHaveArrived: boolean;
}

/** Classifies an answer. Whatever may have arrived is never called not-sent, and never delivered without a 2xx. */
export const classify = (answer: Answer, rules: AnswerRules, nowMs: number): Classified => {
  if (answer.kind !== 'answered') return classified(answer.kind, answer.cause, undefined);
  const askedMs = askedMsOf(answer.retryAfter, nowMs);
  const { class: outcome, detail } = classOfStatus(answer.status, rules, askedMs);
  const counts = outcome === 'throttled' || outcome === 'failed' || closesDestination(answer.status, askedMs);
  return classified(outcome, detail, counts ? askedMs : undefined);
};

/** False only where it is certain that no byte of the request left. A key's life starts at the first true. */
export const mayHaveArrived = (outcome: OutcomeClass): boolean =>
  outcome !== 'not-sent' && outcome !== 'withheld' && outcome !== 'abandoned';

/**
 * A 429 or 503 that asks for time speaks for the whole destination, not for this delivery only. A header that nobody can
 * read, or that asks for no time at all, is no wish.
 */
export const closesDestination = (status: number | undefined, retryAfterMs: number | undefined): boolean =>
  (status === 429 || status === 503) && retryAfterMs !== undefined && retryAfterMs > 0;

type StatusClass = { readonly class: OutcomeClass; readonly detail: string };

const TRY_LATER: readonly number[] = [408, 423, 425, 429];
/**
 * A gateway's own answers: it may have passed the request on before it gave up. Beside the two of RFC 9110 those that
 * content networks and proxies use for the same: 520 and 527 the origin broke off, 524, 598 and 599 it did not answer.
 */
const FROM_A_GATEWAY: readonly number[] = [502, 504, 520, 524, 527, 598, 599];

/** Whether it is unknown, after such an answer, if the destination itself had the request. */
export const isGatewayAnswer = (status: number | undefined): boolean =>
  status !== undefined && FROM_A_GATEWAY.includes(status);

const classOfStatus = (status: number, rules: AnswerRules, askedMs: number | undefined): StatusClass => {
  const detail = `status-${status}`;
  // An answer outside HTTP's range answers nothing; NaN is outside as well.
  if (!(status >= 200 && status <= 599)) return { class: 'in-doubt', detail: 'protocol' };
  if (status <= 299) return { class: 'delivered', detail };
  if (status === 410) return { class: 'gone', detail };
  // Before the list of the destination: a request that may have had its effect must not be filed as refused.
  if (!rules.repeatSafe && isGatewayAnswer(status)) return { class: 'in-doubt', detail };
  if (status === 422 || rules.rejectOn.includes(status)) return { class: 'rejected', detail };
  if (status <= 399) return { class: 'failed', detail: 'redirect' };
  // The first request with our key is still at work there: neither a success nor a refusal.
  if (status === 409) return { class: 'failed', detail: 'busy-there' };
  if (TRY_LATER.includes(status) || closesDestination(status, askedMs)) return { class: 'throttled', detail };
  return { class: 'failed', detail };
};

const askedMsOf = (values: readonly string[], nowMs: number): number | undefined => {
  const asked = parseRetryAfter(values, nowMs);
  return asked.kind === 'after' ? asked.ms : undefined;
};

const classified = (outcome: OutcomeClass, detail: string, retryAfterMs: number | undefined): Classified => ({
  class: outcome,
  detail,
  ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  mayHaveArrived: mayHaveArrived(outcome),
});
