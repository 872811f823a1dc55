/**
 * A misbehaviour put together from parts: how a connection begins, what is written, where the writing stops, how it ends.
 *
 *   connection -> [interim] -> status line -> headers -> body -> ending
 *                 '------ cut into pieces, one a turn; stops at any of these ------'
 *
 * Every part knows whether it leaves a well-made answer well made: that is all that a judge has to know about it.
 */
import { gzipSync } from 'node:zlib';
import { drawOf } from '../../infra/local/queue/chance.ts';

/** `clear`: a client has no excuse for not understanding it. */
interface Part {
  readonly clear: boolean;
}
interface Text extends Part {
  readonly text: string;
}
interface StatusLine extends Text {
  /** The only status that may be reported of it; none where it has none that HTTP knows. */
  readonly status?: number;
}
interface Body extends Part {
  readonly headers: string;
  readonly bytes: Buffer;
  /** Goes on with this piece for as long as somebody reads. */
  readonly endless?: Buffer;
}

const line = (status: number, text = `HTTP/1.1 ${status} X`, clear = true): StatusLine => ({ text, status, clear });
const odd = (text: string, status?: number): StatusLine => ({ text, clear: false, ...(status ? { status } : {}) });

const STATUS_LINES = {
  '200': line(200),
  '204': line(204),
  '299': line(299),
  '304': line(304),
  '307 to another place': line(307),
  '410': line(410),
  '422': line(422),
  '429': line(429),
  '500': line(500),
  '503': line(503),
  '599': line(599),
  'no reason phrase': line(202, 'HTTP/1.1 202'),
  'HTTP/1.0': line(200, 'HTTP/1.0 200 OK'),
  '099': odd('HTTP/1.1 099 X'),
  '000': odd('HTTP/1.1 000 X'),
  '101 unasked': odd('HTTP/1.1 101 Switching'),
  '600': odd('HTTP/1.1 600 X'),
  '999': odd('HTTP/1.1 999 X'),
  'two digits': odd('HTTP/1.1 20 X'),
  'four digits': odd('HTTP/1.1 2000 X'),
  minus: odd('HTTP/1.1 -200 X'),
  letters: odd('HTTP/1.1 abc X'),
  'HTTP/2.0 in text': odd('HTTP/2.0 200 OK', 200),
  'HTTP/0.9': odd('<html>hello</html>'),
  'lower case': odd('http/1.1 200 ok', 200),
  'a blank in front': odd(' HTTP/1.1 200 OK', 200),
  'two blanks': odd('HTTP/1.1  200 OK', 200),
  'an SSH banner': odd('SSH-2.0-OpenSSH_9.9'),
} as const satisfies Record<string, StatusLine>;

const text = (value: string, clear: boolean): Text => ({ text: value, clear });
const NO_INTERIM = text('', true);

