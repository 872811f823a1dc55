/** The front door for events: `POST /v1/events`. A 202 means that the event and its deliveries stand in the ledger. */

import type { Context } from 'hono';
import { Hono } from 'hono';
import { causeOf } from '../core/journal.ts';
import { type JsonDocument, type JsonNode, readJson } from '../core/json-tree.ts';
import { EVENTS_PER_REQUEST_MAX } from '../core/limits.ts';
import { readSubmission } from '../core/submission.ts';
import { readTraceparent } from '../core/trace.ts';
import { createGuard, type Signed } from '../http/auth.ts';
import { rawBody } from '../http/body.ts';
import { notFound, type Problem, problem, problemBody, problemOfError } from '../http/problem.ts';
import { logged } from '../http/request-log.ts';
import { addRoute, refuseOtherMethods } from '../http/route.ts';
import { SUBMIT } from '../http/submit-route.ts';
import { type Accepted, accept, type Source } from '../steps/accept.ts';
import type { Effects } from '../steps/effects.ts';

type Answered =
  | { readonly kind: 'accepted'; readonly body: AcceptedBody }
  | { readonly kind: 'problem'; readonly problem: Problem };

interface AcceptedBody {
  readonly event: string;
  readonly acceptedAt: string;
  readonly deliveries: readonly { readonly destination: string; readonly href: string }[];
}

export const createIntakeApp = (world: Effects): Hono<Signed> => {
  const app = new Hono<Signed>();
  app.onError(problemOfError(world.telemetry));
  app.notFound(notFound);
  app.use(logged(world));
  app.get('/healthz', (context) => context.json({ ok: true }));
  addRoute(app, createGuard(world), SUBMIT, async (context) => {
    const document = readJson(await rawBody(context));
    if (document.kind === 'bad') {
      return problem(context, {
        status: 400,
        code: 'malformed-json',
        detail: sentence(document.field ?? 'the body', document.reason),
        ...(document.field === undefined ? {} : { field: document.field }),
      });
    }
    const source = sourceOf(world, context);
    return document.root.kind === 'array'
      ? many(context, world, document, document.root.items, source)
      : one(context, await submit(world, document, document.root, source));
  });
  refuseOtherMethods(app, [SUBMIT]);
  return app;
};

/** Of the time of one request, however many events it brings. */
const PUBLISH_SHARE_MS = 10_000;

const sourceOf = (world: Effects, context: Context<Signed>): Source => {
  const traceparent = readTraceparent(context.req.header('traceparent'));
  return {
    kind: 'api',
    cause: causeOf('api', world.dice.id()),
    publishUntilMs: world.clock.nowMs() + PUBLISH_SHARE_MS,
    ...(traceparent === undefined ? {} : { traceparent }),
  };
};

const one = (context: Context, answered: Answered): Response =>
  answered.kind === 'accepted' ? context.json(answered.body, 202) : problem(context, answered.problem);

/** Answered one by one: an array is a way to save requests, not a transaction. */
const many = async (
  context: Context,
  world: Effects,
  document: JsonDocument,
  nodes: readonly JsonNode[],
  source: Source,
): Promise<Response> => {
  if (nodes.length < 1 || nodes.length > EVENTS_PER_REQUEST_MAX) {
    const detail = `an array must hold 1 to ${EVENTS_PER_REQUEST_MAX} events, not ${nodes.length}`;
    return problem(context, { status: 422, code: 'event-count', detail });
  }
  const items: ((AcceptedBody & { status: 202 }) | ReturnType<typeof problemBody>)[] = [];
  for (const node of nodes) {
    const answered = await submit(world, document, node, source);
    items.push(answered.kind === 'accepted' ? { status: 202, ...answered.body } : problemBody(answered.problem));
  }
  return context.json({ items }, items.every((item) => item.status === 202) ? 202 : 207);
};

const submit = async (world: Effects, document: JsonDocument, node: JsonNode, source: Source): Promise<Answered> => {
  const read = readSubmission(document, node, world.clock.nowMs());
  if (read.kind === 'bad') {
    const status = read.code === 'too-large' ? 413 : 422;
    const code = read.code === 'too-large' ? 'payload-too-large' : 'invalid';
    return refused({ status, code, detail: sentence(read.field || 'the event', read.reason), field: read.field });
  }
  return answerOf(await accept(world, read.submission, source));
};

const answerOf = (accepted: Accepted): Answered => {
  switch (accepted.kind) {
    case 'accepted':
      return { kind: 'accepted', body: bodyOf(accepted.event) };
    case 'conflict':
      return refused({
        status: 409,
        code: 'event-conflict',
        detail:
          `event ${accepted.event.event} was accepted before with another payload or other destinations; ` +
          'the first one stands, and this attempt to change it is on record',
        field: 'id',
      });
    case 'unknown-destination':
      return refused({
        status: 422,
        code: 'unknown-destination',
        detail: `destination ${accepted.destination} does not exist; create it with PUT /v1/destinations/{id}`,
        field: `destinations[${accepted.index}]`,
      });
    case 'not-from-queue':
      throw new TypeError('the API is not the queue');
  }
};

/** The same for every repeat: nothing in it changes as the deliveries go on. */
const bodyOf = (event: Extract<Accepted, { kind: 'accepted' }>['event']): AcceptedBody => ({
  event: event.event,
  acceptedAt: new Date(event.acceptedAtMs).toISOString(),
  deliveries: event.destinations.map((destination) => ({
    destination,
    href: `/v1/events/${encodeURIComponent(event.event)}/deliveries/${encodeURIComponent(destination)}`,
  })),
});

const refused = (value: Problem): Answered => ({ kind: 'problem', problem: value });

const sentence = (subject: string, reason: string): string => `${subject} ${reason}`;
