/** `onceward prove` as a command: what it says before, how it counts, when a count is no evidence, and how it ends. */
import { describe, expect, it } from 'vitest';
import type { Wire } from '../../functions/operator/cli/client.ts';
import type { DrillReport } from '../../functions/operator/commands/drill-report.ts';
import { appsAsWire, type CliOptions, type Ran, ran } from '../support/cli.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';
import { PARTNER, pause } from '../support/world-states.ts';

const withPartner = async (settings: Readonly<Record<string, unknown>> = {}): Promise<TestWorld> => {
  const world = openTestWorld();
  await world.destination(PARTNER, settings);
  return world;
};

const PROVE = ['prove', PARTNER, '--reason', 'to be sure'];
const DO = [...PROVE, '--yes'];
const KEY_PARTS = ['--parts', 'repeat,twins,late'];
const COUNT = ['--count-url', 'https://count.test/all', '--json'];

type Got = Awaited<ReturnType<Wire['callOnce']>>;
const plain = (text: string, status = 200): Got => ({
  kind: 'answer',
  status,
  text,
  contentType: 'text/plain',
  header: () => undefined,
});

/** Effects by the number of requests that have come; asked again and again. */
const counting = (count: (sent: number, asked: number) => number | string, world: TestWorld): CliOptions => {
  let asked = 0;
  return {
    shell: {
      callOnce: async () => {
        asked += 1;
        return plain(String(count(world.sender.sends.length, asked)));
      },
    },
  };
};

const reportOf = ({ out }: Ran): DrillReport => JSON.parse(out) as DrillReport;
const effectsIn = (done: Ran) => reportOf(done).parts.map(({ effects }) => effects);

describe('before anything is sent', () => {
  it('it says what it will send, where to, and that nobody counts; --dry-run ends there', async () => {
    const world = await withPartner();
    const written = world.store.writes.length;
    const done = await ran(world, [...PROVE, '--dry-run']);
    expect(done.exit).toBe(0);
    expect(done.out).toContain('https://partner.example/hook gets up to 10 requests');
    expect(done.out).toContain('a repeat after success (2)');
    expect(done.out).toContain('Effects are not counted');
    expect(done.out).toContain('Nothing was sent');
    const json = JSON.parse((await ran(world, [...PROVE, '--dry-run', '--json', '--burst', '5'])).out);
    expect(json.request).toMatchObject({ path: `/v1/destinations/${PARTNER}/prove`, body: { burst: 5 } });
    expect(json.request.body.parts).toEqual(['repeat', 'twins', 'late', 'other-body', 'stale', 'forged', 'burst']);
    expect(world.sender.sends).toHaveLength(0);
    expect(world.store.writes).toHaveLength(written);
  });

  it.each([
    ['a person says no', PROVE, { says: false }, 1, 'not done'],
    ['nobody is there to be asked', PROVE, {}, 2, 'add --yes'],
    ['there is no reason', ['prove', PARTNER, '--yes'], {}, 2, '--reason'],
    ['a part is unknown', [...DO, '--parts', 'repeat,all'], {}, 2, 'repeat, twins, late'],
    ['the burst is too big', [...DO, '--burst', '21'], {}, 1, 'burst must be at most 20'],
    ['the burst is one', [...DO, '--burst', '1'], {}, 1, 'burst must be at least 2'],
    ['the count is at no URL', [...DO, '--count-url', 'ftp://count.test'], {}, 2, 'http(s) URL'],
    ['effects are given for a drill to come', [...DO, '--effects', 'repeat=1'], {}, 2, '--from'],
    ['effects have longer than a timer can wait', [...DO, '--settle-sec', '2147484'], {}, 2, '0 to 600 seconds'],
    ['effects have less than no time', [...DO, '--settle-sec', '-1'], {}, 2, '0 to 600 seconds'],
    ['effects are of no part', [...DO, '--effects', 'all=1'], {}, 2, 'part=number'],
    ['the right is missing', DO, { right: 'send' }, 1, 'right-missing'],
    ['there is no such destination', ['prove', 'nobody', '--reason', 'x', '--yes'], {}, 1, 'not-found'],
  ] as const)('it is refused where %s', async (_what, args, options: CliOptions, exit, says) => {
    const world = await withPartner();
    const done = await ran(world, args, options);
    expect([done.exit, done.out]).toEqual([exit, '']);
    expect(done.err).toContain(says);
    expect(world.sender.sends).toHaveLength(0);
  });

  it('it is refused while the destination is paused, unless that is said to be known', async () => {
    const world = await withPartner({ repeatSafe: false });
    await pause(world);
    expect((await ran(world, DO)).err).toContain('destination-paused');
    expect((await ran(world, [...DO, '--even-if-paused'])).exit).toBe(0);
  });

  it('it has all the time of the function for its one try, and is not tried again', async () => {
    const world = await withPartner();
    const tries: number[] = [];
    const app = appsAsWire(world);
    const done = await ran(world, DO, {
      wire: {
        callOnce: async (request) => {
          if (request.method === 'GET') return app(request);
          tries.push(request.timeoutMs);
          return { kind: 'none', code: 'timeout' };
        },
        retries: async (once) => {
          await once(1_000);
          return (await once(1_000)).result;
        },
      },
    });
    expect(tries).toEqual([60_000]);
    expect(done).toMatchObject({ exit: 1, out: '' });
  });
});

