/** Lists of deliveries, a page at a time. */
import type { Context, Hono } from 'hono';
import { parseDestinationId } from '../../core/ids.ts';
import { LIST_PAGE_MAX } from '../../core/limits.ts';
import { needs, type Signed } from '../../http/auth.ts';
import { problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { type DeliveryList, type Listed, listDeliveries } from '../commands/lists.ts';
import type { Read } from './segments.ts';
import { deliverySummary } from './views.ts';

type Needs = Pick<World, 'ledger' | 'pages'>;

const LIMIT_DEFAULT = 50;
const LISTS = 'open, parked, quarantined, recent';

export const addListRoutes = (app: Hono<Signed>, world: Needs): void => {
  app.get('/v1/deliveries', needs(world.ledger, 'view'), async (context) => {
    const query = queryOf(context);
    if (query.kind === 'bad') return problem(context, query.problem);
    const page = await listDeliveries(world, query.value);
    return context.json({ items: page.items.map(listedView), ...(page.next === undefined ? {} : { next: page.next }) });
  });
};

const listedView = (listed: Listed) =>
  listed.kind === 'row'
    ? deliverySummary(listed.row)
    : { event: listed.ref.event, destination: listed.ref.destination, status: 'unreadable', reason: listed.why };

const bad = (field: string, reason: string): Extract<Read<never>, { kind: 'bad' }> => ({
  kind: 'bad',
  problem: { status: 422, code: 'invalid', detail: `${field} ${reason}`, field },
});

const queryOf = (context: Context): Read<DeliveryList> => {
  const { list, destination: named, limit: wanted, cursor, ...rest } = context.req.query();
  const [stranger] = Object.keys(rest);
  if (stranger !== undefined) return bad(stranger.slice(0, 64), 'is not a parameter of this list');
  const limit = wanted === undefined ? LIMIT_DEFAULT : limitOf(wanted);
  if (limit === undefined) return bad('limit', `must be a whole number from 1 to ${LIST_PAGE_MAX}`);
  const paging = cursor === undefined || cursor === '' ? { limit } : { limit, cursor };
  const destination = named === undefined ? undefined : parseDestinationId(named);
  if (destination?.kind === 'bad') return bad('destination', destination.reason);
  switch (list) {
    case 'open':
      // No index has it by destination, and a page that is filtered afterwards could be empty for thousands of rows.
      if (destination !== undefined) return bad('destination', 'cannot narrow the list "open"');
      return { kind: 'ok', value: { list, ...paging } };
    case 'parked':
    case 'quarantined':
      return { kind: 'ok', value: { list, ...paging, ...(destination ? { destination: destination.id } : {}) } };
    case 'recent':
      if (destination === undefined) return bad('destination', 'is missing: the list "recent" is of one destination');
      return { kind: 'ok', value: { list, ...paging, destination: destination.id } };
    default:
      return bad('list', `${list === undefined ? 'is missing: it' : ''} must be one of ${LISTS}`.trim());
  }
};

const limitOf = (text: string): number | undefined => {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= LIST_PAGE_MAX ? limit : undefined;
};
