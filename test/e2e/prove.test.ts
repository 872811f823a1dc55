/**
 * `onceward prove` against receivers that differ in what they do with a key: by real connections, with the effects counted
 * where the receiver tells them. Each is judged from the outside, and has to get the verdict that its effects deserve.
 */
import { describe, expect, it, onTestFinished } from 'vitest';
import { callOnce } from '../../functions/adapters/http-caller.ts';
import { createSender } from '../../functions/adapters/sender/sender.ts';
import type { DrillReport } from '../../functions/operator/commands/drill-report.ts';
import type { Mailbox } from '../../infra/local/partner/mailbox.ts';
import type { Settings, Step } from '../../infra/local/partner/script.ts';
import { type RunningPartner, startPartner } from '../../infra/local/partner/start.ts';
import { type CliOptions, type Ran, ran } from '../support/cli.ts';
import { VirtualClock } from '../support/virtual-clock.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const NAME = 'shop';

interface Bench {
  readonly world: TestWorld;
  readonly partner: RunningPartner;
  readonly mailbox: Mailbox;
  readonly url: string;
  prove(args?: readonly string[], options?: CliOptions): Promise<Ran>;
  /** With effects counted in total, as the partner tells them. */
  counted(args?: readonly string[]): Promise<{ readonly ran: Ran; readonly report: DrillReport }>;
}

const bench = async (
  steps: readonly Step[] = [{ status: 200 }],
  settings: Settings = {},
  destination: Readonly<Record<string, unknown>> = {},
): Promise<Bench> => {
  // Deadlines fire when the test says so: the partner hangs, and the request that hangs is over.
  const hangs = new AbortController();
  const clock = new VirtualClock();
  const sender = createSender({ policy: { allowLocal: true }, clock, signalAfter: () => hangs.signal });
  const world = openTestWorld({ policy: { allowLocal: true }, reshape: (ports) => ({ ...ports, sender }) });
  const partner = await startPartner({ clock: world.clock });
  onTestFinished(async () => {
    await sender.close();
    await partner.close();
  });
  const mailbox = partner.script(NAME, steps, { secret: SECRET, refuses: true, ...settings });
  partner.onRequest(({ played }) => {
    if (played === 'hang') setImmediate(() => hangs.abort());
  });
  const url = partner.urlOf(NAME);
  await world.destination(NAME, { url, signingSecret: SECRET, ...destination });
  const prove: Bench['prove'] = (args = [], options = {}) =>
    ran(world, ['prove', NAME, '--reason', 'which is it?', '--yes', ...args], { shell: { callOnce }, ...options });
  return {
    ...{ world, partner, mailbox, url, prove },
    counted: async (args = []) => {
      const count = ['--count-url', url, '--count-field', 'effectCount', '--settle-sec', '0', '--json'];
      const done = await prove([...count, ...args]);
      return { ran: done, report: JSON.parse(done.out) as DrillReport };
    },
  };
};

/** Two at once meet at the receiver: neither is answered before both are there. */
const meetingTwins = ({ partner, mailbox }: Bench, first: number): void => {
  partner.onRequest(async ({ number }) => {
    if (number === first || number === first + 1) await mailbox.received(first + 1);
  });
};

const effectsIn = ({ parts }: DrillReport): Readonly<Record<string, number | undefined>> =>
  Object.fromEntries(parts.map(({ part, effects }) => [part, effects]));
const readingsIn = ({ parts }: DrillReport): Readonly<Record<string, string>> =>
  Object.fromEntries(parts.map(({ part, reading, skipped }) => [part, skipped ?? reading]));

