/** Destinations: their settings and their state. */
import type { Context } from 'hono';
import { readDestination } from '../../core/destination-input.ts';
import { parseRequestId, type RequestId } from '../../core/ids.ts';
import { NOTICE_DESTINATIONS_MAX } from '../../core/notice.ts';
import type { TargetPolicy } from '../../core/target.ts';
import type { Signed } from '../../http/auth.ts';
import { type Problem, problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { listDestinations as destinationPage } from '../commands/destination-list.ts';
import { showDestination } from '../commands/destinations.ts';
import { type DestinationSet, setDestination } from '../commands/set-destination.ts';
import { parkedOf } from '../commands/stats.ts';
import { destinationsQuery, whyBody } from '../contract/inputs.ts';
import { readBody, readQuery, requestOf } from './decision-input.ts';
import { reused } from './decision-problems.ts';
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
  const request = requestOf(context, ownRequest(context));
  if (request.kind === 'bad') return problem(context, request.problem);
  const body = await jsonBody(context);
  if (body.kind === 'bad') return problem(context, body.problem);
  const { settings, said } = parted(body.value);
  const read = readDestination(id.value, settings, policy);
  if (read.kind === 'bad') {
    const detail = `${read.field || 'the body'} ${read.reason}`;
    return problem(context, { status: 422, code: 'invalid', detail, field: read.field });
  }
  const why = readBody(said, whyBody);
  if (why.kind === 'bad') return problem(context, why.problem);
  const actor = context.get('actor');
  const done = await setDestination(world, { request: request.value, actor, reason: why.value.reason ?? '', read });
  if (done.kind !== 'created' && done.kind !== 'updated' && done.kind !== 'unchanged') {
    return problem(context, putProblem(id.value, done));
  }
  const { gate } = await world.ledger.loadDestination(id.value);
  world.telemetry.line('destination.put', { destination: id.value, actor, result: done.kind });
  const shown = destinationView(done.config, gate, world.clock.nowMs());
  if (done.kind !== 'created') return context.json(shown, 200);
  return context.json(done.signingSecret === undefined ? shown : { ...shown, signingSecret: done.signingSecret }, 201);
};

const ownRequest = (context: Context<Signed>): RequestId => {
  const parsed = parseRequestId(context.get('requestId'));
  if (parsed.kind === 'bad') throw new TypeError(`the id of the request itself ${parsed.reason}`);
  return parsed.id;
};

/** The one validator of settings knows settings alone. */
const parted = (body: unknown): { readonly settings: unknown; readonly said: unknown } => {
  if (typeof body !== 'object' || body === null || !Object.hasOwn(body, 'reason')) return { settings: body, said: {} };
  const { reason, ...settings } = body as Readonly<Record<string, unknown>>;
  return { settings, said: { reason } };
};

const putProblem = (
  destination: string,
  refused: Exclude<DestinationSet, { kind: 'created' | 'updated' | 'unchanged' }>,
): Problem => {
  switch (refused.kind) {
    case 'newer':
      return newer;
    case 'reused':
      return reused;
    case 'deleted': {
      const detail = `destination ${destination} was deleted and its id stays taken; choose another id`;
      return { status: 409, code: 'destination-deleted', detail, field: 'destination' };
    }
    case 'too-many-for-notices': {
      const detail = `${NOTICE_DESTINATIONS_MAX} destinations are marked for notices already: unmark one of them first`;
      return { status: 409, code: 'too-many-for-notices', detail, field: 'notices' };
    }
    case 'too-many-secrets': {
      const detail = `destination ${destination} has as many live secrets as it may have: rotate-secret says when the first ends, and with overlapHours 0 ends them all`;
      return { status: 409, code: 'too-many-secrets', detail, field: 'signingSecret' };
    }
    case 'nothing-behind-mask': {
      const field = `headers.${refused.header}`;
      const detail = `${field} is "***", as a value is shown, and there is no present value of it to keep; give the value itself`;
      return { status: 422, code: 'invalid', detail, field };
    }
  }
};
