/** Destinations: their settings and their state. */
import type { Context, Hono } from 'hono';
import { readDestination } from '../../core/destination-input.ts';
import { API_BODY_BYTES_MAX, LIST_PAGE_MAX } from '../../core/limits.ts';
import type { TargetPolicy } from '../../core/target.ts';
import { needs, type Signed } from '../../http/auth.ts';
import { bounded } from '../../http/body.ts';
import { problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { putDestination, showDestination } from '../commands/destinations.ts';
import { parkedOf } from '../commands/stats.ts';
import { absent, destinationSegment, jsonBody, newer } from './segments.ts';
import { destinationView } from './views.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'clock' | 'dice' | 'telemetry'>;

export const addDestinationRoutes = (app: Hono<Signed>, world: Needs, policy: TargetPolicy): void => {
  const view = needs(world.ledger, 'view');
  const admin = needs(world.ledger, 'admin');
  app.get('/v1/destinations', view, (context) => listDestinations(context, world));
  app.get('/v1/destinations/:destination', view, (context) => getDestination(context, world));
  app.put('/v1/destinations/:destination', admin, bounded(API_BODY_BYTES_MAX), (context) =>
    putRoute(context, world, policy),
  );
};

const listDestinations = async (context: Context, world: Needs): Promise<Response> => {
  const cursor = context.req.query('cursor');
  const page = await world.pages.list({ list: 'destinations', limit: LIST_PAGE_MAX, ...(cursor ? { cursor } : {}) });
  const nowMs = world.clock.nowMs();
  const shown = await Promise.all(
    page.refs.map((ref) =>
      ref.item === 'destination' ? showDestination(world, ref.destination) : ({ kind: 'absent' } as const),
    ),
  );
  const items = shown.flatMap((one) => (one.kind === 'found' ? [destinationView(one.config, one.gate, nowMs)] : []));
  return context.json({ items, ...(page.next === undefined ? {} : { next: page.next }) });
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
  const { gate } = await world.ledger.loadDestination(id.value);
  world.telemetry.line('destination.put', { destination: id.value, actor: context.get('actor'), result: done.kind });
  const shown = destinationView(done.config, gate, world.clock.nowMs());
  if (done.kind === 'updated') return context.json(shown, 200);
  return context.json(done.signingSecret === undefined ? shown : { ...shown, signingSecret: done.signingSecret }, 201);
};
