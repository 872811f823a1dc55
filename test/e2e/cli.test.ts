/** The command line over the real apps: what it says, what it asks, how it ends. */
import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { OPERATION_RETRIES, withRetries } from '../../functions/adapters/queue/transport-retries.ts';
import { ConfigError } from '../../functions/config.ts';
import { appsAsWire, type CliOptions, ran } from '../support/cli.ts';
import { isDecided } from '../support/decisions.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered, unanswered } from '../support/world-ports.ts';
import { EVENT, opened, PARTNER } from '../support/world-states.ts';

const SEND = ['event', 'send', '--id', 'o-1', '--to', PARTNER, '--payload', '{"total": 12.50}'];
const PAUSE = ['destination', 'pause', PARTNER, '--reason', 'maintenance'];

const withPartner = async (): Promise<TestWorld> => {
  const world = openTestWorld();
  await world.destination(PARTNER);
  return world;
};

describe('what changes something', () => {
  it('says what it will do and does it when a person agrees', async () => {
    const world = await withPartner();
    const done = await ran(world, PAUSE, { says: true });
    expect(done.err).toContain(`Destination ${PARTNER} is active.`);
    expect(done.exit).toBe(0);
    const shown = await world.call('operator', 'GET', `/v1/destinations/${PARTNER}`, { token: world.token('view') });
    expect(shown.body).toMatchObject({ state: 'paused', by: 'holder-of-admin', reason: 'maintenance' });
  });

  it.each([
    ['a person says no', { says: false }, [], 1],
    ['nobody is there to be asked', {}, [], 2],
    ['it is only looked at', {}, ['--dry-run'], 0],
  ] as const)('changes nothing when %s', async (_when, options: CliOptions, more, exit) => {
    const world = await withPartner();
    for (const args of [PAUSE, SEND]) {
      const written = world.store.writes.length;
      expect((await ran(world, [...args, ...more], options)).exit).toBe(exit);
      expect(world.store.writes).toHaveLength(written);
    }
  });

  it('shows the request that --dry-run did not send, as JSON where asked', async () => {
    const world = await withPartner();
    const { out } = await ran(world, [...PAUSE, '--request-id', 'night-1', '--dry-run', '--json']);
    expect(JSON.parse(out)).toMatchObject({
      dryRun: true,
      request: {
        method: 'POST',
        path: `/v1/destinations/${PARTNER}/pause`,
        body: { reason: 'maintenance' },
        idempotencyKey: 'night-1',
      },
    });
  });

  it('decides once under one --request-id, however often it is sent', async () => {
    const world = await opened(openTestWorld());
    const cancel = ['delivery', 'cancel', EVENT, PARTNER, '--reason', 'duplicate', '--request-id', 'c-1', '--yes'];
    const first = await ran(world, cancel);
    expect(first).toMatchObject({ exit: 0, err: '' });
    const row = await world.row(EVENT, PARTNER);
    expect((await ran(world, cancel)).exit).toBe(0);
    expect(await world.row(EVENT, PARTNER)).toEqual(row);
  });
});

describe('an event from the command line', () => {
  it('keeps its payload byte for byte, from an argument, a file or standard input', async () => {
    const world = await withPartner();
    const files = { 'order.json': '{"n": 1.0,\n "s": "ä"}', '-': '[1e2]' };
    const sent = (id: string, ...more: string[]) =>
      ran(world, ['event', 'send', '--id', id, '--to', PARTNER, '--yes', ...more], { files, right: 'send' });
    await sent('argument', '--payload', '{"total": 12.50}');
    await sent('file', '--file', 'order.json');
    await sent('input', '--file', '-');
    await sent('text', '--file', '-', '--content-type', 'text/plain');
    await world.run(1_000);
    const bodies = world.sender.sends.map(({ body }) => Buffer.from(body).toString());
    expect(bodies.toSorted()).toEqual(['[1e2]', '[1e2]', '{"n": 1.0,\n "s": "ä"}', '{"total": 12.50}']);
  });

  it('is followed by a command that a shell reads as it is meant, whatever the id holds', async () => {
    const args = ['event', 'send', '--id', '$(touch x)', '--to', PARTNER, '--yes', '--payload', '1'];
    const { out } = await ran(await withPartner(), args, { right: 'send' });
    expect(out).toContain(`onceward delivery explain '$(touch x)' ${PARTNER}`);
  });

  it.each([
    [['--payload', '{broken'], 'no JSON'],
    [['--payload', '1', '--file', '-'], 'one of them'],
    [[], 'one of them'],
    [['--file', 'missing'], 'cannot read missing'],
  ])('is refused before anything is asked: %j', async (more, says) => {
    const args = ['event', 'send', '--id', 'o-1', '--to', PARTNER, '--yes', ...more];
    const done = await ran(await withPartner(), args);
    expect(done).toMatchObject({ exit: 2, out: '' });
    expect(done.err).toContain(says);
  });
});