describe('a receiver whose effects are counted', () => {
  it('that honours keys is shown to be safe, and its signatures to be checked', async () => {
    const it = await bench();
    const { ran: done, report } = await it.counted();
    expect(report.deserves).toBe('repeat-safe');
    expect(done).toMatchObject({ exit: 0 });
    expect(effectsIn(report)).toEqual({ repeat: 1, twins: 1, late: 1, 'other-body': 1, stale: 0, forged: 0 });
    expect(readingsIn(report)).toMatchObject({ repeat: 'same-answer', stale: 'refused', forged: 'refused' });
    expect(report.advice).toEqual([]);
    expect(it.mailbox.requestCount).toBe(10);
    expect(report.decisions).toHaveLength(6);
  });

  it('that ignores keys is shown not to be safe, though it answers alike', async () => {
    const it = await bench([{ status: 200 }], { keys: 'ignores' });
    const { ran: done, report } = await it.counted();
    expect(readingsIn(report)).toMatchObject({ repeat: 'same-answer', twins: 'same-answer', late: 'same-answer' });
    expect(effectsIn(report)).toMatchObject({ repeat: 2, twins: 2, late: 2 });
    expect(report.deserves).toBe('not-repeat-safe');
    expect(done.exit).toBe(1);
    expect(done.err).toContain('a repeat acts again there');
  });

  it('that ignores keys is as it is set where it is set to repeatSafe: false', async () => {
    const it = await bench([{ status: 200 }], { keys: 'ignores' }, { repeatSafe: false });
    const { ran: done, report } = await it.counted();
    expect([report.deserves, done.exit]).toEqual(['not-repeat-safe', 0]);
    expect(report.advice).toEqual(['other-body: other bytes under a known key had an effect of their own.']);
  });

  it('that looks first and remembers last is found out by the two at once, and by them alone', async () => {
    const it = await bench([{ status: 200 }], { keys: 'races' });
    meetingTwins(it, 3);
    const { report } = await it.counted();
    expect(effectsIn(report)).toMatchObject({ repeat: 1, twins: 2, late: 1 });
    expect(report.deserves).toBe('not-repeat-safe');
    expect(report.because).toEqual(['twins: 2 identical requests under one key had 2 effects.']);
  });

  it('that takes an older attempt for a new one is found out by the late one, and by it alone', async () => {
    const { report } = await (await bench([{ status: 200 }], { keys: 'acts-on-older' })).counted();
    expect(effectsIn(report)).toMatchObject({ repeat: 1, twins: 1, late: 2 });
    expect(report.deserves).toBe('not-repeat-safe');
  });

  it('that holds a key in use for busy is safe', async () => {
    const it = await bench([{ status: 200 }], { keys: 'busy-409' });
    meetingTwins(it, 3);
    const { report } = await it.counted();
    expect(readingsIn(report)).toMatchObject({ repeat: 'same-answer', twins: 'busy', late: 'same-answer' });
    expect(report.deserves).toBe('repeat-safe');
  });

  it('that answers repeats with 409 is safe, and told what that costs', async () => {
    const { report } = await (await bench([{ status: 201 }], { keys: 'conflict-409' })).counted();
    expect(readingsIn(report)).toMatchObject({ repeat: 'busy', late: 'busy' });
    expect(report.deserves).toBe('repeat-safe');
    expect(report.advice.join()).toContain('tried until its budget is spent');
  });

  it('that refuses other bytes under a known key is safe', async () => {
    const { report } = await (await bench([{ status: 200 }], { keys: '422-on-other-body' })).counted();
    expect(readingsIn(report)).toMatchObject({ 'other-body': 'refused' });
    expect(report.deserves).toBe('repeat-safe');
  });

  it('that checks no signatures is told so, and is safe all the same', async () => {
    const { report } = await (await bench([{ status: 200 }], { refuses: false })).counted();
    expect(effectsIn(report)).toMatchObject({ stale: 1, forged: 1 });
    expect(report.advice.join(' ')).toMatch(/an old signature is taken.*anybody can send to it/);
    expect(report.deserves).toBe('repeat-safe');
  });

  it('that has no effect for test events shows nothing', async () => {
    const { ran: done, report } = await (await bench([{ status: 200, act: false }])).counted();
    expect(report.deserves).toBe('not-shown');
    expect(report.because.join()).toContain('no effect was counted');
    expect(done.exit).toBe(1);
  });

  it('that throttles shows when it does, is left alone then, and stays unproven', async () => {
    const steps: readonly Step[] = [
      ...Array.from({ length: 7 }, () => ({ status: 200 })),
      { status: 429, headers: { 'retry-after': '30' } },
    ];
    const it = await bench(steps, { keys: 'ignores' }, { repeatSafe: false });
    const { report } = await it.counted(['--parts', 'forged,burst', '--burst', '10']);
    const burst = report.parts.find(({ part }) => part === 'burst');
    expect(burst?.reading).toBe('throttled');
    expect(burst?.exchanges.find(({ status }) => status === 429)).toMatchObject({ retryAfterMs: 30_000 });
    expect(report.deserves).toBe('not-repeat-safe');
  });

  it.each([
    ['throttles', [{ status: 200 }, { status: 429 }], 'throttled', 2],
    ['redirects', [{ status: 307, headers: { location: 'http://127.0.0.1:1/' } }], 'no-success', 1],
    ['fails', [{ status: 500, body: 'no' }], 'no-success', 1],
    ['breaks off', [{ reset: 'before-answer', act: false }], 'unanswered', 1],
    ['hangs', [{ hang: true, act: false }], 'unanswered', 1],
    ['answers in no language of ours', [{ garbage: 'SSH-2.0-x\r\n', act: false }], 'unanswered', 1],
  ] as const)('that %s is left alone at once, and shows nothing', async (_what, steps, skipped, requests) => {
    const it = await bench(steps, { keys: 'ignores' });
    const { ran: done, report } = await it.counted();
    expect(it.mailbox.requestCount).toBe(requests);
    expect(Object.values(readingsIn(report))).toEqual([skipped]);
    expect([report.deserves, done.exit]).toEqual(['not-shown', 1]);
  });
});

