/** Decisions of people in a table: when, who, what, about which, why, and how it ended. */
import { html } from 'hono/html';
import type { Command, Decided } from '../../core/operations.ts';
import { table } from './layout.ts';
import { deliveryLink, destinationLink, eventLink, redriveLink } from './links.ts';
import { badge } from './states.ts';
import { clipped, type Html, shown } from './text.ts';
import { distance } from './times.ts';

export const decisionTable = (decisions: readonly Decided[], nowMs: number): Html =>
  table('Decisions', decisions, [
    { title: 'When', of: ({ decidedAtMs }) => distance(decidedAtMs, nowMs), lead: true },
    { title: 'Who', of: ({ actor }) => shown(actor) },
    {
      title: 'Decided',
      of: ({ command, changes }) =>
        html`${wordOf(command)}${changes === undefined ? '' : html`<br><small>${clipped(changes.join('; '))}</small>`}`,
    },
    { title: 'About', of: aboutOf },
    { title: 'Why', of: ({ reason }) => (reason === '' ? html`<small>none given</small>` : clipped(reason)) },
    { title: 'Result', of: resultOf },
  ]);

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