describe('an end with an error', () => {
  const oneLine = /^onceward: [^\n]+\n$/;
  const LIST = ['delivery', 'list'];
  const away = (code: string): CliOptions => ({ wire: { callOnce: async () => ({ kind: 'none', code }) } });
  const page: CliOptions = {
    wire: {
      callOnce: async () => ({ kind: 'answer', status: 200, text: '<p>', contentType: 'text/html', header: () => '' }),
    },
  };
  const badSetting: CliOptions = {
    shell: {
      client: () => {
        throw new ConfigError('ONCEWARD_URL', 'must be an http(s) URL');
      },
    },
  };

  it.each([
    ['no token', LIST, { token: undefined }, 2, 'ONCEWARD_TOKEN'],
    ['a token that is not known', LIST, { token: 'nobody-knows-it' }, 1, 'not-signed-in'],
    ['a token without the right', PAUSE.concat('--yes'), { right: 'view' }, 1, 'right-missing'],
    ['nothing that listens', LIST, away('ECONNREFUSED'), 1, 'nothing listens there'],
    ['a host that does not exist', LIST, away('ENOTFOUND'), 1, 'DNS does not know this host'],
    ['no answer in time', LIST, away('timeout'), 1, 'no answer in time'],
    ['another service at the URL', LIST, page, 1, 'is ONCEWARD_URL right?'],
    ['a bad setting', LIST, badSetting, 2, 'setting ONCEWARD_URL must be'],
    ['a noun that does not exist', ['delivry'], {}, 2, "unknown command 'delivry'"],
    ['an option that does not exist', [...LIST, '--lots'], {}, 2, "unknown option '--lots'"],
    ['a missing reason', ['delivery', 'cancel', 'a', 'b'], {}, 2, '--reason'],
    ['a list that does not exist', [...LIST, '--list', 'all'], {}, 2, 'open, parked, quarantined, recent'],
    ['a delivery that does not exist', ['delivery', 'show', 'a', 'b'], {}, 1, 'not-found'],
    ['heads that cannot be read', ['audit', 'verify', '--heads', 'none'], {}, 2, 'cannot read none'],
    ['counts that cannot be read', ['destination', 'shadow', PARTNER, '--counts', 'none'], {}, 2, 'cannot read none'],
    ['an audit of a destination that nobody has', ['audit', 'export', '--destination', 'nope'], {}, 1, 'not-found'],
  ] as const)('is one line that says what to do: %s', async (_what, args, options, exit, says) => {
    const done = await ran(await withPartner(), args, options);
    expect(done.exit).toBe(exit);
    expect(done.out).toBe('');
    expect(done.err).toMatch(oneLine);
    expect(done.err).toContain(says);
  });

  it('names a refused decision by its code, and says how it was refused as JSON', async () => {
    const world = await opened(openTestWorld());
    const args = ['delivery', 'redrive', EVENT, PARTNER, '--reason', 'again', '--yes'];
    expect(await ran(world, args)).toMatchObject({ exit: 1, err: expect.stringContaining('not-quarantined: ') });
    const { err } = await ran(world, [...args, '--json']);
    expect(JSON.parse(err)).toMatchObject({ error: { code: 'not-quarantined', status: 409 } });
  });

  it('of a decision whose answer was lost gives the id under which it is completed, and nothing twice', async () => {
    const world = await withPartner();
    const network = appsAsWire(world);
    const lost: CliOptions = {
      wire: {
        callOnce: async (request) => {
          const answer = await network(request);
          return request.method === 'GET' ? answer : { kind: 'none', code: 'timeout' };
        },
      },
    };
    const { exit, err } = await ran(world, [...PAUSE, '--yes'], lost);
    expect([exit, err.match(oneLine) !== null]).toEqual([1, true]);
    const [, id = ''] = /--request-id (\S+) /.exec(err) ?? [];
    expect(isDecided(world, id)).toBe(true);
    const again = await ran(world, [...PAUSE, '--yes', '--request-id', id]);
    expect(again).toMatchObject({ exit: 0, out: expect.stringContaining(`Decision ${id} is on record.`) });
  });
});

