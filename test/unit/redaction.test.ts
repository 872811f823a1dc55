/** What we sent is not in what is kept of an answer, in whatever spelling a destination repeats it. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { secretsIn, withoutSecrets } from '../../functions/core/redaction.ts';

const SECRET = 'abcdef/ghi"jkl\\mno+pqr&stu<vwx>yz%41=';

const hex = (char: string, digits: number): string => char.charCodeAt(0).toString(16).padStart(digits, '0');
const each = (spelling: (char: string) => string) => (text: string) =>
  [...text].map((char) => (/[a-z0-9]/i.test(char) ? char : spelling(char))).join('');
const json = (text: string): string => JSON.stringify(text).slice(1, -1);

type Spelling = (text: string) => string;

const SPELLINGS: Readonly<Record<string, Spelling>> = {
  'as it is': (text) => text,
  'in capital letters': (text) => text.toUpperCase(),
  'as JSON': json,
  'as JSON with escaped slashes': (text) => json(text).replaceAll('/', '\\/'),
  'as JSON with escapes by number': each((char) => `\\u${hex(char, 4)}`),
  'as JSON with escapes in capitals': each((char) => `\\u${hex(char, 4).toUpperCase()}`),
  'with every letter escaped': (text) => [...text].map((char) => `\\u${hex(char, 4)}`).join(''),
  'as a script': each((char) => `\\x${hex(char, 2)}`),
  'as HTML by name': (text) =>
    text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;'),
  'as HTML by number': each((char) => `&#${char.charCodeAt(0)};`),
  'as HTML by hexadecimal number': each((char) => `&#x${hex(char, 2)};`),
  'as a part of a URL': encodeURIComponent,
  'as a part of a URL, in small letters': each((char) => `%${hex(char, 2)}`),
  'as JSON in JSON': (text) => json(json(text)),
  'as JSON in HTML': (text) => each((char) => `&#${char.charCodeAt(0)};`)(json(text)),
  'as a URL in JSON': (text) => json(encodeURIComponent(text)).replaceAll('%', '\\u0025'),
  'as a URL in a URL': (text) => encodeURIComponent(encodeURIComponent(text)),
};

/** Its neighbours decide how the ends of base64 are written, so those may be left over: fewer bits than a character. */
const IN_BASE64: Readonly<Record<string, BufferEncoding>> = { base64: 'base64', 'base64 of URLs': 'base64url' };

describe('a secret in a text', () => {
  it.each(Object.entries(SPELLINGS))('is masked, and nothing but it: %s', (_how, spell) => {
    expect(withoutSecrets(`before ${spell(SECRET)} behind`, [SECRET])).toBe('before *** behind');
  });

  it.each(Object.entries(SPELLINGS))('is masked wherever the text was cut: %s', (_how, spell) => {
    const whole = spell(SECRET);
    for (let cut = 0; cut < whole.length; cut += 1) {
      const kept = withoutSecrets(`before ${whole.slice(0, cut)}`, [SECRET]);
      // So short a beginning is not a secret; everything longer is gone, half an escape at its end included.
      if (kept.includes('***')) expect(kept, whole.slice(0, cut)).toBe('before ***');
      else expect(cut).toBeLessThanOrEqual(spell(SECRET.slice(0, 4)).length + 5);
    }
  });

  it.each(Object.entries(IN_BASE64))('is masked in %s, whatever stands before and behind it', (_how, encoding) => {
    for (const before of ['', 'u', 'us', 'user:']) {
      for (const behind of ['', '&', '&x', '&xy']) {
        const encoded = Buffer.from(`${before}${SECRET}${behind}`).toString(encoding);
        const kept = withoutSecrets(`{"auth":"${encoded}"}`, [SECRET]);
        const decodedAgain = Buffer.from(kept.slice(9, -2).replace('***', ''), encoding).toString('latin1');
        expect(kept).toContain('***');
        expect(kept.length).toBeLessThan(9 + 3 + 2 + 14);
        expect(decodedAgain).not.toContain(SECRET.slice(2, 8));
      }
    }
  });

  it.each(Object.entries(SPELLINGS).filter(([how]) => how !== 'as it is' && how !== 'as a part of a URL'))(
    'would survive a search for its own letters: %s',
    (_how, spell) => {
      expect(`before ${spell(SECRET)} behind`.replaceAll(SECRET, '***')).toBe(`before ${spell(SECRET)} behind`);
    },
  );

  it('is masked as often as it stands there, overlapping or not, beside others', () => {
    expect(withoutSecrets('abababab-abababab', ['ababab'])).toBe('***-***');
    expect(withoutSecrets('one-secret two-secret one-secret', ['one-secret', 'two-secret'])).toBe('*** *** ***');
    expect(withoutSecrets('xx-secret-long', ['secret-long', 'xx-secret'])).toBe('***');
  });

  it('is not a word of five letters, nor the beginning of one in the middle of the text', () => {
    expect(withoutSecrets('wrong token, try again', ['token'])).toBe('wrong token, try again');
    expect(withoutSecrets('abcdef is not all of it', [SECRET])).toBe('abcdef is not all of it');
  });

  it('leaves all other escapes as they are', () => {
    const text = '{"a":"\\u00e9\\/","b":"%41 &amp; 100%"} &#';
    expect(withoutSecrets(text, [SECRET])).toBe(text);
  });
});

describe('a header value', () => {
  it('is looked for as a whole, in its parts, and in what a Basic one holds', () => {
    const basic = `Basic ${Buffer.from('partner:open-sesame').toString('base64')}`;
    for (const shown of [basic, basic.slice(6), 'partner:open-sesame', 'open-sesame']) {
      expect(withoutSecrets(`you are "${shown}"`, secretsIn([basic]))).toBe('you are "***"');
    }
    expect(withoutSecrets('token sesame-open', secretsIn(['Bearer sesame-open']))).toBe('token ***');
    expect(
      withoutSecrets('v1,c2lnbmF0dXJlMQ== or c2lnbmF0dXJlMg==', secretsIn(['v1,c2lnbmF0dXJlMQ== v1,c2lnbmF0dXJlMg=='])),
    ).toBe('v1,*** or ***');
  });
});

describe('any secret in any text', () => {
  const secret = fc.string({ unit: fc.constantFrom(...'ab\\/%&;#x41u0"<'), minLength: 6, maxLength: 30 });
  const around = fc.string({ unit: fc.constantFrom(...'ab\\/%&;#x41u0 "<'), maxLength: 30 });

  it('is gone, and the text has become no longer', () => {
    const spelling = fc.constantFrom(
      ...(['as it is', 'as JSON', 'as HTML by number', 'with every letter escaped'] as const),
    );
    fc.assert(
      fc.property(secret, around, around, spelling, (one, before, behind, how) => {
        const text = `${before} ${SPELLINGS[how]?.(one)} ${behind}`;
        const kept = withoutSecrets(text, [one]);
        expect(kept).toContain('***');
        expect(kept.length).toBeLessThanOrEqual(text.length);
        expect(kept.toLowerCase()).not.toContain(one.toLowerCase());
      }),
      { numRuns: 2_000 },
    );
  });

  it('is looked for in one pass: a search that begins anew at every character would not end in the time of a test', () => {
    const [text, needle] = ['a'.repeat(200_000), `${'a'.repeat(100_000)}b`];
    expect(withoutSecrets(text, [needle])).toBe(`${'a'.repeat(100_000)}***`);
  });
});
