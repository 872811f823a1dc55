/** Who decided what, and why: the record of decisions, newest first. */
import type { Decided } from '../../core/operations.ts';
import type { World } from '../../ports.ts';

export interface DecisionPage {
  readonly items: readonly Decided[];
  readonly next?: string;
}

export const listDecisions = async (
  world: Pick<World, 'ledger' | 'pages'>,
  limit: number,
  cursor: string | undefined,
): Promise<DecisionPage> => {
  const page = await world.pages.list({ list: 'decisions', limit, ...(cursor === undefined ? {} : { cursor }) });
  const found = await Promise.all(
    page.refs.map((ref) => (ref.item === 'decision' ? world.ledger.load(ref) : ({ kind: 'absent' } as const))),
  );
  const items = found.flatMap((one) => (one.kind === 'found' ? [one.item] : []));
  return { items, ...(page.next === undefined ? {} : { next: page.next }) };
};
