/** Who decided what, and why: the record of decisions, newest first. */
import type { Decided } from '../../core/operations.ts';
import type { Ref, World } from '../../ports.ts';
import { brokenItem } from '../../steps/broken-item.ts';
import { readable } from './readable.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'telemetry'>;

export interface DecisionPage {
  readonly items: readonly Decided[];
  /** How many more stand there that are not for this code to read: of a command of newer code, or broken. */
  readonly unreadable: number;
  readonly next?: string;
}

export interface DecisionsAsked {
  readonly limit: number;
  readonly cursor?: string | undefined;
  readonly destination?: string | undefined;
  readonly event?: string | undefined;
  /** The name of the token by which it was decided. */
  readonly actor?: string | undefined;
}

/** So many parts of the record are read for one page: narrowed down, it may end before it is full. */
const PARTS_MAX = 5;

/** One that cannot be read must not take the others with it: after a rollback there may be such. */
export const listDecisions = async (
  world: Needs,
  { limit, cursor, ...wanted }: DecisionsAsked,
): Promise<DecisionPage> => {
  const items: Decided[] = [];
  let unreadable = 0;
  let next = cursor;
  for (let parts = 0; parts < PARTS_MAX && items.length < limit; parts += 1) {
    const from = next === undefined ? {} : { cursor: next };
    const page = await world.pages.list({ list: 'decisions', limit: limit - items.length, ...from });
    const refs = page.refs.filter((ref) => ref.item === 'decision');
    const found = (await Promise.all(refs.map((ref) => loadOne(world, ref)))).flat();
    const read = found.filter((one) => one !== 'unreadable');
    unreadable += found.length - read.length;
    items.push(...read.filter((decision) => isWanted(decision, wanted)));
    next = page.next;
    if (next === undefined) break;
  }
  return { items, unreadable, ...(next === undefined ? {} : { next }) };
};

const isWanted = (decision: Decided, wanted: Pick<DecisionsAsked, 'destination' | 'event' | 'actor'>): boolean =>
  (['destination', 'event', 'actor'] as const).every(
    (name) => wanted[name] === undefined || wanted[name] === decision[name],
  );

const loadOne = async (
  { ledger, telemetry }: Needs,
  ref: Extract<Ref, { item: 'decision' }>,
): Promise<readonly (Decided | 'unreadable')[]> => {
  const load = () => ledger.load(ref);
  const found = await readable<Decided>(load, (error) => brokenItem(telemetry, { decision: ref.cause }, error));
  if (found.kind === 'unreadable') return ['unreadable'];
  return found.kind === 'found' ? [found.item] : [];
};
