/** Decisions of people in a table: when, who, what, about which, why, and how it ended. */
import { html } from 'hono/html';
import { partOfDrill } from '../../core/drill.ts';
import type { Command, Decided } from '../../core/operations.ts';
import { table } from './layout.ts';
import { deliveryLink, destinationLink, eventLink, redriveLink } from './links.ts';
import { badge } from './states.ts';
import { clipped, type Html, shown } from './text.ts';
import { distance } from './times.ts';

export const decisionTable = (decisions: readonly Decided[], nowMs: number): Html =>
  table('Decisions', drillsAsOne(decisions), [
    { title: 'When', of: ({ decidedAtMs }) => distance(decidedAtMs, nowMs), lead: true },
    { title: 'Who', of: ({ actor }) => shown(actor) },
    {
      title: 'Decided',
      of: ({ command, changes, parts }) =>
        html`${wordOf(command)}${parts === undefined ? '' : html`<br><small>${parts.join(', ')}</small>`}${changes === undefined ? '' : html`<br><small>${clipped(changes.join('; '))}</small>`}`,
    },
    { title: 'About', of: aboutOf },
    { title: 'Why', of: ({ reason }) => (reason === '' ? html`<small>none given</small>` : clipped(reason)) },
    { title: 'Result', of: resultOf },
  ]);

/** A row of the table: a decision, or those of one drill that ran part by part. */
type Row = Decided & { readonly parts?: readonly string[] };

/** By its latest part; a part that did not end well says how the drill did. Newest first, so that parts come last to first. */
const drillsAsOne = (decisions: readonly Decided[]): readonly Row[] => {
  const rows: Row[] = [];
  for (const decision of decisions) {
    const named = decision.command === 'prove' ? partOfDrill(decision.request) : undefined;
    const before = rows.at(-1);
    if (named === undefined) rows.push(decision);
    else if (before !== undefined && isSameDrill(before, decision)) {
      const { result: _ended, ...open } = before;
      const worse = before.result === 'done' ? decision.result : before.result;
      rows.splice(-1, 1, {
        ...open,
        ...(worse === undefined ? {} : { result: worse }),
        parts: [named.part, ...(before.parts ?? [])],
      });
    } else rows.push({ ...decision, parts: [named.part] });
  }
  return rows;
};

const isSameDrill = (one: Decided, other: Decided): boolean =>
  one.command === 'prove' &&
  partOfDrill(one.request)?.drill === partOfDrill(other.request)?.drill &&
  one.destination === other.destination &&
  one.actor === other.actor &&
  one.reason === other.reason;

const wordOf = (command: Command): string => (command === 'set' ? 'settings' : command.replaceAll('-', ' '));

const aboutOf = ({ event, destination, operation }: Decided): Html => {
  if (event !== undefined && destination !== undefined)
    return html`${deliveryLink({ event, destination })} to ${destinationLink(destination)}`;
  if (event !== undefined) return eventLink(event);
  if (destination !== undefined) return destinationLink(destination);
  return operation === undefined ? html`` : redriveLink(operation, 14);
};

const resultOf = ({ result }: Decided): Html => {
  if (result === undefined) return badge('wait', 'not concluded');
  return result === 'done' ? badge('good', 'done') : badge('bad', 'refused', result);
};
