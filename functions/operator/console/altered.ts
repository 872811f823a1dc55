/** Was anything altered? The journal's chain and the row against it, for the deliveries of one event. */
import { html } from 'hono/html';
import { auditRow } from '../../core/audit.ts';
import type { Audited } from '../commands/audit.ts';
import { table } from './layout.ts';
import { deliveryPath } from './links.ts';
import { badge } from './states.ts';
import { type Html, shown } from './text.ts';

export const alteredSection = (audited: readonly Audited[]): Html =>
  html`<section><h2>Was anything altered? <small>each journal's chain, and its row against it</small></h2>${table(
    'Audit',
    audited.map((one) => ({ one, ref: one.kind === 'row' ? one.row : one.ref })),
    [
      {
        title: 'Delivery to',
        of: ({ ref }) => html`<a class="id" href="${deliveryPath(ref)}">${shown(ref.destination)}</a>`,
        lead: true,
      },
      { title: 'Found', of: ({ one }) => foundIn(one) },
    ],
  )}</section>`;

const foundIn = (one: Audited): Html => {
  switch (one.kind) {
    case 'missing':
      return badge('bad', 'missing', 'the event was accepted for it, and it is not there');
    case 'unreadable':
      return badge('bad', 'unreadable', one.why);
    case 'row': {
      const faults = auditRow(one.row);
      if (faults.length === 0)
        return badge('good', 'whole', `${one.row.lines.length} entries lead to the head of its journal`);
      return html`${faults.map(({ kind, says }) => html`<div>${badge('bad', kind, shown(says))}</div>`)}`;
    }
  }
};
