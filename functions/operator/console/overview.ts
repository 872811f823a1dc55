/** One look: does anything want a person, what is late, is anybody consuming, which destination hurts. */
import { html } from 'hono/html';
import { BREAKER_FAILURES, TICK_MS } from '../../core/limits.ts';
import type { DestinationPage, DestinationShown } from '../commands/destination-list.ts';
import { OVERVIEW_CAP, type Overview, readOverview } from '../commands/overview.ts';
import type { Stats } from '../commands/stats.ts';
import { aheadChart, beatText, meter } from './charts.ts';
import { decisionTable } from './decision-table.ts';
import { type Frame, page } from './frame.ts';
import { empty, head, table } from './layout.ts';
import { destinationLink, HOME, listPath } from './links.ts';
import { badge, failuresOf, gateState, isTroubled } from './states.ts';
import { cappedNumber, counted, type Html, NOTHING, number, shown } from './text.ts';
import { coarse } from './times.ts';

/** Two ticks may pass before anybody has to wonder. */
const SILENT_MS = 3 * TICK_MS;
/** Late by more than a sweep's own rhythm. */
const LATE_MS = 2 * TICK_MS;

export const showOverview = async (frame: Frame): Promise<Response> => {
  const overview = await readOverview(frame.world);
  const main = mainOf(overview, frame.world.clock.nowMs());
  return page(frame, { title: 'Overview', section: 'overview', main });
};

const mainOf = (overview: Overview, nowMs: number): Html => {
  const { stats, destinations, decisions } = overview;
  return html`<div id="overview" data-live="5">
${head({ title: 'Overview', says: sentence(overview, nowMs) })}
${tiles(stats)}
<section class="split">
<div class="card"><h2>Next look at open deliveries</h2>${aheadChart(overview.ahead, nowMs)}<p><small>${
    overview.ahead.isCut ? 'The soonest ones only. ' : ''
  }Every open delivery has a time at which a sweep looks after it, whatever happened to its messages.</small></p></div>
<div class="card"><h2>Sweeps and queue</h2>${beats(overview, nowMs)}${queueFacts(stats)}</div>
</section>
<section><h2>Destinations</h2>${destinationTable(destinations, nowMs)}${
    destinations.next !== undefined
      ? html`<nav class="more"><a class="button" href="${HOME}/destinations">All destinations</a></nav>`
      : NOTHING
  }</section>
<section><h2>Latest decisions</h2>${
    decisions.length === 0
      ? empty(
          'Nobody has decided anything yet',
          'Pauses, redrives and other decisions of people stand here, with their reasons.',
        )
      : decisionTable(decisions, nowMs)
  }</section></div>`;
};

/** The answer first, numbers behind it. */
const sentence = ({ stats, sweeps, destinations }: Overview, nowMs: number): Html => {
  const silent = sweeps.filter((beat) => beat === undefined || nowMs - beat.passAtMs > SILENT_MS).length;
  const troubled = destinations.items.filter((one) => isTroubled(one, nowMs)).length;
  const unread = destinations.unreadable.length;
  const dead = stats.queue?.dead ?? 0;
  const parts = [
    stats.quarantined > 0 ? `${counted(stats.quarantined, 'delivery waits', 'deliveries wait')} for a person` : '',
    dead > 0 ? `${counted(dead, 'message is', 'messages are')} dead` : '',
    troubled > 0 ? `${counted(troubled, 'destination is', 'destinations are')} in trouble` : '',
    unread > 0 ? `${counted(unread, 'destination', 'destinations')} cannot be read` : '',
    stats.largestOverdueMs > LATE_MS ? `the oldest open delivery is ${coarse(stats.largestOverdueMs)} overdue` : '',
    silent > 0 ? `${counted(silent, 'shard is', 'shards are')} not swept` : '',
  ].filter((part) => part !== '');
  return parts.length === 0 ? html`All is well: nothing waits for a person.` : html`${listed(parts)}.`;
};

