/** The log of a run as its judges look at it. */
import type { Delivery, Entry } from '../../functions/core/model.ts';
import type { LogEntry, LogOf } from './log.ts';
import { GHOST } from './stage.ts';

/** The log, sorted once for all judges. `at` is the place in the log: order is what counts, not time. */
export interface Seen {
  readonly writes: readonly Placed<'write'>[];
  readonly sends: readonly Placed<'send'>[];
  readonly arrivals: readonly Placed<'arrive'>[];
  readonly answers: readonly Placed<'answer'>[];
  readonly verdicts: readonly Placed<'verdict'>[];
  readonly reads: readonly Placed<'read'>[];
  readonly gates: readonly Placed<'gate'>[];
  readonly others: readonly Placed<'other-write'>[];
  /** The claims that were written, by who made them. */
  readonly claims: ReadonlyMap<string, Placed<'write'>>;
}

export type Placed<K extends LogEntry['kind']> = LogOf<K> & { readonly at: number; readonly owner: string };

export const seenOf = (log: readonly LogEntry[]): Seen => {
  const writes: Placed<'write'>[] = [];
  const sends: Placed<'send'>[] = [];
  const arrivals: Placed<'arrive'>[] = [];
  const answers: Placed<'answer'>[] = [];
  const verdicts: Placed<'verdict'>[] = [];
  const reads: Placed<'read'>[] = [];
  const gates: Placed<'gate'>[] = [];
  const others: Placed<'other-write'>[] = [];
  const claims = new Map<string, Placed<'write'>>();
  log.forEach((entry, at) => {
    const owner = entry.by.split(GHOST)[0] ?? entry.by;
    if (entry.kind === 'write') {
      const write = { ...entry, at, owner };
      writes.push(write);
      if (newClaim(write)) claims.set(owner, write);
    } else if (entry.kind === 'send') sends.push({ ...entry, at, owner });
    else if (entry.kind === 'arrive') arrivals.push({ ...entry, at, owner });
    else if (entry.kind === 'answer') answers.push({ ...entry, at, owner });
    else if (entry.kind === 'verdict') verdicts.push({ ...entry, at, owner });
    else if (entry.kind === 'read') reads.push({ ...entry, at, owner });
    else if (entry.kind === 'gate') gates.push({ ...entry, at, owner });
    else if (entry.kind === 'other-write') others.push({ ...entry, at, owner });
  });
  return { writes, sends, arrivals, answers, verdicts, reads, gates, others, claims };
};

export const claimOf = (row: Delivery | undefined) => (row?.status === 'claimed' ? row.claim : undefined);
export const newClaim = ({ before, row }: LogOf<'write'>): boolean =>
  claimOf(row) !== undefined && claimOf(row)?.id !== claimOf(before)?.id;
export const entriesOf = (row: Delivery | undefined): readonly Entry[] =>
  row?.journal.lines.map(({ entry }) => entry) ?? [];
export const isFinal = (row: Delivery): boolean => row.status === 'delivered' || row.status === 'cancelled';

/** The first defect of a list, told by the judge of its members. */
export const first = <T>(
  list: readonly T[],
  defect: (one: T, index: number) => string | undefined,
): string | undefined => {
  for (let index = 0; index < list.length; index += 1) {
    const one = list[index];
    const message = one === undefined ? undefined : defect(one, index);
    if (message) return message;
  }
  return undefined;
};
