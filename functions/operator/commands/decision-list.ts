/** Who decided what, and why: the record of decisions, newest first. */
import type { Decided } from '../../core/operations.ts';
import { LedgerCorrupt, type Ref, type World } from '../../ports.ts';
import { brokenItem } from '../../steps/broken-item.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'telemetry'>;

export interface DecisionPage {
  readonly items: readonly Decided[];
  /** How many more stand there that are not for this code to read: of a command of newer code, or broken. */
  readonly unreadable: number;
  readonly next?: string;
}

/** One that cannot be read must not take the others with it: after a rollback there may be such. */
export const listDecisions = async (world: Needs, limit: number, cursor: string | undefined): Promise<DecisionPage> => {
  const page = await world.pages.list({ list: 'decisions', limit, ...(cursor === undefined ? {} : { cursor }) });
  const refs = page.refs.filter((ref) => ref.item === 'decision');
  const found = (await Promise.all(refs.map((ref) => loadOne(world, ref)))).flat();
  const items = found.filter((one) => one !== 'unreadable');
  const next = page.next === undefined ? {} : { next: page.next };
  return { items, unreadable: found.length - items.length, ...next };
};

const loadOne = async (
  { ledger, telemetry }: Needs,
  ref: Extract<Ref, { item: 'decision' }>,
): Promise<readonly (Decided | 'unreadable')[]> => {
  try {
    const found = await ledger.load(ref);
    if (found.kind === 'later') return ['unreadable'];
    return found.kind === 'found' ? [found.item] : [];
  } catch (error) {
    if (!(error instanceof LedgerCorrupt)) throw error;
    brokenItem(telemetry, { decision: ref.cause }, error);
    return ['unreadable'];
  }
};