describe('a receiver whose effects nobody counts', () => {
  it.each(['honours', 'ignores'] as const)('is not shown to be anything, whether or not it %s keys', async (keys) => {
    const it = await bench([{ status: 200 }], { keys });
    const done = await it.prove();
    expect(done.exit).toBe(1);
    expect(done.out).toContain('Not shown. Only repeatSafe: false is sure to be right.');
    expect(done.out).toContain('repeat: unproven, for nobody has counted its effects.');
    expect(done.out.match(/Effects: unproven\./g)).toHaveLength(6);
    expect(it.mailbox.requestCount).toBe(10);
  });

  it('can be judged later, by what a person has found there', async () => {
    const it = await bench();
    const kept = await it.prove(['--json']);
    const files = { 'drill.json': kept.out };
    const judged = (...effects: readonly string[]) =>
      ran(it.world, ['prove', NAME, '--from', 'drill.json', ...effects.flatMap((one) => ['--effects', one])], {
        files,
      });
    const sent = it.mailbox.requestCount;
    const yes = await judged('repeat=1', 'twins=1', 'late=1');
    expect([yes.exit, yes.err]).toEqual([0, '']);
    expect(yes.out).toContain('repeatSafe: true is shown.');
    const no = await judged('repeat=1', 'twins=2');
    expect(no.exit).toBe(1);
    expect(no.out).toContain('repeatSafe: false. A repeat acts again there.');
    const open = await judged('repeat=1', 'twins=1');
    expect(open.out).toContain('Not shown.');
    expect(it.mailbox.requestCount).toBe(sent);
  });

  it('is asked for each of its test events where the count has a place for them', async () => {
    const it = await bench();
    const asked: string[] = [];
    const done = await it.prove(
      ['--count-url', 'https://count.test/{event}/{key}?n=1', '--settle-sec', '0', '--json'],
      {
        shell: {
          callOnce: async ({ url, method }) => {
            asked.push(`${method} ${url}`);
            const key = decodeURIComponent(/ow_[\w-]+/.exec(url)?.[0] ?? '');
            const text = String(it.mailbox.effects.filter((effect) => effect.key === key).length);
            return { kind: 'answer', status: 200, text, contentType: 'text/plain', header: () => undefined };
          },
        },
      },
    );
    const report = JSON.parse(done.out) as DrillReport;
    expect(report).toMatchObject({ deserves: 'repeat-safe', decisions: [expect.any(String)] });
    const each = report.parts.map(({ event, key }) => `GET https://count.test/${encodeURIComponent(event)}/${key}?n=1`);
    expect(asked).toEqual([...each, ...each]);
  });
});

describe('hostile answers', () => {
  it('come out as text, cut to their bound', async () => {
    const hostile = `<script>alert(1)</script>\u001b[31m\u202egnol\u0007${'x'.repeat(65_000)}`;
    const it = await bench([{ status: 422, body: hostile }], { refuses: false });
    const text = await it.prove();
    const json = await it.prove(['--json']);
    for (const { out } of [text, json]) {
      expect(out).toContain('<script>alert(1)</script>');
      for (const character of ['\u001b', '\u202e', '\u0007']) expect(out).not.toContain(character);
      expect(out.length).toBeLessThan(8_000);
    }
  });
});
