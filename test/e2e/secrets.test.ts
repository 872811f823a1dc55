/** Secrets are planted in every place that takes one, and everything that is said is searched for them. */
import { describe, expect, it } from 'vitest';
import {
  ConfigError,
  readCliConfig,
  readInfraiConfig,
  readLocalConfig,
  readPushScheme,
} from '../../functions/config.ts';
import { OPERATIONS } from '../support/api-document.ts';
import { ran } from '../support/cli.ts';
import { openTestWorld, PUSH_SECRET, type TestWorld } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';
import { EVENT, PARTNER } from '../support/world-states.ts';

const BYTES = Buffer.from('planted-signing-secret-32-bytes!');
const SIGNING = `whsec_${BYTES.toString('base64')}`;
const NEXT_BYTES = Buffer.from('planted-second-secret-32-bytes!!');
const NEXT = `whsec_${NEXT_BYTES.toString('base64')}`;
const HEADER = 'Bearer planted-header-value-0123456789';

/** As it was given, and as somebody might write it instead. */
const spellings = (secret: string): readonly string[] => [
  secret,
  Buffer.from(secret).toString('base64').replaceAll('=', ''),
  Buffer.from(secret).toString('hex'),
  encodeURIComponent(secret),
];

const SECRETS = [SIGNING, BYTES.toString(), BYTES.toString('base64'), NEXT, NEXT_BYTES.toString(), HEADER, PUSH_SECRET];

interface Said {
  readonly where: string;
  readonly text: string;
}

const leaks = (said: readonly Said[], secrets: readonly string[]): readonly string[] => {
  const wanted = secrets.flatMap(spellings);
  return said.flatMap(({ where, text }) =>
    wanted.flatMap((secret) => (text.includes(secret) ? [`${where}: ${secret}`] : [])),
  );
};

/** A destination that echoes what it was sent, and one life of each kind. */
const lived = async (): Promise<{ readonly world: TestWorld; readonly said: Said[]; readonly token: string }> => {
  const world = openTestWorld();
  const said: Said[] = [];
  const call = async (method: string, path: string, body?: unknown, key = `${method} ${path}`.replaceAll(' ', '-')) => {
    const answer = await world.call('operator', method, path, {
      token: world.token('admin'),
      headers: { 'idempotency-key': key.slice(0, 128) },
      ...(body === undefined ? {} : { body }),
    });
    said.push({ where: `${method} ${path}`, text: answer.text });
    return answer;
  };
  const settings = {
    url: 'https://partner.example/hook',
    repeatSafe: true,
    schedule: [5],
    headers: { authorization: HEADER },
    signingSecret: SIGNING,
  };
  await call('PUT', `/v1/destinations/${PARTNER}`, settings);
  const made = await world.call('operator', 'POST', '/v1/tokens', {
    token: world.token('admin'),
    headers: { 'idempotency-key': 'made' },
    body: { name: 'ops', rights: ['view'], reason: 'for the search' },
  });
  const token = (made.body as { token: string }).token;
  const echo = `you sent authorization: ${HEADER}`;
  world.sender.script(answered(500, { excerpt: echo }), unanswered('timeout'), answered(422, { excerpt: echo }));
  await world.accepted(EVENT, PARTNER);
  for (let n = 0; n < 3; n += 1) {
    await world.deliver(EVENT, PARTNER);
    await world.clock.advance(60_000);
  }
  world.sender.script(answered(200), answered(400, { excerpt: echo }));
  await call('POST', `/v1/destinations/${PARTNER}/prove`, { reason: 'is a repeat harmless?', parts: ['repeat'] });
  await call('POST', `/v1/destinations/${PARTNER}/rotate-secret`, { reason: 'turn it', signingSecret: NEXT });
  await call('POST', `/v1/destinations/${PARTNER}/pause`, { reason: 'look' });
  await call('POST', `/v1/destinations/${PARTNER}/resume`, { reason: 'looked' });
  await call('POST', '/v1/redrives', { source: 'quarantine', limit: 5, why: 'look' });
  for (const { path, method, query } of OPERATIONS.filter(({ method }) => method === 'get')) {
    const filled = path.replace('{event}', EVENT).replace('{destination}', PARTNER).replace('{operation}', 'nothing');
    const search = new URLSearchParams(
      Object.fromEntries(
        query.filter(({ required }) => required).map(({ name }) => [name, name === 'list' ? 'quarantined' : PARTNER]),
      ),
    );
    await call(method.toUpperCase(), search.size === 0 ? filled : `${filled}?${search}`);
  }
  return { world, said, token };
};

