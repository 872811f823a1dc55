/**
 * Text of strangers on a terminal. An id, a reason or an excerpt may hold anything, and must be seen as what it is: it
 * may not move the cursor, colour a line, turn the direction of what stands behind it, or look like nothing.
 *
 * Escaped are control characters (C0, DEL, C1), format characters (bidirectional controls, zero-width marks, tags), line
 * and paragraph separators, private use, and what is not assigned. The form is that of JavaScript: `\u{202e}`.
 */
import stringWidth from 'string-width';

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;

declare const safe: unique symbol;
/** Text that a terminal may be given: made here and in `print.ts` only. */
export type Safe = string & { readonly [safe]: true };

export const visible = (text: string): Safe =>
  text.replace(HIDDEN, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`) as Safe;

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
