/** The journal in words, a line for each entry. */
import { html } from 'hono/html';
import type { Delivery, Entry } from '../../core/model.ts';
import type { Person } from '../../core/operations.ts';
import { redriveLink } from './links.ts';
import { badge, CLASS_TONES, CLASS_WORDS } from './states.ts';
import { counted, type Html, NOTHING, shown } from './text.ts';
import { clockText, spanOf } from './times.ts';

export const journalList = (row: Delivery, decisions: ReadonlyMap<string, Person>, nowMs: number): Html =>
  html`<ol class="journal">${row.journal.lines.map(
    ({ entry }) =>
      html`<li><div class="when"><time datetime="${new Date(entry.atMs).toISOString()}">${clockText(entry.atMs, nowMs)}</time> <abbr>UTC</abbr><small>${
        entry.atMs <= row.acceptedAtMs ? '' : `+${spanOf(entry.atMs - row.acceptedAtMs)}`
      }</small></div><div>${saysOf(entry, entry.cause === undefined ? undefined : decisions.get(entry.cause))}</div></li>`,
  )}</ol>`;

const saysOf = (entry: Entry, decision: Person | undefined): Html => {
  switch (entry.kind) {
    case 'accepted':
      return html`Accepted ${causeOf(entry)}`;
    case 'claimed':
      return html`Attempt ${entry.attempt ?? '?'} claimed ${causeOf(entry)}${waited(entry)}`;
    case 'outcome':
      return html`Attempt ${entry.attempt ?? '?'} ${outcomeOf(entry)}`;
    case 'late-outcome':
      return html`Attempt ${entry.attempt ?? '?'}, superseded before, ${outcomeOf(entry)}`;
    case 'redriven':
      return html`Redriven ${byOf(entry, decision)}${grantOf(entry)}${whyOf(decision)}`;
    case 'decision':
      return html`${DECIDED[entry.decision ?? 'refuse']} ${byOf(entry, decision)}${whyOf(decision)}`;
  }
};

const DECIDED = {
  cancel: 'Cancelled',
  'resolve-delivered': 'Resolved as delivered',
  'resolve-not-delivered': 'Resolved as not delivered',
  refuse: 'Held: not gone on with',
} as const;

const outcomeOf = (entry: Entry): Html => {
  const said =
    entry.class === undefined ? badge('off', 'ended') : badge(CLASS_TONES[entry.class], CLASS_WORDS[entry.class]);
  const facts = [
    entry.status === undefined ? undefined : `status ${entry.status}`,
    entry.detail === undefined || entry.detail === `status-${entry.status}` ? undefined : entry.detail,
    entry.durationMs === undefined ? undefined : spanOf(entry.durationMs),
    entry.nextAtMs === undefined ? undefined : `next in ${spanOf(Math.max(0, entry.nextAtMs - entry.atMs))}`,
  ].filter((fact) => fact !== undefined);
  return html`${said} ${facts.map((fact) => html`<small>${shown(fact)}</small>`)}`;
};

const CAUSES: Readonly<Record<string, string>> = {
  p: 'by push',
  s: 'by sweep',
  o: 'by operation',
  a: 'by request',
  i: 'by the API',
  q: 'from the queue',
};

const causeOf = ({ cause }: Entry): Html => {
  if (cause === undefined) return NOTHING;
  const id = cause.slice(2);
  if (cause.startsWith('o:')) return html`<small>by ${redriveLink(id)}</small>`;
  return html`<small>${CAUSES[cause.slice(0, 1)] ?? 'by'} <span class="id">${shown(id)}</span></small>`;
};

const byOf = (entry: Entry, decision: Person | undefined): Html =>
  decision === undefined
    ? causeOf(entry)
    : html`${decision.request === undefined ? 'planned by' : 'by'} <strong>${shown(decision.actor)}</strong>`;

const grantOf = ({ grant, secondEffect }: Entry): Html =>
  html`${(grant ?? 0) > 0 ? html` <small>with ${counted(grant ?? 0, 'attempt')} granted</small>` : ''}${
    secondEffect ? html` <small>a second effect was accepted</small>` : ''
  }`;

const whyOf = (decision: Person | undefined): Html =>
  decision === undefined
    ? NOTHING
    : html`: “${shown(decision.reason)}”${decision.ranBy === undefined ? '' : html`, run by “${shown(decision.ranBy)}”`}${decision.evidence === undefined ? '' : html` <small>evidence: “${shown(decision.evidence)}”</small>`}`;

const waited = ({ waits, atMs }: Entry): Html =>
  waits === undefined
    ? NOTHING
    : html` <small>after ${counted(waits.count, 'wait')} for ${waits.reason}, ${spanOf(Math.max(0, atMs - waits.sinceMs))} in all</small>`;
