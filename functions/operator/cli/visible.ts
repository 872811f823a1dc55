/** Text of strangers on a terminal: it may not move the cursor or colour a line, and nothing of it is out of sight. */
import stringWidth from 'string-width';
import { HIDDEN, withHiddenShown } from '../../core/hidden.ts';

declare const safe: unique symbol;
/** Text that a terminal may be given: made here and in `print.ts` only. */
export type Safe = string & { readonly [safe]: true };

export const visible = (text: string): Safe => withHiddenShown(text) as Safe;

/** A sentence of ours with values of others in it: said`event ${id} is gone`. */
export const said = (strings: TemplateStringsArray, ...values: readonly (string | number | Safe)[]): Safe =>
  strings.reduce((made, part, index) => `${made}${visible(String(values[index - 1] ?? ''))}${part}`) as Safe;

/** One under the other; what is undefined is left out, and an empty text is an empty line. */
export const lines = (...texts: readonly (Safe | '' | undefined)[]): Safe =>
  texts.filter((text) => text !== undefined).join('\n') as Safe;

/** Columns that a visible text takes: 2 for a wide character, 0 for a mark on the letter before. */
export const widthOf = (text: string): number => stringWidth(text);

/** At most so many columns; what is cut off is marked. */
export const shorten = (text: Safe, columns: number): Safe => {
  if (widthOf(text) <= columns) return text;
  let taken = '';
  let used = 0;
  for (const { segment } of new Intl.Segmenter().segment(text)) {
    const next = used + widthOf(segment);
    if (next > columns - 1) break;
    taken += segment;
    used = next;
  }
  return `${taken}…` as Safe;
};

/** JSON in which nothing can act on a terminal: the same value, with the same characters escaped in the way of JSON. */
export const visibleJson = (value: unknown, indent?: number): Safe =>
  JSON.stringify(value, undefined, indent).replace(HIDDEN, (character) =>
    character === '\n' ? character : [...unitsOf(character)].join(''),
  ) as Safe;

function* unitsOf(character: string): Generator<string> {
  for (let at = 0; at < character.length; at += 1) {
    yield `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`;
  }
}
