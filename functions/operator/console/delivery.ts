/** One delivery: what it means first, then its life as a picture, its journal, and what may be done about it. */
import { html } from 'hono/html';
import { attemptsInDoubt } from '../../core/doubt.ts';
import type { Delivery, Excerpt } from '../../core/model.ts';
import { absent, deliverySegments, newer } from '../api/segments.ts';
import { explainRow } from '../commands/explain.ts';
import { ROUTES } from '../contract/routes.ts';
import { answerOf } from './answer.ts';
import { type Frame, page, problemPage } from './frame.ts';
import { journalList } from './journal.ts';
import { act, head } from './layout.ts';
import { deliveryPath, destinationLink, eventLink, eventPath, HOME, listPath } from './links.ts';
import { doneNote } from './notes.ts';
import type { Visitor } from './session.ts';
import { deliveryState } from './states.ts';
import { type Html, NOTHING, shown } from './text.ts';
import { timeline } from './timeline.ts';
import { moment } from './times.ts';

export const showDelivery = async (frame: Frame): Promise<Response> => {
  const { context, world } = frame;
  const segments = deliverySegments(context);
  if (segments.kind === 'bad') return problemPage(context, segments.problem, world.clock.nowMs());
  const found = await world.ledger.load({ item: 'delivery', ...segments.value });
  if (found.kind !== 'found') {
    const { event, destination } = segments.value;
    const problem = found.kind === 'later' ? newer : absent(`delivery of ${event} to ${destination}`);
    return problemPage(context, problem, world.clock.nowMs());
  }
  const row = found.item;
  const { explanation, decisions } = await explainRow(world, row);
  const nowMs = world.clock.nowMs();
  const isOpen = row.status === 'pending' || row.status === 'claimed';
  const main = html`${head({
    title: html`<span class="id">${shown(row.event)}</span>`,
    crumb: crumbOf(row),
    says: html`to ${destinationLink(row.destination)}`,
    acts: actsOn(row, frame.visitor),
  })}${doneNote(context)}
<div id="delivery"${isOpen ? html` data-live="3"` : ''}>
<section class="card answers">${answerOf(explanation)}</section>
<section class="card"><h2>Timeline <small>gaps are pressed together</small></h2>${timeline(row, nowMs)}</section>
<section class="split lopsided"><div class="card"><h2>Journal</h2>${journalList(row, decisions, nowMs)}</div>
<div class="card"><h2>Facts</h2>${facts(row, nowMs)}${excerpts(row)}</div></section></div>`;
  return page(frame, { title: `Delivery of ${row.event}`, section: sectionOf(row), main });
};

const sectionOf = ({ status }: Delivery): 'quarantine' | 'deliveries' =>
  status === 'quarantined' ? 'quarantine' : 'deliveries';

const crumbOf = (row: Delivery): Html =>
  row.status === 'quarantined'
    ? html`<a href="${HOME}/quarantine">Quarantine</a>`
    : html`<a href="${listPath('recent', { destination: row.destination })}">Deliveries</a>`;

/** What the state and the rights allow. The server asks again when it comes to it. */
const actsOn = (row: Delivery, visitor: Visitor): readonly Html[] => {
  const path = deliveryPath(row);
  const isOver = row.status === 'delivered' || row.status === 'cancelled';
  return [
    row.status === 'quarantined' && visitor.may(ROUTES.redriveDelivery.right)
      ? act(`${path}/redrive`, 'Redrive', true)
      : NOTHING,
    row.status === 'quarantined' && visitor.may(ROUTES.resolveDelivery.right)
      ? act(`${path}/resolve`, 'Resolve')
      : NOTHING,
    !isOver && visitor.may(ROUTES.cancelDelivery.right) ? act(`${path}/cancel`, 'Cancel') : NOTHING,
    row.status === 'delivered' && visitor.may(ROUTES.replayEvent.right)
      ? act(`${eventPath(row.event)}/replay`, 'Replay')
      : NOTHING,
  ];
};

const facts = (row: Delivery, nowMs: number): Html => {
  const doubtful = attemptsInDoubt(row.journal.lines.map(({ entry }) => entry));
  return html`<dl class="facts">
<dt>State</dt><dd>${deliveryState(row)}</dd>
<dt>Event</dt><dd>${eventLink(row.event)}</dd>
<dt>Accepted</dt><dd>${moment(row.acceptedAtMs, nowMs)}</dd>
${row.status === 'pending' || row.status === 'claimed' ? html`<dt>Looked after</dt><dd>${moment(row.lookAfterMs, nowMs)}</dd>` : html`<dt>Ended</dt><dd>${moment(row.endedAtMs, nowMs)}</dd>`}
<dt>Budget</dt><dd>${row.attempts - row.refunds} of ${row.budget} attempts spent${row.refunds === 0 ? '' : `, ${row.refunds} given back`}</dd>
<dt>Redrives</dt><dd>${row.redrives}</dd>
${doubtful.length === 0 ? '' : html`<dt>In doubt</dt><dd>attempt ${doubtful.join(', ')}</dd>`}
<dt>Payload hash</dt><dd><code>${row.payloadHash}</code></dd>
<dt>Journal head</dt><dd><code>${row.journal.head}</code> <small><a href="${eventPath(row.event)}">was anything altered?</a></small></dd>
</dl>`;
};

/** Pieces of what the destination answered: text of a stranger. */
const excerpts = ({ firstExcerpt, latestExcerpt }: Delivery): Html => {
  const both = [latestExcerpt, firstExcerpt?.attempt === latestExcerpt?.attempt ? undefined : firstExcerpt];
  return html`${both.filter((one) => one !== undefined).map(excerptOf)}`;
};

export const excerptOf = ({ attempt, text }: Excerpt): Html =>
  html`<p class="after"><small>Answer to attempt ${attempt}</small></p><pre tabindex="0">${text === '' ? 'an empty body' : shown(text)}</pre>`;
