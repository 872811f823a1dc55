/**
 * What a drill has seen, as a page. Nothing keeps it but this page: its form carries the whole of it, and brings it back
 * with the effects that a person has counted.
 *
 *   drill ──► page with what came back ──effects of each test event──► the same page, with what follows from them
 */
import { html } from 'hono/html';
import type { Deserves } from '../../core/drill-conclusion.ts';
import { PART_SAYS } from '../../core/drill-words.ts';
import type { Problem } from '../../http/problem.ts';
import { destinationSegment } from '../api/segments.ts';
import { type DrillReport, type DrillSeen, drillReportOf } from '../commands/drill-report.ts';
import { drillReport } from '../contract/drills.ts';
import { numberIn, readForm } from './changes/form.ts';
import { type Frame, page, problemPage } from './frame.ts';
import { type Column, formMark, head, type Page, table } from './layout.ts';
import { destinationPath } from './links.ts';
import type { Visitor } from './session.ts';
import { badge, type Tone } from './states.ts';
import { clipped, type Html, NOTHING, shown } from './text.ts';

export const provePath = (destination: string): string => `${destinationPath(destination)}/prove`;

const CONCLUSIONS: Readonly<Record<Deserves, readonly [tone: Tone, word: string]>> = {
  'repeat-safe': ['good', 'a repeat is safe: shown'],
  'not-repeat-safe': ['bad', 'a repeat acts again'],
  'not-shown': ['wait', 'not shown'],
};

type Part = DrillReport['parts'][number];

export const drillPage = (report: DrillReport, visitor: Visitor): Omit<Page, 'visitor' | 'nowMs'> => {
  const { destination, parts, deserves, because, advice, repeatSafe } = report;
  const [tone, word] = CONCLUSIONS[deserves];
  const main = html`${head({
    title: html`Drill of <span class="id">${shown(destination)}</span>`,
    crumb: html`<a href="${destinationPath(destination)}">Destination</a>`,
    says: `It is set to: a repeat is ${repeatSafe ? 'safe' : 'not safe'}. This page is all that keeps what the drill has seen.`,
  })}<div class="card"><p>${badge(tone, word)}</p><ul class="says">${[...because, ...advice].map((one) => html`<li>${shown(one)}</li>`)}</ul></div>
<section><h2>Parts</h2><form method="post" action="${provePath(destination)}/effects">${formMark(visitor)}<input type="hidden" name="report" value="${JSON.stringify(report)}">
${table('Parts of the drill', parts, COLUMNS)}
<p><small>Answers never show effects. How often did each test event act over there? Its log or table knows.</small></p>
<div class="acts"><button class="primary">Judge with these effects</button></div></form></section>`;
  return { title: `Drill of ${destination}`, section: 'destinations', main };
};

const COLUMNS: readonly Column<Part>[] = [
  { title: 'Part', lead: true, of: ({ part }) => html`<span class="nowrap">${part}</span>` },
  { title: 'What was sent', of: ({ part }) => PART_SAYS[part], minor: true },
  {
    title: 'What came of it',
    of: ({ says, part, exchanges }) => {
      const excerpts = exchanges.flatMap(({ request, excerpt }) =>
        excerpt === undefined ? [] : [html`<br><small>${request}: ${clipped(excerpt)}</small>`],
      );
      return html`${shown(says.slice(PART_SAYS[part].length + 2))}${excerpts}`;
    },
  },
  {
    title: 'Test event',
    of: ({ event, key, exchanges }) =>
      exchanges.length === 0
        ? NOTHING
        : html`<span class="id">${shown(event)}</span><br><small class="id">${shown(key)}</small>`,
  },
  { title: 'Effects', of: effectsField },
];

function effectsField({ part, effects, exchanges }: Part): Html {
  if (exchanges.length === 0) return NOTHING;
  return html`<input type="number" name="effects-${part}" value="${effects ?? ''}" min="0" step="1" inputmode="numeric" aria-label="Effects of ${part}">`;
}

/** The same drill with what a person has counted. Nothing is sent, and nothing is changed. */
export const judgeDrill = async (frame: Frame): Promise<Response> => {
  const { context, world, visitor } = frame;
  const refused = (problem: Problem) => problemPage(context, problem, world.clock.nowMs());
  const segment = destinationSegment(context);
  if (segment.kind === 'bad') return refused(segment.problem);
  const read = await readForm(frame);
  if (read.kind === 'bad') return refused(read.problem);
  const kept = drillReport.safeParse(jsonOf(read.value.get('report') ?? ''));
  if (!kept.success || kept.data.destination !== segment.value) return refused(NO_DRILL);
  const parts: DrillSeen['parts'][number][] = [];
  for (const { effects: _before, ...part } of kept.data.parts) {
    const effects = numberIn(read.value, `effects-${part.part}`);
    if (effects !== undefined && !Number.isInteger(effects)) return refused(noCount(part.part));
    parts.push(effects === undefined || part.exchanges.length === 0 ? part : { ...part, effects: Number(effects) });
  }
  const { decisions } = kept.data;
  return page(frame, drillPage({ ...drillReportOf({ ...kept.data, parts }), decisions }, visitor));
};

const NO_DRILL: Problem = {
  status: 422,
  code: 'no-drill',
  detail: 'the form does not bring back a drill of this destination: run one, and send the form of its page',
};

const noCount = (part: string): Problem => ({
  status: 422,
  code: 'invalid',
  detail: `the effects of ${part} must be a whole number`,
  field: `effects-${part}`,
});

const jsonOf = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};
