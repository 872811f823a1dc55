/** The report of a destination in shadow mode, alone or beside the counts of another sender. */
import type { Context } from 'hono';
import { compared, readCounts, type ShadowCompared } from '../../core/shadow.ts';
import { shadowWords } from '../../core/shadow-words.ts';
import { problem } from '../../http/problem.ts';
import type { World } from '../../ports.ts';
import { type ShadowReport, type ShadowScope, shadowReport, shadowScope } from '../commands/shadow-report.ts';
import { shadowBody, shadowQuery } from '../contract/inputs.ts';
import { readBody, readQuery } from './decision-input.ts';
import type { On } from './on.ts';
import { absent, destinationSegment, jsonBody, newer } from './segments.ts';
import { given, iso } from './views.ts';

type Needs = Pick<World, 'ledger' | 'pages' | 'clock'>;

export const addShadowRoutes = (on: On, world: Needs): void => {
  on('showShadow', (context) => show(context, world));
  on('compareShadow', (context) => compare(context, world));
};

const invalid = (context: Context, { field, reason }: { readonly field: string; readonly reason: string }): Response =>
  problem(context, { status: 422, code: 'invalid', detail: `${field} ${reason}`, field });

const show = async (context: Context, world: Needs): Promise<Response> => {
  const id = destinationSegment(context);
  if (id.kind === 'bad') return problem(context, id.problem);
  const query = readQuery(context, shadowQuery);
  if (query.kind === 'bad') return problem(context, query.problem);
  const read = shadowScope(query.value, world.clock.nowMs());
  if (read.kind === 'bad') return invalid(context, read);
  const report = await shadowReport(world, id.value, read.scope, { cursor: query.value.cursor });
  if (report.kind === 'absent') return problem(context, absent(`destination ${id.value}`));
  if (report.kind === 'newer') return problem(context, newer);
  return context.json(shadowView(report, read.scope));
};

const compare = async (context: Context, world: Needs): Promise<Response> => {
  const id = destinationSegment(context);
  if (id.kind === 'bad') return problem(context, id.problem);
  const json = await jsonBody(context);
  if (json.kind === 'bad') return problem(context, json.problem);
  const body = readBody(json.value ?? {}, shadowBody);
  if (body.kind === 'bad') return problem(context, body.problem);
  const { sent, counts } = body.value;
  if ((sent === undefined) === (counts === undefined)) {
    return invalid(context, { field: 'counts', reason: 'or sent has to be given, and one of them only' });
  }
  const read = shadowScope(body.value, world.clock.nowMs());
  if (read.kind === 'bad') return invalid(context, read);
  const theirs = readCounts({ sent, counts }, read.scope);
  if (theirs.kind === 'bad') return invalid(context, theirs);
  const report = await shadowReport(world, id.value, read.scope);
  if (report.kind === 'absent') return problem(context, absent(`destination ${id.value}`));
  if (report.kind === 'newer') return problem(context, newer);
  const isWhole = report.next === undefined;
  return context.json(shadowView(report, read.scope, isWhole ? compared(report.tally, theirs.counts) : undefined));
};

export const shadowView = (
  { config, tally, next }: Extract<ShadowReport, { kind: 'found' }>,
  scope: ShadowScope,
  beside?: ShadowCompared,
) => {
  const { buckets, ...numbers } = tally;
  const { destination, mode } = config;
  const complete = next === undefined;
  return {
    destination,
    mode,
    from: scope.fromDay,
    to: scope.toDay,
    per: scope.per,
    acceptedSince: scope.sinceDay,
    ...numbers,
    buckets:
      beside === undefined || beside.buckets.length === 0
        ? [...buckets].map(([atMs, wouldSend]) => ({ at: iso(atMs), wouldSend }))
        : beside.buckets.map((one) => ({
            at: iso(one.atMs),
            wouldSend: one.wouldSend,
            given: one.given,
            difference: one.wouldSend - one.given,
          })),
    ...given('compared', beside && { same: beside.same, given: beside.given, difference: beside.difference }),
    complete,
    ...given('next', next),
    words: shadowWords({ destination, mode, window: scope, tally, complete, compared: beside }),
  };
};
