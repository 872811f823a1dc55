/** The console without a browser: who is let in, what is refused, and that every change works by links and forms alone. */
import { describe, expect, it } from 'vitest';
import { tokenHash } from '../../functions/http/auth.ts';
import { ORIGIN, signedIn, tokenWith, visitorOf, wordsIn } from '../support/console.ts';
import { openRedriveWorld } from '../support/redrive-world.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';

const VIEWS = [
  '/console',
  '/console/deliveries?list=open',
  '/console/deliveries?list=parked',
  '/console/deliveries?list=recent&destination=partner',
  '/console/quarantine',
  '/console/events/held-1',
  '/console/events/held-1/deliveries/partner',
  '/console/destinations',
  '/console/destinations/partner',
  '/console/destinations/partner/prove',
  '/console/destinations/partner/shadow',
  '/console/redrives',
  '/console/redrives/new',
  '/console/audit',
];

/** One destination with one attempt in a life, and so many deliveries whose attempt has failed. */
const heldWorld = async (held = 1): Promise<TestWorld> => {
  const world = openTestWorld();
  await world.destination('partner', { schedule: [] });
  world.sender.script(...Array.from({ length: held }, () => answered(500, { excerpt: 'out of order' })));
  for (let n = 1; n <= held; n += 1) {
    await world.accepted(`held-${n}`, 'partner');
    await world.deliver(`held-${n}`, 'partner');
  }
  return world;
};

const HELD = '/console/events/held-1/deliveries/partner';

