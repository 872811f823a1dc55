/** The operator's API: read what the ledger says, set up destinations. */

import type { Context } from 'hono';
import { Hono } from 'hono';
import { readDestination } from '../../core/destination-input.ts';
import { type DestinationId, decodeSegment, type EventId, parseDestinationId, parseEventId } from '../../core/ids.ts';
import { plainOf, readJson } from '../../core/json-tree.ts';
import { API_BODY_BYTES_MAX, LIST_PAGE_MAX } from '../../core/limits.ts';
import type { TargetPolicy } from '../../core/target.ts';
import { needs, type Signed } from '../../http/auth.ts';
import { bounded, rawBody } from '../../http/body.ts';
import { notFound, type Problem, problem, problemOfError } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { putDestination, showDestination } from '../commands/destinations.ts';
import { deliveryView, destinationView, eventView } from './views.ts';

export type Operator = Pick<World, 'ledger' | 'pages' | 'clock' | 'dice' | 'telemetry'>;

export const createOperatorApp = (world: Operator, policy: TargetPolicy): Hono<Signed> => {
  const app = new Hono<Signed>();
  const view = needs(world.ledger, 'view');
  const admin = needs(world.ledger, 'admin');
  app.onError(problemOfError(world.telemetry));
  app.notFound(notFound);
  app.get('/healthz', (context) => context.json({ ok: true }));
  app.get('/v1/events/:event', view, (context) => showEvent(context, world));
  app.get('/v1/events/:event/deliveries/:destination', view, (context) => showDelivery(context, world));
  app.get('/v1/destinations', view, (context) => listDestinations(context, world));
  app.get('/v1/destinations/:destination', view, (context) => getDestination(context, world));
  app.put('/v1/destinations/:destination', admin, bounded(API_BODY_BYTES_MAX), (context) =>
    putRoute(context, world, policy),
  );
  return app;
};

const absent = (what: string): Problem => ({ status: 404, code: 'not-found', detail: `${what} does not exist` });
const newer: Problem = {
  status: 503,
  code: 'written-by-newer-code',
  detail: 'this item was written by newer code; repeat when the deploy is done',
};

type Segment<Id> = { kind: 'ok'; id: Id } | { kind: 'bad'; problem: Problem };

/** A path segment as it came, decoded exactly once: a framework's own decoding would turn `%2F` into a border. */
const segmentOf = <Id>(
  context: Context,
  index: number,
  field: string,
  parse: (value: unknown) => { kind: 'ok'; id: Id } | { kind: 'bad'; reason: string },
): Segment<Id> => {
  const raw = new URL(context.req.url).pathname.split('/')[index] ?? '';
  const decoded = decodeSegment(raw);
  const id = decoded.kind === 'ok' ? parse(decoded.text) : decoded;
  if (id.kind === 'ok') return id;
  return { kind: 'bad', problem: { status: 422, code: 'invalid', detail: `${field} ${id.reason}`, field } };
};

const eventSegment = (context: Context): Segment<EventId> => segmentOf(context, 3, 'event', parseEventId);
const destinationSegment = (context: Context, index: number): Segment<DestinationId> =>
  segmentOf(context, index, 'destination', parseDestinationId);

const showEvent = async (context: Context, world: Operator): Promise<Response> => {
  const event = eventSegment(context);
  if (event.kind === 'bad') return problem(context, event.problem);
  const found = await world.ledger.load({ item: 'event', event: event.id });
  if (found.kind === 'absent') return problem(context, absent(`event ${event.id}`));
  if (found.kind === 'later') return problem(context, newer);
  const items = await world.ledger.loadEvent(event.id);
  const deliveries = items.filter((item) => item.item === 'delivery');
  const conflicts = items.filter((item) => item.item === 'conflict').length;
  return context.json(eventView(found.item, deliveries, conflicts));
};

const showDelivery = async (context: Context, world: Operator): Promise<Response> => {
  const event = eventSegment(context);
  if (event.kind === 'bad') return problem(context, event.problem);
  const destination = destinationSegment(context, 5);
  if (destination.kind === 'bad') return problem(context, destination.problem);
  const found = await world.ledger.load({ item: 'delivery', event: event.id, destination: destination.id });
  if (found.kind === 'absent') return problem(context, absent(`delivery of ${event.id} to ${destination.id}`));
  if (found.kind === 'later') return problem(context, newer);
  return context.json(deliveryView(found.item));
};

const listDestinations = async (context: Context, world: Operator): Promise<Response> => {
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

const getDestination = async (context: Context, world: Operator): Promise<Response> => {
  const id = destinationSegment(context, 3);
  if (id.kind === 'bad') return problem(context, id.problem);
  const shown = await showDestination(world, id.id);
  if (shown.kind === 'absent') return problem(context, absent(`destination ${id.id}`));
  if (shown.kind === 'newer') return problem(context, newer);
  return context.json(destinationView(shown.config, shown.gate, world.clock.nowMs()));
};

const putRoute = async (context: Context<Signed>, world: Operator, policy: TargetPolicy): Promise<Response> => {
  const id = destinationSegment(context, 3);
  if (id.kind === 'bad') return problem(context, id.problem);
  const document = readJson(await rawBody(context));
  if (document.kind === 'bad') {
    const detail = `${document.field ?? 'the body'} ${document.reason}`;
    return problem(context, {
      status: 400,
      code: 'malformed-json',
      detail,
      ...(document.field === undefined ? {} : { field: document.field }),
    });
  }
  const read = readDestination(id.id, plainOf(document.root), policy);
  if (read.kind === 'bad') {
    const detail = `${read.field || 'the body'} ${read.reason}`;
    return problem(context, { status: 422, code: 'invalid', detail, field: read.field });
  }
  const done = await putDestination(world, read);
  if (done.kind === 'newer') return problem(context, newer);
  if (done.kind === 'deleted') {
    const detail = `destination ${id.id} was deleted and its id stays taken; choose another id`;
    return problem(context, { status: 409, code: 'destination-deleted', detail, field: 'destination' });
  }
  const { gate } = await world.ledger.loadDestination(id.id);
  world.telemetry.line('destination.put', { destination: id.id, actor: context.get('actor'), result: done.kind });
  const shown = destinationView(done.config, gate, world.clock.nowMs());
  if (done.kind === 'updated') return context.json(shown, 200);
  return context.json(done.signingSecret === undefined ? shown : { ...shown, signingSecret: done.signingSecret }, 201);
};
