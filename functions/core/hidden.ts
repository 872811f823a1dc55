/**
 * Text of strangers, shown to a person. An id, a reason or an excerpt may hold anything, and must be seen as what it is:
 * it may not move a cursor, turn the direction of what stands behind it, or look like nothing.
 *
 * Hidden are control characters (C0, DEL, C1), format characters (bidirectional controls, zero-width marks, tags), line
 * and paragraph separators, private use, and what is not assigned. They are shown in the form of JavaScript: `\u{202e}`.
 */
export const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cn}\p{Cs}]/gu;

export const escapeHidden = (character: string): string => `\\u{${character.codePointAt(0)?.toString(16)}}`;

/** The same text with every hidden character escaped. */
export const withHiddenShown = (text: string): string => text.replace(HIDDEN, escapeHidden);
