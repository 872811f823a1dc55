/**
 * Text of strangers on a page. `html` escapes what would be markup; what would act on a reader in another way (control
 * characters, bidirectional and zero-width marks) is shown as what it is, and every text keeps its direction to itself.
 */
import { html } from 'hono/html';
import { escapeHidden, HIDDEN, withHiddenShown } from '../../core/hidden.ts';

export type Html = ReturnType<typeof html>;

/** Nothing on the page. */
export const NOTHING = html``;

/** The whole text. */
export const shown = (text: string): Html => html`<bdi>${piecesOf(text)}</bdi>`;

const piecesOf = (text: string): readonly (string | Html)[] => {
  const pieces: (string | Html)[] = [];
  let end = 0;
  for (const match of text.matchAll(HIDDEN)) {
    pieces.push(text.slice(end, match.index), html`<span class="hid">${escapeHidden(match[0])}</span>`);
    end = match.index + match[0].length;
  }
  return [...pieces, text.slice(end)];
};

const LINE_CHARS = 96;

/** On one line of a table; the whole text is in its title. */
export const clipped = (text: string, characters: number = LINE_CHARS): Html => {
  if (text.length <= characters) return shown(text);
  const cut = text
    .slice(0, characters)
    .toWellFormed()
    .replace(/\ufffd$/, '');
  return html`<span title="${withHiddenShown(text)}">${shown(cut)}…</span>`;
};

/** `1 delivery`, `3 deliveries`. */
export const counted = (count: number, one: string, many: string = `${one}s`): string =>
  `${number(count)} ${count === 1 ? one : many}`;

const NUMBERS = new Intl.NumberFormat('en-GB');

export const number = (value: number): string => NUMBERS.format(value);

/** A count that nobody took further than this. */
export const cappedNumber = (value: number, cap: number): string => (value >= cap ? `${number(cap)}+` : number(value));
