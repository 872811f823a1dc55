/**
 * Whether anything was altered behind the back of the product: the chain of a journal, and the row held against what its
 * journal says. Pure, and run by whoever audits, over the raw material as the API hands it out.
 *
 *   lines ---chain---> head ---against heads in the log---> nothing before that line was touched
 *     +----replay----> status, budget, counts ---against the row---> nobody has moved the row without an entry
 *
 * What no entry speaks of is not covered: due times, parking, excerpts. Whoever can write to the table can also write a
 * journal that is whole in itself; only a head that was logged before tells that one from the true one.
 */
import type { AuditMaterial, Fault } from './audit-material.ts';
import { replayed } from './audit-replay.ts';
import { headsOf, readLine } from './journal.ts';
import type { Entry } from './model.ts';

/** A head that somebody has kept outside of the table, such as a line of the log. */
export interface KeptHead {
  readonly head: string;
  /** Entries up to it; undefined: the log did not say. */
  readonly length?: number;
}

export const auditRow = (row: AuditMaterial, kept: readonly KeptHead[] = []): readonly Fault[] => {
  const heads = headsOf(row, row.payloadHash, row.lines);
  const entries = entriesOf(row.lines);
  return [
    ...(heads.at(-1) === row.head
      ? []
      : [
          {
            kind: 'chain',
            says: 'the lines of the journal do not lead to its head: one was altered, removed, added or moved',
          } as const,
        ]),
    ...keptFaults(heads, kept),
    ...payloadFaults(row),
    ...(entries.kind === 'unreadable'
      ? [{ kind: 'line', says: `line ${entries.line} cannot be read` } as const]
      : replayed(row, entries.entries)),
  ];
};

const entriesOf = (
  lines: readonly string[],
):
  | { readonly kind: 'read'; readonly entries: readonly Entry[] }
  | { readonly kind: 'unreadable'; readonly line: number } => {
  const entries: Entry[] = [];
  for (const [index, text] of lines.entries()) {
    try {
      entries.push(readLine(text).entry);
    } catch {
      return { kind: 'unreadable', line: index + 1 };
    }
  }
  return { kind: 'read', entries };
};

/** `heads[n]` stands behind n lines. */
const keptFaults = (heads: readonly string[], kept: readonly KeptHead[]): readonly Fault[] => {
  const lost = kept.filter(({ head, length }) =>
    length === undefined ? !heads.includes(head) : heads[length] !== head,
  );
  return lost.slice(0, 1).map(({ head, length }) => ({
    kind: 'head',
    says: `the head ${head}${length === undefined ? '' : ` behind ${length} entries`}, kept outside, is not on the chain: the journal was rewritten since`,
  }));
};

const payloadFaults = ({ payloadHash, payloadHashNow }: AuditMaterial): readonly Fault[] => {
  if (payloadHashNow === undefined) return [{ kind: 'payload', says: 'its event is not there any more' }];
  if (payloadHashNow === payloadHash) return [];
  return [
    {
      kind: 'payload',
      says: `the payload has the hash ${payloadHashNow} now, and had ${payloadHash} when it was accepted`,
    },
  ];
};
