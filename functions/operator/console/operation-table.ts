/** Redrives over many, in a table. */
import { html } from 'hono/html';
import type { Operation, OperationState } from '../../core/operations.ts';
import type { OperationPage } from '../commands/redrives.ts';
import { table } from './layout.ts';
import { redriveLink } from './links.ts';
import { badge, type Tone } from './states.ts';
import { clipped, type Html, NOTHING, number, shown } from './text.ts';
import { distance } from './times.ts';

const TONES: Readonly<Record<OperationState, Tone>> = {
  planning: 'wait',
  planned: 'off',
  running: 'live',
  stopped: 'bad',
  done: 'good',
};

export const operationState = ({ state, stoppedBecause }: Operation): Html =>
  badge(TONES[state], state, stoppedBecause === undefined ? undefined : shown(stoppedBecause));

export const sourceText = ({ source, destination, reason }: Operation): Html =>
  html`${source === 'dead-letters' ? 'dead letters' : 'quarantine'}${reason === undefined ? '' : html`, ${reason}`}${
    destination === undefined ? '' : html` of ${clipped(destination, 40)}`
  }`;

export const operationTable = (operations: readonly Operation[], nowMs: number): Html =>
  table('Redrives', operations, [
    { title: 'Redrive', of: ({ operation }) => redriveLink(operation, 14), lead: true },
    { title: 'State', of: operationState },
    { title: 'Over', of: sourceText },
    { title: 'Planned', of: ({ messages }) => number(messages), numeric: true },
    { title: 'Who', of: ({ actor }) => shown(actor) },
    { title: 'Why', of: ({ why }) => clipped(why, 60) },
    { title: 'Made', of: ({ createdAtMs }) => distance(createdAtMs, nowMs) },
  ]);

/** By name: a list must not hide what it cannot show. */
export const unreadOperations = ({ unreadable }: OperationPage): Html =>
  unreadable.length === 0
    ? NOTHING
    : html`<div class="note bad"><p>Not to be read here, for they are broken or written by newer code: ${unreadable.map(({ operation }) => html`<span class="id">${shown(operation)}</span> `)}</p></div>`;
