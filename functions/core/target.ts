/**
 * Where a destination may be: the rule for its URL, and the rule for every address its name resolves to.
 *
 *   registration   parseTarget(url)
 *   every attempt  parseTarget(url) -> look-up -> judgeAddress(each answer) -> connect to one of them
 *
 * Both moments use the same functions, so a row that was stored under an older rule is stopped by today's.
 */

import ipaddr from 'ipaddr.js';

import { URL_CHARS_MAX } from './limits.ts';

export interface TargetPolicy {
  /** Only in the local world: plain http, any port, and this machine itself. All the rest stays refused there too. */
  readonly allowLocal: boolean;
  /** The setting that has turned `allowLocal` off, for whoever wonders where it could be on. */
  readonly deniedBy?: string;
  /** Our own public hosts. A destination there would send our sends to ourselves; exact names, any case. */
  readonly ownHosts?: readonly string[];
}

type DeniedClass = 'invalid' | 'scheme' | 'credentials' | 'port' | 'name' | 'address';

export type Target =
  | {
      readonly kind: 'allowed';
      /** What is stored and sent: as the parser of the client writes it, without fragment and final dot of the host. */
      readonly url: string;
      /** Lower case, ASCII, no final dot, no brackets. */
      readonly host: string;
      readonly port: number;
      /** Scheme, host and port: two spellings of one origin have one key. */
      readonly originKey: string;
    }
  | { readonly kind: 'denied'; readonly class: DeniedClass; readonly reason: string };

export type AddressVerdict = { readonly kind: 'allowed' } | { readonly kind: 'denied'; readonly reason: string };

const LABEL_CHARS_MAX = 63;
const NAME_CHARS_MAX = 253;

/**
 * Suffixes that never name a public server: special-use names (RFC 6761, 6762, 7686, 8375, 9476), the infrastructure
 * zone `arpa`, ICANN's `internal`, and what private networks and clusters use. `example` is not among them: it resolves
 * to nothing harmful and stands for a public name in documents.
 */
const PRIVATE_SUFFIXES: readonly string[] = [
  ...['localhost', 'local', 'localdomain', 'internal', 'intranet', 'private', 'corp', 'home', 'lan', 'workgroup'],
  // Namespaces and kinds of a cluster: its search list completes `kubernetes.default` to a name inside.
  ...['default', 'cluster', 'pod', 'service', 'node', 'nomad', 'router', 'vpn', 'dmz', 'domain'],
  ...['test', 'invalid', 'onion', 'alt', 'i2p', 'arpa', 'svc', 'consul', 'docker', 'localnet', 'loopback', 'mail'],
];

/** Public names whose owners answer with a private address by design: wildcard DNS, rebinding kits, cloud metadata. */
const TREACHEROUS_SUFFIXES: readonly string[] = [
  ...['nip.io', 'sslip.io', 'xip.io', 'xip.name', 'ipq.co', 'backname.io', 'local-ip.co', 'local-ip.sh', 'traefik.me'],
  ...['localtest.me', 'lvh.me', 'vcap.me', 'fuf.me', 'lacolhost.com', 'localh.st', 'localhost.direct', 'smackaho.st'],
  ...['local.gd', '127-0-0-1.org.uk', 'rbndr.us', '1u.ms', 'cmpxchg8b.com'],
  ...['metadata.goog', 'metadata.packet.net', 'metadata.platformequinix.com', 'metadata.tencentyun.com'],
];

/** Addresses that lie in a public range and yet belong to the network we run in. */
const NOT_PUBLIC_ALTHOUGH_UNICAST: readonly string[] = ['168.63.129.16'];

/**
 * Judges the URL of a destination. Allowed: `https`, port 443, no user part, a public-looking name.
 *
 * What the rule decides where either answer could be defended:
 * - a literal address is refused, a public one too: its certificate and its owner cannot be told from a name;
 * - any port but 443 is refused; an underscore in a name is allowed, as URL parsers and DNS allow it;
 * - backslashes, raw control characters, an encoded control character in the path and a missing `//` are refused:
 *   other parsers read them differently, and what is stored must mean one thing. Blanks around the URL are cut off.
 */