describe('what the API says', () => {
  it('holds no secret: no answer, no log line', async () => {
    const { world, said, token } = await lived();
    expect(said.length).toBeGreaterThan(15);
    const lines = world.telemetry.lines.map(({ name, fields }) => ({ where: name, text: JSON.stringify(fields) }));
    expect(lines.length).toBeGreaterThan(15);
    expect(leaks([...said, ...lines], [...SECRETS, token])).toEqual([]);
  });

  it('does hold the places where they were: the search reads what it thinks it reads', async () => {
    const { world, said, token } = await lived();
    const everything = said.map(({ text }) => text).join('\n');
    expect(everything).toContain('you sent authorization:');
    expect(everything).toContain('"authorization":"');
    expect(JSON.stringify(world.sender.sends)).toContain(HEADER);
    expect(leaks([{ where: 'here', text: `x ${token} y` }], [token])).not.toEqual([]);
    expect(leaks([{ where: 'here', text: encodeURIComponent(HEADER) }], SECRETS)).not.toEqual([]);
  });

  it('holds no secret that was given in the wrong way, or where none belongs', async () => {
    const { world } = await lived();
    const said: Said[] = [];
    const bad: readonly (readonly [path: string, method: string, body: unknown])[] = [
      ['/v1/destinations/new', 'PUT', { url: 'https://a.example/', repeatSafe: true, signingSecret: `${SIGNING}!` }],
      ['/v1/destinations/new', 'PUT', { url: 'https://a.example/', repeatSafe: true, headers: { a: `${HEADER}\n` } }],
      ['/v1/destinations/new', 'PUT', { url: 'https://a.example/', repeatSafe: true, headers: { host: HEADER } }],
      ['/v1/destinations/new', 'PUT', { url: `https://u:${BYTES}@a.example/`, repeatSafe: true }],
      ['/v1/destinations/new', 'PUT', { url: 'https://a.example/', repeatSafe: HEADER }],
      [`/v1/destinations/${PARTNER}/rotate-secret`, 'POST', { reason: 'x', signingSecret: `${SIGNING}!` }],
      [`/v1/destinations/${PARTNER}/rotate-secret`, 'POST', { reason: 'x', overlapHours: HEADER }],
      ['/v1/tokens', 'POST', { name: HEADER, rights: [HEADER], reason: 'x' }],
      ['/v1/events', 'POST', { id: 'x', payload: 1, destinations: ['nowhere'], deliverAt: HEADER }],
    ];
    for (const [path, method, body] of bad) {
      const app = path === '/v1/events' ? 'intake' : 'operator';
      const token = world.token(path === '/v1/events' ? 'send' : 'admin');
      const answer = await world.call(app, method, path, { token, headers: { 'idempotency-key': 'k' }, body });
      expect([path, answer.status]).toEqual([path, 422]);
      said.push({ where: path, text: answer.text });
    }
    for (const authorization of [`Bearer ${token(HEADER)}`, HEADER, `Basic ${HEADER}`]) {
      const answer = await world.call('operator', 'GET', '/v1/stats', { headers: { authorization } });
      expect(answer.status).toBe(401);
      said.push({ where: 'auth', text: answer.text });
    }
    said.push(...world.telemetry.lines.map(({ name, fields }) => ({ where: name, text: JSON.stringify(fields) })));
    expect(leaks(said, [...SECRETS, token(HEADER)])).toEqual([]);
  });
});

const token = (text: string): string => text.replace('Bearer ', '');

describe('what the command line says', () => {
  it('holds no secret, as text and as JSON, and neither does a refusal', async () => {
    const { world, token: made } = await lived();
    const commands: readonly (readonly string[])[] = [
      ['destination', 'list'],
      ['destination', 'show', PARTNER],
      ['delivery', 'show', EVENT, PARTNER],
      ['delivery', 'explain', EVENT, PARTNER],
      ['delivery', 'list', '--list', 'quarantined'],
      ['event', 'show', EVENT],
      ['token', 'list'],
      ['redrive', 'list'],
      ['audit', 'export', EVENT],
      ['destination', 'set', PARTNER, '--url', 'ftp://x', '--repeat-safe', 'yes', '--signing-secret', SIGNING, '--yes'],
      [
        'destination',
        'set',
        PARTNER,
        '--url',
        'https://x.example',
        '--repeat-safe',
        'yes',
        '--signing-secret',
        SIGNING,
        '--header',
        `authorization: ${HEADER}`,
        '--dry-run',
      ],
      ['destination', 'rotate-secret', PARTNER, '--reason', 'x', '--signing-secret', NEXT, '--dry-run'],
    ];
    const said: Said[] = [];
    for (const command of commands) {
      for (const args of [command, [...command, '--json']]) {
        const { out, err } = await ran(world, args);
        expect(out + err).not.toBe('');
        said.push({ where: args.join(' ').slice(0, 40), text: out + err });
      }
    }
    const wrong = await ran(world, ['destination', 'list'], { token: token(HEADER) });
    said.push({ where: 'a wrong token', text: wrong.out + wrong.err });
    expect(leaks(said, [...SECRETS, made, world.token('admin'), token(HEADER)])).toEqual([]);
  });
});

describe('a bad setting', () => {
  it('is named, and never said', () => {
    const planted = 'planted value\n';
    const reads: readonly (() => unknown)[] = [
      () => readCliConfig({ ONCEWARD_TOKEN: planted }),
      () => readCliConfig({ ONCEWARD_URL: `https://user:${planted}@host` }),
      () => readLocalConfig({ ONCEWARD_TOKEN: planted }),
      () => readLocalConfig({ ONCEWARD_PUSH_SECRET: 'planted' }),
      () => readPushScheme({ ONCEWARD_PUSH_SECRET: 'planted' }),
      () => readInfraiConfig({ ONCEWARD_INFRAI_KEY: 'planted', ONCEWARD_INFRAI_URL: planted, ONCEWARD_QUEUE: 'q' }),
    ];
    for (const read of reads) {
      expect(read).toThrow(ConfigError);
      expect(read).toThrow(/^setting ONCEWARD_\w+ (?!.*planted)/);
    }
  });
});
