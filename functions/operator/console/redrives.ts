/** Redrives over many: the list, and one with its plan, its progress and its result. */
import { html } from 'hono/html';
import { isTooSlow } from '../../core/estimate.ts';
import { isOwnId } from '../../core/ids.ts';
import type { Progress } from '../../core/judge.ts';
import type { Operation, OperationMessage } from '../../core/operations.ts';
import { FINDINGS } from '../../core/operations.ts';
import { operationView } from '../api/redrive-views.ts';
import { absent, newer } from '../api/segments.ts';
import { listRedrives, showRedrive } from '../commands/redrives.ts';
import { ROUTES } from '../contract/routes.ts';
import { type Part, partsBar } from './charts.ts';
import { FINDING_SAYS, FINDING_TONES } from './findings.ts';
import { type Frame, page, problemPage } from './frame.ts';
import { act, empty, head, pager, table } from './layout.ts';
import { deliveryLink, destinationLink, eventLink, HOME, redrivePath, withQuery } from './links.ts';
import { cursorIn, PAGE_ROWS } from './lists.ts';
import { doneNote } from './notes.ts';
import { operationState, operationTable, sourceText, unreadOperations } from './operation-table.ts';
import type { Visitor } from './session.ts';
import { badge, type Tone } from './states.ts';
import { clipped, type Html, NOTHING, number, shown } from './text.ts';
import { coarse, moment } from './times.ts';

const PATH = `${HOME}/redrives`;

export const showRedrives = async (frame: Frame): Promise<Response> => {
  const { world, context, visitor } = frame;
  const cursor = cursorIn(context);
  const found = await listRedrives(world, PAGE_ROWS, cursor);
  const next = found.next === undefined ? undefined : withQuery(PATH, { cursor: found.next });
  const main = html`${head({
    title: 'Redrives',
    says: 'Dead letters and held deliveries, put back in the open: planned first, then run in bounded batches, judged by what came of them.',
    acts: visitor.may(ROUTES.planRedrive.right) ? [act(`${PATH}/new`, 'Plan a redrive', true)] : [],
  })}${unreadOperations(found)}${
    found.items.length === 0
      ? empty('No redrives yet', 'When an outage is over, plan one: it says what it would do before it does anything.')
      : operationTable(found.items, world.clock.nowMs())
  }${pager(next, cursor === undefined ? undefined : PATH)}`;
  return page(frame, { title: 'Redrives', section: 'redrives', main });
};

const LIVE_SEC = 1;
const AGAIN_SEC = 3;

export const showRedriveAt = async (frame: Frame): Promise<Response> => {
  const { world, context } = frame;
  const id = context.req.param('operation') ?? '';
  const found = await showRedrive(world, isOwnId(id) ? id : '');
  const nowMs = world.clock.nowMs();
  if (found.kind === 'newer') return problemPage(context, newer, nowMs);
  if (found.kind === 'absent') return problemPage(context, absent(`redrive ${id.slice(0, 64)}`), nowMs);
  const { operation, progress, messages } = found;
  const from = Number(/^\d{1,9}$/.exec(cursorIn(context) ?? '')?.[0] ?? 0);
  const { countsExactly } = world.deadLetters.traits;
  const view = operationView(operation, progress, messages, { from, limit: PAGE_ROWS }, { nowMs, countsExactly });
  const rows = messages.filter(({ position }) => position >= from).slice(0, PAGE_ROWS);
  const path = redrivePath(operation.operation);
  const isLive = operation.state === 'running';
  const main = html`<div id="redrive"${isLive ? html` data-live="${LIVE_SEC}"` : ''}>${head({
    title: html`Redrive <span class="id">${shown(operation.operation)}</span>`,
    crumb: html`<a href="${PATH}">Redrives</a>`,
    says: html`${operationState(operation)} · over ${sourceText(operation)} · by ${shown(operation.actor)}: “${shown(operation.why)}”`,
    acts: actsOn(operation, frame.visitor),
  })}${doneNote(context)}${'stalled' in view ? html`<div class="note bad"><p>${String(view.stalled)}</p></div>` : NOTHING}
${operation.startedAtMs === undefined ? planCard(operation, nowMs) : progressCard(operation, progress, messages.length, view, nowMs)}
<section><h2>Messages <small>${number(messages.length)} in the plan</small></h2>${
    rows.length === 0
      ? empty('Nothing was found', 'There was nothing to put back when the plan was made.')
      : messageTable(rows)
  }${pager(view.next === undefined ? undefined : withQuery(path, { cursor: view.next }), from === 0 ? undefined : path)}</section></div>`;
  return page(frame, { title: 'Redrive', section: 'redrives', main, ...(isLive ? { againSec: AGAIN_SEC } : {}) });
};

const actsOn = (operation: Operation, visitor: Visitor): readonly Html[] => {
  const path = redrivePath(operation.operation);
  const mayRun = operation.state === 'planned' && operation.messages > 0 && !isTooSlow(operation);
  return [
    mayRun && visitor.may(ROUTES.runRedrive.right) ? act(`${path}/run`, 'Run it', true) : NOTHING,
    operation.state === 'running' && visitor.may(ROUTES.stopRedrive.right) ? act(`${path}/stop`, 'Stop') : NOTHING,
  ];
};