describe('the help', () => {
  it('works without any setting, and lists nouns, settings and exit codes', async () => {
    const done = await ran(openTestWorld(), ['--help'], { token: undefined });
    expect(done).toMatchObject({ exit: 0, err: '' });
    for (const word of ['event', 'delivery', 'destination', 'redrive', 'ONCEWARD_TOKEN', 'Exit codes: 0']) {
      expect(done.out).toContain(word);
    }
  });
});

describe('a call that is cut off', () => {
  const flaky = (world: TestWorld, failures: readonly (readonly [status: number, retryAfter?: string] | string)[]) => {
    const network = appsAsWire(world);
    const tries: { readonly method: string; readonly atMs: number; readonly key: string | undefined }[] = [];
    const startMs = world.clock.nowMs();
    const wire: CliOptions['wire'] = {
      callOnce: async (request) => {
        const { method, headers } = request;
        tries.push({ method, atMs: world.clock.nowMs() - startMs, key: headers['idempotency-key'] });
        const failure = failures[tries.length - 1];
        if (failure === undefined) return network(request);
        if (typeof failure === 'string') return { kind: 'none', code: failure };
        const [status, after] = failure;
        const text = JSON.stringify({ code: 'ledger-unavailable', detail: 'the ledger cannot be reached', status });
        return { kind: 'answer', status, text, contentType: 'application/problem+json', header: () => after };
      },
      retries: (once) =>
        withRetries(
          { clock: world.clock, dice: { draw: () => 0.5 } },
          OPERATION_RETRIES,
          startMs + OPERATION_RETRIES.totalMs,
          once,
        ),
    };
    return { wire, tries };
  };
  const run = (world: TestWorld, args: readonly string[], wire: CliOptions['wire']) =>
    world.finish(ran(world, args, wire === undefined ? {} : { wire }));

  it('is tried again, five times in 45 seconds, and told of when that was not enough', async () => {
    const world = await withPartner();
    const { wire, tries } = flaky(world, Array(9).fill('ECONNRESET'));
    expect(await run(world, ['destination', 'list'], wire)).toMatchObject({ exit: 1, out: '' });
    expect(tries.length).toBe(5);
    expect(tries.at(-1)?.atMs).toBeLessThan(45_000);
  });

  it('waits as long as it is asked to', async () => {
    const world = await withPartner();
    const { wire, tries } = flaky(world, [[503, '7']]);
    expect((await run(world, ['destination', 'list'], wire)).exit).toBe(0);
    expect(tries[1]?.atMs).toBeGreaterThanOrEqual(7_000);
  });

  it('keeps its id over all tries, and decides once', async () => {
    const world = await withPartner();
    const { wire, tries } = flaky(world, []);
    const failing = flaky(world, ['timeout', 'timeout']);
    await run(world, [...PAUSE, '--yes'], wire);
    expect(tries.map(({ method }) => method)).toEqual(['GET', 'POST']);
    const resume = ['destination', 'resume', PARTNER, '--reason', 'over', '--yes'];
    expect((await run(world, resume, failing.wire)).exit).toBe(0);
    const keys = failing.tries.filter(({ method }) => method === 'POST').map(({ key }) => key);
    expect(new Set(keys).size).toBe(1);
  });

  it.each([400, 401, 403, 404, 409, 422, 500])('is not tried again after an answer that is one: %i', async (status) => {
    const world = await withPartner();
    const { wire, tries } = flaky(world, Array(9).fill([status]));
    expect((await run(world, ['destination', 'list'], wire)).exit).toBe(1);
    expect(tries.length).toBe(1);
  });
});

