/** Ids, reasons, excerpts and payloads of an enemy: what they hold is shown as text, whole in JSON, and nothing acts. */
import { describe, expect, it } from 'vitest';
import { ran } from '../support/cli.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { answered } from '../support/world-ports.ts';

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const CAN_ACT = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/;

const HTML = '<script>alert(1)</script><img src=x onerror=alert(1)>';
const TURNED = 'order-\u202e17\u2066\u200b';
const LONG = 'w'.repeat(10_240);
const ESCAPES = '\u001b[2J\u001b]0;gone\u0007\u009b31m\r\n\b\b\b\b';

/** An id may hold no control character, but markup, marks that turn the direction, and separators. */
const EVENT = `${TURNED}${HTML}\u2028`;
const PARTNER = `pärtner ${TURNED}`;
const REASON = `because ${TURNED} ${HTML}`;

/** Commands whose answer names nothing of it, as text. */
const SILENT: readonly string[] = ['verify'];

const lived = async (): Promise<TestWorld> => {
  const world = openTestWorld();
  await world.destination(PARTNER);
  await world.submit({
    id: EVENT,
    type: TURNED,
    payload: { html: HTML, long: LONG, escapes: ESCAPES },
    destinations: [PARTNER],
  });
  world.sender.script(answered(422, { excerpt: `${HTML}${ESCAPES}${LONG}` }));
  await world.deliver(EVENT, PARTNER);
  const paused = await world.call('operator', 'POST', `/v1/destinations/${encodeURIComponent(PARTNER)}/pause`, {
    token: world.token('pause'),
    headers: { 'idempotency-key': 'pause-1' },
    body: { reason: REASON },
  });
  expect(paused.status).toBe(200);
  const plan = await ran(world, ['redrive', 'plan', '--source', 'quarantine', '--reason', REASON]);
  expect([plan.exit, CAN_ACT.test(plan.out)]).toEqual([0, false]);
  return world;
};

const COMMANDS: readonly (readonly string[])[] = [
  ['destination', 'list'],
  ['destination', 'show', PARTNER],
  ['delivery', 'list', '--list', 'quarantined'],
  ['delivery', 'show', EVENT, PARTNER],
  ['delivery', 'explain', EVENT, PARTNER],
  ['event', 'show', EVENT],
  ['redrive', 'list'],
  ['audit', 'verify', EVENT],
  ['delivery', 'redrive', EVENT, PARTNER, '--reason', REASON, '--dry-run'],
  ['delivery', 'cancel', EVENT, PARTNER, '--reason', REASON, '--yes'],
];

describe('hostile content', () => {
  it('is text on a terminal, and cannot act on it', async () => {
    const world = await lived();
    for (const command of COMMANDS) {
      const { out, err, exit } = await ran(world, command);
      expect([command.slice(0, 2), exit, err]).toEqual([command.slice(0, 2), 0, '']);
      expect(out).not.toMatch(CAN_ACT);
      if (!command.some((word) => SILENT.includes(word))) expect(out).toContain('\\u{202e}');
    }
  });

  it('is whole in --json, and cannot act there either', async () => {
    const world = await lived();
    for (const command of COMMANDS) {
      const { out } = await ran(world, [...command, '--json']);
      expect(out).not.toMatch(CAN_ACT);
      if (!command.some((word) => SILENT.includes(word))) expect(JSON.stringify(JSON.parse(out))).toContain('\u202e');
    }
  });

  it('of ten thousand letters does not push the rest of a table away', async () => {
    const world = await lived();
    const { out } = await ran(world, ['destination', 'list']);
    for (const line of out.split('\n')) expect(line.length).toBeLessThan(500);
  });

  it('in a refusal is one line of text', async () => {
    const world = await lived();
    for (const args of [
      ['event', 'show', `${EVENT}-unknown`],
      ['delivery', 'cancel', EVENT, 'nowhere\u202e', '--reason', 'x', '--yes'],
      [`\u001b[31mnoun`],
      ['delivery', 'list', '--list', '\u001b[31mall'],
    ]) {
      const { err, exit } = await ran(world, args);
      expect(exit).not.toBe(0);
      expect(err).toMatch(/^onceward: [^\n]+\n$/);
      expect(err).not.toMatch(CAN_ACT);
    }
  });

  it('is JSON in the API: named as such, not to be guessed at, and not to be kept by anybody on the way', async () => {
    const world = await lived();
    const path = `/v1/events/${encodeURIComponent(EVENT)}/deliveries/${encodeURIComponent(PARTNER)}`;
    for (const at of [path, `${path}/explain`, `${path}x`]) {
      const headers = { authorization: `Bearer ${world.token('view')}` };
      const answer = await world.apps.operator.request(at, { headers });
      expect(answer.headers.get('content-type')).toMatch(/^application\/(problem\+)?json/);
      expect(answer.headers.get('x-content-type-options')).toBe('nosniff');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(JSON.stringify(await answer.json())).toContain(TURNED);
    }
  });
});