export const parseTarget = (raw: string, policy: TargetPolicy): Target => {
  const text = raw.replace(/^[ \t\r\n]+|[ \t\r\n]+$/g, '');
  const fault = textFault(text);
  if (fault !== undefined) return denied('invalid', fault);
  const url = URL.parse(text);
  if (url === null) return denied('invalid', 'it is not a complete URL; write it as https://host/path');
  if (url.protocol !== 'https:' && !(policy.allowLocal && url.protocol === 'http:')) {
    const rule = policy.allowLocal ? 'only https: and, in this local world, http: are' : 'only https: is';
    const setting = policy.deniedBy !== undefined && url.protocol === 'http:' ? ` (${policy.deniedBy})` : '';
    return denied('scheme', `the scheme ${url.protocol.slice(0, 32)} is not allowed; ${rule}${setting}`);
  }
  // Read from the text, because the parser drops an empty user part and forgives missing or extra slashes.
  const authority = /^https?:\/\/([^/?#]+)/i.exec(text)?.[1];
  if (authority === undefined) return denied('invalid', 'exactly two slashes and a host must follow the scheme');
  if (authority.includes('@')) return denied('credentials', 'a user part (before @) is not allowed in the URL');
  if (/%(?:[01][0-9a-f]|7f)/i.test(url.pathname)) {
    return denied('invalid', 'the path contains an encoded control character');
  }
  if (url.port !== '' && !policy.allowLocal) return denied('port', `port ${url.port} is not allowed; only 443 is`);
  const host = url.hostname.replace(/^\[|\]$|\.$/g, '');
  return hostFault(host, policy) ?? allowed(url, host);
};

/**
 * Judges one address as a resolver gave it, by number and not by text. IPv6 is allowed only inside 2000::/3 and outside
 * every range that is special or carries an IPv4 address in it (mapped, compatible, translated, 6to4, Teredo, ISATAP).
 * Under `allowLocal`, exactly 127.0.0.0/8 and ::1 are allowed as well.
 */
export const judgeAddress = (address: string, policy: TargetPolicy): AddressVerdict => {
  const range = rangeOf(address);
  if (range === 'public' || (policy.allowLocal && range === 'loopback')) return { kind: 'allowed' };
  return { kind: 'denied', reason: `${shown(address)} is not a public address (${range})` };
};

/** True for what a URL may hold in place of a name; the host comes from `parseTarget`, so the form is canonical. */
export const isAddressLiteral = (host: string): boolean => host.includes(':') || /^\d+(?:\.\d+){3}$/.test(host);

const allowed = (url: URL, host: string): Target => {
  // An assignment would be refused for a literal in brackets; a literal has no final dot to lose.
  if (!host.includes(':')) url.hostname = host;
  url.hash = '';
  if (url.href.length > URL_CHARS_MAX) return denied('invalid', `the URL is longer than ${URL_CHARS_MAX} characters`);
  const port = url.port === '' ? (url.protocol === 'https:' ? 443 : 80) : Number(url.port);
  return { kind: 'allowed', url: url.href, host, port, originKey: `${url.protocol}//${url.hostname}:${port}` };
};

const textFault = (text: string): string | undefined => {
  if (text === '') return 'the URL is empty';
  if (text.length > URL_CHARS_MAX) return `the URL is longer than ${URL_CHARS_MAX} characters`;
  if (!text.isWellFormed()) return 'the URL contains half of a character';
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the purpose
  if (/[\u0000-\u001f\u007f-\u009f]/.test(text)) return 'the URL contains a control character, a tab or a line end';
  return text.includes('\\') ? 'the URL contains a backslash' : undefined;
};

const hostFault = (host: string, policy: TargetPolicy): Target | undefined => {
  if (isAddressLiteral(host)) {
    if (policy.allowLocal && rangeOf(host) === 'loopback') return undefined;
    return denied('address', `${shown(host)} is an address (${rangeOf(host)}); use the name of the destination`);
  }
  const labels = host.split('.');
  if (host.length > NAME_CHARS_MAX) return denied('name', `the host name is longer than ${NAME_CHARS_MAX} characters`);
  if (labels.some((label) => !/^[a-z0-9_-]+$/.test(label))) {
    return denied('name', 'the host name has an empty part or a character that no host name has');
  }
  if (labels.some((label) => label.length > LABEL_CHARS_MAX)) {
    return denied('name', `a part of the host name is longer than ${LABEL_CHARS_MAX} characters`);
  }
  if (policy.ownHosts?.some((own) => own.toLowerCase().replace(/\.$/, '') === host)) {
    return denied('name', `${shown(host)} is this service itself`);
  }
  if (policy.allowLocal && under(host, 'localhost')) return undefined;
  if (labels.length === 1) return denied('name', `${shown(host)} has no dot; only public names are allowed`);
  // RFC 3696, 2, and ICANN's rules since: letters only, or the ASCII form of letters. `kube-system` is a namespace.
  if (!/^(?:[a-z]{2,}|xn--[a-z0-9-]+)$/.test(labels.at(-1) ?? '')) {
    return denied('name', `${shown(host)} does not end like a public name`);
  }
  if (PRIVATE_SUFFIXES.some((suffix) => under(host, suffix))) {
    return denied('name', `names under .${labels.at(-1)} are not public`);
  }
  if (TREACHEROUS_SUFFIXES.some((suffix) => under(host, suffix))) {
    return denied('name', `${shown(host)} belongs to a service that answers with private addresses`);
  }
  return undefined;
};

const under = (host: string, suffix: string): boolean => host === suffix || host.endsWith(`.${suffix}`);

/** `public`, `loopback`, or the name of the range that makes the address unfit. */
const rangeOf = (address: string): string => {
  if (ipaddr.IPv4.isValidFourPartDecimal(address)) {
    if (NOT_PUBLIC_ALTHOUGH_UNICAST.includes(address)) return 'cloud service';
    const range = ipaddr.IPv4.parse(address).range();
    return range === 'unicast' ? 'public' : range;
  }
  // A zone names an interface of this machine; nothing public needs one.
  if (address.includes('%') || !ipaddr.IPv6.isValid(address)) return 'not an address';
  const parsed = ipaddr.IPv6.parse(address);
  const range = parsed.range();
  const [first = 0, , , , fifth = 0, sixth = 0] = parsed.parts;
  if (range === 'unicast' && first >> 13 !== 1) return 'outside 2000::/3';
  // RFC 5214, 6.1: the interface part 0000:5efe or 0200:5efe is followed by an IPv4 address.
  if (range === 'unicast' && (fifth & ~0x0200) === 0 && sixth === 0x5efe) return 'isatap';
  return range === 'unicast' ? 'public' : range;
};

/** Names and addresses come from outside: bounded before they stand in a reason. */
const shown = (host: string): string => (host.length > 80 ? `${host.slice(0, 80)}...` : host);

const denied = (kind: DeniedClass, reason: string): Target & { kind: 'denied' } => ({
  kind: 'denied',
  class: kind,
  reason,
});