describe('a list', () => {
  it('gives as many rows as were asked for, over as many pages as that takes, and says where it goes on', async () => {
    const world = await withPartner();
    for (let n = 0; n < 7; n += 1) await world.accepted(`e-${n}`, PARTNER);
    const list = ['delivery', 'list', '--list', 'recent', '--destination', PARTNER, '--json'];
    const seen: string[] = [];
    let cursor: string[] = [];
    for (let pages = 0; pages < 9; pages += 1) {
      const { out } = await ran(world, [...list, '--limit', '3', ...cursor]);
      const page = JSON.parse(out) as { items: { event: string }[]; next?: string };
      seen.push(...page.items.map(({ event }) => event));
      // Rows come and go between the pages: a row that keeps its place is met once.
      await world.accepted(`new-${pages}`, PARTNER);
      await world.deliver(`e-${pages % 7}`, PARTNER);
      if (page.next === undefined) break;
      cursor = ['--cursor', page.next];
    }
    const old = seen.filter((event) => event.startsWith('e-'));
    expect(old.toSorted()).toEqual([0, 1, 2, 3, 4, 5, 6].map((n) => `e-${n}`));
  });
});

describe('what stands in a table', () => {
  const long = 'order'.repeat(20);

  it('is cut on a terminal, and whole where a program reads it', async () => {
    const world = await withPartner();
    await world.accepted(long, PARTNER);
    expect((await ran(world, ['delivery', 'list'])).out).not.toContain(long);
    expect((await ran(world, ['delivery', 'list'], { shell: { cuts: false } })).out).toContain(`${long}  ${PARTNER}  `);
  });

  it('tells a destination in shadow mode from one that sends', async () => {
    const world = await withPartner();
    expect((await ran(world, ['destination', 'list'])).out).not.toContain('MODE');
    await world.destination('mirror', { mode: 'shadow' });
    expect((await ran(world, ['destination', 'list'])).out).toMatch(/MODE[\s\S]*mirror +active +shadow/);
  });
});

describe('settings that replace others', () => {
  const URL = 'https://partner.example/hook';
  const SET = ['destination', 'set', PARTNER, '--url', URL, '--repeat-safe', 'yes'];
  const FULL = [...SET, '--rate-per-second', '5', '--header', 'X-A:hush', '--notices', '--reject-on', '400,404'];

  it('are said one by one before they are dropped, and of a header the name alone', async () => {
    const world = openTestWorld();
    expect((await ran(world, [...FULL, '--dry-run'])).out).toContain(`Destination ${PARTNER} is new`);
    expect(await ran(world, [...FULL, '--yes'])).toMatchObject({ exit: 0, err: '' });
    const looked = await ran(world, [...SET, '--header', 'x-b:quiet', '--schedule', '5', '--dry-run']);
    const changes = looked.out.split('\n').filter((line) => line.startsWith('  '));
    expect(changes).toEqual([
      '  schedule: [5,30,300,1800,7200,18000,36000] -> [5]',
      '  ratePerSecond: 5 -> none',
      '  rejectOn: [400,404] -> []',
      '  notices: true -> none',
      '  header x-a: (taken out)',
      '  header x-b: (new)',
    ]);
    const asked = await ran(world, SET, { says: false });
    expect(asked.err).toContain('  ratePerSecond: 5 -> none\n');
    for (const { out, err } of [looked, asked]) expect(`${out}${err}`).not.toMatch(/hush|quiet/);
  });

  it('are told to be the same where they are, with a header kept by its mask', async () => {
    const world = openTestWorld();
    expect(await ran(world, [...FULL, '--yes'])).toMatchObject({ exit: 0, err: '' });
    const kept = FULL.map((arg) => (arg === 'X-A:hush' ? 'x-a:***' : arg));
    expect((await ran(world, [...kept, '--dry-run'])).out).toContain('nothing changes');
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
    const given = await ran(world, [...FULL, '--signing-secret', secret, '--dry-run']);
    expect(given.out).toContain('  header x-a: (another value)\n  signingSecret: (new)');
    expect(given.out).not.toMatch(/whsec_|hush/);
  });
});

