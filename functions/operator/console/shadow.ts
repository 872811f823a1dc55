/** The report of a destination in shadow mode: what it would have been sent, and how that compares with a count. */
import { html } from 'hono/html';
import { compared, type ShadowCompared, type ShadowTally } from '../../core/shadow.ts';
import { shadowWords } from '../../core/shadow-words.ts';
import { readBody } from '../api/decision-input.ts';
import { absent, destinationSegment, newer } from '../api/segments.ts';
import { type ShadowScope, shadowReport, shadowScope } from '../commands/shadow-report.ts';
import { shadowBody } from '../contract/inputs.ts';
import { givenOnly, numberIn, textIn } from './changes/form.ts';
import { meter } from './charts.ts';
import { type Frame, page, problemPage } from './frame.ts';
import { empty, head, table } from './layout.ts';
import { destinationLink, shadowPath } from './links.ts';
import { type Html, NOTHING, number, shown } from './text.ts';

/** A page must be there soon. The command goes through all of them. */
const ROWS_MAX = 500;

/** A form sends all of its fields, filled in or not. */
const askedIn = (query: URLSearchParams): Record<string, unknown> =>
  givenOnly({
    from: textIn(query, 'from'),
    to: textIn(query, 'to'),
    per: textIn(query, 'per'),
    acceptedSince: textIn(query, 'acceptedSince'),
    sent: numberIn(query, 'sent'),
  });

export const showShadowReport = async (frame: Frame): Promise<Response> => {
  const { world, context } = frame;
  const nowMs = world.clock.nowMs();
  const segment = destinationSegment(context);
  if (segment.kind === 'bad') return problemPage(context, segment.problem, nowMs);
  const destination = segment.value;
  const asked = readBody(askedIn(new URL(context.req.url).searchParams), shadowBody);
  if (asked.kind === 'bad') return problemPage(context, asked.problem, nowMs);
  const read = shadowScope(asked.value, nowMs);
  if (read.kind === 'bad') {
    const detail = `${read.field} ${read.reason}`;
    return problemPage(context, { status: 422, code: 'invalid', detail, field: read.field }, nowMs);
  }
  const report = await shadowReport(world, destination, read.scope, { rowsMax: ROWS_MAX });
  if (report.kind !== 'found') {
    return problemPage(context, report.kind === 'newer' ? newer : absent(`destination ${destination}`), nowMs);
  }
  const { tally, config } = report;
  const { sent } = asked.value;
  const complete = report.next === undefined;
  const beside = sent === undefined || !complete ? undefined : compared(tally, { kind: 'total', sent });
  const words = shadowWords({ destination, mode: config.mode, window: read.scope, tally, complete, compared: beside });
  const main = html`${head({
    title: 'Shadow report',
    crumb: destinationLink(destination),
    says: 'What would have been sent, by the time at which it would have left. A delivery counts once, however often its event came.',
  })}${filter(destination, read.scope, sent)}
<div class="note ${toneOf(beside)}">${words.map((says) => html`<p>${shown(says)}</p>`)}</div>
${complete ? NOTHING : html`<p><small>A page looks at a bounded number of rows. <code>onceward destination shadow</code> goes through all of them.</small></p>`}
${buckets(tally, read.scope)}`;
  return page(frame, { title: `Shadow report of ${destination}`, section: 'destinations', main });
};

const toneOf = (beside: ShadowCompared | undefined): string => {
  if (beside === undefined) return '';
  return beside.same ? 'good' : 'bad';
};

const filter = (destination: string, { fromDay, toDay, per }: ShadowScope, sent: number | undefined): Html =>
  html`<form class="filter" method="get" action="${shadowPath(destination)}">
<input type="date" name="from" aria-label="First day" value="${fromDay}"><input type="date" name="to" aria-label="Last day" value="${toDay}">
<select name="per" aria-label="Count by">${(['day', 'hour'] as const).map((size) => html`<option value="${size}"${size === per ? html` selected` : ''}>by the ${size}</option>`)}</select>
<input name="sent" inputmode="numeric" aria-label="What the other sender has sent" placeholder="You counted" value="${sent ?? ''}" maxlength="9"><button>Compare</button></form>`;

const buckets = (tally: ShadowTally, { per }: ShadowScope): Html => {
  const rows = [...tally.buckets];
  if (rows.length === 0)
    return empty('Nothing would have been sent', 'No delivery has ended as a shadow in this time.');
  const most = Math.max(...rows.map(([, count]) => count));
  return table('Would have been sent', rows, [
    {
      title: per === 'day' ? 'Day (UTC)' : 'Hour (UTC)',
      of: ([atMs]) =>
        new Date(atMs)
          .toISOString()
          .slice(0, per === 'day' ? 10 : 16)
          .replace('T', ' '),
      lead: true,
    },
    { title: 'Would have been sent', of: ([, count]) => number(count), numeric: true },
    { title: 'Share', of: ([, count]) => meter(count, most, 'fill'), minor: true },
  ]);
};
