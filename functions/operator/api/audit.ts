/** What an audit needs, as it is stored. Nothing is judged here: who audits does not take our word for it. */
import type { Context } from 'hono';
import type { Decided } from '../../core/operations.ts';
import { problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { type Audited, auditEvent, auditPage } from '../commands/audit.ts';
import { listDecisions } from '../commands/decision-list.ts';
import { auditQuery, decisionsQuery } from '../contract/inputs.ts';
import { readQuery } from './decision-input.ts';
import type { On } from './on.ts';
import { absent, eventSegment } from './segments.ts';
import { given, iso } from './views.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'telemetry'>;

export const addAuditRoutes = (on: On, world: Needs): void => {
  on('auditEvent', (context) => onEvent(context, world));
  on('auditDeliveries', (context) => onPage(context, world));
  on('listDecisions', (context) => onDecisions(context, world));
};

const itemView = (audited: Audited) => {
  switch (audited.kind) {
    case 'row':
      return audited.row;
    case 'missing':
      return { ...audited.ref, fault: 'missing' };
    case 'unreadable':
      return { ...audited.ref, fault: audited.why };
  }
};

const onEvent = async (context: Context, world: Needs): Promise<Response> => {
  const event = eventSegment(context);
  if (event.kind === 'bad') return problem(context, event.problem);
  const items = await auditEvent(world, event.value);
  if (items === undefined) return problem(context, absent(`event ${event.value}`));
  return context.json({ items: items.map(itemView) });
};

const onPage = async (context: Context, world: Needs): Promise<Response> => {
  const query = readQuery(context, auditQuery);
  if (query.kind === 'bad') return problem(context, query.problem);
  const { destination, limit, day, cursor } = query.value;
  const page = await auditPage(world, {
    destination,
    limit,
    ...(day === undefined ? {} : { day }),
    ...(cursor === undefined ? {} : { cursor }),
  });
  return context.json({ items: page.items.map(itemView), ...(page.next === undefined ? {} : { next: page.next }) });
};

const onDecisions = async (context: Context, world: Needs): Promise<Response> => {
  const query = readQuery(context, decisionsQuery);
  if (query.kind === 'bad') return problem(context, query.problem);
  const { items, unreadable, next } = await listDecisions(world, query.value);
  return context.json({
    items: items.map(decisionView),
    ...given('unreadable', unreadable === 0 ? undefined : unreadable),
    ...given('next', next),
  });
};

const decisionView = ({ request, decidedAtMs, reason, ...decision }: Decided) => ({
  decision: request,
  at: iso(decidedAtMs),
  actor: decision.actor,
  command: decision.command,
  ...given('reason', reason === '' ? undefined : reason),
  before: decision.before,
  ...given('changes', decision.changes),
  ...given('event', decision.event),
  ...given('destination', decision.destination),
  ...given('operation', decision.operation),
  ...given('token', decision.token),
  ...given('evidence', decision.evidence),
  ...given('result', decision.result),
});