describe('a refused redrive', () => {
  it.each([
    [
      'an attempt that may have arrived',
      { repeatSafe: false },
      unanswered('timeout'),
      'accepted (--accept-second-effect)',
    ],
    ['a budget that is spent', { schedule: [] }, answered(500), 'a grant of at least 1 is needed (--grant)'],
  ] as const)('names the option of this command that it wants: %s', async (_what, settings, reaction, says) => {
    const world = openTestWorld();
    await world.destination(PARTNER, settings);
    world.sender.script(reaction);
    await world.accepted('a', PARTNER);
    await world.deliver('a', PARTNER);
    const { exit, err } = await ran(world, ['delivery', 'redrive', 'a', PARTNER, '--reason', 'again', '--yes']);
    expect([exit, err]).toEqual([1, expect.stringContaining(says)]);
    expect(err).not.toContain('acceptSecondEffect');
    // A run holds it as well, so a plan does not offer one.
    const plan = await ran(world, ['redrive', 'plan', '--source', 'quarantine', '--reason', 'mended']);
    expect(plan.out).toContain('a run would change nothing');
    expect(plan.out).not.toContain('redrive run');
  });
});

describe('a run', () => {
  it('is followed to its end, a line for each step, and its result is the answer', async () => {
    const world = await withPartner();
    world.sender.script(answered(422), answered(422));
    for (const event of ['a', 'b']) {
      await world.accepted(event, PARTNER);
      await world.deliver(event, PARTNER);
    }
    const planned = await ran(world, ['redrive', 'plan', '--source', 'quarantine', '--reason', 'mended', '--json']);
    const { operation } = JSON.parse(planned.out) as { operation: string };
    const told = await ran(world, ['redrive', 'plan', '--source', 'quarantine', '--reason', 'mended']);
    expect(told.out).toMatch(/To do it: onceward redrive run \S+ --reason/);
    const shell = {
      clock: {
        nowMs: () => world.clock.nowMs(),
        sleep: async () => {
          await world.run(5_000);
        },
      },
    };
    const run = ['redrive', 'run', operation, '--reason', 'the plan is right'];
    const looked = await ran(world, [...run, '--dry-run']);
    expect(looked.out).toMatch(/redrive +2/);
    const done = await ran(world, [...run, '--yes'], { shell });
    expect(done).toMatchObject({ exit: 0, out: expect.stringMatching(/state +done[\s\S]*delivered +2/) });
    const steps = done.err.trim().split('\n');
    expect(steps.length).toBeGreaterThan(1);
    expect(steps.at(-1)).toBe('[####################] done: 2 of 2, delivered 2, failed 0, in doubt 0, open 0');
  });

  it('that ends with what has failed again has not done what it was for', async () => {
    const world = await withPartner();
    world.sender.script(answered(422), answered(422));
    await world.accepted('a', PARTNER);
    await world.deliver('a', PARTNER);
    const planned = await ran(world, [
      ...['redrive', 'plan', '--source', 'quarantine', '--stop-above', '1', '--reason', 'mended', '--json'],
    ]);
    const { operation } = JSON.parse(planned.out) as { operation: string };
    const sleep = async (): Promise<void> => void (await world.run(5_000));
    const shell = { clock: { nowMs: () => world.clock.nowMs(), sleep } };
    const done = await ran(world, ['redrive', 'run', operation, '--reason', 'hope', '--yes'], { shell });
    expect(done).toMatchObject({ exit: 1, out: expect.stringMatching(/state +done[\s\S]*failed +1/) });
    expect(done.err.trim().split('\n').at(-1)).toContain('is done, and 1 of 1 that were sent again have failed again');
  });
});

describe('the README', () => {
  it('names every noun with its verbs, as the program has them', async () => {
    const readme = (await readFile('README.md', 'utf8')).replaceAll(/\s+/g, ' ');
    const help = await ran(openTestWorld(), ['--help']);
    const nouns = [...help.out.matchAll(/^ {2}([a-z]+) {2,}/gm)].flatMap(([, noun]) => noun ?? []);
    expect(nouns.length).toBeGreaterThan(6);
    for (const noun of nouns) {
      const { out } = await ran(openTestWorld(), [noun, '--help']);
      const verbs = [...out.matchAll(/^ {2}([a-z-]+) \[options\]/gm)].flatMap(([, verb]) => verb ?? []);
      expect(verbs.length).toBeGreaterThan(1);
      const named = new RegExp(`\`${noun} ([a-z| -]+)\``).exec(readme)?.[1]?.split(' | ') ?? [];
      expect([noun, named.toSorted()]).toEqual([noun, verbs.toSorted()]);
    }
  });
});
