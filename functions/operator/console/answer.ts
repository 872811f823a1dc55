/** What a delivery has come to: the answer first, then what is certain, what is not, and what comes next. */
import { html } from 'hono/html';
import type { Explanation } from '../../core/explain.ts';
import { type Section, wordsOf } from '../../core/explain-words.ts';
import { type Html, shown } from './text.ts';

/** Its history stands on the same page, as a picture and as the journal. */
const TOLD_BELOW = 'What happened';

export const answerOf = (explained: Explanation): Html => {
  const [short, ...rest] = wordsOf(explained);
  const [state = '', effect = ''] = short?.lines ?? [];
  const parts = rest.filter(({ title }) => title !== TOLD_BELOW);
  return html`<p class="answer">${shown(effect)}</p><p class="soft">${shown(state)}</p><div class="parts">${parts.map(partOf)}</div>`;
};

const partOf = ({ title, lines }: Section): Html =>
  html`<div><h2>${title}</h2><ul>${lines.map((line) => html`<li>${shown(line)}</li>`)}</ul></div>`;
