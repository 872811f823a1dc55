/**
 * One delivery explained: did it act once, twice, or not at all; what is certain and what is not; who decided what; and
 * what happens next. Made from the row, its journal, the gate as it stands and the decisions that the journal names.
 *
 *   row + journal --> attempts --> effect: what came of it all
 *   row + gate + now ------------> next: what happens, and when
 */

import { type AttemptSeen, attemptsOf } from './explain-attempts.ts';
import { type Next, nextOf } from './explain-next.ts';
import type { GateView } from './gate.ts';
import type { Pause } from './items.ts';
import type { Delivery, Entry, Life } from './model.ts';
import type { Person } from './operations.ts';

/**
 * `one`: a success is on record, and no other request can have acted. `one-by-key`: other requests may have arrived, all
 * under one key, made where a repeat is safe. `one-or-more`: another request may have acted as well. `none`: no success,
 * and every request is accounted for. `unknown`: no success, but a request may have arrived. `said`: a person has said
 * that it was delivered.
 */
export type Effect = 'one' | 'one-by-key' | 'one-or-more' | 'none' | 'unknown' | 'said';

export interface Act {
  /** Its place in the journal, from 1. */
  readonly seq: number;
  readonly atMs: number;
  readonly what: 'redriven' | 'cancelled' | 'resolved-delivered' | 'resolved-not-delivered' | 'refused';
  readonly grant?: number;
  /** As the journal has it: a person's request, an operation, a push. */
  readonly cause?: string;
  readonly by?: Person;
}

export interface Explanation {
  readonly event: Delivery['event'];
  readonly destination: Delivery['destination'];
  readonly status: Delivery['status'];
  readonly reason?: string;
  /** Since when it is delivered, cancelled or quarantined. */
  readonly sinceMs?: number;
  readonly effect: Effect;
  readonly requests: {
    /** Requests that have left, or may have. */
    readonly made: number;
    readonly answered: number;
    readonly unknown: number;
    /** They had no answer, and a person has said what became of them. */
    readonly told: number;
    /** Attempts of which certainly nothing has left. */
    readonly notSent: number;
    readonly underWay: number;
  };
  readonly recordedSuccesses: 0 | 1;
  /** It is over without a recorded success, and a request may have arrived all the same. */
  readonly mayHaveArrived: boolean;
  /** Pushes of the queue that changed this row; any other was acknowledged and changed nothing. */
  readonly pushes: number;
  readonly attempts: readonly AttemptSeen[];
  readonly acts: readonly Act[];
  readonly acceptedAtMs: number;
  readonly payloadHash: string;
  readonly budget: {
    readonly allowed: number;
    readonly spent: number;
    readonly givenBack: number;
    readonly granted: number;
  };
  /** When its key began to live at the destination. */
  readonly keyFromMs?: number;
  readonly next: Next;
}

/** What people decided, by the cause that journal entries carry. */
export type Decisions = ReadonlyMap<string, Person>;

/** `pause`: who has paused the destination, and why, where it is paused. */
export const explain = (
  row: Delivery,
  gate: GateView,
  pause: Pause | undefined,
  decisions: Decisions,
  nowMs: number,
): Explanation => {
  const attempts = attemptsOf(row);
  const count = (arrival: AttemptSeen['arrival']): number => attempts.filter((one) => one.arrival === arrival).length;
  const requests = {
    made: attempts.length - count('not-sent'),
    answered: count('answered'),
    unknown: count('unknown'),
    told: count('told'),
    notSent: count('not-sent'),
    underWay: count('under-way'),
  };
  const pushes = new Set(attempts.flatMap(({ cause }) => (cause?.startsWith('p') ? [cause] : []))).size;
  const reason = reasonIn(row);
  return {
    event: row.event,
    destination: row.destination,
    status: row.status,
    ...(reason === undefined ? {} : { reason }),
    ...('endedAtMs' in row ? { sinceMs: row.endedAtMs } : {}),
    effect: effectOf(row, attempts),
    requests,
    recordedSuccesses: row.status === 'delivered' ? 1 : 0,
    mayHaveArrived: row.status !== 'delivered' && requests.unknown > 0,
    pushes,
    attempts,
    acts: actsOf(row, decisions),
    acceptedAtMs: row.acceptedAtMs,
    payloadHash: row.payloadHash,
    budget: budgetIn(row),
    ...(row.keyFromMs === undefined ? {} : { keyFromMs: row.keyFromMs }),
    next: nextOf(row, gate, pause, nowMs),
  };
};

const reasonIn = (row: Delivery): string | undefined => {
  if (row.status === 'quarantined' || row.status === 'cancelled') return row.reason;
  return row.status === 'pending' ? row.parking?.reason : undefined;
};

/** The success itself is one request; whatever else has no answer may have acted beside it. */
const effectOf = (row: Delivery, attempts: readonly AttemptSeen[]): Effect => {
  const open = attempts.filter(({ arrival }) => arrival === 'unknown').length;
  if (row.status !== 'delivered') return open > 0 ? 'unknown' : 'none';
  if (row.by === 'decision') return 'said';
  if (open === 0) return 'one';
  return row.doubt === 'safe' ? 'one-by-key' : 'one-or-more';
};

const budgetIn = (row: Life): Explanation['budget'] => ({
  allowed: row.budget,
  spent: row.attempts - row.refunds,
  givenBack: row.refunds,
  granted: row.journal.lines.reduce((sum, { entry }) => sum + (entry.kind === 'redriven' ? (entry.grant ?? 0) : 0), 0),
});

const WHAT = {
  cancel: 'cancelled',
  'resolve-delivered': 'resolved-delivered',
  'resolve-not-delivered': 'resolved-not-delivered',
  refuse: 'refused',
} as const;

const whatOf = ({ kind, decision }: Entry): Act['what'] | undefined => {
  if (kind === 'redriven') return 'redriven';
  return kind === 'decision' && decision !== undefined ? WHAT[decision] : undefined;
};

const actsOf = (row: Life, decisions: Decisions): readonly Act[] =>
  row.journal.lines.flatMap(({ entry }, index) => {
    const what = whatOf(entry);
    if (what === undefined) return [];
    const by = entry.cause === undefined ? undefined : decisions.get(entry.cause);
    return [
      {
        seq: index + 1,
        atMs: entry.atMs,
        what,
        ...(entry.grant === undefined ? {} : { grant: entry.grant }),
        ...(entry.cause === undefined ? {} : { cause: entry.cause }),
        ...(by === undefined ? {} : { by }),
      },
    ];
  });