describe('every page', () => {
  it.each(VIEWS)('%s is shown to whoever may view, and to nobody else', async (path) => {
    const world = await heldWorld();
    const nobody = await visitorOf(world).get(path);
    expect([nobody.status, nobody.text]).toEqual([303, '']);
    expect(nobody.location).toMatch(/^\/console\/sign-in/);
    const visitor = await signedIn(world, tokenWith(world, 'ops', ['view', 'pause', 'resend']));
    const page = await visitor.get(path);
    expect(page.status).toBe(200);
    expect(page.text).toContain('</html>');
  });

  it.each([...VIEWS, '/console/sign-in', '/console/nowhere', '/console/events/unknown'])(
    '%s may load nothing but its own style, script and icon, be framed by nobody, and be kept by no cache',
    async (path) => {
      const world = await heldWorld();
      const visitor = await signedIn(world, world.token('admin'));
      const { headers, text } = await visitor.get(path);
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect(headers.get('cache-control')).toBe('no-store');
      expect(text).not.toMatch(/\sstyle=|\son[a-z]+=|<style|<script>|https?:\/\/(?!ops\.example|partner\.example)/);
    },
  );

  it('names its style and script by their content, to be kept for good', async () => {
    const world = openTestWorld();
    const page = await visitorOf(world).get('/console/sign-in');
    const paths = [...page.text.matchAll(/(?:href|src)="(\/console\/assets\/[^"]+)"/g)].map(([, path = '']) => path);
    expect(paths).toHaveLength(3);
    for (const path of paths) {
      const asset = await visitorOf(world).get(path);
      expect([asset.status, asset.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
    }
  });

  it('says in words what is not there, what is not allowed and what is out of reach', async () => {
    const world = await heldWorld();
    const visitor = await signedIn(world, world.token('view'));
    const missing = await visitor.get('/console/events/unknown/deliveries/partner');
    expect([missing.status, wordsIn(missing.text)]).toEqual([404, expect.stringContaining('does not exist')]);
    const cursor = await visitor.get('/console/deliveries?list=open&cursor=nonsense');
    expect([cursor.status, wordsIn(cursor.text)]).toEqual([400, expect.stringContaining('cursor')]);
    world.ledgerHooks.before = ({ ref }) => {
      if (ref?.item === 'delivery') throw new Error('a bug of ours');
    };
    const broken = await visitor.get(HELD);
    expect([broken.status, wordsIn(broken.text)]).toEqual([500, expect.stringContaining('a fault of ours')]);
    expect(broken.text).not.toContain('a bug of ours');
    world.ledgerAway();
    expect((await visitor.get('/console')).status).toBe(503);
  });
});

describe('signing in', () => {
  it('keeps the token in a cookie that no script reads and no other site sends', async () => {
    const world = openTestWorld();
    const over = async (origin: string) =>
      (await visitorOf(world, origin).post('/console/sign-in', [['token', world.token('view')]])).headers.get(
        'set-cookie',
      );
    expect(await over(ORIGIN)).toMatch(
      /^__Host-onceward=.*; Max-Age=43200; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
    );
    expect(await over('http://127.0.0.1:8787')).toMatch(
      /^onceward=.*; Max-Age=43200; Path=\/; HttpOnly; SameSite=Strict$/,
    );
    expect(await over('http://ops.example')).toContain('; Secure;');
  });

  it.each([
    ['an unknown token', 'not-a-token-of-anybody', 401],
    ['what is no token at all', '"><script>', 401],
    ['a token that may not view', 'send', 403],
  ] as const)('refuses %s, and gives no cookie', async (_what, text, status) => {
    const world = openTestWorld();
    const token = text === 'send' ? world.token('send') : text;
    const visitor = visitorOf(world);
    const answer = await visitor.post('/console/sign-in', [['token', token]]);
    expect(answer.status).toBe(status);
    expect(visitor.cookie).toBeUndefined();
    expect(answer.text).not.toContain(token);
  });

  it('is told to wait when it keeps on, as the API is', async () => {
    const visitor = visitorOf(openTestWorld());
    const statuses: number[] = [];
    for (let n = 0; n < 10; n += 1) statuses.push((await visitor.post('/console/sign-in', [['token', 'bad']])).status);
    expect(statuses.at(-1)).toBe(429);
  });

  it('ends with the next request after the token was revoked', async () => {
    const world = openTestWorld();
    const token = tokenWith(world, 'ops', ['view']);
    const visitor = await signedIn(world, token);
    expect((await visitor.get('/console')).status).toBe(200);
    const found = await world.records.load({ item: 'token', hash: tokenHash(token) });
    if (found.kind !== 'found') throw new Error('no token');
    const { item } = found;
    await world.records.replace(item, { ...item, version: item.version + 1, revokedAtMs: world.clock.nowMs() });
    expect((await visitor.get('/console')).status).toBe(303);
    expect(visitor.cookie).toBeUndefined();
  });

  it('ends when one signs out', async () => {
    const world = openTestWorld();
    const visitor = await signedIn(world, world.token('view'));
    await visitor.submit(await visitor.get('/console'), '/console/sign-out', {});
    expect(visitor.cookie).toBeUndefined();
  });

  it.each([
    'https://evil.example/',
    '//evil.example',
    '/console/../v1/stats',
    '/\\evil.example',
    '/v1/stats',
    '/consolex',
  ])('goes on to a page of the console, and never to %s', async (next) => {
    const world = openTestWorld();
    const fields = [
      ['token', world.token('view')],
      ['next', next],
    ] as const;
    const { location } = await visitorOf(world).post('/console/sign-in', fields);
    expect(new URL(location ?? '', ORIGIN).pathname).toMatch(/^\/console(\/|$)/);
    expect(new URL(location ?? '', ORIGIN).origin).toBe(ORIGIN);
  });

  it('goes on to where one wanted to go', async () => {
    const world = await heldWorld();
    const visitor = visitorOf(world);
    const asked = await visitor.get(HELD);
    const page = await visitor.get(asked.location ?? '');
    const back = await visitor.submit(page, '/console/sign-in', { token: world.token('view') });
    expect(back.location).toBe(HELD);
  });

  it('comes again by itself where a link from elsewhere came without the cookie', async () => {
    const world = openTestWorld();
    const answer = await visitorOf(world).get('/console/audit?cursor=a', { 'sec-fetch-site': 'cross-site' });
    expect(answer.text).toContain('<meta http-equiv="refresh" content="0">');
    expect((await visitorOf(world).get('/console/audit', { 'sec-fetch-site': 'same-origin' })).status).toBe(303);
  });
});

describe('a change', () => {
  const open = async (held = 1) => {
    const world = await heldWorld(held);
    const visitor = await signedIn(world, world.token('admin'));
    return { world, visitor };
  };

  it.each([
    ['from another origin', { origin: 'https://evil.example' }],
    ['without an origin', {}],
    ['that a browser calls cross-site', { 'sec-fetch-site': 'cross-site' }],
  ])('is refused %s', async (_what, headers) => {
    const { world, visitor } = await open();
    const page = await visitor.get(`${HELD}/cancel`);
    const [, mark = ''] = /name="mark" value="([^"]+)"/.exec(page.text) ?? [];
    const fields = [
      ['mark', mark],
      ['key', 'k-1'],
      ['reason', 'enough'],
    ] as const;
    const refused = await visitor.post(`${HELD}/cancel`, fields, headers);
    expect(refused.status).toBe(403);
    expect((await world.row('held-1', 'partner')).status).toBe('quarantined');
    // The same from a page of ours is done.
    expect((await visitor.post(`${HELD}/cancel`, fields)).status).toBe(303);
    expect((await world.row('held-1', 'partner')).status).toBe('cancelled');
  });

  it.each([
    ['without the mark of a form', []],
    ["with the mark of somebody else's session", [['mark', 'another']]],
  ] as const)('is refused %s', async (_what, mark) => {
    const { world, visitor } = await open();
    const fields = [...mark, ['key', 'k-1'], ['reason', 'enough']] as const;
    expect((await visitor.post(`${HELD}/cancel`, fields)).status).toBe(403);
    expect((await world.row('held-1', 'partner')).status).toBe('quarantined');
  });

  it('is refused as anything but a form', async () => {
    const { visitor } = await open();
    const json = await visitor.post(`${HELD}/cancel`, [], { origin: ORIGIN, 'content-type': 'application/json' });
    expect(json.status).toBe(415);
  });

  it('is refused where its form is too big for any of ours', async () => {
    const { visitor } = await open();
    const answer = await visitor.post(`${HELD}/cancel`, [['reason', 'x'.repeat(600_000)]]);
    expect([answer.status, wordsIn(answer.text)]).toEqual([413, expect.stringContaining('the form is over')]);
  });

  it('says first what it will do, is done once however often its form is sent, and is delivered', async () => {
    const { world, visitor } = await open();
    const page = await visitor.get(`${HELD}/redrive`);
    expect(wordsIn(page.text)).toContain('Its budget of 1 attempt is spent: it needs at least 1 more attempt');
    const first = await visitor.submit(page, `${HELD}/redrive`, { reason: 'they are back' });
    const second = await visitor.submit(page, `${HELD}/redrive`, { reason: 'they are back' });
    expect([first.location, second.location]).toEqual([`${HELD}?done=redriven`, `${HELD}?done=redriven`]);
    expect((await world.row('held-1', 'partner')).redrives).toBe(1);
    await world.run(1_000);
    const after = wordsIn((await visitor.get(HELD)).text);
    expect(after).toContain('Redriven by holder-of-admin');
    expect(after).toContain('they are back');
    expect((await world.row('held-1', 'partner')).status).toBe('delivered');
  });

  it('shows its form again where it is refused, with what was typed and the same key', async () => {
    const { visitor } = await open();
    const page = await visitor.get(`${HELD}/resolve`);
    const key = /name="key" value="([^"]+)"/;
    const again = await visitor.submit(page, `${HELD}/resolve`, {
      as: 'delivered',
      evidence: '',
      reason: 'they say so',
    });
    expect(again.status).toBe(422);
    expect(wordsIn(again.text)).toContain('evidence');
    expect(again.text).toContain('value="they say so"');
    expect(key.exec(again.text)?.[1]).toBe(key.exec(page.text)?.[1]);
    const done = await visitor.submit(again, `${HELD}/resolve`, { as: 'delivered', evidence: 'their log' });
    expect(done.location).toBe(`${HELD}?done=resolved`);
  });

  it('asks for a word about a second effect where an attempt may have arrived', async () => {
    const { world, visitor } = await open(0);
    await world.destination('once', { repeatSafe: false });
    world.sender.script(unanswered('timeout'));
    await world.accepted('doubtful', 'once');
    await world.deliver('doubtful', 'once');
    const path = '/console/events/doubtful/deliveries/once/redrive';
    const page = await visitor.get(path);
    expect(wordsIn(page.text)).toContain('may have a second effect');
    const refused = await visitor.submit(page, path, { reason: 'again' });
    expect(refused.status).toBe(409);
    const done = await visitor.submit(refused, path, { reason: 'again', acceptSecondEffect: 'yes' });
    expect(done.status).toBe(303);
  });

  it('of a destination is pause, resume and a test event, each with a reason', async () => {
    const { world, visitor } = await open();
    const at = '/console/destinations/partner';
    for (const [word, done] of [
      ['pause', 'paused'],
      ['resume', 'resumed'],
    ] as const) {
      const page = await visitor.get(`${at}/${word}`);
      expect((await visitor.submit(page, `${at}/${word}`, {})).status).toBe(422);
      expect((await visitor.submit(page, `${at}/${word}`, { reason: 'their window' })).location).toBe(
        `${at}?done=${done}`,
      );
      const { gate } = await world.ports.ledger.loadDestination((await world.row('held-1', 'partner')).destination);
      expect(gate.kind === 'found' && gate.item.pause !== undefined).toBe(word === 'pause');
    }
    const tested = await visitor.submit(await visitor.get(`${at}/test`), `${at}/test`, { reason: 'is it there?' });
    await world.run(1_000);
    expect(wordsIn((await visitor.get(tested.location ?? '')).text)).toContain('one recorded success: one effect');
  });

  it('of many is counted first, then decided one by one, once', async () => {
    const { world, visitor } = await open(3);
    const list = await visitor.get('/console/quarantine');
    const [, mark = ''] = /name="mark" value="([^"]+)"/.exec(list.text) ?? [];
    const picks = ['held-1/partner', 'held-2/partner'].map((pick) => ['pick', pick] as const);
    const preview = await visitor.post('/console/quarantine/preview', [['mark', mark], ['do', 'redrive'], ...picks]);
    expect(wordsIn(preview.text)).toContain('2 deliveries have spent their budget');
    const refused = await visitor.submit(preview, '/console/quarantine/decide', { reason: 'they are back' });
    expect(wordsIn(refused.text)).toContain('0 deliveries redriven');
    const fields = { reason: 'they are back', grant: '2' };
    const done = await visitor.submit(preview, '/console/quarantine/decide', fields);
    expect(wordsIn(done.text)).toContain('2 deliveries redriven');
    const again = await visitor.submit(preview, '/console/quarantine/decide', fields);
    expect(wordsIn(again.text)).toContain('2 deliveries redriven');
    const rows = await Promise.all([1, 2, 3].map((n) => world.row(`held-${n}`, 'partner')));
    expect(rows.map(({ redrives, budget }) => [redrives, budget])).toEqual([
      [1, 3],
      [1, 3],
      [0, 1],
    ]);
  });

  it.each([[], [['pick', 'held-1']], [['pick', 'held-1/partner/more']], [['pick', '%/partner']]] as const)(
    'of many is refused for what no list gave out: %j',
    async (...pick) => {
      const { visitor } = await open();
      const [, mark = ''] = /name="mark" value="([^"]+)"/.exec((await visitor.get('/console/quarantine')).text) ?? [];
      const fields = [['mark', mark], ['do', 'redrive'], ...pick] as const;
      expect((await visitor.post('/console/quarantine/preview', fields)).status).toBe(422);
    },
  );
});

describe('a redrive over many', () => {
  it('is planned, shown, run and followed by links and forms alone', async () => {
    const redrives = openRedriveWorld();
    const { world } = redrives;
    await world.destination('partner');
    for (let n = 1; n <= 12; n += 1) await redrives.deadLetter(`dead-${n}`);
    const visitor = await signedIn(world, world.token('admin'));
    const form = await visitor.get('/console/redrives/new');
    const planned = await visitor.submit(form, '/console/redrives', {
      source: 'dead-letters',
      reason: 'they are back',
    });
    const path = (planned.location ?? '').replace(/\?.*/, '');
    const plan = await visitor.get(path);
    expect(wordsIn(plan.text)).toContain('redrive 12 sent again, under its key and within its budget');
    const run = await visitor.submit(await visitor.get(`${path}/run`), `${path}/run`, { reason: 'the plan is right' });
    expect(run.location).toBe(`${path}?done=run`);
    expect((await visitor.get(path)).text).toContain('<noscript><meta http-equiv="refresh"');
    await world.run(300_000);
    const ended = await visitor.get(path);
    expect(wordsIn(ended.text)).toContain('12 of 12 acted on delivered 12');
    expect(ended.text).not.toContain('http-equiv="refresh"');
  });
});
