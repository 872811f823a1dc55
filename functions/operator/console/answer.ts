/** What a delivery has come to, in a sentence, and what is certain about it. */
import { html } from 'hono/html';
import type { Delivery } from '../../core/model.ts';
import { reasonText } from './states.ts';
import { counted, type Html } from './text.ts';
import { coarse, spanOf } from './times.ts';

export const answerOf = (row: Delivery, nowMs: number): Html =>
  html`<p class="answer">${sentence(row, nowMs)}</p><ul>${facts(row).map((fact) => html`<li>${fact}</li>`)}</ul>`;

const sentence = (row: Delivery, nowMs: number): string => {
  switch (row.status) {
    case 'delivered':
      return row.by === 'decision'
        ? 'A person has resolved it as delivered.'
        : `Delivered ${spanOf(row.endedAtMs - row.acceptedAtMs)} after it was accepted, by attempt ${row.attempts}.`;
    case 'cancelled':
      return row.reason === 'shadow'
        ? 'Nothing was sent: its destination is in shadow mode.'
        : 'A person has cancelled it.';
    case 'quarantined':
      return `It waits for a person since ${coarse(nowMs - row.endedAtMs)}: ${reasonText(row.reason)}.`;
    case 'claimed':
      return `Attempt ${row.claim.attempt} is under way.`;
    case 'pending':
      if (row.parking)
        return `It is parked since ${coarse(nowMs - row.parking.sinceMs)}: its destination is ${row.parking.reason}.`;
      return row.dueAtMs > nowMs
        ? `Attempt ${row.attempts + 1} comes in ${spanOf(row.dueAtMs - nowMs)}.`
        : `Attempt ${row.attempts + 1} is due; it waits for its message.`;
  }
};

const facts = (row: Delivery): readonly string[] => {
  const outcomes = row.journal.lines.filter(({ entry }) => entry.kind === 'outcome' || entry.kind === 'late-outcome');
  const successes = outcomes.filter(({ entry }) => entry.class === 'delivered').length;
  return [`${counted(row.attempts, 'attempt')} claimed, ${counted(successes, 'success', 'successes')} recorded.`];
};
