/** One event: what was accepted, and its deliveries. */
import { html } from 'hono/html';
import { parseEventId } from '../../core/ids.ts';
import type { AcceptedEvent } from '../../core/items.ts';
import { LedgerCorrupt } from '../../ports.ts';
import { absent, eventSegment, newer } from '../api/segments.ts';
import { auditEvent } from '../commands/audit.ts';
import { loadListed } from '../commands/lists.ts';
import { ROUTES } from '../contract/routes.ts';
import { alteredSection } from './altered.ts';
import { type Frame, page, problemPage } from './frame.ts';
import { act, head, table } from './layout.ts';
import { deliveryPath, destinationLink, eventLink, eventPath, HOME } from './links.ts';
import { columnsAt, refOf } from './lists.ts';
import { doneNote } from './notes.ts';
import { type Html, NOTHING, number, shown } from './text.ts';
import { moment } from './times.ts';

export const showEvent = async (frame: Frame): Promise<Response> => {
  const { context, world, visitor } = frame;
  const segment = eventSegment(context);
  if (segment.kind === 'bad') return problemPage(context, segment.problem, world.clock.nowMs());
  const found = await world.ledger.load({ item: 'event', event: segment.value });
  if (found.kind !== 'found') {
    const problem = found.kind === 'later' ? newer : absent(`event ${segment.value}`);
    return problemPage(context, problem, world.clock.nowMs());
  }
  const event = found.item;
  const refs = event.destinations.map((destination) => ({
    item: 'delivery' as const,
    event: event.event,
    destination,
  }));
  const [listed, conflicts, audited = []] = await Promise.all([
    loadListed(world, refs),
    conflictsOf(world, event),
    auditEvent(world, event.event),
  ]);
  const rows = listed.flatMap((one) => (one.kind === 'row' ? [one.row] : []));
  const nowMs = world.clock.nowMs();
  const mayReplay = visitor.may(ROUTES.replayEvent.right) && rows.some(({ status }) => status === 'delivered');
  const columns = columnsAt(nowMs).slice(2);
  const main = html`${head({
    title: html`<span class="id">${shown(event.event)}</span>`,
    crumb: html`Event`,
    ...(event.type === undefined ? {} : { says: shown(event.type) }),
    acts: [mayReplay ? act(`${eventPath(event.event)}/replay`, 'Replay') : NOTHING],
  })}${doneNote(context)}
<section><h2>Deliveries</h2>${table('Deliveries', listed, [
    {
      title: 'To',
      of: (one) => html`<a class="id" href="${deliveryPath(refOf(one))}">${shown(refOf(one).destination)}</a>`,
      lead: true,
    },
    ...columns,
  ])}</section>
${alteredSection(audited)}
<section class="card"><h2>What was accepted</h2>${facts(event, conflicts, nowMs)}</section>`;
  return page(frame, { title: `Event ${event.event}`, section: 'deliveries', main });
};

/** They stand in one group with the deliveries, which is read as a whole or not at all. */
const conflictsOf = async ({ ledger }: Frame['world'], { event }: AcceptedEvent): Promise<string> => {
  try {
    const conflicts = (await ledger.loadEvent(event)).filter((item) => item.item === 'conflict').length;
    return conflicts === 0 ? 'none' : `${conflicts} times other content came under this id; the first event goes on`;
  } catch (error) {
    if (!(error instanceof LedgerCorrupt)) throw error;
    return 'not to be counted while something of this event is broken';
  }
};

const facts = (event: AcceptedEvent, conflicts: string, nowMs: number): Html => html`<dl class="facts">
<dt>Accepted</dt><dd>${moment(event.acceptedAtMs, nowMs)}</dd>
${event.deliverAtMs === undefined ? '' : html`<dt>To be delivered</dt><dd>${moment(event.deliverAtMs, nowMs)}</dd>`}
<dt>Came by</dt><dd>${event.source}</dd>
${event.replayOf === undefined ? '' : html`<dt>Replay of</dt><dd>${eventLink(event.replayOf)}</dd>`}
<dt>Destinations</dt><dd>${event.destinations.map((one, index) => html`${index === 0 ? '' : ', '}${destinationLink(one)}`)}</dd>
<dt>Payload</dt><dd>${number(event.payload.byteLength)} bytes of ${shown(event.contentType)}</dd>
<dt>Payload hash</dt><dd><code>${event.payloadHash}</code></dd>
<dt>Fingerprint</dt><dd><code>${event.fingerprint}</code></dd>
<dt>Conflicts</dt><dd>${conflicts}</dd>
</dl>`;

/** The field at the top: an id as it is typed, byte for byte. */
export const findEvent = async ({ context, world }: Frame): Promise<Response> => {
  const text = context.req.query('event') ?? '';
  if (text === '') return context.redirect(HOME, 303);
  const parsed = parseEventId(text);
  if (parsed.kind === 'ok') return context.redirect(eventPath(parsed.id), 303);
  const detail = `event ${parsed.reason}`;
  return problemPage(context, { status: 422, code: 'invalid', detail, field: 'event' }, world.clock.nowMs());
};
