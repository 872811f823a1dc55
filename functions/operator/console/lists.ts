/** Lists of deliveries that an index answers, a page at a time. */
import type { Context } from 'hono';
import { html } from 'hono/html';
import { type DestinationId, parseDestinationId } from '../../core/ids.ts';
import type { Delivery } from '../../core/model.ts';
import type { Problem } from '../../http/problem.ts';
import { type DeliveryList, type Listed, listDeliveries } from '../commands/lists.ts';
import { type Frame, page, problemPage } from './frame.ts';
import { type Column, empty, head, pager, table } from './layout.ts';
import { deliveryLink, destinationLink, HOME, listPath } from './links.ts';
import { badge, deliveryState, whenOf } from './states.ts';
import { type Html, NOTHING } from './text.ts';
import { distance } from './times.ts';

export const PAGE_ROWS = 50;

export const cursorIn = (context: Context): string | undefined => context.req.query('cursor') || undefined;

type Read<T> = { readonly kind: 'ok'; readonly value: T } | { readonly kind: 'bad'; readonly problem: Problem };

/** The destination that a list is narrowed to, where there is one. */
export const destinationIn = (text: string | undefined): Read<DestinationId | undefined> => {
  if (text === undefined || text === '') return { kind: 'ok', value: undefined };
  const parsed = parseDestinationId(text);
  if (parsed.kind === 'ok') return { kind: 'ok', value: parsed.id };
  const detail = `destination ${parsed.reason}`;
  return { kind: 'bad', problem: { status: 422, code: 'invalid', detail, field: 'destination' } };
};

const LISTS = ['open', 'parked', 'recent'] as const;
type ListName = (typeof LISTS)[number];

const TABS: Readonly<Record<ListName, string>> = { open: 'Open', parked: 'Parked', recent: 'Recent of a destination' };

export const showLists = async (frame: Frame): Promise<Response> => {
  const { context, world } = frame;
  const list = LISTS.find((name) => name === (context.req.query('list') ?? 'open'));
  const destination = destinationIn(context.req.query('destination'));
  if (list === undefined) {
    const detail = `list must be one of ${LISTS.join(', ')}`;
    return problemPage(context, { status: 422, code: 'invalid', detail, field: 'list' }, world.clock.nowMs());
  }
  if (destination.kind === 'bad') return problemPage(context, destination.problem, world.clock.nowMs());
  const query = queryOf(list, destination.value, cursorIn(context));
  const found = query === undefined ? undefined : await listDeliveries(world, query);
  const nowMs = world.clock.nowMs();
  const parameters = { destination: destination.value };
  const next = found?.next === undefined ? undefined : listPath(list, { ...parameters, cursor: found.next });
  const body =
    found === undefined
      ? empty('Which destination?', 'Recent deliveries are kept by destination: name one above.')
      : found.items.length === 0
        ? emptyOf(list, next !== undefined)
        : html`${table(TABS[list], found.items, columnsAt(nowMs))}`;
  const main = html`${head({ title: 'Deliveries', says: SAYS[list] })}${tabs(list, destination.value)}${
    list === 'open' ? NOTHING : filter(list, destination.value)
  }${body}${pager(next, query?.cursor === undefined ? undefined : listPath(list, parameters))}`;
  return page(frame, { title: 'Deliveries', section: 'deliveries', main });
};

const SAYS: Readonly<Record<ListName, string>> = {
  open: 'Accepted and not over yet, in the order in which a sweep looks after them.',
  parked: 'Waiting for a paused or closed destination. They spend no budget, and go on when it opens.',
  recent: 'What came in for one destination in the last 30 days, newest first.',
};

const queryOf = (
  list: ListName,
  destination: DestinationId | undefined,
  cursor: string | undefined,
): DeliveryList | undefined => {
  const paging = cursor === undefined ? { limit: PAGE_ROWS } : { limit: PAGE_ROWS, cursor };
  if (list === 'open') return { list, ...paging };
  if (list === 'recent') return destination === undefined ? undefined : { list, destination, ...paging };
  return { list, ...paging, ...(destination === undefined ? {} : { destination }) };
};

const tabs = (list: ListName, destination: string | undefined): Html =>
  html`<nav class="tabs" aria-label="Lists">${LISTS.map(
    (name) =>
      html`<a href="${listPath(name, { destination: name === 'open' ? undefined : destination })}"${name === list ? html` aria-current="page"` : ''}>${TABS[name]}</a>`,
  )}<a href="${HOME}/quarantine">Quarantined</a></nav>`;

const filter = (list: ListName, destination: string | undefined): Html =>
  html`<form class="filter" method="get" action="${HOME}/deliveries"><input type="hidden" name="list" value="${list}"><input name="destination" aria-label="Destination" placeholder="Destination" value="${destination ?? ''}" maxlength="1024"><button>Show</button></form>`;

/** A page may be empty and have a next one: what has left the list is not shown. */
const emptyOf = (list: ListName, isMore: boolean): Html => {
  if (isMore) return empty('Nothing on this page', 'What stood here has left the list. The next page may have more.');
  if (list === 'open') return empty('Nothing is open', 'Whatever was accepted has come to its end.');
  if (list === 'parked') return empty('Nothing is parked', 'No delivery waits for a paused or closed destination.');
  return empty('Nothing here', 'This destination has had no deliveries in the last 30 days.');
};

export const columnsAt = (nowMs: number): readonly Column<Listed>[] => [
  { title: 'Event', of: (one) => deliveryLink(refOf(one)), lead: true },
  { title: 'Destination', of: (one) => destinationLink(refOf(one).destination) },
  { title: 'State', of: (one) => (one.kind === 'row' ? deliveryState(one.row) : badge('bad', 'unreadable', one.why)) },
  { title: 'Attempts', of: (one) => (one.kind === 'row' ? attemptsOf(one.row) : ''), numeric: true },
  { title: 'When', of: (one) => (one.kind === 'row' ? whenCell(one.row, nowMs) : '') },
];

export const refOf = (one: Listed) => (one.kind === 'row' ? one.row : one.ref);

export const attemptsOf = (row: Delivery): Html => html`${row.attempts - row.refunds} <small>of ${row.budget}</small>`;

const whenCell = (row: Delivery, nowMs: number): Html => {
  const { word, atMs } = whenOf(row, nowMs);
  return html`<small>${word}</small> ${distance(atMs, nowMs)}`;
};
