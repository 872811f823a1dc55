import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fingerprintOfJson } from '../../functions/core/fingerprint.ts';
import { readJson } from '../../functions/core/json-tree.ts';

/** JSON as content: what stays when the way of writing is taken away. Numbers are their text. */
type Content =
  | { readonly kind: 'number'; readonly text: string }
  | { readonly kind: 'literal'; readonly text: string }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'array'; readonly items: readonly Content[] }
  | { readonly kind: 'object'; readonly members: readonly (readonly [string, Content])[] };

const letters = fc
  .array(
    fc.constantFrom('a', 'b', '1', ' ', '"', '\\', '/', '\n', '\u00e9', '\u{1F4E6}', '\ud800', '\ufffd', '\uff5e'),
    {
      maxLength: 3,
    },
  )
  .map((parts) => parts.join(''));

const { content } = fc.letrec<{ content: Content; array: Content; object: Content }>((tie) => ({
  content: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc
      .constantFrom('0', '-0', '1', '1.0', '1e0', '10', '9007199254740992', '9007199254740993')
      .map((text): Content => ({ kind: 'number', text })),
    fc.constantFrom('true', 'false', 'null').map((text): Content => ({ kind: 'literal', text })),
    letters.map((value): Content => ({ kind: 'string', value })),
    tie('array'),
    tie('object'),
  ),
  array: fc.array(tie('content'), { maxLength: 4 }).map((items): Content => ({ kind: 'array', items })),
  object: fc
    .uniqueArray(fc.tuple(letters, tie('content')), { maxLength: 4, selector: ([key]) => key })
    .map((members): Content => ({ kind: 'object', members })),
}));

/** Makes the free choices of a writer: order of members, whitespace, escapes. The same seed, the same choices. */
const chooser = (seed: number): ((options: number) => number) => {
  let state = seed >>> 0;
  return (options) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * options);
  };
};

const escaped = (value: string, choose: (options: number) => number): string => {
  let out = '"';
  for (const unit of value.split('')) {
    const plain = JSON.stringify(unit).slice(1, -1);
    const half = /[\ud800-\udfff]/.test(unit);
    const asEscape = `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
    out += half || choose(3) === 0 ? asEscape : plain;
  }
  return `${out}"`;
};

const write = (node: Content, choose: (options: number) => number): string => {
  const gap = (): string => ['', '', ' ', '\n', '\t\r\n'][choose(5)] ?? '';
  const inside = (parts: readonly string[]): string => parts.map((part) => `${gap()}${part}${gap()}`).join(',');
  switch (node.kind) {
    case 'string':
      return escaped(node.value, choose);
    case 'array':
      return `[${inside(node.items.map((item) => write(item, choose)))}${gap()}]`;
    case 'object': {
      const members = [...node.members];
      for (let at = members.length - 1; at > 0; at -= 1) {
        const other = choose(at + 1);
        const [a, b] = [members[at], members[other]];
        if (a !== undefined && b !== undefined) [members[at], members[other]] = [b, a];
      }
      return `{${inside(members.map(([key, value]) => `${escaped(key, choose)}${gap()}:${gap()}${write(value, choose)}`))}${gap()}}`;
    }
    default:
      return node.text;
  }
};

/** Equality of content, written without the code under test. */
const same = (a: Content, b: Content): boolean => {
  if (a.kind === 'array' && b.kind === 'array') {
    return (
      a.items.length === b.items.length &&
      a.items.every((item, at) => {
        const other = b.items[at];
        return other !== undefined && same(item, other);
      })
    );
  }
  if (a.kind === 'object' && b.kind === 'object') {
    const others = new Map(b.members);
    return (
      others.size === a.members.length &&
      a.members.every(([key, value]) => {
        const other = others.get(key);
        return other !== undefined && same(value, other);
      })
    );
  }
  if (a.kind === 'string' && b.kind === 'string') return a.value === b.value;
  if (a.kind === 'number' && b.kind === 'number') return a.text === b.text;
  if (a.kind === 'literal' && b.kind === 'literal') return a.text === b.text;
  return false;
};

const fingerprint = (text: string): string => {
  const document = readJson(new TextEncoder().encode(text));
  if (document.kind === 'bad') throw new Error(`${document.reason}: ${text}`);
  return fingerprintOfJson(document.root, document.text);
};
const seed = fc.integer();
const plainly = (node: Content): string => fingerprint(write(node, () => 1));

describe('the fingerprint of a JSON payload', () => {
  it('does not see the order of members, whitespace or escapes', () => {
    const texts = new Set<string>();
    fc.assert(
      fc.property(content, seed, seed, (node, x, y) => {
        const [a, b] = [write(node, chooser(x)), write(node, chooser(y))];
        if (a !== b) texts.add(a);
        return fingerprint(a) === fingerprint(b);
      }),
      { numRuns: 3_000 },
    );
    expect(texts.size).toBeGreaterThan(500);
  });

  it('is equal exactly where the content is', () => {
    fc.assert(
      fc.property(content, content, seed, seed, (a, b, x, y) => {
        return (fingerprint(write(a, chooser(x))) === fingerprint(write(b, chooser(y)))) === same(a, b);
      }),
      { numRuns: 5_000 },
    );
  });

  it('sees the order of an array', () => {
    const items = fc.array(content, { minLength: 2, maxLength: 5 });
    fc.assert(
      fc.property(items, seed, (list, x) => {
        const moved = [...list.slice(1), ...list.slice(0, 1)];
        const [a, b]: Content[] = [
          { kind: 'array', items: list },
          { kind: 'array', items: moved },
        ];
        if (a === undefined || b === undefined) return false;
        return (fingerprint(write(a, chooser(x))) === plainly(b)) === same(a, b);
      }),
      { numRuns: 2_000 },
    );
  });

  it('would not see it if elements were sorted as members are', () => {
    const sorting = (text: string): string =>
      JSON.stringify(JSON.parse(text), (_key, value: unknown) => (Array.isArray(value) ? [...value].sort() : value));
    expect(sorting('{"items":[1,2]}')).toBe(sorting('{"items":[2,1]}'));
    expect(fingerprint('{"items":[1,2]}')).not.toBe(fingerprint('{"items":[2,1]}'));
  });

  it('sees every change of the text of a number', () => {
    const number = fc
      .tuple(
        fc.bigInt({ min: 0n, max: 10n ** 25n }),
        fc.option(fc.stringMatching(/^\d{1,4}$/)),
        fc.option(fc.integer({ min: -9, max: 9 })),
      )
      .map(
        ([whole, fraction, power]) =>
          `${whole}${fraction === null ? '' : `.${fraction}`}${power === null ? '' : `e${power}`}`,
      );
    fc.assert(
      fc.property(number, number, (a, b) => (fingerprint(`{"n":${a}}`) === fingerprint(`{"n":${b}}`)) === (a === b)),
      { numRuns: 2_000 },
    );
    fc.assert(fc.property(number, (text) => fingerprint(`[${text}]`) !== fingerprint(`["${text}"]`)));
    fc.assert(
      fc.property(
        fc.bigInt({ min: 2n ** 53n, max: 2n ** 64n }),
        (n) => fingerprint(`${n}`) !== fingerprint(`${n + 1n}`),
      ),
    );
  });
});
