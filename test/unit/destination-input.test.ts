import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDestination } from '../../functions/core/destination-input.ts';
import {
  ATTEMPTS_MAX,
  HORIZON_MS,
  JITTER_SHARE,
  SCHEDULE_LENGTH_MAX,
  SCHEDULE_SEC_DEFAULT,
  TIMEOUT_MS_MAX,
  TIMEOUT_MS_MIN,
} from '../../functions/core/limits.ts';
import { destinationId } from '../support/world.ts';

const ID = destinationId('partner');
const CLOUD = { allowLocal: false };
const GOOD = { url: 'https://partner.example/hook', repeatSafe: true };

const read = (more: Readonly<Record<string, unknown>> = {}) => readDestination(ID, { ...GOOD, ...more }, CLOUD);

const settingsOf = (more: Readonly<Record<string, unknown>> = {}) => {
  const result = read(more);
  if (result.kind === 'bad') throw new Error(`${result.field} ${result.reason}`);
  return result.settings;
};

const fieldOf = (more: Readonly<Record<string, unknown>>): string | undefined => {
  const result = read(more);
  return result.kind === 'bad' ? result.field : undefined;
};

describe('a destination with nothing but its two required settings', () => {
  it('gets the documented defaults', () => {
    expect(settingsOf()).toEqual({
      destination: ID,
      url: 'https://partner.example/hook',
      repeatSafe: true,
      keyLifeHours: 24,
      scheduleSec: [5, 30, 300, 1_800, 7_200, 18_000, 36_000],
      timeoutMs: 20_000,
      rejectOn: [],
      headers: {},
      acceptFromQueue: false,
      mode: 'live',
    });
  });

  it('shares no default with another one: changing one list changes no other', () => {
    const first = settingsOf().scheduleSec;
    expect(first).not.toBe(SCHEDULE_SEC_DEFAULT);
    expect(first).not.toBe(settingsOf().scheduleSec);
  });

  it.each(['url', 'repeatSafe'])('is refused without %s: there is no default for it', (name) => {
    const { [name]: _left, ...rest } = { ...GOOD } as Record<string, unknown>;
    expect(readDestination(ID, rest, CLOUD)).toMatchObject({ kind: 'bad', field: name });
  });
});

describe('all settings of a destination', () => {
  it('are taken as they are given', () => {
    const given = {
      url: 'https://partner.example/hook?a=b',
      repeatSafe: false,
      keyLifeHours: 0.5,
      schedule: [1, 60],
      timeoutMs: 1_000,
      ratePerSecond: 0.2,
      concurrency: 3,
      rejectOn: [400, 404],
      headers: { 'X-Key': 'k' },
      acceptFromQueue: true,
      mode: 'shadow',
    };
    const { schedule, headers: _headers, ...rest } = given;
    expect(settingsOf(given)).toEqual({ destination: ID, ...rest, scheduleSec: schedule, headers: { 'x-key': 'k' } });
  });

  it('store the URL as the client will read it', () => {
    expect(settingsOf({ url: ' HTTPS://Partner.Example./Hook#part ' }).url).toBe('https://partner.example/Hook');
  });

  it('hand the signing secret on beside the settings, never among them', () => {
    const signingSecret = `whsec_${Buffer.alloc(24, 1).toString('base64')}`;
    const result = read({ signingSecret });
    expect(result).toMatchObject({ kind: 'ok', signingSecret });
    expect(JSON.stringify(settingsOf({ signingSecret }))).not.toContain(signingSecret);
    expect(read()).not.toHaveProperty('signingSecret');
  });
});

/** Each time setting, and how a value gets into it. */
const TIMES: readonly (readonly [name: string, of: (value: unknown) => Record<string, unknown>, zero: boolean])[] = [
  ['timeoutMs', (value) => ({ timeoutMs: value }), false],
  ['keyLifeHours', (value) => ({ keyLifeHours: value }), false],
  ['schedule', (value) => ({ schedule: [value] }), true],
  ['ratePerSecond', (value) => ({ ratePerSecond: value }), false],
  ['concurrency', (value) => ({ concurrency: value }), false],
];

