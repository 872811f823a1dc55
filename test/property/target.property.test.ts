import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { judgeAddress, parseTarget } from '../../functions/core/target.ts';

const byte = fc.integer({ min: 0, max: 255 });
const group = fc.integer({ min: 0, max: 0xffff });
const hex = (n: number) => n.toString(16);

/** IPv4 addresses of ranges that must never be reached, wherever they are hidden. */
const deniedIPv4 = fc
  .tuple(
    fc.constantFrom([127], [10], [169, 254], [192, 168], [172, 16], [100, 64], [0], [224], [240]),
    byte,
    byte,
    byte,
  )
  .map(([prefix, b, c, d]) => [...prefix, b, c, d].slice(0, 4))
  .filter((octets) => octets.length === 4);

const words = (octets: readonly number[]): readonly [number, number] => {
  const [a = 0, b = 0, c = 0, d = 0] = octets;
  return [a * 256 + b, c * 256 + d];
};

/** Every way in use to put an IPv4 address into an IPv6 one. */
const WRAPPERS: Readonly<Record<string, (high: number, low: number) => string>> = {
  mapped: (high, low) => `::ffff:${hex(high)}:${hex(low)}`,
  compatible: (high, low) => `::${hex(high)}:${hex(low)}`,
  translated: (high, low) => `::ffff:0:${hex(high)}:${hex(low)}`,
  nat64: (high, low) => `64:ff9b::${hex(high)}:${hex(low)}`,
  'local nat64': (high, low) => `64:ff9b:1::${hex(high)}:${hex(low)}`,
  '6to4': (high, low) => `2002:${hex(high)}:${hex(low)}::1`,
  'teredo server': (high, low) => `2001:0:${hex(high)}:${hex(low)}::`,
  'teredo client': (high, low) => `2001::${hex(high ^ 0xffff)}:${hex(low ^ 0xffff)}`,
  isatap: (high, low) => `2606:4700::5efe:${hex(high)}:${hex(low)}`,
  'isatap, global': (high, low) => `2606:4700::200:5efe:${hex(high)}:${hex(low)}`,
};

describe('judgeAddress', () => {
  it.each(Object.entries(WRAPPERS))('never allows a denied IPv4 address that is %s', (_name, wrap) => {
    fc.assert(
      fc.property(deniedIPv4, fc.boolean(), (octets, allowLocal) => {
        const [high, low] = words(octets);
        const address = wrap(high, low);
        // The one exception is plain loopback, which compatible form can spell: ::1 is 0.0.0.1.
        if (address === '::0:1') return;
        expect(judgeAddress(address, { allowLocal }).kind).toBe('denied');
      }),
    );
  });

  it('allows no IPv6 address outside of 2000::/3', () => {
    fc.assert(
      fc.property(fc.array(group, { minLength: 8, maxLength: 8 }), (parts) => {
        const verdict = judgeAddress(parts.map(hex).join(':'), { allowLocal: false });
        if (verdict.kind === 'allowed') expect((parts[0] ?? 0) >> 13).toBe(1);
      }),
    );
  });

  it('says the same for every spelling of one IPv6 address', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(group, fc.constant(0)), { minLength: 8, maxLength: 8 }), (parts) => {
        const policy = { allowLocal: false };
        const short = parts.map(hex).join(':');
        const long = parts.map((part) => hex(part).padStart(4, '0').toUpperCase()).join(':');
        const compressed = new URL(`http://[${short}]/`).hostname.slice(1, -1);
        expect(judgeAddress(long, policy).kind).toBe(judgeAddress(short, policy).kind);
        expect(judgeAddress(compressed, policy).kind).toBe(judgeAddress(short, policy).kind);
      }),
    );
  });

  it('answers any text without throwing, and allows only what is an address', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 50 }), (text) => {
        if (judgeAddress(text, { allowLocal: true }).kind === 'allowed') expect(text).toMatch(/^[0-9a-fA-F:.]+$/);
      }),
    );
  });
});

/** Faults are rare, or hardly any URL would be allowed. */
const mostly = (plain: string, odd: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(plain) }, { weight: 1, arbitrary: odd });

const host = fc.oneof(
  { weight: 4, arbitrary: fc.domain() },
  fc.ipV4Extended(),
  fc.ipV6().map((address) => `[${address}]`),
  fc.constantFrom(
    'localhost',
    'example.com.',
    'EXAMPLE.com',
    'b\u00fccher.example',
    'exa%6dple.com',
    'a_b.example',
    '10.0.0.1',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
);

const anyUrl = fc
  .tuple(
    mostly('https://', fc.constantFrom('http://', 'HTTPS://', 'https:', ' https://', 'ftp://')),
    mostly('', fc.constantFrom('user@', '@', 'a:b@')),
    host,
    mostly('', fc.constantFrom(':443', ':8443', ':0')),
    fc.oneof(
      fc.webPath(),
      fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => `/${text}`),
      fc.constant('/%00'),
    ),
    fc.oneof(
      fc.constant(''),
      fc.webQueryParameters().map((query) => `?${query}`),
    ),
    fc.oneof(
      fc.constant(''),
      fc.string({ maxLength: 8 }).map((text) => `#${text}`),
    ),
  )
  .map((parts) => parts.join(''));

describe('parseTarget', () => {
  it('says the same about its own normalised form', () => {
    let allowed = 0;
    fc.assert(
      fc.property(anyUrl, fc.boolean(), (url, allowLocal) => {
        const first = parseTarget(url, { allowLocal });
        if (first.kind === 'denied') return;
        allowed += 1;
        expect(parseTarget(first.url, { allowLocal })).toEqual(first);
      }),
      { numRuns: 1_000 },
    );
    expect(allowed).toBeGreaterThan(100);
  });

  it('never throws, and allows in the cloud only https on 443 to a dotted name', () => {
    fc.assert(
      fc.property(fc.oneof(anyUrl, fc.string({ unit: 'binary' })), (url) => {
        const target = parseTarget(url, { allowLocal: false });
        if (target.kind === 'denied') return;
        const parsed = new URL(target.url);
        expect(parsed.origin).toBe(`https://${target.host}`);
        expect([parsed.username, parsed.password, parsed.hash]).toEqual(['', '', '']);
        expect(target.host).toMatch(/^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/);
        expect(target.port).toBe(443);
      }),
      { numRuns: 1_000 },
    );
  });

  it('refuses in the cloud whatever it refuses in the local world', () => {
    fc.assert(
      fc.property(anyUrl, (url) => {
        if (parseTarget(url, { allowLocal: true }).kind === 'denied') {
          expect(parseTarget(url, { allowLocal: false }).kind).toBe('denied');
        }
      }),
      { numRuns: 500 },
    );
  });
});
