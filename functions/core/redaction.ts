/**
 * Taking what we sent out of what came back. A page for debugging may repeat our own request, as it is or as its
 * framework writes it: escaped for JSON, for HTML, for a URL, in base64, or one of these inside another.
 *
 *   text --+-- as it is --------+--> every secret is looked for --> its place in the text --> ***
 *          +-- decoded once ----+
 *          +-- decoded twice ---+    (each decoded character knows where it stood)
 *
 * The text is decoded instead of the secret being encoded: an escape has many spellings, and one meaning. All of it is
 * linear in the text: each secret is looked for in one pass (Knuth, Morris, Pratt), which also tells whether the end of
 * the text, which may have been cut there, begins one.
 */

/** Shorter ones would hide words of the answer, and protect little. */
const SECRET_CHARS_MIN = 6;
/** At the end of the text so many characters of a secret are enough to be taken out. */
const BEGUN_CHARS_MIN = 4;
const LAYERS_MAX = 2;
const MASK = '***';

/** All that one credential may look like: the whole value, its parts, and what stands in a Basic one. */
export const secretsIn = (values: readonly string[]): readonly string[] =>
  values.flatMap((value) => {
    const parts = value.split(/[ ,;]+/);
    const basic = /^basic +([A-Za-z0-9+/=]+)$/i.exec(value)?.[1];
    const userAndPassword = basic === undefined ? '' : Buffer.from(basic, 'base64').toString('latin1');
    return [value, ...parts, userAndPassword, userAndPassword.slice(userAndPassword.indexOf(':') + 1)];
  });

export const withoutSecrets = (text: string, secrets: readonly string[]): string => {
  const needles = needlesOf(secrets);
  const spans = layersOf(text).flatMap((layer) => needles.flatMap((needle) => spansOf(needle, layer)));
  return masked(text, spans);
};

// ---- what is looked for -------------------------------------------------------------------------------------------

interface Needle {
  readonly text: string;
  /** For each length of a beginning: the longest shorter beginning that it ends with. */
  readonly back: readonly number[];
}

const needlesOf = (secrets: readonly string[]): readonly Needle[] => {
  const long = secrets.filter((secret) => secret.length >= SECRET_CHARS_MIN);
  const texts = new Set([...long, ...long.flatMap(base64Of)].map(lower));
  return [...texts].map((text) => ({ text, back: backOf(text) }));
};

/** A secret that was changed to another case is as good as the secret. ASCII only: no length may change. */
const lower = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

/** The characters of base64 that depend on the secret alone, for each of the three places where it may begin. */
const base64Of = (secret: string): readonly string[] =>
  [0, 1, 2].flatMap((before) => {
    const bits = Buffer.concat([Buffer.alloc(before), Buffer.from(secret)]);
    const whole = bits.subarray(0, bits.length - (bits.length % 3)).toString('base64');
    const own = whole.slice(before === 0 ? 0 : before + 1);
    return own.length < BEGUN_CHARS_MIN ? [] : [own, own.replaceAll('+', '-').replaceAll('/', '_')];
  });

const backOf = (text: string): readonly number[] => {
  const back = [0];
  for (let at = 1, length = 0; at < text.length; at += 1) {
    while (length > 0 && text[at] !== text[length]) length = back[length - 1] ?? 0;
    if (text[at] === text[length]) length += 1;
    back.push(length);
  }
  return back;
};

// ---- where it is looked for ---------------------------------------------------------------------------------------

/** Characters, and for each where its spelling begins in the text; one more for the end. */
interface Layer {
  readonly text: string;
  readonly starts: readonly number[];
}

type Span = readonly [from: number, to: number];

const layersOf = (text: string): readonly Layer[] => {
  const layers: Layer[] = [{ text, starts: Array.from({ length: text.length + 1 }, (_, at) => at) }];
  let latest: readonly Layer[] = layers;
  for (let depth = 0; depth < LAYERS_MAX; depth += 1) {
    latest = latest.flatMap((layer) => ESCAPES.flatMap((kind) => decoded(layer, kind) ?? []));
    layers.push(...latest);
  }
  return layers;
};

