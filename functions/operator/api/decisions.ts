/** Decisions of people. Each has an actor, a reason, and a request id that makes its repeats one decision. */
import type { Context } from 'hono';
import type * as z from 'zod/mini';
import type { Pause } from '../../core/items.ts';
import type { Signed } from '../../http/auth.ts';
import { type Problem, problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { deleteDestination } from '../commands/delete-destination.ts';
import { decideDelivery, peopleIn, type Wish } from '../commands/deliveries.ts';
import { type DestinationAsked, pauseDestination, resumeDestination } from '../commands/pause.ts';
import { type ReplayDecided, replayEvent } from '../commands/replay.ts';
import { parkedOf } from '../commands/stats.ts';
import { type DestinationTested, testDestination } from '../commands/test-destination.ts';
import { reasonBody, redriveBody, replayBody, resolveBody } from '../contract/inputs.ts';
import { readDecision } from './decision-input.ts';
import { refusal, reused } from './decision-problems.ts';
import type { On } from './on.ts';
import { absent, deliverySegments, destinationSegment, eventSegment, newer, type Read } from './segments.ts';
import { deliveryView, destinationView, hrefOf } from './views.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'queue' | 'clock' | 'dice' | 'telemetry'>;

export const addDecisionRoutes = (on: On, world: Needs): void => {
  on('redriveDelivery', (context) => onDelivery(context, world, REDRIVE));
  on('resolveDelivery', (context) => onDelivery(context, world, RESOLVE));
  on('cancelDelivery', (context) => onDelivery(context, world, CANCEL));
  on('replayEvent', (context) => onReplay(context, world));
  on('pauseDestination', (context) => onGate(context, world, pauseDestination));
  on('resumeDestination', (context) => onGate(context, world, resumeDestination));
  on('testDestination', (context) => onTest(context, world));
  on('deleteDestination', (context) => onDelete(context, world));
};

// ---- deliveries ---------------------------------------------------------------------------------------------------

interface WishBody<Body> {
  readonly schema: z.ZodMiniType<Body & { readonly reason: string }>;
  readonly wish: (body: Body) => Wish;
}

const bodyOfWish = <Body>(wishBody: WishBody<Body>): WishBody<Body> => wishBody;

const REDRIVE = bodyOfWish({
  schema: redriveBody,
  wish: ({ grant, acceptSecondEffect }) => ({ command: 'redrive', grant, acceptSecondEffect }),
});

const RESOLVE = bodyOfWish({
  schema: resolveBody,
  wish: ({ as, evidence }) => ({ command: 'resolve', as, evidence }),
});

const CANCEL = bodyOfWish({ schema: reasonBody, wish: () => ({ command: 'cancel' }) });

const onDelivery = async <Body>(
  context: Context<Signed>,
  world: Needs,
  { schema, wish }: WishBody<Body>,
): Promise<Response> => {
  const segments = deliverySegments(context);
  if (segments.kind === 'bad') return problem(context, segments.problem);
  const read = await readDecision(context, schema);
  if (read.kind === 'bad') return problem(context, read.problem);
  const { request, actor, body } = read.value;
  const wanted = wish(body);
  const asked = { request, actor, reason: body.reason, ...segments.value, wish: wanted };
  const done = await decideDelivery(world, asked);
  switch (done.kind) {
    case 'done': {
      const decisions = await peopleIn(world, done.row);
      return context.json({ ...deliveryView(done.row, decisions), decision: request });
    }
    case 'refused':
      return problem(context, refusal(done.code, done.row, wanted));
    case 'absent':
      return problem(context, absent(`delivery of ${asked.event} to ${asked.destination}`));
    case 'reused':
      return problem(context, reused);
    case 'newer':
      return problem(context, newer);
  }
};

// ---- replay -------------------------------------------------------------------------------------------------------

const onReplay = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const segment = eventSegment(context);
  if (segment.kind === 'bad') return problem(context, segment.problem);
  const read = await readDecision(context, replayBody);
  if (read.kind === 'bad') return problem(context, read.problem);
  const { request, actor, body } = read.value;
  const { reason, destinations } = body;
  const event = segment.value;
  const asked = { request, actor, reason, event, ...(destinations === undefined ? {} : { destinations }) };
  const done = await replayEvent(world, asked);
  if (done.kind !== 'done') return problem(context, replayProblem(event, done));
  const made = done.event;
  const deliveries = made.destinations.map((destination) => ({ destination, href: hrefOf(made.event, destination) }));
  return context.json({ event: made.event, replayOf: event, deliveries, decision: request }, 202);
};