describe('a total', () => {
  /** Each key acts once: two requests, one effect. */
  const honoured = (sent: number): number => sent / 2;

  it('is read around each part, after the time that effects take, and makes each part a decision', async () => {
    const world = await withPartner();
    const startMs = world.clock.nowMs();
    const done = await world.finish(
      ran(world, [...DO, ...KEY_PARTS, ...COUNT, '--settle-sec', '3', '--request-id', 'd'], counting(honoured, world)),
    );
    expect(reportOf(done)).toMatchObject({ deserves: 'repeat-safe', decisions: ['d-repeat', 'd-twins', 'd-late'] });
    expect(effectsIn(done)).toEqual([1, 1, 1]);
    expect(done.exit).toBe(0);
    expect(world.clock.nowMs() - startMs).toBeGreaterThanOrEqual(15_000);
  });

  const NOW = [...DO, ...KEY_PARTS, ...COUNT, '--settle-sec', '0'];

  it('of two for one key is a disproof', async () => {
    const world = await withPartner();
    const done = await ran(
      world,
      NOW,
      counting((sent) => sent, world),
    );
    expect([effectsIn(done), reportOf(done).deserves, done.exit]).toEqual([[2, 2, 2], 'not-repeat-safe', 1]);
  });

  it('that moves although nothing was sent is found out before anything is', async () => {
    const world = await withPartner();
    const done = await ran(
      world,
      NOW,
      counting((_sent, asked) => asked, world),
    );
    expect(done).toMatchObject({ exit: 1, out: '' });
    expect(done.err).toContain('though nothing was sent');
    expect(world.sender.sends).toHaveLength(0);
  });

  it.each([
    // Two effects for each key, and each is counted only with the next part.
    ['come late, a part behind', (sent: number) => Math.max(0, sent - 2), [undefined, undefined, undefined]],
    // One is counted in time, and one when the drill is over.
    [
      'still come in the end',
      (sent: number, asked: number) => honoured(sent) + (asked > 5 ? 3 : 0),
      [undefined, undefined, undefined],
    ],
  ] as const)('is no evidence where effects %s', async (_what, count, effects) => {
    const world = await withPartner();
    const done = await ran(world, NOW, counting(count, world));
    expect([effectsIn(done), reportOf(done).deserves]).toEqual([effects, 'not-shown']);
    expect(done.err).toContain('raise --settle-sec');
  });

  it.each([
    ['sinks', (sent: number) => (sent > 2 ? 0 : honoured(sent)), 'effects never sink'],
    ['is lost', (sent: number) => (sent > 2 ? 'no number' : honoured(sent)), 'did not answer with a whole number'],
  ])('that %s on the way leaves what was seen, and no evidence', async (_what, count, says) => {
    const world = await withPartner();
    const done = await ran(world, NOW, counting(count, world));
    expect(reportOf(done)).toMatchObject({ deserves: 'not-shown', parts: [{}, { reading: 'same-answer' }, {}] });
    expect(done.err).toContain(says);
  });

  it('ends with the first part whose requests are not answered as they should', async () => {
    const world = await withPartner();
    world.sender.script(answered(200), answered(200), answered(503));
    world.sender.always(answered(503));
    const done = await ran(
      world,
      NOW,
      counting(() => 0, world),
    );
    expect(reportOf(done).parts.map(({ part, reading }) => [part, reading])).toEqual([
      ['repeat', 'same-answer'],
      ['twins', 'no-success'],
    ]);
    expect(world.sender.sends).toHaveLength(4);
  });
});

