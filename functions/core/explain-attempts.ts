/** What the journal says of each attempt: when, why, what it came to, and whether it can have arrived. */
import { attemptsInDoubt } from './doubt.ts';
import type { Delivery, Entry } from './model.ts';
import type { OutcomeClass } from './outcome.ts';

/**
 * `answered`: the destination has answered, so the request has arrived. `not-sent`: certainly nothing has left.
 * `unknown`: bytes may have left, and there is no answer. `told`: it had none, and a person has said what became of it.
 * `under-way`: nobody has said yet how it ended.
 */
export type Arrival = 'answered' | 'not-sent' | 'unknown' | 'told' | 'under-way';

export interface AttemptSeen {
  /** Its place in the journal, from 1. */
  readonly seq: number;
  readonly attempt: number;
  readonly atMs: number;
  /** What made it: a push, a sweep's push, an operation; as the journal has it. */
  readonly cause?: string;
  readonly outcome?: OutcomeClass;
  readonly status?: number;
  readonly detail?: string;
  readonly durationMs?: number;
  readonly endedAtMs?: number;
  /** Its own worker reported after another one had taken over. */
  readonly late?: {
    readonly seq: number;
    readonly atMs: number;
    readonly outcome: OutcomeClass;
    readonly status?: number;
  };
  readonly arrival: Arrival;
  /** It was waited for, before this attempt, at the gate of the destination. */
  readonly waited?: { readonly count: number; readonly sinceMs: number; readonly reason: string };
}

const ARRIVALS: Readonly<Record<OutcomeClass, Arrival>> = {
  delivered: 'answered',
  throttled: 'answered',
  failed: 'answered',
  rejected: 'answered',
  gone: 'answered',
  'not-sent': 'not-sent',
  'in-doubt': 'unknown',
  withheld: 'not-sent',
  abandoned: 'not-sent',
};

/** A late report is of the worker itself: it knows more than whoever found its lease over. */
const arrivalOf = (outcome: Entry | undefined, late: Entry | undefined): Arrival => {
  if (late?.class !== undefined) return ARRIVALS[late.class];
  return outcome?.class === undefined ? 'under-way' : ARRIVALS[outcome.class];
};

export const attemptsOf = (row: Delivery): readonly AttemptSeen[] => {
  const entries = row.journal.lines.map(({ entry }) => entry);
  const of = (kind: Entry['kind'], attempt: number | undefined): Entry | undefined =>
    entries.find((entry) => entry.kind === kind && entry.attempt === attempt);
  const seqOf = (entry: Entry): number => entries.indexOf(entry) + 1;
  const inDoubt = new Set(attemptsInDoubt(entries));
  return entries
    .filter(({ kind }) => kind === 'claimed')
    .map((claimed) => {
      const late = of('late-outcome', claimed.attempt);
      const seen = seenOf(claimed, of('outcome', claimed.attempt), late);
      const isTold = seen.arrival === 'unknown' && !inDoubt.has(seen.attempt);
      return {
        seq: seqOf(claimed),
        ...seen,
        ...(isTold ? { arrival: 'told' as const } : {}),
        ...(late?.class === undefined ? {} : { late: { seq: seqOf(late), ...lateOf(late, late.class) } }),
      };
    });
};

const seenOf = (
  claimed: Entry,
  outcome: Entry | undefined,
  late: Entry | undefined,
): Omit<AttemptSeen, 'seq' | 'late'> => ({
  attempt: claimed.attempt ?? 0,
  atMs: claimed.atMs,
  ...(claimed.cause === undefined ? {} : { cause: claimed.cause }),
  ...(outcome?.class === undefined ? {} : { outcome: outcome.class, endedAtMs: outcome.atMs }),
  ...(outcome?.status === undefined ? {} : { status: outcome.status }),
  ...(outcome?.detail === undefined ? {} : { detail: outcome.detail }),
  ...(outcome?.durationMs === undefined ? {} : { durationMs: outcome.durationMs }),
  arrival: arrivalOf(outcome, late),
  ...(claimed.waits === undefined ? {} : { waited: claimed.waits }),
});

const lateOf = (late: Entry, outcome: OutcomeClass) => ({
  atMs: late.atMs,
  outcome,
  ...(late.status === undefined ? {} : { status: late.status }),
});