export const replayProblem = (event: string, refused: Exclude<ReplayDecided, { kind: 'done' }>): Problem => {
  switch (refused.kind) {
    case 'absent':
      return absent(`event ${event}`);
    case 'not-its-destination':
      return {
        status: 422,
        code: 'invalid',
        detail: `event ${event} was never for destination ${refused.destination}`,
        field: `destinations[${refused.index}]`,
      };
    case 'not-delivered': {
      const detail = `delivery of ${event} to ${refused.destination} is ${refused.state}: only what was delivered can be replayed; redrive a quarantined delivery instead`;
      return { status: 409, code: 'not-delivered', detail };
    }
    case 'refused': {
      const detail = `event ${event} could not be replayed: ${refused.code}; decide anew, with another request id`;
      return { status: 409, code: refused.code, detail };
    }
    case 'reused':
      return reused;
    case 'newer':
      return newer;
  }
};

// ---- destinations -------------------------------------------------------------------------------------------------

const askedOf = async (context: Context<Signed>): Promise<Read<DestinationAsked>> => {
  const segment = destinationSegment(context);
  if (segment.kind === 'bad') return segment;
  const read = await readDecision(context, reasonBody);
  if (read.kind === 'bad') return read;
  const { request, actor, body } = read.value;
  return { kind: 'ok', value: { request, actor, reason: body.reason, destination: segment.value } };
};

export const refusedProblem = (destination: string, kind: 'absent' | 'reused' | 'newer'): Problem => {
  if (kind === 'absent') return absent(`destination ${destination}`);
  return kind === 'reused' ? reused : newer;
};

const onGate = async (context: Context<Signed>, world: Needs, command: typeof pauseDestination): Promise<Response> => {
  const asked = await askedOf(context);
  if (asked.kind === 'bad') return problem(context, asked.problem);
  const { destination, request } = asked.value;
  const done = await command(world, asked.value);
  if (done.kind === 'paused') return problem(context, alreadyPaused(destination, done.pause));
  if (done.kind !== 'done') return problem(context, refusedProblem(destination, done.kind));
  const parked = await parkedOf(world, done.config);
  const shown = destinationView(done.config, done.gate, world.clock.nowMs(), parked);
  return context.json({ ...shown, decision: request });
};

export const alreadyPaused = (destination: string, { by, reason, sinceMs }: Pause): Problem => ({
  status: 409,
  code: 'already-paused',
  detail: `destination ${destination} is paused since ${new Date(sinceMs).toISOString()} by ${by}: ${reason}. That pause stands`,
});

const onTest = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const asked = await askedOf(context);
  if (asked.kind === 'bad') return problem(context, asked.problem);
  const { destination, request } = asked.value;
  const done = await testDestination(world, asked.value);
  if (done.kind !== 'done') return problem(context, testProblem(destination, done));
  return context.json({ event: done.event, href: hrefOf(done.event, destination), decision: request }, 202);
};

export const testProblem = (destination: string, refused: Exclude<DestinationTested, { kind: 'done' }>): Problem => {
  if (refused.kind !== 'conflict') return refusedProblem(destination, refused.kind);
  const detail = `event ${refused.event} is somebody else's; test again, with another request id`;
  return { status: 409, code: 'event-conflict', detail };
};

const onDelete = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const asked = await askedOf(context);
  if (asked.kind === 'bad') return problem(context, asked.problem);
  const { destination, request } = asked.value;
  const done = await deleteDestination(world, asked.value);
  if (done.kind !== 'done') return problem(context, refusedProblem(destination, done.kind));
  return context.json({ destination, deletedAt: new Date(done.deletedAtMs).toISOString(), decision: request });
};