describe.each(TIMES)('the setting %s', (name, of, zero) => {
  it.each([9_999_999_999, -1, Number.NaN, Number.POSITIVE_INFINITY, '30', true, [], {}, -0.5])(
    'is refused by its name with %s [C156]',
    (value) => {
      expect(fieldOf(of(value))?.startsWith(name)).toBe(true);
    },
  );

  it(`${zero ? 'takes' : 'refuses'} 0 [C156]`, () => {
    expect(fieldOf(of(0))).toBe(zero ? undefined : name);
  });
});

describe('the bounds of a setting', () => {
  it.each<[setting: Record<string, unknown>, ok: boolean]>([
    [{ timeoutMs: TIMEOUT_MS_MIN }, true],
    [{ timeoutMs: TIMEOUT_MS_MIN - 1 }, false],
    [{ timeoutMs: TIMEOUT_MS_MAX }, true],
    [{ timeoutMs: TIMEOUT_MS_MAX + 1 }, false],
    [{ timeoutMs: 9_999_999 }, false],
    [{ timeoutMs: 1_500.5 }, false],
    [{ concurrency: 1 }, true],
    [{ concurrency: 1_000 }, true],
    [{ concurrency: 1_001 }, false],
    [{ concurrency: 1.5 }, false],
    [{ ratePerSecond: 10_000 }, true],
    [{ ratePerSecond: 10_001 }, false],
    [{ keyLifeHours: null }, true],
    [{ keyLifeHours: 87_600 }, true],
    [{ keyLifeHours: 87_601 }, false],
    [{ rejectOn: [300, 599] }, true],
    [{ rejectOn: [299] }, false],
    [{ rejectOn: [600] }, false],
    [{ rejectOn: Array(20).fill(404) }, true],
    [{ rejectOn: Array(21).fill(404) }, false],
    [{ schedule: [] }, true],
    [{ schedule: Array(SCHEDULE_LENGTH_MAX).fill(1) }, true],
    [{ schedule: Array(SCHEDULE_LENGTH_MAX + 1).fill(1) }, false],
    [{ schedule: [1.5] }, false],
    [{ url: `https://partner.example/${'x'.repeat(2_024)}` }, true],
    [{ url: `https://partner.example/${'x'.repeat(2_025)}` }, false],
    [{ url: '' }, false],
    [{ url: null }, false],
    [{ mode: 'dry' }, false],
    [{ acceptFromQueue: 'yes' }, false],
    [{ repeatSafe: 'true' }, false],
    [{ repeatSafe: null }, false],
    [{ headers: { 'x-a': 5 } }, false],
    [{ headers: [] }, false],
    [{ signingSecret: 'whsec_' }, false],
    [{ signingSecret: 5 }, false],
  ])('hold for %j: %s', (setting, ok) => {
    const [name = ''] = Object.keys(setting);
    const field = fieldOf(setting);
    if (ok) expect(field).toBeUndefined();
    else expect(field?.startsWith(name)).toBe(true);
  });

  it('give the schedule one attempt less than a life has', () => {
    expect(SCHEDULE_LENGTH_MAX + 1).toBe(ATTEMPTS_MAX);
  });
});

