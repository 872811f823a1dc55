/** Destinations: the list, and one with its gate, what is parked, its latest error first, and its rate. */
import { html } from 'hono/html';
import { redactHeaders } from '../../core/headers.ts';
import type { Destination } from '../../core/items.ts';
import type { Delivery } from '../../core/model.ts';
import { absent, destinationSegment, newer } from '../api/segments.ts';
import { type DestinationShown, listDestinations } from '../commands/destination-list.ts';
import { showDestination } from '../commands/destinations.ts';
import { listDeliveries } from '../commands/lists.ts';
import { COUNT_CAP, type Parked, parkedOf } from '../commands/stats.ts';
import { ROUTES } from '../contract/routes.ts';
import { excerptOf } from './delivery.ts';
import { type Frame, page, problemPage } from './frame.ts';
import { act, empty, head, pager, table } from './layout.ts';
import { deliveryLink, destinationPath, HOME, listPath, shadowPath, withQuery } from './links.ts';
import { columnsAt, cursorIn, PAGE_ROWS } from './lists.ts';
import { doneNote } from './notes.ts';
import { destinationTable } from './overview.ts';
import type { Visitor } from './session.ts';
import { badge, CLASS_TONES, CLASS_WORDS, failuresOf, gateState, stateOfGate } from './states.ts';
import { cappedNumber, counted, type Html, NOTHING, number, shown } from './text.ts';
import { coarse, distance, moment, spanOf } from './times.ts';

const PATH = `${HOME}/destinations`;

export const showDestinations = async (frame: Frame): Promise<Response> => {
  const { world, context } = frame;
  const cursor = cursorIn(context);
  const found = await listDestinations(world, { limit: PAGE_ROWS, cursor });
  const next = found.next === undefined ? undefined : withQuery(PATH, { cursor: found.next });
  const main = html`${head({ title: 'Destinations', says: 'Where events go. What is in trouble stands first on its page.' })}${doneNote(context)}${destinationTable(
    found,
    world.clock.nowMs(),
  )}${pager(next, cursor === undefined ? undefined : PATH)}`;
  return page(frame, { title: 'Destinations', section: 'destinations', main });
};

/** Rows that are read for the latest error and the latest deliveries: one page of an index. */
const RECENT_SHOWN = 15;

export const showDestinationAt = async (frame: Frame): Promise<Response> => {
  const { world, context, visitor } = frame;
  const segment = destinationSegment(context);
  if (segment.kind === 'bad') return problemPage(context, segment.problem, world.clock.nowMs());
  const destination = segment.value;
  const found = await showDestination(world, destination);
  if (found.kind !== 'found') {
    const problem = found.kind === 'newer' ? newer : absent(`destination ${destination}`);
    return problemPage(context, problem, world.clock.nowMs());
  }
  const [parked, recent, held] = await Promise.all([
    parkedOf(world, found.config),
    listDeliveries(world, { list: 'recent', destination, limit: RECENT_SHOWN }),
    world.pages.count({ list: 'quarantined', destination }, COUNT_CAP),
  ]);
  const nowMs = world.clock.nowMs();
  const rows = recent.items.flatMap((one) => (one.kind === 'row' ? [one.row] : []));
  const main = html`${head({
    title: html`<span class="id">${shown(destination)}</span>`,
    crumb: html`<a href="${PATH}">Destinations</a>`,
    says: html`<span class="id">${shown(found.config.url)}</span>`,
    acts: actsOn(found, visitor, nowMs),
  })}${doneNote(context)}
<div id="destination" data-live="5">${gateTiles(found, parked, held, nowMs)}
<section class="split"><div class="card"><h2>Latest error</h2>${latestError(rows, nowMs)}</div>
<div class="card"><h2>Gate</h2>${gateFacts(found, parked, nowMs)}</div></section>
<section><h2>Recent deliveries</h2>${
    recent.items.length === 0
      ? empty('Nothing yet', 'No event has come for this destination in the last 30 days.')
      : table(
          'Recent deliveries',
          recent.items,
          columnsAt(nowMs).filter(({ title }) => title !== 'Destination'),
        )
  }<nav class="more"><a class="button" href="${listPath('recent', { destination })}">All recent</a></nav></section></div>
<section class="card"><h2>Settings</h2>${settings(found.config, nowMs)}</section>`;
  return page(frame, { title: `Destination ${destination}`, section: 'destinations', main });
};

