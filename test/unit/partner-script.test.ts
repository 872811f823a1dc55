/**
 * Goal: a script says what it means, and one that makes no sense is refused with the field named.
 * Method: the parser alone, row by row; the same refusals over HTTP as problem+json.
 */
import { describe, expect, it } from 'vitest';
import { parseQuery, parseScript, STEPS_MAX } from '../../infra/local/partner/script.ts';
import { partnerWorld } from '../support/partner-world.ts';

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`;

const REFUSED: readonly (readonly [field: string, says: RegExp, script: unknown])[] = [
  ['', /must be an object/, []],
  ['', /must be an object/, 'status 500'],
  ['stepz', /not known here; known are: steps, keys/, { stepz: [] }],
  ['steps', /must be a list/, { steps: {} }],
  ['steps', /must hold a step/, { steps: [] }],
  ['steps', /at most 100/, { steps: Array.from({ length: STEPS_MAX + 1 }, () => ({})) }],
  ['steps[0]', /must be an object/, { steps: [500] }],
  ['steps[1].status', /whole number from 200 to 999/, { steps: [{}, { status: 99 }] }],
  ['steps[0].status', /whole number/, { steps: [{ status: '500' }] }],
  ['steps[0].status', /whole number/, { steps: [{ status: 200.5 }] }],
  ['steps[0].status', /whole number/, { steps: [{ status: 1_000 }] }],
  ['steps[0].staus', /not known here; known are: status/, { steps: [{ staus: 500 }] }],
  ['steps[0].delayMs', /from 0 to 600000/, { steps: [{ delayMs: -1 }] }],
  ['steps[0].delayMs', /from 0 to 600000/, { steps: [{ delayMs: 600_001 }] }],
  ['steps[0].act', /true or false/, { steps: [{ act: 'yes' }] }],
  ['steps[0].hang', /must be true/, { steps: [{ hang: false }] }],
  ['steps[0].reset', /one of: before-answer, after-status/, { steps: [{ reset: true }] }],
  ['steps[0].drip', /must be an object/, { steps: [{ drip: 5 }] }],
  ['steps[0].drip.everyMs', /from 1 to/, { steps: [{ drip: {} }] }],
  ['steps[0].drip.every', /not known here; known are: everyMs, from/, { steps: [{ drip: { everyMs: 1, every: 1 } }] }],
  ['steps[0].drip.from', /one of: head, body/, { steps: [{ drip: { everyMs: 1, from: 'tail' } }] }],
  ['steps[0].garbage', /text/, { steps: [{ garbage: 7 }] }],
  ['steps[0].body', /at most 65536/, { steps: [{ body: 'x'.repeat(65_537) }] }],
  ['steps[0].closeKeepAlive', /must be true/, { steps: [{ closeKeepAlive: 1 }] }],
  ['steps[0].reset', /cannot stand beside/, { steps: [{ hang: true, reset: 'before-answer' }] }],
  ['steps[0].headers', /object of texts/, { steps: [{ headers: 'a: b' }] }],
  ['steps[0].headers.x-n', /text or a list/, { steps: [{ headers: { 'x-n': 1 } }] }],
  ['steps[0].headers.x y', /HTTP can carry/, { steps: [{ headers: { 'x y': 'z' } }] }],
  ['steps[0].headers.x-a', /HTTP can carry/, { steps: [{ headers: { 'x-a': 'b\r\nx-c: d' } }] }],
  ['steps[0].headers.x-a', /HTTP can carry/, { steps: [{ headers: { 'x-a': ['fine', 'b\nc'] } }] }],
  ['keys', /one of: honours, ignores/, { keys: 'sometimes' }],
  ['forgetsAfterMs', /goes with keys "forgets-after"/, { keys: 'forgets-after' }],
  ['forgetsAfterMs', /goes with keys "forgets-after"/, { keys: 'honours', forgetsAfterMs: 5 }],
  ['forgetsAfterMs', /from 1 to/, { keys: 'forgets-after', forgetsAfterMs: 0 }],
  ['secret', /whsec_/, { secret: 'abc' }],
];

describe('a script', () => {
  it.each(REFUSED)('is refused at "%s", saying %s', (field, says, script) => {
    const parsed = parseScript(script);
    expect(parsed).toMatchObject({ kind: 'bad', field });
    expect(parsed.kind === 'bad' && parsed.detail).toMatch(says);
  });

  it('has a meaning for each step that is left empty', () => {
    expect(parseScript({ steps: [{}] })).toMatchObject({
      kind: 'ok',
      value: { plays: [{ reply: { status: 200, body: 'ok' }, manner: { kind: 'plain' }, delayMs: 0, acts: true }] },
    });
  });

  it.each([
    [{ hang: true }, { kind: 'hang' }, true],
    [{ hang: true, act: false }, { kind: 'hang' }, false],
    [{ reset: 'after-status', status: 500 }, { kind: 'reset', when: 'after-status' }, false],
    [{ drip: { everyMs: 5 } }, { kind: 'drip', everyMs: 5, from: 'body' }, true],
    [{ garbage: 'x' }, { kind: 'garbage', text: 'x' }, true],
    [{ closeKeepAlive: true }, { kind: 'close-keep-alive' }, true],
  ])('%j travels as %j, and acts: %s', (step, manner, acts) => {
    expect(parseScript({ steps: [step] })).toMatchObject({ kind: 'ok', value: { plays: [{ manner, acts }] } });
  });

  it('leaves what it does not name', () => {
    expect(parseScript({})).toEqual({ kind: 'ok', value: {} });
    expect(parseScript({ keys: 'ignores', secret })).toEqual({
      kind: 'ok',
      value: { personality: { keys: 'ignores', forgetsAfterMs: Infinity }, secret },
    });
  });
});

describe('a query', () => {
  const parse = (text: string) => parseQuery(new URLSearchParams(text));

  it('that is not there leaves the script alone', () => {
    expect(parse('')).toEqual({ kind: 'ok', value: undefined });
  });

  it.each([
    ['status=429&retryAfter=120', { reply: { status: 429, headers: { 'retry-after': '120' } }, acts: false }],
    ['delayMs=250', { delayMs: 250, reply: { status: 200 } }],
    ['hang=true&act=false', { manner: { kind: 'hang' }, acts: false }],
    ['reset=before-answer', { manner: { kind: 'reset', when: 'before-answer' } }],
    ['dripMs=100', { manner: { kind: 'drip', everyMs: 100, from: 'body' } }],
    ['garbage=12%0D%0A', { manner: { kind: 'garbage', text: '12\r\n' } }],
    ['closeKeepAlive=true', { manner: { kind: 'close-keep-alive' } }],
  ])('%s is a step', (query, play) => {
    expect(parse(query)).toMatchObject({ kind: 'ok', value: { play } });
  });

  it('may say what the partner does with keys', () => {
    const personality = { keys: 'forgets-after', forgetsAfterMs: 9 };
    expect(parse('keys=forgets-after&forgetsAfterMs=9')).toMatchObject({ kind: 'ok', value: { personality } });
  });

  it.each([
    ['status=abc', 'status', /whole number/],
    ['status=', 'status', /whole number/],
    ['status=0500000000000000000', 'status', /whole number/],
    ['staus=500', 'staus', /not known; known are: status, retryAfter/],
    ['dripMs=0', 'dripMs', /from 1 to/],
    ['hang=1', 'hang', /must be true/],
    ['hang=true&garbage=x', 'garbage', /cannot stand beside/],
    ['retryAfter=1%0A2', 'retryAfter', /HTTP can carry/],
    ['keys=maybe', 'keys', /one of/],
  ])('%s is refused at %s', (query, field, says) => {
    const parsed = parse(query);
    expect(parsed).toMatchObject({ kind: 'bad', field });
    expect(parsed.kind === 'bad' && parsed.detail).toMatch(says);
  });
});

describe('over HTTP', () => {
  it('a script is taken, and its steps begin with the next request', async () => {
    const { send } = await partnerWorld();
    const body = JSON.stringify({ steps: [{ status: 500 }, {}], keys: 'ignores' });
    expect(await send('web/script', { method: 'PUT', body })).toMatchObject({ status: 204, text: '' });
    expect((await send('web')).status).toBe(500);
    expect((await send('web')).status).toBe(200);
    await send('web/script', { method: 'PUT', body: JSON.stringify({ steps: [{ status: 418 }, { status: 202 }] }) });
    expect((await send('web')).status).toBe(418);
    expect((await send('web')).status).toBe(202);
    expect(JSON.parse((await send('web', { method: 'GET' })).text)).toMatchObject({ keys: 'ignores' });
  });

  it.each([
    [
      '{"steps":[{"status":99}]}',
      422,
      {
        code: 'bad-script',
        field: 'steps[0].status',
        detail: 'steps[0].status must be a whole number from 200 to 999',
      },
    ],
    ['{"steps":', 400, { code: 'bad-body', detail: 'It must be JSON' }],
  ])('the script %s is refused and changes nothing', async (body, status, problem) => {
    const { send } = await partnerWorld();
    await send('web/script', { method: 'PUT', body: '{"steps":[{"status":202}]}' });
    const answer = await send('web/script', { method: 'PUT', body });
    expect(answer).toMatchObject({ status, headers: { 'content-type': 'application/problem+json' } });
    expect(JSON.parse(answer.text)).toMatchObject({ type: 'about:blank', status, ...problem });
    expect((await send('web')).status).toBe(202);
  });

  it('a query plays once, leaves the script where it was, and is refused with the field named', async () => {
    const { partner, send } = await partnerWorld();
    const mailbox = partner.script('web', [{ status: 201 }, { status: 202 }]);
    expect(await send('web?status=429&retryAfter=7')).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
    expect((await send('web')).status).toBe(201);
    const refused = await send('web?staus=500');
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text)).toMatchObject({ code: 'bad-query', field: 'staus' });
    expect(mailbox.requests.map(({ path }) => path)).toEqual(['/partner/web?status=429&retryAfter=7', '/partner/web']);
  });

  it('by code the same mistakes are thrown', async () => {
    const { partner } = await partnerWorld();
    expect(() => partner.script('web', [{ status: 99 }])).toThrow(/"web" makes no sense: steps\[0\]\.status must be/);
    expect(() => partner.script('web', [])).toThrow(/steps must hold a step/);
  });
});
