/** Decisions of people. Each has an actor, a reason, and a request id that makes its repeats one decision. */
import type { Context, Hono } from 'hono';
import * as z from 'zod/mini';
import { API_BODY_BYTES_MAX, DESTINATIONS_PER_EVENT_MAX, GRANT_MAX } from '../../core/limits.ts';
import { needs, type Signed } from '../../http/auth.ts';
import { bounded } from '../../http/body.ts';
import { type Problem, problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { deleteDestination } from '../commands/delete-destination.ts';
import { decideDelivery, decisionsIn, type Wish } from '../commands/deliveries.ts';
import { type DestinationAsked, pauseDestination, resumeDestination } from '../commands/pause.ts';
import { type ReplayDecided, replayEvent } from '../commands/replay.ts';
import { parkedOf } from '../commands/stats.ts';
import { testDestination } from '../commands/test-destination.ts';
import { destinationId, readDecision, sentence } from './decision-input.ts';
import { refusal, reused } from './decision-problems.ts';
import { absent, deliverySegments, destinationSegment, eventSegment, newer, type Read } from './segments.ts';
import { deliveryView, destinationView, hrefOf } from './views.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'queue' | 'clock' | 'dice' | 'telemetry'>;

export const addDecisionRoutes = (app: Hono<Signed>, world: Needs): void => {
  const [resend, decide] = [needs(world.ledger, 'resend'), needs(world.ledger, 'decide')];
  const [pause, admin] = [needs(world.ledger, 'pause'), needs(world.ledger, 'admin')];
  const bound = bounded(API_BODY_BYTES_MAX);
  const delivery = '/v1/events/:event/deliveries/:destination';
  app.post(`${delivery}/redrive`, resend, bound, (context) => onDelivery(context, world, REDRIVE));
  app.post(`${delivery}/resolve`, decide, bound, (context) => onDelivery(context, world, RESOLVE));
  app.post(`${delivery}/cancel`, decide, bound, (context) => onDelivery(context, world, CANCEL));
  app.post('/v1/events/:event/replay', resend, bound, (context) => onReplay(context, world));
  const destination = '/v1/destinations/:destination';
  app.post(`${destination}/pause`, pause, bound, (context) => onGate(context, world, pauseDestination));
  app.post(`${destination}/resume`, pause, bound, (context) => onGate(context, world, resumeDestination));
  app.post(`${destination}/test`, pause, bound, (context) => onTest(context, world));
  app.delete(destination, admin, bound, (context) => onDelete(context, world));
};

// ---- deliveries ---------------------------------------------------------------------------------------------------

interface WishBody<Body> {
  readonly schema: z.ZodMiniType<Body & { readonly reason: string }>;
  readonly wish: (body: Body) => Wish;
}

const bodyOfWish = <Body>(wishBody: WishBody<Body>): WishBody<Body> => wishBody;

const REDRIVE = bodyOfWish({
  schema: z.strictObject({
    reason: sentence,
    grant: z._default(z.int().check(z.minimum(0), z.maximum(GRANT_MAX)), 0),
    acceptSecondEffect: z._default(z.boolean(), false),
  }),
  wish: ({ grant, acceptSecondEffect }) => ({ command: 'redrive', grant, acceptSecondEffect }),
});

const RESOLVE = bodyOfWish({
  schema: z.strictObject({ reason: sentence, as: z.enum(['delivered', 'not-delivered']), evidence: sentence }),
  wish: ({ as, evidence }) => ({ command: 'resolve', as, evidence }),
});

const CANCEL = bodyOfWish({ schema: z.strictObject({ reason: sentence }), wish: () => ({ command: 'cancel' }) });

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
      const decisions = await decisionsIn(world, done.row);
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

const replayBody = z.strictObject({
  reason: sentence,
  destinations: z.optional(
    z.array(destinationId).check(
      z.minLength(1),
      z.maxLength(DESTINATIONS_PER_EVENT_MAX),
      z.refine((ids) => new Set(ids).size === ids.length, 'names a destination twice'),
    ),
  ),
});

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

const replayProblem = (event: string, refused: Exclude<ReplayDecided, { kind: 'done' }>): Problem => {
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

const reasonBody = z.strictObject({ reason: sentence });

const askedOf = async (context: Context<Signed>): Promise<Read<DestinationAsked>> => {
  const segment = destinationSegment(context);
  if (segment.kind === 'bad') return segment;
  const read = await readDecision(context, reasonBody);
  if (read.kind === 'bad') return read;
  const { request, actor, body } = read.value;
  return { kind: 'ok', value: { request, actor, reason: body.reason, destination: segment.value } };
};

const refusedProblem = (destination: string, kind: 'absent' | 'reused' | 'newer'): Problem => {
  if (kind === 'absent') return absent(`destination ${destination}`);
  return kind === 'reused' ? reused : newer;
};

const onGate = async (context: Context<Signed>, world: Needs, command: typeof pauseDestination): Promise<Response> => {
  const asked = await askedOf(context);
  if (asked.kind === 'bad') return problem(context, asked.problem);
  const { destination, request } = asked.value;
  const done = await command(world, asked.value);
  if (done.kind !== 'done') return problem(context, refusedProblem(destination, done.kind));
  const parked = await parkedOf(world, done.config);
  const shown = destinationView(done.config, done.gate, world.clock.nowMs(), parked);
  return context.json({ ...shown, decision: request });
};

const onTest = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const asked = await askedOf(context);
  if (asked.kind === 'bad') return problem(context, asked.problem);
  const { destination, request } = asked.value;
  const done = await testDestination(world, asked.value);
  if (done.kind === 'conflict') {
    const detail = `event ${done.event} is somebody else's; test again, with another request id`;
    return problem(context, { status: 409, code: 'event-conflict', detail });
  }
  if (done.kind !== 'done') return problem(context, refusedProblem(destination, done.kind));
  return context.json({ event: done.event, href: hrefOf(done.event, destination), decision: request }, 202);
};

const onDelete = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const asked = await askedOf(context);
  if (asked.kind === 'bad') return problem(context, asked.problem);
  const { destination, request } = asked.value;
  const done = await deleteDestination(world, asked.value);
  if (done.kind !== 'done') return problem(context, refusedProblem(destination, done.kind));
  return context.json({ destination, deletedAt: new Date(done.deletedAtMs).toISOString(), decision: request });
};
