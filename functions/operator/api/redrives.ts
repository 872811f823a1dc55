/** Closed-loop redrive over many: plan, run, stop, look. */
import type { Context } from 'hono';
import { recoveryMs } from '../../core/estimate.ts';
import { isOwnId } from '../../core/ids.ts';
import type { Operation } from '../../core/operations.ts';
import type { Signed } from '../../http/auth.ts';
import { type Problem, problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { listRedrives, type Planned, planRedrive, showRedrive } from '../commands/redrives.ts';
import { type RunAsked, type RunDecided, type RunRefusal, runRedrive, stopRedrive } from '../commands/run-redrive.ts';
import { messagesQuery, pageQuery, planBody, reasonBody } from '../contract/inputs.ts';
import { readDecision, readQuery } from './decision-input.ts';
import { reused } from './decision-problems.ts';
import type { On } from './on.ts';
import { operationSummary, operationView } from './redrive-views.ts';
import { absent, newer } from './segments.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'queue' | 'deadLetters' | 'clock' | 'telemetry'>;

export const addRedriveRoutes = (on: On, world: Needs): void => {
  on('planRedrive', (context) => onPlan(context, world));
  on('listRedrives', (context) => onList(context, world));
  on('showRedrive', (context) => onShow(context, world));
  on('runRedrive', (context) => onRun(context, world, runRedrive));
  on('stopRedrive', (context) => onRun(context, world, stopRedrive));
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

export const planProblem = (
  refused: Exclude<Planned, { kind: 'planned' }>,
  destination: string | undefined,
): Problem => {
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
  if (done.kind === 'done') return answerShown(context, world, operation, 200, { decision: request });
  return problem(context, runProblem(done, context.req.param('operation') ?? ''));
};

/** `named`: the operation as it was asked for. */
export const runProblem = (refused: Exclude<RunDecided, { kind: 'done' }>, named: string): Problem => {
  switch (refused.kind) {
    case 'refused':
      return refusalOf(refused.code, refused.operation);
    case 'absent':
      return absent(`operation ${named.slice(0, 64)}`);
    case 'reused':
      return reused;
    case 'newer':
      return newer;
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

const onShow = async (context: Context<Signed>, world: Needs): Promise<Response> =>
  answerShown(context, world, operationIn(context), 200);

const answerShown = async (
  context: Context,
  world: Needs,
  operation: string,
  status: 200 | 201,
  more: { readonly decision?: string } = {},
): Promise<Response> => {
  const query = readQuery(context, messagesQuery);
  if (query.kind === 'bad') return problem(context, query.problem);
  const window = { from: query.value.cursor ?? 0, limit: query.value.limit };
  const shown = await showRedrive(world, operation);
  if (shown.kind === 'absent') return problem(context, unknown(context));
  if (shown.kind === 'newer') return problem(context, newer);
  const now = { nowMs: world.clock.nowMs(), countsExactly: world.deadLetters.traits.countsExactly };
  const view = operationView(shown.operation, shown.progress, shown.messages, window, now);
  return context.json({ ...view, ...more }, status);
};

const onList = async (context: Context<Signed>, world: Needs): Promise<Response> => {
  const query = readQuery(context, pageQuery);
  if (query.kind === 'bad') return problem(context, query.problem);
  const page = await listRedrives(world, query.value.limit, query.value.cursor);
  const items = page.items.map((operation) => operationSummary(operation, world.clock.nowMs()));
  const unreadable = page.unreadable.length === 0 ? {} : { unreadable: page.unreadable };
  return context.json({ items, ...unreadable, ...(page.next === undefined ? {} : { next: page.next }) });
};
