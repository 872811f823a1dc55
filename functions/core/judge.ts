/**
 * What came of a message of an operation, by its row: the redrive request is not the business result.
 *
 *   acted --first outcome behind it--> delivered, failed, in-doubt
 *     |---ended without an attempt---> deduplicated, dropped, held
 *     +---lease + 60 s over---------> open: filled in later
 */
import { deliveryKeyText } from './keys.ts';
import { leaseMsOf, SKEW_MARGIN_MS, TIMEOUT_MS_MAX } from './limits.ts';
import type { Delivery } from './model.ts';
import type { OperationMessage, ResultKind } from './operations.ts';
import type { OutcomeClass } from './outcome.ts';

/** How long after the end of a lease a batch waits for a first outcome. */
export const JUDGE_BEYOND_LEASE_MS = 60_000;

export interface Judgement {
  readonly result: ResultKind;
  /** The attempt whose outcome it is. */
  readonly attempt?: number;
}

const OF_CLASS: Readonly<Record<OutcomeClass, Extract<ResultKind, 'delivered' | 'failed' | 'in-doubt'> | undefined>> = {
  delivered: 'delivered',
  throttled: 'failed',
  failed: 'failed',
  rejected: 'failed',
  gone: 'failed',
  'not-sent': 'failed',
  'in-doubt': 'in-doubt',
  // Ended before the first byte: no outcome of the business.
  withheld: undefined,
  abandoned: undefined,
};

/** `attemptsBefore`: the attempts of the row when it was acted on. */
export const judge = (row: Delivery, attemptsBefore: number): Judgement => {
  for (const { entry } of row.journal.lines) {
    if (entry.kind !== 'outcome' && entry.kind !== 'late-outcome') continue;
    if (entry.attempt === undefined || entry.attempt <= attemptsBefore || entry.class === undefined) continue;
    const result = OF_CLASS[entry.class];
    if (result !== undefined) return { result, attempt: entry.attempt };
  }
  switch (row.status) {
    case 'delivered':
      return { result: 'deduplicated' };
    case 'cancelled':
      return { result: 'dropped' };
    case 'quarantined':
      // A claim found an attempt from before without an answer, and made no other.
      return { result: row.reason === 'in-doubt' ? 'in-doubt' : 'held' };
    case 'pending':
    case 'claimed':
      return { result: 'open' };
  }
};

/** From then on a message without an outcome is called open, and the batch goes on without it. */
export const judgedByMs = (actedAtMs: number, row: Pick<Delivery, 'graceMs'> | undefined): number =>
  actedAtMs + (row === undefined ? leaseMsOf(TIMEOUT_MS_MAX) : row.graceMs - SKEW_MARGIN_MS) + JUDGE_BEYOND_LEASE_MS;

/** Acted on in a way that only the row, or the ledger, can say the result of. */
export const awaitsResult = ({ action, finding, result }: OperationMessage): boolean =>
  result === undefined && (action === 'requeued' || (action === 'gone' && finding === 'redrive'));

/**
 * Several messages may stand for one delivery, and one attempt is the result of them all. It is counted for the first;
 * what the others would have done was done by then.
 */
export const countedOnce = (messages: readonly OperationMessage[]): readonly OperationMessage[] => {
  const met = new Set<string>();
  return messages.map((message) => {
    const { event, destination, attempt } = message;
    if (event === undefined || destination === undefined || attempt === undefined) return message;
    const name = `${attempt} ${deliveryKeyText(event, destination)}`;
    if (met.has(name)) return { ...message, result: 'deduplicated' };
    met.add(name);
    return message;
  });
};

// ---- a batch ------------------------------------------------------------------------------------------------------

export interface BatchShare {
  readonly judged: number;
  readonly failed: number;
}

/** Failures among the first outcomes of one batch. Whatever has had no attempt says nothing about the destination. */
export const shareOf = (messages: readonly OperationMessage[], batch: number): BatchShare => {
  const results = messages.filter((message) => message.batch === batch).map(({ result }) => result);
  const count = (...kinds: readonly ResultKind[]): number =>
    results.filter((result) => result !== undefined && kinds.includes(result)).length;
  return { judged: count('delivered', 'failed', 'in-doubt'), failed: count('failed', 'in-doubt') };
};

export const isAbove = ({ judged, failed }: BatchShare, stopAbove: number): boolean =>
  judged > 0 && failed / judged > stopAbove;

// ---- the whole ----------------------------------------------------------------------------------------------------

export interface Progress {
  /** Deliveries found fit to be sent again. */
  readonly requested: number;
  /** Those of them that were put back on the queue, or made pending again. */
  readonly requeued: number;
  /** Taken off the dead letters, whatever for. */
  readonly removed: number;
  /** Not acted on yet. */
  readonly waiting: number;
  readonly results: Readonly<Record<ResultKind, number>>;
}

export const progressOf = (messages: readonly OperationMessage[]): Progress => {
  const results: Record<ResultKind, number> = {
    delivered: 0,
    deduplicated: 0,
    failed: 0,
    'in-doubt': 0,
    open: 0,
    dropped: 0,
    held: 0,
    accepted: 0,
    gone: 0,
  };
  for (const message of messages) {
    if (message.result !== undefined) results[message.result] += 1;
    else if (awaitsResult(message)) results.open += 1;
  }
  const acted = messages.map(({ action }) => action);
  const redriven = messages.filter(({ finding }) => finding === 'redrive');
  return {
    requested: redriven.length,
    requeued: redriven.filter(({ action }) => action === 'requeued').length,
    removed: acted.filter((action) => action !== undefined && action !== 'left').length,
    waiting: acted.filter((action) => action === undefined).length,
    results,
  };
};
