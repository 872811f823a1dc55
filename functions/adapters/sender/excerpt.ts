/** Text that came from a stranger, made fit for a row, a log line and a terminal. */

/** Control characters of both sets, line separators, and the marks that change the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
const UNFIT = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** At most `bytesMax` bytes of UTF-8, on one line; what cannot be shown becomes a blank, a broken byte becomes U+FFFD. */
export const excerptOf = (bytes: Uint8Array, bytesMax: number): string =>
  // `stream` leaves out a character that was cut in the middle instead of calling it broken.
  fitText(
    new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes.subarray(0, bytesMax), { stream: true }),
    bytesMax,
  );

export const fitText = (text: string, bytesMax: number): string => {
  const clean = text.replace(UNFIT, ' ').toWellFormed();
  // Replacements can be longer than what they replace, so the bound is taken on the result.
  const { read } = new TextEncoder().encodeInto(clean, new Uint8Array(bytesMax));
  return clean.slice(0, read);
};
