/** After a change one is led back to what was changed; a word in the address says that it is done, and no more. */
import type { Context } from 'hono';
import { html } from 'hono/html';
import { type Html, NOTHING } from './text.ts';

const DONE = {
  redriven: 'Redriven: it is due now.',
  resolved: 'Resolved.',
  cancelled: 'Cancelled.',
  replayed: 'Replayed: this is the new event.',
  paused: 'Paused: what becomes due is parked from now on.',
  resumed: 'Resumed: what is parked goes on, at the rate of the destination.',
  tested: 'A test event is on its way; this is its delivery.',
  deleted: 'Deleted. Its id stays taken.',
  planned: 'Planned. Nothing was changed yet.',
  run: 'The run has begun.',
  stopped: 'Stopped.',
} as const;

export type Done = keyof typeof DONE;

const isDone = (word: string): word is Done => Object.hasOwn(DONE, word);

export const doneNote = (context: Context): Html => {
  const word = context.req.query('done') ?? '';
  return isDone(word) ? html`<div class="note" role="status"><p>${DONE[word]}</p></div>` : NOTHING;
};
