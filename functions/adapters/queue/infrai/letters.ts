/**
 * The letters in an answer to `consume`: each message cut out of the text as it stands there.
 *
 * Not by the strict reader that a push goes through: that one refuses a whole document for one duplicate key or one
 * nesting too deep, and here ten messages share a document. Letters are just where such messages end up, and one of
 * them must not take nine others out of sight. So the text is only cut here, and each message is judged by itself later.
 */
import type { DeadLetter } from '../../../ports.ts';

/** What can stand in a path and in a record. */
const MESSAGE_ID = /^[!-~]{1,256}$/;
const HANDLE_CHARS_MAX = 4_096;

/** `unnamed`: items without an id that could be used; nothing can be done with them. */
export interface Cut {
  readonly letters: readonly DeadLetter[];
  readonly unnamed: number;
}

/** `answer` is known to be JSON. Undefined where it holds no list. `items` and `messages` have both been seen. */
export const lettersIn = (answer: string): Cut | undefined => {
  const data = membersIn(answer, partAt(answer, 0)).get('data');
  const members = data && membersIn(answer, data);
  const list = members?.get('items') ?? members?.get('messages');
  if (list === undefined || answer[list.start] !== '[') return undefined;
  const items = partsIn(answer, list);
  const letters = items.map((item) => letterOf(answer, item)).filter((letter) => letter !== undefined);
  return { letters, unnamed: items.length - letters.length };
};

const letterOf = (answer: string, item: Part): DeadLetter | undefined => {
  const members = membersIn(answer, item);
  const read = (name: string): unknown => {
    const part = members.get(name);
    return part && JSON.parse(textOf(answer, part));
  };
  const messageId = read('message_id');
  if (typeof messageId !== 'string' || !MESSAGE_ID.test(messageId)) return undefined;
  const count = read('delivery_count');
  const handle = read('receipt_handle');
  const counted = typeof count === 'number' && Number.isSafeInteger(count) && count >= 1;
  const handled = typeof handle === 'string' && handle !== '' && handle.length <= HANDLE_CHARS_MAX;
  return {
    messageId,
    // Where there is no message, the whole item stands for it, which nobody takes for a message of ours.
    body: bytesOf(textOf(answer, members.get('payload') ?? members.get('body') ?? item)),
    ...(counted ? { deliveryCount: count } : {}),
    handle: handled ? handle : messageId,
  };
};

/** The message's own bytes. A message inside a JSON string is taken out of it, as it is of a push. */
const bytesOf = (text: string): Uint8Array => {
  const decoded: unknown = text.startsWith('"') ? JSON.parse(text) : undefined;
  return new TextEncoder().encode(typeof decoded === 'string' && decoded.isWellFormed() ? decoded : text);
};

// ---- cutting ------------------------------------------------------------------------------------------------------

/** A value in the text: from `start` to before `end`. */
interface Part {
  readonly key?: string;
  readonly start: number;
  readonly end: number;
}

const textOf = (text: string, { start, end }: Part): string => text.slice(start, end);

/** By name. As JSON.parse does, the last of several of one name counts; `null` counts as absent. */
const membersIn = (text: string, whole: Part): ReadonlyMap<string, Part> => {
  const parts = text[whole.start] === '{' ? partsIn(text, whole) : [];
  return new Map(parts.flatMap((part) => (text[part.start] === 'n' ? [] : [[part.key ?? '', part]])));
};

/** The values right inside an object or array. */
const partsIn = (text: string, { start, end }: Part): readonly Part[] => {
  const parts: Part[] = [];
  const keyed = text[start] === '{';
  for (let at = skip(text, start + 1); at < end - 1; ) {
    if (!keyed) {
      const part = partAt(text, at);
      parts.push(part);
      at = skip(text, part.end);
      continue;
    }
    const key: unknown = JSON.parse(text.slice(at, endOfText(text, at)));
    const part = partAt(text, skip(text, endOfText(text, at)));
    parts.push({ ...part, key: String(key) });
    at = skip(text, part.end);
  }
  return parts;
};

/** Blanks, and the signs between two values. */
const skip = (text: string, from: number): number => {
  let at = from;
  while (at < text.length && ' \t\n\r,:'.includes(text.charAt(at))) at += 1;
  return at;
};

/** The value that begins at the first sign behind `from`. Counts brackets instead of going down: no depth is too deep. */
const partAt = (text: string, from: number): Part => {
  const start = skip(text, from);
  let depth = 0;
  let at = start;
  do {
    const sign = text.charAt(at);
    if (sign === '"') at = endOfText(text, at);
    else {
      if (sign === '{' || sign === '[') depth += 1;
      if (sign === '}' || sign === ']') depth -= 1;
      at += 1;
    }
  } while (at < text.length && (depth > 0 || isPlain(text, start, at)));
  return { start, end: at };
};

/** Inside a number, `true`, `false` or `null`: these end where another sign comes. */
const isPlain = (text: string, start: number, at: number): boolean =>
  !'{["'.includes(text.charAt(start)) && !' \t\n\r,]}'.includes(text.charAt(at));

/** Behind the quote that ends the text. Jumps from quote to quote: most of a message is inside of texts. */
const endOfText = (text: string, start: number): number => {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text[at - 1 - slashes] === '\\') slashes += 1;
    if (slashes % 2 === 0) return at + 1;
  }
  return text.length;
};
