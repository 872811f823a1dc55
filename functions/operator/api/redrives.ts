/** Closed-loop redrive over many: plan, run, stop, look. */
import type { Context, Hono } from 'hono';
import * as z from 'zod/mini';
import { recoveryMs } from '../../core/estimate.ts';
import { isOwnId } from '../../core/ids.ts';
import { API_BODY_BYTES_MAX, LIST_PAGE_MAX } from '../../core/limits.ts';
import { QUARANTINE_REASONS } from '../../core/model.ts';
import type { Operation } from '../../core/operations.ts';
import { needs, type Signed } from '../../http/auth.ts';
import { bounded } from '../../http/body.ts';
import { type Problem, problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { PLAN_MESSAGES_MAX } from '../../steps/redrive-plan.ts';
import {
  listRedrives,
  type Planned,
  planRedrive,
  type RunAsked,
  type RunDecided,
  type RunRefusal,
  runRedrive,
  showRedrive,
  stopRedrive,
} from '../commands/redrives.ts';
import { destinationId, readDecision, sentence } from './decision-input.ts';
import { reused } from './decision-problems.ts';
import { operationSummary, operationView, type Window } from './redrive-views.ts';
import { absent, newer, type Read } from './segments.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'queue' | 'deadLetters' | 'clock' | 'telemetry'>;

export const addRedriveRoutes = (app: Hono<Signed>, world: Needs): void => {
  const [view, resend] = [needs(world.ledger, 'view'), needs(world.ledger, 'resend')];
  const bound = bounded(API_BODY_BYTES_MAX);
  app.post('/v1/redrives', resend, bound, (context) => onPlan(context, world));
  app.get('/v1/redrives', view, (context) => onList(context, world));
  app.get('/v1/redrives/:operation', view, (context) => onShow(context, world));
  app.post('/v1/redrives/:operation/run', resend, bound, (context) => onRun(context, world, runRedrive));
  app.post('/v1/redrives/:operation/stop', resend, bound, (context) => onRun(context, world, stopRedrive));
};

const bad = (field: string, reason: string): Problem => ({
  status: 422,
  code: 'invalid',
  detail: `${field} ${reason}`,
  field,
});

/** An id that is not one of ours names nothing: it is looked for as the empty one, which no operation has. */
const operationIn = (context: Context): string => {
  const text = context.req.param('operation') ?? '';
  return isOwnId(text) ? text : '';
};
const unknown = (context: Context): Problem =>
  absent(`operation ${(context.req.param('operation') ?? '').slice(0, 64)}`);

// ---- plan ---------------------------------------------------------------------------------------------------------

const RECOVERY_MINUTES_DEFAULT = 60;
const RECOVERY_MINUTES_MAX = 7 * 24 * 60;
const STOP_ABOVE_DEFAULT = 0.5;

const planBody = z
  .strictObject({
    source: z.enum(['dead-letters', 'quarantine']),
    destination: z.optional(destinationId),
    reason: z.optional(z.enum(QUARANTINE_REASONS)),
    limit: z.int().check(z.minimum(1), z.maximum(PLAN_MESSAGES_MAX)),
    recoveryMinutes: z._default(
      z.number().check(z.minimum(0.1), z.maximum(RECOVERY_MINUTES_MAX)),
      RECOVERY_MINUTES_DEFAULT,
    ),
    stopAbove: z._default(z.number().check(z.minimum(0), z.maximum(1)), STOP_ABOVE_DEFAULT),
    acceptSecondEffect: z._default(z.boolean(), false),
    why: sentence,
  })
  .check(
    z.refine(({ source, reason }) => source === 'quarantine' || reason === undefined, {
      error: 'narrows the quarantine only; dead letters have no such reason',
      path: ['reason'],
    }),
  );

const onPlan = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const read = await readDecision(context, planBody);
  if (read.kind === 'bad') return problem(context, read.problem);
  const { request, actor, body } = read.value;
  const { destination, reason, ...rest } = body;
  const planned = await planRedrive(world, request, {
    ...rest,
    ...(destination === undefined ? {} : { destination }),
    ...(reason === undefined ? {} : { reason }),
    actor,
  });
  if (planned.kind !== 'planned') return problem(context, planProblem(planned, destination));
  return answerShown(context, world, planned.operation.operation, planned.repeated ? 200 : 201);
};