const actsOn = (found: DestinationShown, visitor: Visitor, nowMs: number): readonly Html[] => {
  const { config } = found;
  const path = destinationPath(config.destination);
  const state = stateOfGate(found, nowMs);
  const mayPause = visitor.may(ROUTES.pauseDestination.right);
  const mayResume = visitor.may(ROUTES.resumeDestination.right) && (state === 'paused' || state === 'closed');
  return [
    mayResume ? act(`${path}/resume`, 'Resume', true) : NOTHING,
    mayPause && state !== 'paused' ? act(`${path}/pause`, 'Pause', !mayResume) : NOTHING,
    visitor.may(ROUTES.testDestination.right) ? act(`${path}/test`, 'Test') : NOTHING,
    visitor.may(ROUTES.proveDestination.right) && config.mode !== 'shadow' ? act(`${path}/prove`, 'Prove') : NOTHING,
    visitor.may(ROUTES.planRedrive.right)
      ? html`<a class="button" href="${withQuery(`${HOME}/redrives/new`, { destination: config.destination })}">Plan a redrive</a>`
      : NOTHING,
    config.mode === 'shadow'
      ? html`<a class="button" href="${shadowPath(config.destination)}">Shadow report</a>`
      : NOTHING,
    visitor.may(ROUTES.deleteDestination.right) ? act(`${path}/delete`, 'Delete') : NOTHING,
  ];
};

const gateTiles = (found: DestinationShown, parked: Parked, held: number, nowMs: number): Html => {
  const { config, gate } = found;
  const state = stateOfGate(found, nowMs);
  const failures = failuresOf(gate);
  const { destination } = config;
  return html`<div class="tiles">
<div class="tile ${state === 'active' ? 'good' : 'wait'}"><b>${state}</b><span>gate</span></div>
<a class="tile ${parked.count > 0 ? 'wait' : ''}" href="${listPath('parked', { destination })}"><b>${cappedNumber(parked.count, COUNT_CAP)}</b><span>parked</span></a>
<a class="tile ${held > 0 ? 'bad' : ''}" href="${withQuery(`${HOME}/quarantine`, { destination })}"><b>${cappedNumber(held, COUNT_CAP)}</b><span>quarantined</span></a>
<div class="tile ${failures > 0 ? 'bad' : ''}"><b>${number(failures)}</b><span>failures in a row</span></div>
<div class="tile"><b>${config.ratePerSecond === undefined ? 'no limit' : `${config.ratePerSecond}/s`}</b><span>rate</span></div>
</div>`;
};

