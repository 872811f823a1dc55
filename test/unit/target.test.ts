import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import * as z from 'zod/mini';

import { URL_CHARS_MAX } from '../../functions/core/limits.ts';
import { isAddressLiteral, judgeAddress, parseTarget, type TargetPolicy } from '../../functions/core/target.ts';

const CLOUD: TargetPolicy = { allowLocal: false };
const LOCAL: TargetPolicy = { allowLocal: true };

const Row = z.object({ kind: z.string(), id: z.string(), input: z.string(), verdict: z.string(), why: z.string() });
const rows = readFileSync(new URL('../cases/corpora.jsonl', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => line.startsWith('{"kind": "url"'))
  .map((line) => Row.parse(JSON.parse(line)));

const classOf = (url: string, policy = CLOUD): string => {
  const target = parseTarget(url, policy);
  return target.kind === 'allowed' ? 'allowed' : target.class;
};

/** Where the rows leave the choice to the product. */
const CHOICES: Readonly<Record<string, string>> = {
  S016: 'allowed', // underscore
  S018: 'port', // another TLS port
  S020: 'address', // public literal: names only
  S025: 'invalid', // encoded NUL in the path
  S191: 'invalid', // backslash
};

/** Denied rows where an earlier rule speaks first; that they are denied is what counts. */
const OTHER_CLASS: Readonly<Record<string, string>> = {
  S044: 'invalid', // no slashes
  S048: 'invalid', // tab in the scheme
  S050: 'invalid', // tab in the host
  S188: 'invalid', // backslash
  S189: 'port', // port 80 before the address
};

const CLASSES: Readonly<Record<string, string>> = {
  ALLOW: 'allowed',
  DENY_INVALID: 'invalid',
  DENY_SCHEME: 'scheme',
  DENY_CREDENTIALS: 'credentials',
  DENY_PORT: 'port',
  DENY_NAME: 'name',
  DENY_ADDR: 'address',
};

describe('a name without a public end', () => {
  it.each([
    'kubernetes.default',
    'kubernetes.default.svc',
    'redis.default.svc.cluster',
    'api.kube-system',
    'api.team-7',
    'db.node',
    'web.prod1',
    'a.b_c',
    'a.x',
  ])('is refused, since only a search list or a network of its own completes it: %s', (host) => {
    expect(parseTarget(`https://${host}/`, { allowLocal: false })).toMatchObject({ kind: 'denied', class: 'name' });
  });

  it.each(['partner.co', 'default.com', 'my-node.io', 'a.xn--p1ai', 'kube-system.dev', 'x1.museum'])(
    'is not one that ends in letters, or in letters of another script: %s',
    (host) => {
      expect(parseTarget(`https://${host}/`, { allowLocal: false }).kind).toBe('allowed');
    },
  );
});

describe('parseTarget, on the corpus of URLs', () => {
  it('has all 132 rows and a choice for each open one', () => {
    expect(rows).toHaveLength(132);
    expect(rows.filter((row) => row.verdict === 'POLICY').map((row) => row.id)).toEqual(Object.keys(CHOICES));
  });

  it.each(rows)('gives $verdict to $input: $why [$id]', ({ id, input, verdict }) => {
    expect(classOf(input)).toBe(CHOICES[id] ?? OTHER_CLASS[id] ?? CLASSES[verdict]);
  });

  it.each(rows.filter((row) => row.verdict.startsWith('DENY')))('never says yes to $input [$id]', ({ input }) => {
    expect(parseTarget(input, CLOUD).kind).toBe('denied');
  });
});

describe('parseTarget, by kinds', () => {
  it.each([
    ['an ordinary name', 'https://hooks.partner.example/v1/in?x=1&y=%20'],
    ['the default port, written out', 'https://example.com:443/hook'],
    ['the default port with leading zeros', 'https://example.com:00443/hook'],
    ['blanks and a line end around it', ' \thttps://example.com/hook\r\n'],
    ['an address in a label', 'https://127.0.0.1.example.com/'],
    ['a suspicious word in the middle of a name', 'https://local.internal.example.com/'],
    ['a name that only ends like a private one', 'https://notlocal.example/'],
    ['a name that only ends like a wildcard service', 'https://mynip.io.example/'],
    ['another URL in the query', 'https://example.com/?next=http://169.254.169.254/'],
    ['an @ in the path', 'https://example.com/@me/a@b'],
    ['an @ in the query', 'https://example.com?@127.0.0.1'],
    ['a colon in the path', 'https://example.com/a:b'],
    ['an encoded line end in the query, where it is data', 'https://example.com/?text=a%0Ab'],
    ['punycode', 'https://xn--bcher-kva.example/'],
    ['digits as a label', 'https://123.example.com/'],
    ['hyphens anywhere', 'https://a--b.c-.example/'],
    ['a label of 63', `https://${'a'.repeat(63)}.example/`],
    ['an emoji name', 'https://\u{1f600}.example/'],
    ['dot segments', 'https://example.com/a/../b/%2e%2e/c'],
  ])('allows %s', (_what, url) => {
    expect(classOf(url)).toBe('allowed');
  });

  it.each([
    ['a tab inside the path', 'https://example.com/a\tb', 'invalid'],
    ['a line end inside the host', 'https://exam\nple.com/', 'invalid'],
    ['a NUL at the end', 'https://example.com/\0', 'invalid'],
    ['a C1 control character', 'https://example.com/\u0085', 'invalid'],
    ['an encoded line end in the path', 'https://example.com/a%0D%0Ab', 'invalid'],
    ['an encoded DEL in the path', 'https://example.com/%7f', 'invalid'],
    ['half of a surrogate pair', 'https://example.com/\ud800', 'invalid'],
    ['one slash', 'https:/example.com/', 'invalid'],
    ['three slashes', 'https:///example.com/', 'invalid'],
    ['a backslash in place of the slashes', 'https:\\\\example.com/', 'invalid'],
    ['a blank in the host', 'https://exa mple.com/', 'invalid'],
    ['an encoded slash in the host', 'https://example.com%2f.evil.example/', 'invalid'],
    ['an encoded @ in the host', 'https://example.com%40127.0.0.1/', 'invalid'],
    ['a port above 65535', 'https://example.com:65536/', 'invalid'],
    ['broken punycode', 'https://xn--i\u00f1valid.example/', 'invalid'],
    ['web sockets', 'wss://example.com/', 'scheme'],
    ['a file', 'file:///etc/passwd', 'scheme'],
    ['a nested scheme', 'feed:https://example.com/', 'scheme'],
    ['an empty user part', 'https://@example.com/', 'credentials'],
    ['an empty user part with a colon', 'https://:@example.com/', 'credentials'],
    ['a token as the user', 'https://token@example.com/', 'credentials'],
    ['http on the TLS port', 'http://example.com:443/', 'scheme'],
    ['a database port', 'https://example.com:5432/', 'port'],
    ['a port next to the right one', 'https://example.com:4433/', 'port'],
    ['a public IPv4 literal', 'https://93.184.215.14/', 'address'],
    ['an encoded literal', 'https://%31%32%37.0.0.1/', 'address'],
    ['a full-width literal', 'https://\uff11\uff12\uff17.0.0.1/', 'address'],
    ['a literal with a final dot', 'https://169.254.169.254./', 'address'],
    ['one short number', 'https://127.1/', 'address'],
    ['zero', 'https://0/', 'address'],
    ['carrier-grade NAT', 'https://100.100.100.200/', 'address'],
    ['the unspecified IPv6 address', 'https://[::]/', 'address'],
    ['IPv4-compatible', 'https://[::127.0.0.1]/', 'address'],
    ['a unique local address', 'https://[fc00::1]/', 'address'],
    ['a mapped public address', 'https://[::ffff:8.8.8.8]/', 'address'],
    ['two final dots', 'https://example.com../', 'name'],
    ['an empty label', 'https://a..example.com/', 'name'],
    ['a leading dot', 'https://.example.com/', 'name'],
    ['only a dot', 'https://./', 'name'],
    ['a star', 'https://*.example.com/', 'name'],
    ['a quote', "https://exam'ple.com/", 'name'],
    ['a label of 64', `https://${'a'.repeat(64)}.example/`, 'name'],
    ['a cluster name', 'https://api.prod.svc.cluster.local/', 'name'],
    ['a short cluster name', 'https://api.prod.svc/', 'name'],
    ['an instance name', 'https://ip-10-0-0-1.eu-west-1.compute.internal/', 'name'],
    ['instance data', 'https://instance-data.ec2.internal/', 'name'],
    ['instance data, short', 'https://instance-data/', 'name'],
    ['metadata under a public suffix', 'https://metadata.goog/', 'name'],
    ['a home network', 'https://nas.home.arpa/', 'name'],
    ['a reverse zone', 'https://1.0.0.127.in-addr.arpa/', 'name'],
    ['a test name', 'https://service.test/', 'name'],
    ['a name that never resolves', 'https://a.invalid/', 'name'],
    ['a company zone', 'https://git.corp/', 'name'],
    ['a private suffix in capitals with a dot', 'https://PRINTER.LOCAL./', 'name'],
    ['wildcard DNS with dashes', 'https://10-0-0-1.sslip.io/', 'name'],
    ['wildcard DNS in hex', 'https://7f000001.nip.io/', 'name'],
    ['a name that is always this machine', 'https://app.lvh.me/', 'name'],
    ['the bare suffix of a wildcard service', 'https://localtest.me/', 'name'],
    ['a rebinding service', 'https://7f000001.c0a80001.rbndr.us/', 'name'],
  ])('refuses %s', (_what, url, kind) => {
    expect(classOf(url)).toBe(kind);
  });

  it('refuses a URL that is too long, as given and as normalised', () => {
    const fits = `https://example.com/${'a'.repeat(URL_CHARS_MAX - 20)}`;
    expect(classOf(fits)).toBe('allowed');
    expect(classOf(`${fits}a`)).toBe('invalid');
    // Each of these grows to six characters when it is encoded.
    expect(classOf(`https://example.com/${'\u00fc'.repeat(URL_CHARS_MAX / 4)}`)).toBe('invalid');
  });

  it('bounds what it repeats of the input', () => {
    const target = parseTarget(`https://${'a'.repeat(60)}.${'b'.repeat(60)}.nip.io/`, CLOUD);
    expect(target.kind === 'denied' && target.reason.length).toBeLessThan(200);
  });
});

describe('the normalised form', () => {
  it.each([
    ['HTTPS://EXAMPLE.com/Hook', 'https://example.com/Hook'],
    ['https://example.com./hook', 'https://example.com/hook'],
    ['https://example.com:443/hook', 'https://example.com/hook'],
    ['https://exa%6Dple.com/hook', 'https://example.com/hook'],
    ['https://b\u00fccher.example/hook', 'https://xn--bcher-kva.example/hook'],
    ['https://example.com#@127.0.0.1/', 'https://example.com/'],
    ['https://example.com/a?b#c', 'https://example.com/a?b'],
  ])('of %s is %s', (given, expected) => {
    expect(parseTarget(given, CLOUD)).toMatchObject({ kind: 'allowed', url: expected });
  });

  it('gives two spellings of one origin one key, and two origins two', () => {
    const key = (url: string, policy = CLOUD) => {
      const target = parseTarget(url, policy);
      return target.kind === 'allowed' ? target.originKey : target.reason;
    };
    expect(key('https://EXAMPLE.com.:443/a')).toBe(key('https://example.com/b'));
    expect(key('https://example.com/')).toBe('https://example.com:443');
    expect(key('http://localhost:8787/', LOCAL)).toBe('http://localhost:8787');
    expect(key('http://localhost/', LOCAL)).toBe('http://localhost:80');
    expect(key('http://[::1]:8787/', LOCAL)).toBe('http://[::1]:8787');
    expect(key('https://a.example/')).not.toBe(key('https://b.example/'));
  });
});

describe('the local world', () => {
  it.each([
    ['http://127.0.0.1:8787/partner/flaky', '127.0.0.1', 8787],
    ['http://localhost:3000/', 'localhost', 3000],
    ['http://LOCALHOST.:3000/', 'localhost', 3000],
    ['http://app.localhost/', 'app.localhost', 80],
    ['http://[::1]:8787/x', '::1', 8787],
    ['https://localhost:8443/', 'localhost', 8443],
    ['http://127.9.9.9/', '127.9.9.9', 80],
    ['http://partner.example:8080/hook', 'partner.example', 8080],
  ])('allows %s there and only there', (url, host, port) => {
    expect(parseTarget(url, LOCAL)).toMatchObject({ kind: 'allowed', host, port });
    expect(parseTarget(url, CLOUD).kind).toBe('denied');
  });

  it.each([
    ['a private network', 'http://10.0.0.1/', 'address'],
    ['metadata', 'http://169.254.169.254/latest/meta-data/', 'address'],
    ['a metadata name', 'http://metadata.google.internal/', 'name'],
    ['every interface', 'http://0.0.0.0:8787/', 'address'],
    ['loopback wrapped in IPv6', 'http://[::ffff:127.0.0.1]:8787/', 'address'],
    ['a public literal', 'http://8.8.8.8/', 'address'],
    ['a user part', 'http://user:secret@localhost:8787/', 'credentials'],
    ['a wildcard service', 'http://127.0.0.1.nip.io/', 'name'],
    ['a single label', 'http://intranet/', 'name'],
    ['an alias of this machine', 'http://localhost.localdomain/', 'name'],
    ['a file', 'file:///etc/passwd', 'scheme'],
    ['control characters', 'http://localhost:8787/%00', 'invalid'],
  ])('still refuses %s', (_what, url, kind) => {
    expect(classOf(url, LOCAL)).toBe(kind);
  });
});

describe('own hosts', () => {
  const policy: TargetPolicy = { allowLocal: false, ownHosts: ['Intake.Onceward.example.', 'hooks.onceward.example'] };

  it.each(['https://intake.onceward.example/v1/events', 'https://HOOKS.onceward.example./push/infrai'])(
    'refuses %s, in any spelling',
    (url) => {
      expect(classOf(url, policy)).toBe('name');
      expect(classOf(url)).toBe('allowed');
    },
  );

  it('leaves neighbours alone', () => {
    expect(classOf('https://other.onceward.example/', policy)).toBe('allowed');
    expect(classOf('https://intake.onceward.example.net/', policy)).toBe('allowed');
  });
});

describe('judgeAddress', () => {
  it.each(['93.184.215.14', '8.8.8.8', '1.1.1.1', '223.255.255.255', '192.0.1.1', '198.17.255.255', '172.32.0.1'])(
    'allows the public address %s',
    (address) => expect(judgeAddress(address, CLOUD)).toEqual({ kind: 'allowed' }),
  );

  it.each(['2606:4700:4700::1111', '2a00:1450:4001:80b::200e', '2001:4860:4860::8888', '2003::1'])(
    'allows the public address %s',
    (address) => expect(judgeAddress(address, CLOUD)).toEqual({ kind: 'allowed' }),
  );

  it.each([
    ...['0.0.0.0', '0.1.2.3', '10.0.0.0', '10.255.255.255', '100.64.0.1', '100.127.255.255', '127.0.0.1'],
    ...['127.255.255.255', '169.254.169.254', '169.254.170.2', '169.254.170.23', '172.16.0.1', '172.31.255.255'],
    ...['192.0.0.1', '192.0.0.192', '192.0.2.1', '192.88.99.1', '192.168.255.255', '198.18.0.1', '198.19.255.255'],
    ...['198.51.100.1', '203.0.113.255', '224.0.0.1', '239.255.255.255', '240.0.0.1', '255.255.255.255'],
    ...['168.63.129.16', '192.175.48.1', '192.31.196.1', '192.52.193.1'],
    ...['::', '::1', '::2', '::127.0.0.1', '::7f00:1', '::8.8.8.8', '::ffff:127.0.0.1', '::ffff:8.8.8.8'],
    ...['::ffff:0:127.0.0.1', '64:ff9b::7f00:1', '64:ff9b:1::7f00:1', '64:ff9b::808:808', '100::1', '100:0:0:1::1'],
    ...['2001::1', '2001:0:7f00:1::', '2001:2::1', '2001:3::1', '2001:4:112::1', '2001:10::1', '2001:20::1'],
    ...[
      '2001:30::1',
      '2001:1ff:ffff::1',
      '2001:db8::1',
      '2002::1',
      '2002:7f00:1::',
      '2002:808:808::',
      '2620:4f:8000::1',
    ],
    ...['3fff::1', '3fff:fff::1', '4000::1', '5f00::1', '8000::1', 'fc00::1', 'fd00:ec2::254', 'fe80::1', 'febf::1'],
    ...['fec0::1', 'ff02::1', '2606:4700::5efe:10.0.0.1', '2606:4700::200:5efe:a00:1', '1fff::1'],
  ])('denies %s', (address) => expect(judgeAddress(address, CLOUD).kind).toBe('denied'));

  it.each([
    '',
    'localhost',
    '127.1',
    '0x7f.0.0.1',
    '010.0.0.1',
    '8.8.8.8.',
    ' 8.8.8.8',
    '[2606::1]',
    '2606::1%eth0',
    '8.8.8.256',
    '1234567',
    '::g',
  ])('denies what is not an address: %j', (address) => expect(judgeAddress(address, LOCAL).kind).toBe('denied'));

  it('adds only this machine in the local world', () => {
    for (const address of ['127.0.0.1', '127.3.2.1', '::1', '0:0:0:0:0:0:0:1']) {
      expect(judgeAddress(address, LOCAL).kind).toBe('allowed');
      expect(judgeAddress(address, CLOUD).kind).toBe('denied');
    }
    for (const address of ['10.0.0.1', '0.0.0.0', '169.254.169.254', '::ffff:127.0.0.1', '::7f00:1', 'fe80::1', '::']) {
      expect(judgeAddress(address, LOCAL).kind).toBe('denied');
    }
  });

  it('names the address and the range it lies in', () => {
    expect(judgeAddress('10.0.0.5', CLOUD)).toEqual({
      kind: 'denied',
      reason: '10.0.0.5 is not a public address (private)',
    });
  });
});

describe('isAddressLiteral', () => {
  it('tells hosts that no resolver is asked for from names', () => {
    expect(['127.0.0.1', '::1', '2606:4700::1'].map(isAddressLiteral)).toEqual([true, true, true]);
    expect(['example.com', '1.2.3.example', 'localhost'].map(isAddressLiteral)).toEqual([false, false, false]);
  });
});