const INTERIMS = {
  none: NO_INTERIM,
  'early hints': text('HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', true),
  'many early hints': text('HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(40), true),
  processing: text('HTTP/1.1 102 Processing\r\n\r\n', true),
  'a continue that nobody asked for': text('HTTP/1.1 100 Continue\r\n\r\n', false),
} as const satisfies Record<string, Text>;

const HEADERS = {
  none: text('', true),
  'Retry-After': text('Retry-After: 7\r\n', true),
  'Retry-After, twelve times, junk': text('Retry-After: -1e9, \u00ff\r\n'.repeat(12), true),
  'keep-alive': text('Connection: keep-alive\r\nKeep-Alive: timeout=600\r\n', true),
  'a place to go': text('Location: http://169.254.169.254/latest/meta-data/\r\n', true),
  'eight kilobytes': text(`X-Pad: ${'a'.repeat(8_000)}\r\n`, true),
  'forty kilobytes': text(`X-Pad: ${'a'.repeat(40_000)}\r\n`, false),
  'forty kilobytes of small ones': text('X-Pad: a\r\n'.repeat(4_000), false),
  'no colon': text('this is no header\r\n', false),
  'a NUL': text('X-Nul: a\0b\r\n', false),
  'a bare line feed': text('X-Bare: a\nX-More: b\r\n', false),
  'a folded line': text('X-Fold: a\r\n b\r\n', false),
  'an upgrade': text('Connection: upgrade\r\nUpgrade: h2c\r\n', false),
  'two lengths': text('Content-Length: 3\r\nContent-Length: 9\r\n', false),
  'a negative length': text('Content-Length: -1\r\n', false),
  'a length beyond numbers': text('Content-Length: 99999999999999999999\r\n', false),
  'chunks and a length': text('Transfer-Encoding: chunked\r\nContent-Length: 3\r\n', false),
} as const satisfies Record<string, Text>;

const KB = 1_024;
const BOMB = gzipSync(Buffer.alloc(32 * KB * KB));

const body = (headers: string, bytes: string | Buffer = '', endless?: Buffer): Body => ({
  headers,
  bytes: typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes,
  clear: true,
  ...(endless ? { endless } : {}),
});
const sized = (bytes: string | Buffer, length = bytes.length): Body => body(`Content-Length: ${length}\r\n`, bytes);

const BODIES = {
  empty: sized(''),
  short: sized('thank you'),
  'less than said': sized('thank you', 500),
  'more than said': sized('thank you, and more', 5),
  'a second answer': sized('ok' + 'HTTP/1.1 500 X\r\ncontent-length: 1\r\n\r\nx', 2),
  'broken bytes': sized(Buffer.from([0xff, 0xfe, 0x1b, 0x5b, 0x32, 0x4a, 0x00, 0xc3])),
  chunks: body('Transfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\n\r\n'),
  'a chunk without a size': body('Transfer-Encoding: chunked\r\n', 'zz\r\nabc\r\n'),
  'a compressed bomb': body(`Content-Encoding: gzip\r\nContent-Length: ${BOMB.length}\r\n`, BOMB),
  'a compressed lie': body('Content-Encoding: br, gzip\r\nContent-Length: 3\r\n', 'abc'),
  'a flood': body('', '', Buffer.alloc(64 * KB, 0x61)),
  'a flood with a length': body(`Content-Length: ${8 * KB * KB * KB}\r\n`, '', Buffer.alloc(64 * KB, 0x61)),
  'a drip': body('Content-Length: 100000\r\n', '', Buffer.from('.')),
} as const satisfies Record<string, Body>;

/** What happens when the connection is there, before any request was read. */
const OPENINGS = ['listens', 'closes', 'resets', 'never reads', 'speaks first'] as const;
const STOPS = ['nowhere', 'before the status', 'in the status', 'in the headers'] as const;
const ENDINGS = ['stays open', 'closes', 'resets'] as const;
/** Where the connection is secured: what goes wrong while it is. */
const HANDSHAKES = [
  'plain HTTP',
  'sound',
  'answers in plain text',
  'closes at the hello',
  'resets at the hello',
  'answers with garbage',
  'says nothing',
  'a certificate for another name',
  'a certificate of nobody',
] as const;

export interface Mix {
  readonly handshake: (typeof HANDSHAKES)[number];
  readonly opening: (typeof OPENINGS)[number];
  readonly interim: keyof typeof INTERIMS;
  readonly status: keyof typeof STATUS_LINES;
  readonly headers: keyof typeof HEADERS;
  readonly body: keyof typeof BODIES;
  readonly stop: (typeof STOPS)[number];
  readonly ending: (typeof ENDINGS)[number];
  /** How many pieces it comes in, one a turn of the event loop. */
  readonly pieces: number;
}

export const CALM: Mix = {
  handshake: 'plain HTTP',
  opening: 'listens',
  interim: 'none',
  status: '200',
  headers: 'none',
  body: 'short',
  stop: 'nowhere',
  ending: 'stays open',
  pieces: 1,
};

export const PARTS = {
  handshake: HANDSHAKES,
  opening: OPENINGS,
  interim: Object.keys(INTERIMS),
  status: Object.keys(STATUS_LINES),
  headers: Object.keys(HEADERS),
  body: Object.keys(BODIES),
  stop: STOPS,
  ending: ENDINGS,
} as const;

/**
 * The nth mix of a seed. Each part is drawn only in a share of the mixes: what always goes wrong hides everything else.
 */
export const mixOf = (seed: number, nth: number): Mix => {
  const pick = <T>(what: string, share: number, from: readonly T[], calm: T): T => {
    if (drawOf(seed, nth, what) >= share) return calm;
    return from[Math.floor(drawOf(seed, nth, what, 'which') * from.length)] ?? calm;
  };
  return {
    handshake: pick('handshake', 0.25, HANDSHAKES, CALM.handshake),
    opening: pick('opening', 0.15, OPENINGS, CALM.opening),
    interim: pick('interim', 0.3, Object.keys(INTERIMS) as Mix['interim'][], CALM.interim),
    status: pick('status', 0.7, Object.keys(STATUS_LINES) as Mix['status'][], CALM.status),
    headers: pick('headers', 0.4, Object.keys(HEADERS) as Mix['headers'][], CALM.headers),
    body: pick('body', 0.7, Object.keys(BODIES) as Mix['body'][], CALM.body),
    stop: pick('stop', 0.2, STOPS, CALM.stop),
    ending: pick('ending', 0.6, ENDINGS, CALM.ending),
    pieces: 1 + Math.floor(drawOf(seed, nth, 'pieces') ** 2 * 12),
  };
};

/** The bytes of a mix up to where it stops, and what comes after them for ever. */
export const bytesOf = (mix: Mix): { readonly bytes: Buffer; readonly endless?: Buffer } => {
  const { text: statusLine } = STATUS_LINES[mix.status];
  const made: Body = BODIES[mix.body];
  const before = INTERIMS[mix.interim].text;
  const latin = (value: string): Buffer => Buffer.from(value, 'latin1');
  const head = `${statusLine}\r\n${HEADERS[mix.headers].text}${made.headers}`;
  switch (mix.stop) {
    case 'before the status':
      return { bytes: latin(before) };
    case 'in the status':
      return { bytes: latin(before + statusLine.slice(0, 10)) };
    case 'in the headers':
      return { bytes: latin(before + head) };
    case 'nowhere':
      return {
        bytes: Buffer.concat([latin(`${before}${head}\r\n`), made.bytes]),
        ...(made.endless ? { endless: made.endless } : {}),
      };
  }
};

export const piecesOf = (bytes: Buffer, count: number): readonly Buffer[] => {
  const size = Math.max(1, Math.ceil(bytes.length / count));
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size));
};