// ---- plan ---------------------------------------------------------------------------------------------------------

const planCard = (operation: Operation, nowMs: number): Html => {
  const found = FINDINGS.flatMap((finding) => {
    const count = operation.found[finding] ?? 0;
    return count === 0 ? [] : [{ finding, count }];
  });
  const tooSlow = isTooSlow(operation)
    ? html`<div class="note bad"><p>It may take ${coarse(operation.estimateMs)}, and is to be over within ${operation.recoveryMinutes} min: plan fewer, or allow more time.</p></div>`
    : NOTHING;
  return html`${tooSlow}<section><h2>What a run would do <small>made ${moment(operation.createdAtMs, nowMs)}</small></h2>${
    found.length === 0
      ? NOTHING
      : table('Findings', found, [
          { title: 'Finding', of: ({ finding }) => badge(FINDING_TONES[finding], finding), lead: true },
          { title: 'Count', of: ({ count }) => number(count), numeric: true },
          { title: 'A run', of: ({ finding }) => FINDING_SAYS[finding] },
        ])
  }<p class="after"><small>At most ${coarse(operation.estimateMs)} · stops itself above ${Math.round(operation.stopAbove * 100)} % failures in a batch${
    operation.shortfall === undefined ? '' : ' · not all that is there could be read: plan again for the rest'
  }</small></p></section>`;
};

// ---- progress -----------------------------------------------------------------------------------------------------

interface Mismatch {
  readonly mismatch?: { readonly expected: number; readonly counted: number; readonly says: string };
}

const progressCard = (
  operation: Operation,
  progress: Progress,
  planned: number,
  view: Mismatch,
  nowMs: number,
): Html => {
  const { results } = progress;
  const parts: readonly Part[] = [
    { name: 'delivered', count: results.delivered + results.deduplicated, tone: 'good' },
    { name: 'failed', count: results.failed, tone: 'bad' },
    { name: 'in doubt', count: results['in-doubt'], tone: 'wait' },
    { name: 'open', count: results.open, tone: 'fill' },
    { name: 'nothing to send', count: results.dropped + results.held + results.accepted + results.gone, tone: 'quiet' },
    { name: 'not acted on yet', count: progress.waiting, tone: 'soft' },
  ];
  const { deadBefore, deadAfter, startedAtMs, endedAtMs } = operation;
  return html`<section class="card"><h2>${operation.state === 'running' ? 'Progress' : 'Result'} <small role="status">${number(planned - progress.waiting)} of ${number(planned)} acted on</small></h2>
${partsBar(parts, 'Results')}
<dl class="facts after"><dt>Requested</dt><dd>${number(progress.requested)}</dd><dt>Put back</dt><dd>${number(progress.requeued)}</dd>
${operation.startedBecause === undefined ? '' : html`<dt>Run by</dt><dd>${shown(operation.startedBecause)}</dd>`}
${startedAtMs === undefined ? '' : html`<dt>Began</dt><dd>${moment(startedAtMs, nowMs)}</dd>`}${endedAtMs === undefined ? '' : html`<dt>Ended</dt><dd>${moment(endedAtMs, nowMs)}</dd>`}
${deadBefore === undefined ? '' : html`<dt>Dead letters</dt><dd>${number(deadBefore)} before${deadAfter === undefined ? '' : `, ${number(deadAfter)} after`}</dd>`}</dl>
${view.mismatch === undefined ? NOTHING : html`<div class="note bad after"><p>${number(view.mismatch.expected)} dead letters expected, ${number(view.mismatch.counted)} counted: ${view.mismatch.says}.</p></div>`}</section>`;
};

const RESULT_TONES: Readonly<Record<string, Tone>> = {
  delivered: 'good',
  deduplicated: 'good',
  failed: 'bad',
  'in-doubt': 'bad',
  open: 'live',
  accepted: 'good',
};

const messageTable = (rows: readonly OperationMessage[]): Html =>
  table('Messages', rows, [
    { title: 'Event', of: aboutOf, lead: true },
    { title: 'To', of: ({ destination }) => (destination === undefined ? '' : destinationLink(destination)) },
    { title: 'Finding', of: ({ finding, detail }) => badge(FINDING_TONES[finding], finding, clipped(detail, 60)) },
    { title: 'Done', of: ({ action }) => action ?? '' },
    { title: 'Result', of: ({ result }) => (result === undefined ? '' : badge(RESULT_TONES[result] ?? 'off', result)) },
  ]);

const aboutOf = ({ event, destination, messageId }: OperationMessage): Html => {
  if (event !== undefined && destination !== undefined) return deliveryLink({ event, destination });
  if (event !== undefined) return eventLink(event);
  return html`<span class="id">${messageId === undefined ? 'a message' : clipped(messageId, 40)}</span>`;
};