interface Escape {
  readonly spelling: RegExp;
  /** One that the end of the text has cut off. */
  readonly begun: RegExp;
  readonly meaning: (spelling: string) => string;
}

const ofCode = (digits: string, radix: number): string => {
  const code = Number.parseInt(digits, radix);
  return code <= 0xffff ? String.fromCharCode(code) : '\ufffd';
};

const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", sol: '/', bsol: '\\', plus: '+', equals: '=', colon: ':' },
  ...{ comma: ',', period: '.', lowbar: '_', num: '#', excl: '!', quest: '?', percnt: '%', dollar: '$', semi: ';' },
};

const ESCAPES: readonly Escape[] = [
  {
    // JSON and its kin: \/ \" \\ \u002f \x2f. A letter behind a backslash (\n) is no character of a header.
    spelling: /\\(?:u[0-9a-f]{4}|x[0-9a-f]{2}|[^a-z0-9])/gi,
    begun: /\\(?:u[0-9a-f]{0,3}|x[0-9a-f]?)?$/i,
    meaning: (spelling) => (spelling.length === 2 ? (spelling[1] ?? '') : ofCode(spelling.slice(2), 16)),
  },
  {
    spelling: /%[0-9a-f]{2}/gi,
    begun: /%[0-9a-f]?$/i,
    meaning: (spelling) => ofCode(spelling.slice(1), 16),
  },
  {
    spelling: /&(?:#x[0-9a-f]{1,6}|#[0-9]{1,7}|[a-z]{2,8});/gi,
    begun: /&(?:#x?[0-9a-f]{0,7}|[a-z]{0,8})$/i,
    meaning: (spelling) => {
      const name = spelling.slice(1, -1);
      if (/^#x/i.test(name)) return ofCode(name.slice(2), 16);
      return name.startsWith('#') ? ofCode(name.slice(1), 10) : (NAMED[name.toLowerCase()] ?? spelling);
    },
  },
];

/** Undefined where nothing is escaped in that way: it would be the same text once more. */
const decoded = ({ text, starts }: Layer, { spelling, begun, meaning }: Escape): Layer | undefined => {
  const cut = begun.exec(text)?.index ?? text.length;
  const pieces: string[] = [];
  const places: number[] = [];
  let at = 0;
  const take = (piece: string, from: number, step: 0 | 1): void => {
    pieces.push(piece);
    for (let n = 0; n < piece.length; n += 1) places.push(starts[from + n * step] ?? 0);
  };
  for (const match of text.slice(0, cut).matchAll(spelling)) {
    take(text.slice(at, match.index), at, 1);
    take(meaning(match[0]), match.index, 0);
    at = match.index + match[0].length;
  }
  if (at === 0 && cut === text.length) return undefined;
  take(text.slice(at, cut), at, 1);
  return { text: pieces.join(''), starts: [...places, starts[text.length] ?? 0] };
};

// ---- finding and masking ------------------------------------------------------------------------------------------

const spansOf = (needle: Needle, layer: Layer): readonly Span[] => {
  const text = lower(layer.text);
  const spans: Span[] = [];
  const span = (from: number, to: number): number => spans.push([layer.starts[from] ?? 0, layer.starts[to] ?? 0]);
  let length = 0;
  for (let at = 0; at < text.length; at += 1) {
    while (length > 0 && (length === needle.text.length || text[at] !== needle.text[length])) {
      length = needle.back[length - 1] ?? 0;
    }
    if (text[at] === needle.text[length]) length += 1;
    if (length === needle.text.length) span(at + 1 - length, at + 1);
  }
  if (length >= BEGUN_CHARS_MIN) span(text.length - length, text.length);
  return spans;
};

const masked = (text: string, spans: readonly Span[]): string => {
  const pieces: string[] = [];
  let at = 0;
  for (const [from, to] of spans.toSorted((a, b) => a[0] - b[0] || a[1] - b[1])) {
    if (from >= at) pieces.push(text.slice(at, from), MASK);
    at = Math.max(at, to);
  }
  return [...pieces, text.slice(at)].join('');
};