describe('a schedule and the life of a key', () => {
  const hour = 3_600;
  /** Two attempts that take a second each before the last, a message that comes two seconds late each time, the margin. */
  const beside = 2 * (1 + 2) + 15;
  const fits = (sec: number) => ({ schedule: [hour, hour * 9], timeoutMs: 1_000, keyLifeHours: 12 + sec / hour });

  it.each<[what: string, setting: Record<string, unknown>, ok: boolean]>([
    ['ends a margin before the key, jitter and time-outs included', fits(beside), true],
    ['ends a tenth of a second behind that', fits(beside - 0.1), false],
    ['would fit with shorter time-outs', { ...fits(beside), timeoutMs: 2_000 }, false],
    ['would fit without its jitter', { schedule: [hour * 11], keyLifeHours: 12 }, false],
    ['is a second in a life of 3.6 s', { schedule: [1], keyLifeHours: 0.001 }, false],
    ['leaves no time for its jitter', { schedule: [3_000], keyLifeHours: 1 }, false],
    ['leaves time for its jitter and one time-out', { schedule: [2_950], keyLifeHours: 1 }, true],
    ['may be as long as it likes for a key without an end', { schedule: [hour * 24 * 5], keyLifeHours: null }, true],
    ['is not bound by a key where a repeat is not safe', { schedule: [hour * 48], repeatSafe: false }, true],
    ['is the default, and its key is too short for it', { keyLifeHours: 1 }, false],
    ['counts a 0 as the floor of a second', { schedule: Array(10).fill(0), keyLifeHours: 246 / hour }, false],
    ['fits with ten floors', { schedule: Array(10).fill(0), keyLifeHours: 247.1 / hour }, true],
    ['is empty: one attempt', { schedule: [], keyLifeHours: 1 / hour }, true],
  ])('%s', (_what, setting, ok) => {
    expect(fieldOf(setting)).toBe(ok ? undefined : 'schedule');
  });

  it('never reaches behind the horizon of a delivery', () => {
    const longestSec = Math.floor((HORIZON_MS / 1_000 - 20 - 2) / (1 + JITTER_SHARE));
    expect(fieldOf({ schedule: [longestSec], keyLifeHours: null })).toBeUndefined();
    expect(fieldOf({ schedule: [longestSec + 1], keyLifeHours: null })).toBe('schedule');
  });
});

describe('a header of a destination', () => {
  it.each([
    'host',
    'Content-Length',
    'transfer-encoding',
    'Idempotency-Key',
    'webhook-id',
    'Webhook-Anything',
    'user-agent',
    'traceparent',
    'content-type',
    'a b',
    '',
  ])('may not be called %j', (name) => {
    expect(fieldOf({ headers: { [name]: 'x' } })).toBe(`headers.${name}`);
  });

  it.each(['a\r\nb: c', 'é', ' a', 'a ', 'x'.repeat(1_025)])('may not hold %j', (value) => {
    expect(fieldOf({ headers: { 'x-a': value } })).toBe('headers.x-a');
  });

  it('is refused with its name only: the value may be a credential', () => {
    const result = read({ headers: { authorization: 'Bearer open-sesame\n' } });
    expect(JSON.stringify(result)).not.toContain('sesame');
  });
});

describe('a body that is no settings', () => {
  it.each([null, undefined, 5, 'text', [], [GOOD], true])('is refused: %j', (body) => {
    expect(readDestination(ID, body, CLOUD).kind).toBe('bad');
  });

  it.each(['retries', 'version', 'item', 'destination', 'deletedAtMs', 'carried', '__proto__', 'constructor'])(
    'is refused for a member that nobody may set: %s',
    (name) => {
      const body: unknown = JSON.parse(`{"url":"${GOOD.url}","repeatSafe":true,"${name}":{"x":1}}`);
      expect(readDestination(ID, body, CLOUD)).toMatchObject({ kind: 'bad', field: name });
    },
  );

  it('never makes the reader throw, and a refusal always says why', () => {
    const names = fc.constantFrom('url', 'repeatSafe', 'schedule', 'timeoutMs', 'headers', 'keyLifeHours', 'x');
    const near = fc.dictionary(names, fc.jsonValue());
    fc.assert(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          near,
          near.map((more) => ({ ...GOOD, ...more })),
        ),
        (body) => {
          const result = readDestination(ID, body, CLOUD);
          if (result.kind === 'bad') expect(result.reason.length).toBeGreaterThan(3);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('that was taken is taken again as it was stored', () => {
    const settings = fc.record({
      timeoutMs: fc.integer({ min: TIMEOUT_MS_MIN, max: TIMEOUT_MS_MAX }),
      schedule: fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: SCHEDULE_LENGTH_MAX }),
      keyLifeHours: fc.oneof(fc.constant(null), fc.double({ min: 11, max: 87_600, noNaN: true })),
      rejectOn: fc.array(fc.integer({ min: 300, max: 599 }), { maxLength: 20 }),
      repeatSafe: fc.boolean(),
    });
    fc.assert(
      fc.property(settings, (given) => {
        const { destination: _id, scheduleSec, ...rest } = settingsOf(given);
        expect(settingsOf({ ...rest, schedule: scheduleSec })).toEqual(settingsOf(given));
      }),
      { numRuns: 300 },
    );
  });
});