export interface Expected {
  /** The connection is secured, and that went wrong: certain that nothing has left. */
  readonly notSent: 'must' | 'may' | 'never';
  /** The status that has to be reported (`must`), or that alone may be. */
  readonly status?: number;
  readonly must: boolean;
}

export const expectedOf = (mix: Mix): Expected => {
  const secured = mix.handshake === 'sound';
  if (mix.handshake !== 'plain HTTP' && !secured) return { notSent: 'must', must: false };
  const { status, clear }: StatusLine = STATUS_LINES[mix.status];
  const whole = mix.stop === 'nowhere';
  const parts = [INTERIMS[mix.interim], HEADERS[mix.headers], BODIES[mix.body]];
  const wellMade = whole && clear && parts.every((part) => part.clear);
  return {
    notSent: (secured && mix.opening !== 'listens') || goneEarly(mix) ? 'may' : 'never',
    ...(whole && status !== undefined ? { status } : {}),
    // A reset overtakes what was written before it, and an answer before the question is none.
    must: wellMade && mix.ending !== 'resets' && mix.opening === 'listens',
  };
};

/** A connection that may be gone before the client hears that it was there: then nothing has been written to it. */
const goneEarly = ({ opening, ending }: Mix): boolean =>
  opening === 'closes' || opening === 'resets' || (opening === 'speaks first' && ending === 'resets');
