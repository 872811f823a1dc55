/** Events and their deliveries, as the ledger has them. */
import type { Context } from 'hono';
import type { AcceptedEvent } from '../../core/items.ts';
import { problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { peopleIn } from '../commands/deliveries.ts';
import { explainDelivery } from '../commands/explain.ts';
import { explanationView } from './explain-view.ts';
import type { On } from './on.ts';
import { absent, deliverySegments, eventSegment, newer } from './segments.ts';
import { deliveryView, eventView } from './views.ts';

type Needs = Pick<World, 'ledger' | 'clock'>;

export const addEventRoutes = (on: On, world: Needs): void => {
  on('showEvent', (context) => showEvent(context, world));
  on('explainDelivery', (context) => onExplain(context, world));
  on('showDelivery', (context) => showDelivery(context, world));
};

const showEvent = async (context: Context, world: Needs): Promise<Response> => {
  const event = eventSegment(context);
  if (event.kind === 'bad') return problem(context, event.problem);
  const found = await world.ledger.load({ item: 'event', event: event.value });
  if (found.kind === 'absent') return problem(context, absent(`event ${event.value}`));
  if (found.kind === 'later') return problem(context, newer);
  const items = await world.ledger.loadEvent(event.value);
  const deliveries = items.filter((item) => item.item === 'delivery');
  // A group read leaves out what newer code has written; an answer without it would look complete.
  if (deliveries.length < found.item.destinations.length && (await anyNewer(world, found.item))) {
    return problem(context, newer);
  }
  const conflicts = items.filter((item) => item.item === 'conflict').length;
  return context.json(eventView(found.item, deliveries, conflicts));
};

const anyNewer = async (world: Needs, { event, destinations }: AcceptedEvent): Promise<boolean> => {
  const rows = await Promise.all(
    destinations.map((destination) => world.ledger.load({ item: 'delivery', event, destination })),
  );
  return rows.some((row) => row.kind === 'later');
};

const showDelivery = async (context: Context, world: Needs): Promise<Response> => {
  const segments = deliverySegments(context);
  if (segments.kind === 'bad') return problem(context, segments.problem);
  const { event, destination } = segments.value;
  const found = await world.ledger.load({ item: 'delivery', event, destination });
  if (found.kind === 'absent') return problem(context, absent(`delivery of ${event} to ${destination}`));
  if (found.kind === 'later') return problem(context, newer);
  return context.json(deliveryView(found.item, await peopleIn(world, found.item)));
};

const onExplain = async (context: Context, world: Needs): Promise<Response> => {
  const segments = deliverySegments(context);
  if (segments.kind === 'bad') return problem(context, segments.problem);
  const { event, destination } = segments.value;
  const explained = await explainDelivery(world, segments.value);
  if (explained.kind === 'absent') return problem(context, absent(`delivery of ${event} to ${destination}`));
  if (explained.kind === 'newer') return problem(context, newer);
  return context.json(explanationView(explained.explanation));
};
