/** Lists of deliveries, a page at a time. */
import type * as z from 'zod/mini';
import { problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { type DeliveryList, type Listed, listDeliveries } from '../commands/lists.ts';
import { deliveriesQuery } from '../contract/inputs.ts';
import { readQuery } from './decision-input.ts';
import type { On } from './on.ts';
import { deliverySummary } from './views.ts';

type Needs = Pick<World, 'ledger' | 'pages'>;

export const addListRoutes = (on: On, world: Needs): void => {
  on('listDeliveries', async (context) => {
    const query = readQuery(context, deliveriesQuery);
    if (query.kind === 'bad') return problem(context, query.problem);
    const page = await listDeliveries(world, listOf(query.value));
    return context.json({ items: page.items.map(listedView), ...(page.next === undefined ? {} : { next: page.next }) });
  });
};

const listedView = (listed: Listed) =>
  listed.kind === 'row'
    ? deliverySummary(listed.row)
    : { event: listed.ref.event, destination: listed.ref.destination, status: 'unreadable', reason: listed.why };

/** What the schema has left open: that a list of one destination has one. */
const listOf = ({ list, destination, limit, cursor }: z.output<typeof deliveriesQuery>): DeliveryList => {
  const paging = cursor === undefined ? { limit } : { limit, cursor };
  if (list === 'open') return { list, ...paging };
  if (destination !== undefined) return { list, ...paging, destination };
  if (list === 'recent') throw new TypeError('the list of recent deliveries is of one destination');
  return { list, ...paging };
};
