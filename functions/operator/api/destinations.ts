/** Destinations: their settings and their state. */
import type { Context } from 'hono';
import { readDestination } from '../../core/destination-input.ts';
import { NOTICE_DESTINATIONS_MAX } from '../../core/notice.ts';
import type { TargetPolicy } from '../../core/target.ts';
import type { Signed } from '../../http/auth.ts';
import { problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { listDestinations as destinationPage } from '../commands/destination-list.ts';
import { putDestination, showDestination } from '../commands/destinations.ts';
import { parkedOf } from '../commands/stats.ts';
import { destinationsQuery } from '../contract/inputs.ts';
import { readQuery } from './decision-input.ts';
import type { On } from './on.ts';
import { absent, destinationSegment, jsonBody, newer } from './segments.ts';
import { destinationView } from './views.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'clock' | 'dice' | 'telemetry'>;

export const addDestinationRoutes = (on: On, world: Needs, policy: TargetPolicy): void => {
  on('listDestinations', (context) => listDestinations(context, world));
  on('showDestination', (context) => getDestination(context, world));
  on('putDestination', (context) => putRoute(context, world, policy));
};

const listDestinations = async (context: Context, world: Needs): Promise<Response> => {
  const query = readQuery(context, destinationsQuery);
  if (query.kind === 'bad') return problem(context, query.problem);
  const { limit, cursor, deleted } = query.value;
  const page = await destinationPage(world, { limit, cursor, withDeleted: deleted === 'include' });
  const nowMs = world.clock.nowMs();
  const items = page.items.map(({ config, gate }) => destinationView(config, gate, nowMs));
  const unreadable = page.unreadable.length === 0 ? {} : { unreadable: page.unreadable };
  return context.json({ items, ...unreadable, ...(page.next === undefined ? {} : { next: page.next }) });
};

const getDestination = async (context: Context, world: Needs): Promise<Response> => {
  const id = destinationSegment(context);
  if (id.kind === 'bad') return problem(context, id.problem);
  const shown = await showDestination(world, id.value);
  if (shown.kind === 'absent') return problem(context, absent(`destination ${id.value}`));
  if (shown.kind === 'newer') return problem(context, newer);
  const parked = await parkedOf(world, shown.config);
  return context.json(destinationView(shown.config, shown.gate, world.clock.nowMs(), parked));
};

const putRoute = async (context: Context<Signed>, world: Needs, policy: TargetPolicy): Promise<Response> => {
  const id = destinationSegment(context);
  if (id.kind === 'bad') return problem(context, id.problem);
  const body = await jsonBody(context);
  if (body.kind === 'bad') return problem(context, body.problem);
  const read = readDestination(id.value, body.value, policy);
  if (read.kind === 'bad') {
    const detail = `${read.field || 'the body'} ${read.reason}`;
    return problem(context, { status: 422, code: 'invalid', detail, field: read.field });
  }
  const done = await putDestination(world, read);
  if (done.kind === 'newer') return problem(context, newer);
  if (done.kind === 'deleted') {
    const detail = `destination ${id.value} was deleted and its id stays taken; choose another id`;
    return problem(context, { status: 409, code: 'destination-deleted', detail, field: 'destination' });
  }
  if (done.kind === 'too-many-for-notices') {
    const detail = `${NOTICE_DESTINATIONS_MAX} destinations are marked for notices already: unmark one of them first`;
    return problem(context, { status: 409, code: 'too-many-for-notices', detail, field: 'notices' });
  }
  if (done.kind === 'nothing-behind-mask') {
    const field = `headers.${done.header}`;
    const detail = `${field} is "***", as a value is shown, and there is no present value of it to keep; give the value itself`;
    return problem(context, { status: 422, code: 'invalid', detail, field });
  }
  const { gate } = await world.ledger.loadDestination(id.value);
  world.telemetry.line('destination.put', { destination: id.value, actor: context.get('actor'), result: done.kind });
  const shown = destinationView(done.config, gate, world.clock.nowMs());
  if (done.kind !== 'created') return context.json(shown, 200);
  return context.json(done.signingSecret === undefined ? shown : { ...shown, signingSecret: done.signingSecret }, 201);
};