const listed = (parts: readonly string[]): string => {
  const text = parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')} and ${parts.at(-1)}`;
  return text.charAt(0).toUpperCase() + text.slice(1);
};

const tiles = (stats: Stats): Html => {
  const count = (value: number): string => cappedNumber(value, OVERVIEW_CAP);
  const dead = stats.queue?.dead;
  const late = stats.largestOverdueMs;
  return html`<div class="tiles">
<a class="tile ${late > LATE_MS ? 'bad' : ''}" href="${listPath('open')}"><b>${late === 0 ? 'none' : coarse(late)}</b><span>largest overdue age</span></a>
<a class="tile" href="${listPath('open')}"><b>${count(stats.open)}</b><span>open</span></a>
<a class="tile ${stats.parked > 0 ? 'wait' : ''}" href="${listPath('parked')}"><b>${count(stats.parked)}</b><span>parked</span></a>
<a class="tile ${stats.quarantined > 0 ? 'bad' : ''}" href="${HOME}/quarantine"><b>${count(stats.quarantined)}</b><span>quarantined</span></a>
<a class="tile ${(dead ?? 0) > 0 ? 'bad' : ''}" href="${HOME}/redrives"><b>${dead === undefined ? 'unknown' : number(dead)}</b><span>dead letters</span></a>
</div>`;
};

const beats = ({ sweeps }: Overview, nowMs: number): Html =>
  html`<ul class="beats" aria-label="Last pass over each shard">${sweeps.map((beat, shard) => {
    const isSilent = beat === undefined || nowMs - beat.passAtMs > SILENT_MS;
    return html`<li>${badge(isSilent ? 'bad' : 'good', `shard ${shard}`, beatText(beat?.passAtMs, nowMs))}</li>`;
  })}</ul>`;

const queueFacts = ({ queue }: Stats): Html =>
  queue === undefined
    ? html`<p><small>The queue did not say how many messages it holds.</small></p>`
    : html`<dl class="facts after"><dt>Waiting</dt><dd>${number(queue.available)}</dd><dt>Delayed</dt><dd>${number(queue.delayed)}</dd><dt>In flight</dt><dd>${number(queue.inFlight)}</dd>${
        (queue.oldestAgeMs ?? 0) === 0 ? '' : html`<dt>Oldest</dt><dd>${coarse(queue.oldestAgeMs ?? 0)}</dd>`
      }</dl>`;

/** What is in trouble stands first. */
export const destinationTable = ({ items, unreadable }: DestinationPage, nowMs: number): Html =>
  html`${
    unreadable.length === 0
      ? NOTHING
      : html`<div class="note bad"><p>Not to be read here, for they are broken or written by newer code: ${unreadable.map(({ destination }) => html`<span class="id">${shown(destination)}</span> `)}</p></div>`
  }${items.length === 0 && unreadable.length > 0 ? NOTHING : readableTable(items, nowMs)}`;

const readableTable = (destinations: readonly DestinationShown[], nowMs: number): Html => {
  if (destinations.length === 0)
    return empty('No destinations yet', 'Set one up with PUT /v1/destinations/{id}, or onceward destination set.');
  const trouble = (one: DestinationShown): number => (isTroubled(one, nowMs) ? 1 : 0);
  const rows = destinations.toSorted((a, b) => trouble(b) - trouble(a));
  return table('Destinations', rows, [
    { title: 'Destination', of: ({ config }) => destinationLink(config.destination), lead: true },
    { title: 'State', of: (one) => gateState(one, nowMs) },
    { title: 'Failures in a row', of: ({ gate }) => failures(failuresOf(gate)) },
    { title: 'A repeat is', of: ({ config }) => (config.repeatSafe ? 'safe' : 'not safe'), minor: true },
    {
      title: 'Mode',
      of: ({ config }) => (config.notices === true ? `${config.mode}, takes notices` : config.mode),
      minor: true,
    },
  ]);
};

const failures = (count: number): Html =>
  html`<span>${meter(count, BREAKER_FAILURES, count >= BREAKER_FAILURES ? 'bad' : 'wait')}${number(count)}</span>`;