const planProblem = (refused: Exclude<Planned, { kind: 'planned' }>, destination: string | undefined): Problem => {
  switch (refused.kind) {
    case 'reused':
      return reused;
    case 'newer':
      return newer;
    case 'no-destination':
      return bad('destination', `${destination} does not exist`);
    case 'unreadable': {
      const detail = `the dead letters cannot be read (${refused.code}): ${refused.detail}; repeat the same request`;
      return { status: 503, code: 'dead-letters-unavailable', detail };
    }
  }
};

// ---- run, stop ----------------------------------------------------------------------------------------------------

const reasonBody = z.strictObject({ reason: sentence });

const onRun = async (
  context: Context<Signed>,
  world: Needs,
  command: (world: Needs, asked: RunAsked) => Promise<RunDecided>,
): Promise<Response> => {
  const operation = operationIn(context);
  const read = await readDecision(context, reasonBody);
  if (read.kind === 'bad') return problem(context, read.problem);
  const { request, actor, body } = read.value;
  const done = await command(world, { request, actor, reason: body.reason, operation });
  switch (done.kind) {
    case 'done':
      return answerShown(context, world, operation, 200, { decision: request });
    case 'refused':
      return problem(context, refusalOf(done.code, done.operation));
    case 'absent':
      return problem(context, unknown(context));
    case 'reused':
      return problem(context, reused);
    case 'newer':
      return problem(context, newer);
  }
};

const refusalOf = (code: RunRefusal, operation: Operation): Problem => ({
  status: 409,
  code,
  detail: `operation ${operation.operation} ${REFUSED[code](operation)}`,
});

const seconds = (ms: number): string => `${Math.ceil(ms / 1_000)} s`;

const REFUSED: Readonly<Record<RunRefusal, (operation: Operation) => string>> = {
  'not-planned': () => 'is not planned to its end; repeat the request that began the plan',
  'too-slow': (operation) =>
    `may take ${seconds(operation.estimateMs)}, and is to be over within ${seconds(recoveryMs(operation))}: plan fewer messages, or more recoveryMinutes`,
  'operation-stopped': ({ stoppedBecause }) =>
    `was stopped (${stoppedBecause ?? 'no reason on record'}) and stays so: make a new plan for what is left`,
  'not-running': ({ state }) => `is ${state}: only a running operation can be stopped`,
  'operation-done': () => 'is done: there is nothing to stop',
};

// ---- show, list ---------------------------------------------------------------------------------------------------

const LIMIT_DEFAULT = 50;

const windowOf = (context: Context): Read<Window> => {
  const { cursor, limit: wanted } = context.req.query();
  const limit = limitOf(wanted);
  if (limit === undefined) return { kind: 'bad', problem: LIMIT_PROBLEM };
  if (cursor !== undefined && !/^\d{1,9}$/.test(cursor)) {
    const detail = 'the cursor is not one that this list gave out: start the list again without a cursor';
    return { kind: 'bad', problem: { status: 400, code: 'bad-cursor', detail, field: 'cursor' } };
  }
  return { kind: 'ok', value: { from: Number(cursor ?? 0), limit } };
};

const LIMIT_PROBLEM = bad('limit', `must be a whole number from 1 to ${LIST_PAGE_MAX}`);

const limitOf = (text: string | undefined): number | undefined => {
  if (text === undefined) return LIMIT_DEFAULT;
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  return limit >= 1 && limit <= LIST_PAGE_MAX ? limit : undefined;
};

const onShow = async (context: Context<Signed>, world: Needs): Promise<Response> =>
  answerShown(context, world, operationIn(context), 200);

const answerShown = async (
  context: Context,
  world: Needs,
  operation: string,
  status: 200 | 201,
  more: { readonly decision?: string } = {},
): Promise<Response> => {
  const window = windowOf(context);
  if (window.kind === 'bad') return problem(context, window.problem);
  const shown = await showRedrive(world, operation);
  if (shown.kind === 'absent') return problem(context, unknown(context));
  if (shown.kind === 'newer') return problem(context, newer);
  const nowMs = world.clock.nowMs();
  const view = operationView(shown.operation, shown.progress, shown.messages, window.value, nowMs);
  return context.json({ ...view, ...more }, status);
};

const onList = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const { cursor, limit: wanted } = context.req.query();
  const limit = limitOf(wanted);
  if (limit === undefined) return problem(context, LIMIT_PROBLEM);
  const page = await listRedrives(world, limit, cursor === '' ? undefined : cursor);
  const items = page.items.map((operation) => operationSummary(operation, world.clock.nowMs()));
  return context.json({ items, ...(page.next === undefined ? {} : { next: page.next }) });
};
