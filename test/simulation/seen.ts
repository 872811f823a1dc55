/** The log of a history as its judges look at it: sorted once, by delivery and by who did it. */
import type { Item } from '../../functions/core/items.ts';
import type { Claimed, Delivery, Entry } from '../../functions/core/model.ts';
import type { Ended } from './history.ts';
import type { EntryOf, LogEntry } from './log.ts';
import type { DestinationPlan, Plan } from './plan.ts';

/** A write of a delivery; `before` is what stood there. */
export interface RowWrite {
  readonly at: number;
  readonly atMs: number;
  readonly by: string;
  readonly skewMs: number;
  readonly newer: boolean;
  readonly before: Delivery | undefined;
  readonly row: Delivery;
}

/** One worker, from its push to its answer. */
export interface Work {
  readonly by: string;
  readonly push: EntryOf<'push'> | undefined;
  readonly sends: EntryOf<'send'>[];
  readonly arrivals: EntryOf<'arrive'>[];
  readonly answers: EntryOf<'answer'>[];
  readonly reads: EntryOf<'read'>[];
  readonly looks: EntryOf<'look'>[];
  readonly writes: EntryOf<'write'>[];
  verdict: EntryOf<'verdict'> | undefined;
  crashed: boolean;
  froze: boolean;
}

export interface Life {
  readonly event: string;
  readonly destination: string;
  readonly plan: DestinationPlan | undefined;
  readonly writes: RowWrite[];
  readonly sends: EntryOf<'send'>[];
  readonly arrivals: EntryOf<'arrive'>[];
  /** Those who made a claim of this delivery, by the id of the claim, with the write that made it. */
  readonly claims: Map<string, RowWrite>;
}

export interface Seen {
  readonly ended: Ended;
  readonly plan: Plan;
  readonly log: readonly LogEntry[];
  readonly lives: readonly Life[];
  readonly works: ReadonlyMap<string, Work>;
  readonly gates: ReadonlyMap<string, readonly EntryOf<'write'>[]>;
  readonly writes: readonly EntryOf<'write'>[];
  readonly quietAt: number;
  /** Clocks stay within the margin of each other in this history. */
  readonly clocksFit: boolean;
}

/** As far as a clock is ever wrong, and its margin. */
export const CLOCK_WRONG_MS = 360_000;

export const claimOf = (row: Delivery | undefined): Claimed['claim'] | undefined =>
  row?.status === 'claimed' ? row.claim : undefined;
export const entriesOf = (row: Delivery | undefined): readonly Entry[] =>
  row?.journal.lines.map(({ entry }) => entry) ?? [];
export const isFinal = (row: Delivery): boolean => row.status === 'delivered' || row.status === 'cancelled';
export const isNewClaim = ({ before, row }: RowWrite): boolean =>
  claimOf(row) !== undefined && claimOf(row)?.id !== claimOf(before)?.id;
export const addedBy = ({ before, row }: RowWrite): readonly Entry[] =>
  entriesOf(row).slice(before?.journal.lines.length ?? 0);
export const lastRow = (life: Life): Delivery | undefined => life.writes.at(-1)?.row;
/** What stood there at this place of the log. */
export const rowAt = (life: Life, at: number): Delivery | undefined =>
  life.writes.findLast((write) => write.at < at)?.row;

/** The first defect of a list, told by the judge of its members. */
export const first = <T>(list: Iterable<T>, defect: (one: T) => string | undefined): string | undefined => {
  for (const one of list) {
    const message = defect(one);
    if (message !== undefined) return message;
  }
  return undefined;
};

export const seenOf = (ended: Ended): Seen => {
  const lives = new Map<string, Life>();
  const works = new Map<string, Work>();
  const gates = new Map<string, EntryOf<'write'>[]>();
  const writes: EntryOf<'write'>[] = [];
  let quietAt = ended.log.length;
  const lifeOf = (name: string): Life => {
    const known = lives.get(name);
    if (known !== undefined) return known;
    const [event = '', destination = ''] = splitAbout(name);
    const plan = ended.plan.destinations.find(({ id }) => id === destination);
    const life: Life = { event, destination, plan, writes: [], sends: [], arrivals: [], claims: new Map() };
    lives.set(name, life);
    return life;
  };
  for (const entry of ended.log) {
    if (entry.kind === 'quiet') quietAt = entry.at;
    const work = entry.by === '' ? undefined : workOf(works, entry);
    if (work !== undefined) noteWork(work, entry);
    if (entry.kind === 'write') noteWrite(entry, { writes, gates, lifeOf });
    if (entry.about === undefined) continue;
    if (entry.kind === 'send') lifeOf(entry.about).sends.push(entry);
    if (entry.kind === 'arrive') lifeOf(entry.about).arrivals.push(entry);
  }
  const { shares } = ended.plan;
  return {
    ended,
    plan: ended.plan,
    log: ended.log,
    lives: [...lives.values()].filter((life) => life.writes.length > 0),
    works,
    gates,
    writes,
    quietAt,
    clocksFit: !shares.has('clock-wrong') && !shares.has('clock-step'),
  };
};

const splitAbout = (name: string): readonly string[] => {
  const at = name.lastIndexOf(' ');
  return [name.slice(0, at), name.slice(at + 1)];
};

const workOf = (works: Map<string, Work>, entry: LogEntry): Work => {
  const known = works.get(entry.by);
  if (known !== undefined) return known;
  const work: Work = {
    by: entry.by,
    push: entry.kind === 'push' ? entry : undefined,
    sends: [],
    arrivals: [],
    answers: [],
    reads: [],
    looks: [],
    writes: [],
    verdict: undefined,
    crashed: false,
    froze: false,
  };
  works.set(entry.by, work);
  return work;
};

const noteWork = (work: Work, entry: LogEntry): void => {
  if (entry.kind === 'send') work.sends.push(entry);
  else if (entry.kind === 'arrive') work.arrivals.push(entry);
  else if (entry.kind === 'answer') work.answers.push(entry);
  else if (entry.kind === 'read') work.reads.push(entry);
  else if (entry.kind === 'look') work.looks.push(entry);
  else if (entry.kind === 'write') work.writes.push(entry);
  else if (entry.kind === 'verdict') work.verdict = entry;
  else if (entry.kind === 'crash') work.crashed = true;
  else if (entry.kind === 'froze') work.froze = true;
};

const isRow = (item: Item | undefined): item is Delivery => item?.item === 'delivery';

const noteWrite = (
  entry: EntryOf<'write'>,
  into: {
    readonly writes: EntryOf<'write'>[];
    readonly gates: Map<string, EntryOf<'write'>[]>;
    readonly lifeOf: (name: string) => Life;
  },
): void => {
  into.writes.push(entry);
  const { item, before } = entry;
  if (item.item === 'gate') into.gates.set(item.destination, [...(into.gates.get(item.destination) ?? []), entry]);
  if (!isRow(item)) return;
  const life = into.lifeOf(`${item.event} ${item.destination}`);
  const { at, atMs, by, skewMs, newer } = entry;
  const write: RowWrite = { at, atMs, by, skewMs, newer, before: isRow(before) ? before : undefined, row: item };
  life.writes.push(write);
  const claim = claimOf(item);
  if (claim !== undefined && isNewClaim(write)) life.claims.set(claim.id, write);
};
