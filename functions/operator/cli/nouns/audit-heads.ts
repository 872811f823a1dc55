/** Heads that were kept outside of the table: log lines of the product, as JSON, one a line. Other lines are passed over. */
import type { KeptHead } from '../../../core/audit.ts';
import { Stop, USAGE } from '../stop.ts';

export interface Heads {
  readonly count: number;
  /** Of one delivery; it counts as seen from then on. */
  of(event: string, destination: string): readonly KeptHead[];
  /** Deliveries that nobody has asked for. */
  unseen(): readonly { readonly event: string; readonly destination: string }[];
}

interface Kept {
  readonly event: string;
  readonly destination: string;
  readonly heads: KeptHead[];
  seen: boolean;
}

export const noHeads = (): Heads => ({ count: 0, of: () => [], unseen: () => [] });

export const readHeads = (bytes: Uint8Array): Heads => {
  const kept = new Map<string, Kept>();
  let count = 0;
  for (const line of Buffer.from(bytes).toString('utf8').split('\n')) {
    const found = headIn(line);
    if (found === undefined) continue;
    count += 1;
    const key = JSON.stringify([found.event, found.destination]);
    const there = kept.get(key) ?? { event: found.event, destination: found.destination, heads: [], seen: false };
    there.heads.push(found.kept);
    kept.set(key, there);
  }
  if (count === 0)
    throw new Stop(USAGE, 'there is no head in the file of --heads: it wants log lines as JSON, one a line');
  return {
    count,
    of: (event, destination) => {
      const there = kept.get(JSON.stringify([event, destination]));
      if (there === undefined) return [];
      there.seen = true;
      return there.heads;
    },
    unseen: () => [...kept.values()].filter(({ seen }) => !seen),
  };
};

/** A line may have a prefix of whoever has collected it, such as a time stamp. */
const headIn = (line: string): { event: string; destination: string; kept: KeptHead } | undefined => {
  const from = line.indexOf('{');
  if (from < 0) return undefined;
  try {
    const fields: unknown = JSON.parse(line.slice(from));
    if (typeof fields !== 'object' || fields === null) return undefined;
    const { event, destination, head, journalLength } = fields as Readonly<Record<string, unknown>>;
    if (typeof event !== 'string' || typeof destination !== 'string' || typeof head !== 'string') return undefined;
    return {
      event,
      destination,
      kept: { head, ...(typeof journalLength === 'number' ? { length: journalLength } : {}) },
    };
  } catch {
    return undefined;
  }
};