describe('a count of each test event', () => {
  const EACH = [...DO, ...KEY_PARTS, '--count-url', 'https://count.test/{key}', '--settle-sec', '0', '--json'];
  const counts = (first: readonly number[], second: readonly number[]): CliOptions => {
    const rest = [...first, ...second];
    return { shell: { callOnce: async () => plain(String(rest.shift())) } };
  };

  it('is looked at twice: what still moves is no evidence of one, and more than one is one too many', async () => {
    const world = await withPartner();
    const still = await ran(world, EACH, counts([1, 1, 1], [1, 1, 1]));
    expect([effectsIn(still), reportOf(still).deserves]).toEqual([[1, 1, 1], 'repeat-safe']);
    const late = await ran(world, EACH, counts([1, 0, 1], [1, 1, 1]));
    expect([effectsIn(late), reportOf(late).deserves]).toEqual([[1, undefined, 1], 'not-shown']);
    expect(late.err).toContain('still moves');
    const twice = await ran(world, EACH, counts([1, 1, 1], [1, 2, 1]));
    expect([effectsIn(twice), reportOf(twice).deserves]).toEqual([[1, 2, 1], 'not-repeat-safe']);
  });

  it.each([
    ['a text', plain('many'), [], 'a whole number'],
    ['an object', plain('{"count":1}'), [], '--count-field'],
    ['another member', plain('{"count":1}'), ['--count-field', 'effects'], '"effects"'],
    ['a negative number', plain('-1'), [], 'a whole number'],
    ['a fraction', plain('1.5'), [], 'a whole number'],
    ['a refusal', plain('no', 403), [], 'answered 403'],
    ['nothing', { kind: 'none', code: 'ECONNREFUSED' } as const, [], 'gave no answer (ECONNREFUSED)'],
  ] as const)('that is answered with %s leaves the parts unproven, and says why', async (_what, got, more, says) => {
    const world = await withPartner();
    const done = await ran(world, [...EACH, ...more], { shell: { callOnce: async () => got } });
    expect(reportOf(done).deserves).toBe('not-shown');
    expect(done.err).toContain(says);
    expect(done.exit).toBe(1);
  });

  it('is asked with the headers that are given, and these are not said back', async () => {
    const world = await withPartner();
    const headers: Readonly<Record<string, string>>[] = [];
    const args = [...EACH, '--count-header', 'authorization: Bearer marked-4711', '--count-field', 'n'];
    const options: CliOptions = {
      shell: {
        callOnce: async (request) => {
          headers.push(request.headers);
          return plain('{"n":1}');
        },
      },
    };
    const done = await ran(world, args, options);
    const dry = await ran(world, [...args, '--dry-run'], options);
    expect(reportOf(done).deserves).toBe('repeat-safe');
    expect(headers[0]).toMatchObject({ authorization: 'Bearer marked-4711' });
    for (const { out, err } of [done, dry]) expect(out + err).not.toContain('marked-4711');
  });
});

describe('a drill that was kept', () => {
  const kept = async (world: TestWorld): Promise<string> => (await ran(world, [...DO, ...KEY_PARTS, '--json'])).out;
  const judge = (world: TestWorld, text: string, ...more: readonly string[]): Promise<Ran> =>
    ran(world, ['prove', PARTNER, '--from', 'drill.json', ...more], { files: { 'drill.json': text } });
  const ONCE = ['--effects', 'repeat=1', '--effects', 'twins=1', '--effects', 'late=1'];

  it('is judged again with what was found, as it was by its own count, and asks nothing of anybody', async () => {
    const world = await withPartner();
    const text = await kept(world);
    const asked = world.asked.length;
    const done = await judge(world, text, ...ONCE, '--json');
    expect(reportOf(done)).toMatchObject({ deserves: 'repeat-safe', decisions: [expect.any(String)] });
    expect(done.exit).toBe(0);
    const again = await judge(world, done.out, '--effects', 'late=2', '--json');
    expect(reportOf(again)).toMatchObject({
      deserves: 'not-repeat-safe',
      parts: [{ effects: 1 }, { effects: 1 }, { effects: 2 }],
    });
    expect(world.asked).toHaveLength(asked);
  });

  it('may be the answer of the API, too', async () => {
    const world = await withPartner();
    const { text } = await world.call('operator', 'POST', `/v1/destinations/${PARTNER}/prove`, {
      token: world.token('pause'),
      headers: { 'idempotency-key': 'k' },
      body: { reason: 'r' },
    });
    expect((await judge(world, text, ...ONCE)).exit).toBe(0);
  });

  it.each([
    ['is not there', undefined, [], 2, 'cannot read'],
    ['is no JSON', '{', [], 2, 'no JSON'],
    ['is something else', '{"items":[]}', [], 1, 'not one that this version understands'],
    ['was of another destination', '"other"', ONCE, 2, 'holds a drill of other'],
    ['sent nothing for a part', '"partner"', ['--effects', 'forged=1'], 2, 'nothing was sent for forged'],
  ])('is refused where it %s', async (_what, text, more, exit, says) => {
    const world = await withPartner();
    const own = text?.startsWith('"') === true ? (await kept(world)).replace('"partner"', text) : text;
    const files = own === undefined ? {} : { 'drill.json': own };
    const done = await ran(world, ['prove', PARTNER, '--from', 'drill.json', ...more], { files });
    expect([done.exit, done.out]).toEqual([exit, '']);
    expect(done.err).toContain(says);
  });
});
