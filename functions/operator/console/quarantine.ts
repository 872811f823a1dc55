/** What waits for a person: chosen one by one or together, with a count of what would happen before it does. */
import { html } from 'hono/html';
import { withHiddenShown } from '../../core/hidden.ts';
import type { Delivery, QuarantineReason } from '../../core/model.ts';
import { type Listed, listDeliveries } from '../commands/lists.ts';
import { ROUTES } from '../contract/routes.ts';
import { pickOf } from './changes/picks.ts';
import { type Part, partsBar } from './charts.ts';
import { type Frame, page, problemPage } from './frame.ts';
import { type Column, empty, formMark, head, pager, table } from './layout.ts';
import { HOME, withQuery } from './links.ts';
import { columnsAt, cursorIn, destinationIn, PAGE_ROWS, refOf } from './lists.ts';
import { doneNote } from './notes.ts';
import type { Visitor } from './session.ts';
import { badge, deliveryState } from './states.ts';
import { clipped, type Html, NOTHING } from './text.ts';

export const QUARANTINE = `${HOME}/quarantine`;

export const showQuarantine = async (frame: Frame): Promise<Response> => {
  const { context, world, visitor } = frame;
  const destination = destinationIn(context.req.query('destination'));
  if (destination.kind === 'bad') return problemPage(context, destination.problem, world.clock.nowMs());
  const cursor = cursorIn(context);
  const found = await listDeliveries(world, {
    list: 'quarantined',
    limit: PAGE_ROWS,
    ...(destination.value === undefined ? {} : { destination: destination.value }),
    ...(cursor === undefined ? {} : { cursor }),
  });
  const parameters = { destination: destination.value };
  const next = found.next === undefined ? undefined : withQuery(QUARANTINE, { ...parameters, cursor: found.next });
  const nowMs = world.clock.nowMs();
  const main = html`${head({
    title: 'Quarantine',
    says: 'Deliveries that go no further without a person. Each has a reason; nothing here is lost, and nothing is sent.',
    acts: [
      visitor.may(ROUTES.planRedrive.right)
        ? html`<a class="button" href="${withQuery(`${HOME}/redrives/new`, { source: 'quarantine', destination: destination.value })}">Plan a redrive of all</a>`
        : NOTHING,
    ],
  })}${doneNote(context)}${filter(destination.value)}${
    found.items.length === 0
      ? emptyOf(next !== undefined, destination.value)
      : html`${reasonsBar(found.items)}${chooser(found.items, visitor, nowMs)}`
  }${pager(next, cursor === undefined ? undefined : withQuery(QUARANTINE, parameters))}`;
  return page(frame, { title: 'Quarantine', section: 'quarantine', main });
};

const filter = (destination: string | undefined): Html =>
  html`<form class="filter" method="get" action="${QUARANTINE}"><input name="destination" aria-label="Destination" placeholder="Destination" value="${destination ?? ''}" maxlength="1024"><button>Show</button></form>`;

const emptyOf = (isMore: boolean, destination: string | undefined): Html => {
  if (isMore) return empty('Nothing on this page', 'What stood here has left the list. The next page may have more.');
  return empty(
    'Nothing waits for a person',
    destination === undefined ? 'No delivery is quarantined.' : 'No delivery to this destination is quarantined.',
  );
};

const TONES: Readonly<Partial<Record<QuarantineReason, Part['tone']>>> = {
  budget: 'wait',
  'in-doubt': 'bad',
  'key-expired': 'bad',
  rejected: 'fill',
  gone: 'fill',
};

/** Of this page: what the reasons are, before each is looked at. */
const reasonsBar = (items: readonly Listed[]): Html => {
  const counts = new Map<QuarantineReason, number>();
  for (const one of items) {
    if (one.kind !== 'row' || one.row.status !== 'quarantined') continue;
    counts.set(one.row.reason, (counts.get(one.row.reason) ?? 0) + 1);
  }
  const parts = [...counts].map(([name, count]) => ({ name, count, tone: TONES[name] ?? ('quiet' as const) }));
  return html`<section>${partsBar(parts, 'Reasons on this page')}</section>`;
};

/** Without the right to change anything it is a list like any other. */
const chooser = (items: readonly Listed[], visitor: Visitor, nowMs: number): Html => {
  const columns: readonly Column<Listed>[] = [
    ...columnsAt(nowMs).map((column) => (column.title === 'State' ? { ...column, of: stateCell } : column)),
    { title: 'Answer', of: (one) => (one.kind === 'row' ? answerCell(one.row) : '') },
  ];
  const mayRedrive = visitor.may(ROUTES.redriveDelivery.right);
  const mayCancel = visitor.may(ROUTES.cancelDelivery.right);
  if (!mayRedrive && !mayCancel) return table('Quarantined deliveries', items, columns);
  return html`<form method="post" action="${QUARANTINE}/preview">${formMark(visitor)}${table(
    'Quarantined deliveries',
    items,
    [{ title: '', of: pickCell, pick: true }, ...columns],
  )}
<div class="bulk"><label class="tick js-only"><input type="checkbox" data-all><span class="nowrap">All on this page</span></label><span data-chosen>Choose deliveries above</span>
${mayRedrive ? html`<button class="primary" name="do" value="redrive">Redrive chosen</button>` : NOTHING}${mayCancel ? html`<button name="do" value="cancel">Cancel chosen</button>` : NOTHING}</div></form>`;
};

const stateCell = (one: Listed): Html =>
  one.kind === 'row'
    ? html`${one.row.status === 'quarantined' ? badge('bad', one.row.reason) : deliveryState(one.row)}`
    : badge('bad', 'unreadable', one.why);

const pickCell = (one: Listed): Html => {
  const { event, destination } = refOf(one);
  return one.kind === 'row'
    ? html`<input type="checkbox" name="pick" value="${pickOf(one.row)}" aria-label="${withHiddenShown(`Choose ${event} to ${destination}`)}">`
    : NOTHING;
};

const answerCell = ({ latestExcerpt }: Delivery): Html | string =>
  latestExcerpt === undefined || latestExcerpt.text === ''
    ? ''
    : html`<small>${clipped(latestExcerpt.text, 60)}</small>`;