const gateFacts = ({ config, gate }: DestinationShown, { oldest }: Parked, nowMs: number): Html => {
  const item = gate.kind === 'found' ? gate.item : undefined;
  return html`<dl class="facts"><dt>State</dt><dd>${gateState({ config, gate }, nowMs)}</dd>
${item?.pause === undefined ? '' : html`<dt>Paused</dt><dd>${moment(item.pause.sinceMs, nowMs)}</dd>`}
${item?.pause?.probeAtMs === undefined ? '' : html`<dt>Next probe</dt><dd>${moment(item.pause.probeAtMs, nowMs)}</dd>`}
${(item?.closedUntilMs ?? 0) > nowMs ? html`<dt>Closed until</dt><dd>${moment(item?.closedUntilMs ?? nowMs, nowMs)}</dd>` : ''}
${(item?.crowdedUntilMs ?? 0) > nowMs ? html`<dt>Crowded until</dt><dd>${moment(item?.crowdedUntilMs ?? nowMs, nowMs)}</dd>` : ''}
${item?.failures === undefined || item.failures.count === 0 ? '' : html`<dt>Failing</dt><dd>${counted(item.failures.count, 'failure')} in a row, since ${distance(item.failures.sinceMs, nowMs)}</dd>`}
${oldest === undefined ? '' : html`<dt>Oldest parked</dt><dd>${moment(oldest.sinceMs, nowMs)}<br><small>it can go without a person for ${coarse(Math.max(0, oldest.endsAtMs - nowMs))} more (${oldest.endsBy === 'key-life' ? 'the life of its key' : 'its horizon'})</small></dd>`}
<dt>At once</dt><dd>${config.concurrency === undefined ? 'no limit' : number(config.concurrency)}</dd></dl>`;
};

/** Among the deliveries that came last: the error that happened last. */
const latestError = (rows: readonly Delivery[], nowMs: number): Html => {
  const errors = rows.flatMap((row) => {
    const entry = row.journal.lines.findLast(
      ({ entry: one }) => one.kind === 'outcome' && one.class !== 'delivered',
    )?.entry;
    return entry?.class === undefined ? [] : [{ row, entry, class: entry.class }];
  });
  const latest = errors.toSorted((a, b) => b.entry.atMs - a.entry.atMs).at(0);
  if (latest === undefined)
    return html`<p><small>None among the latest ${counted(rows.length, 'delivery', 'deliveries')}.</small></p>`;
  const { row, entry } = latest;
  const facts = [
    entry.status === undefined ? entry.detail : `status ${entry.status}`,
    entry.durationMs === undefined ? undefined : spanOf(entry.durationMs),
  ].filter((fact) => fact !== undefined);
  return html`<p>${badge(CLASS_TONES[latest.class], CLASS_WORDS[latest.class])} ${facts.map((fact) => html`<small>${shown(fact)} </small>`)}</p><dl class="facts"><dt>When</dt><dd>${moment(entry.atMs, nowMs)}</dd><dt>Event</dt><dd>${deliveryLink(row)}</dd></dl>${row.latestExcerpt === undefined ? NOTHING : excerptOf(row.latestExcerpt)}`;
};

const settings = (config: Destination, nowMs: number): Html => html`<dl class="facts">
<dt>A repeat is</dt><dd>${config.repeatSafe ? 'safe: it honours the key' : 'not safe'}</dd>
<dt>Key life</dt><dd>${config.keyLifeHours === null ? 'for ever' : `${config.keyLifeHours} h`}</dd>
<dt>Schedule</dt><dd>${config.scheduleSec.length === 0 ? 'one attempt' : config.scheduleSec.map((sec) => spanOf(sec * 1_000)).join(', ')}</dd>
<dt>Time-out</dt><dd>${spanOf(config.timeoutMs)}</dd>
<dt>Rejects on</dt><dd>422${config.rejectOn.map((status) => `, ${status}`)}</dd>
<dt>Headers</dt><dd>${Object.entries(redactHeaders(config.headers)).map(([name, value]) => html`<code>${shown(`${name}: ${value}`)}</code><br>`)}${Object.keys(config.headers).length === 0 ? 'none of its own' : ''}</dd>
<dt>From the queue</dt><dd>${config.acceptFromQueue ? 'whole events are accepted' : 'no'}</dd>
<dt>Mode</dt><dd>${config.mode}${config.mode === 'shadow' ? html`: nothing is sent. <a href="${shadowPath(config.destination)}">What would have been sent</a>` : ''}</dd>
<dt>Notices</dt><dd>${config.notices === true ? 'it is told what a person should know' : 'no'}</dd>
<dt>Changed</dt><dd>${moment(config.updatedAtMs, nowMs)}</dd></dl>`;
