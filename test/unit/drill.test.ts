/** The plan of a drill, what its answers show, and what follows: never that a repeat is safe, unless effects were counted. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  DRILL_PARTS,
  type DrillPart,
  drillEventText,
  drillPayload,
  KEY_PARTS,
  requestsOf,
  roundsOf,
  USUAL_PARTS,
  wishOf,
} from '../../functions/core/drill.ts';
import { adviceOn, conclude, DESERVES } from '../../functions/core/drill-conclusion.ts';
import { drillRelations } from '../../functions/core/drill-limits.ts';
import {
  answerKindOf,
  type Exchange,
  exchangeOf,
  haltOf,
  type PartSeen,
  READINGS,
  type Reading,
  readingOf,
} from '../../functions/core/drill-reading.ts';
import { partSays } from '../../functions/core/drill-words.ts';
import { parseEventId } from '../../functions/core/ids.ts';
import { answered, notSent, unanswered } from '../support/world-ports.ts';

const exchange = (status: number | undefined, more: Partial<Exchange> = {}): Exchange => ({
  request: 'first',
  durationMs: 1,
  ...(status === undefined ? { unanswered: 'timeout' } : { status }),
  ...more,
});

const seen = (part: DrillPart, statuses: readonly (number | undefined)[], more: Partial<PartSeen> = {}): PartSeen => ({
  part,
  exchanges: statuses.map((status) => exchange(status)),
  ...more,
});

describe('the plan', () => {
  it('tries all but the burst, in its own order, unless it is told otherwise', () => {
    expect(wishOf(undefined, undefined)).toEqual({ parts: USUAL_PARTS, burst: 10 });
    expect(USUAL_PARTS).not.toContain('burst');
    expect(wishOf(['forged', 'repeat'], undefined).parts).toEqual(['repeat', 'forged']);
    expect(wishOf(['burst'], 3)).toEqual({ parts: ['burst'], burst: 3 });
  });

  it('sends ten requests, and as many more as the burst has', () => {
    expect(requestsOf(wishOf(undefined, undefined))).toBe(10);
    expect(requestsOf(wishOf(DRILL_PARTS, 7))).toBe(17);
  });

  it('repeats one request in each part that the conclusion rests on, and never other bytes', () => {
    for (const part of KEY_PARTS) {
      const requests = roundsOf(part, 1).flat();
      expect(requests).toHaveLength(2);
      expect(requests.some(({ otherBody, forged }) => otherBody === true || forged === true)).toBe(false);
    }
    expect(roundsOf('twins', 1)).toHaveLength(1);
    expect(roundsOf('late', 1).map(([one]) => one?.madeMsAgo ?? 0)).toEqual([0, 60_000]);
  });

  it('marks every event as a test, each part with an id and bytes of its own', () => {
    const ids = DRILL_PARTS.map((part) => drillEventText('x'.repeat(11), part));
    expect(new Set(ids).size).toBe(DRILL_PARTS.length);
    for (const id of ids) {
      expect(parseEventId(id).kind).toBe('ok');
      expect(id.startsWith('test~')).toBe(true);
      expect(JSON.parse(Buffer.from(drillPayload(id, false)).toString())).toEqual({ onceward: 'test', event: id });
      expect(drillPayload(id, true)).not.toEqual(drillPayload(id, false));
    }
  });

  it('has bounds that hold', () => {
    expect(drillRelations().filter(({ holds }) => !holds)).toEqual([]);
  });
});

describe('an answer', () => {
  it.each([
    [200, 'accepted'],
    [204, 'accepted'],
    [302, 'refused'],
    [400, 'refused'],
    [401, 'refused'],
    [409, 'busy'],
    [410, 'refused'],
    [422, 'refused'],
    [423, 'busy'],
    [429, 'throttled'],
    [500, 'failed'],
    [503, 'failed'],
    [undefined, 'unanswered'],
  ] as const)('%s is %s', (status, kind) => {
    expect(answerKindOf(exchange(status))).toBe(kind);
  });

  it('of 503 that asks for time is throttled, and of 200 that does so is not', () => {
    expect(answerKindOf(exchange(503, { retryAfterMs: 1_000 }))).toBe('throttled');
    expect(answerKindOf(exchange(503, { retryAfterMs: 0 }))).toBe('failed');
    expect(answerKindOf(exchange(200, { retryAfterMs: 1_000 }))).toBe('accepted');
  });

  it('keeps the text of a failure, nothing of a success, and what a blocked address hides', () => {
    const at = (answer: Parameters<typeof exchangeOf>[1]) => exchangeOf('first', answer, undefined, 0);
    expect(at(answered(200, { excerpt: 'their customer' }))).toMatchObject({ status: 200, excerpt: '' });
    expect(at(answered(422, { excerpt: 'no such type' }))).toMatchObject({ status: 422, excerpt: 'no such type' });
    expect(at(notSent('blocked', '10.0.0.7'))).toMatchObject({ unanswered: 'blocked', excerpt: '' });
    expect(at(notSent('dns', 'ENOTFOUND'))).toMatchObject({ unanswered: 'dns', excerpt: 'ENOTFOUND' });
    expect(at(unanswered('timeout'))).toMatchObject({ unanswered: 'timeout' });
    expect(at(answered(429, { retryAfter: ['30'] }))).toMatchObject({ retryAfterMs: 30_000 });
  });

  it('is the same as the first of its part, or another, by the body as it came', () => {
    const first = answered(200, { excerpt: '{"id":1}' });
    const other = answered(200, { excerpt: '{"id":2}' });
    expect(exchangeOf('first', first, undefined, 0)).not.toHaveProperty('body');
    expect(exchangeOf('again', first, first, 0).body).toBe('same');
    expect(exchangeOf('again', other, first, 0).body).toBe('other');
    expect(exchangeOf('again', first, unanswered('reset'), 0)).not.toHaveProperty('body');
  });

  it('makes the drill leave the destination alone where it asks for time or does not come', () => {
    expect(haltOf([exchange(200), exchange(429)])).toBe('throttled');
    expect(haltOf([exchange(undefined), exchange(429)])).toBe('throttled');
    expect(haltOf([exchange(200), exchange(undefined)])).toBe('unanswered');
    expect(haltOf([exchange(200), exchange(500), exchange(409)])).toBeUndefined();
  });
});

/** Part, statuses, body of the second beside the first, and what that shows. */
const TABLE: readonly (readonly [DrillPart, readonly (number | undefined)[], 'same' | 'other' | undefined, Reading])[] =
  [
    ['repeat', [], undefined, 'not-tried'],
    ['repeat', [200], undefined, 'not-tried'],
    ['repeat', [500], undefined, 'no-success'],
    ['repeat', [undefined], undefined, 'no-success'],
    ['repeat', [200, 200], 'same', 'same-answer'],
    ['repeat', [200, 200], 'other', 'other-answer'],
    ['repeat', [201, 200], 'same', 'other-answer'],
    ['repeat', [200, 409], 'other', 'busy'],
    ['repeat', [200, 422], 'other', 'refused'],
    ['repeat', [200, 302], 'other', 'refused'],
    ['repeat', [200, 429], 'other', 'throttled'],
    ['repeat', [200, 500], 'other', 'failed'],
    ['repeat', [200, undefined], undefined, 'unanswered'],
    // The one that was accepted comes first, whichever left first.
    ['twins', [409, 200], 'other', 'busy'],
    ['twins', [200, 409], 'other', 'busy'],
    ['twins', [200, 200], 'same', 'same-answer'],
    ['twins', [undefined, 200], undefined, 'unanswered'],
    ['twins', [409, 409], 'same', 'no-success'],
    ['late', [200, 401], 'other', 'refused'],
    ['late', [200, 200], 'same', 'same-answer'],
    ['other-body', [200, 422], 'other', 'refused'],
    ['other-body', [200, 200], 'same', 'same-answer'],
    ['stale', [401], undefined, 'refused'],
    ['stale', [204], undefined, 'accepted'],
    ['forged', [200], undefined, 'accepted'],
    ['forged', [500], undefined, 'failed'],
    ['forged', [], undefined, 'not-tried'],
    ['burst', [200, 200, 429], undefined, 'throttled'],
    ['burst', [200, 409, 200], undefined, 'not-throttled'],
    ['burst', [500, 500], undefined, 'no-success'],
  ];

const ofRow = ([part, statuses, body]: (typeof TABLE)[number]): PartSeen => ({
  part,
  exchanges: statuses.map((status, index) =>
    exchange(status, index === 1 && body !== undefined ? { body, request: 'again' } : {}),
  ),
});

describe('a part', () => {
  it.each(TABLE.map((row) => [...row] as const))('%s answered %j (%s) shows %s', (...row) => {
    expect(readingOf(ofRow(row))).toBe(row[3]);
  });

  it('of every reading has a row, and a sentence', () => {
    expect(new Set(TABLE.map(([, , , reading]) => reading))).toEqual(new Set(READINGS));
    for (const row of TABLE) expect(partSays(ofRow(row))).toMatch(/^[a-z].+: [a-z].+\.( Effects: unproven\.)?$/);
  });

  it('says how often it acted, or that nobody knows, and why it was not tried', () => {
    expect(partSays(seen('repeat', [200, 200]))).toBe(
      'a repeat after success: accepted again, with the same answer (200, 200). Effects: unproven.',
    );
    expect(partSays(seen('twins', [200, undefined], { effects: 2 }))).toBe(
      'two identical requests at once: no answer (200, timeout). Effects: 2.',
    );
    expect(partSays(seen('burst', [200, 429, 200]))).toContain('it asked for time (2 x 200, 1 x 429).');
    expect(partSays(seen('late', [], { skipped: 'throttled' }))).toContain(
      'not tried, for the destination asked for time',
    );
  });
});

const safe = (effects = 1): PartSeen[] => KEY_PARTS.map((part) => seen(part, [200, 200], { effects }));
const instead = (part: DrillPart, statuses: readonly (number | undefined)[], effects?: number): PartSeen[] =>
  safe().map((one) => (one.part === part ? seen(part, statuses, effects === undefined ? {} : { effects }) : one));

describe('the conclusion', () => {
  it('is safe where each of the three was accepted, dealt with, and counted once', () => {
    expect(conclude(safe()).deserves).toBe('repeat-safe');
    expect(conclude(instead('twins', [200, 409], 1)).deserves).toBe('repeat-safe');
    expect(conclude(instead('repeat', [200, 422], 1)).deserves).toBe('repeat-safe');
    expect(conclude(instead('late', [200, 401], 1)).deserves).toBe('repeat-safe');
  });

  it.each(KEY_PARTS)('is not safe where %s had two effects, however alike the answers', (part) => {
    const { deserves, because } = conclude(instead(part, [200, 200], 2));
    expect(deserves).toBe('not-repeat-safe');
    expect(because).toEqual([`${part}: 2 identical requests under one key had 2 effects.`]);
  });

  it('is not safe where a burst of one key had two effects, or a failure acted twice', () => {
    expect(conclude([...safe(), seen('burst', [200, 200, 200], { effects: 2 })]).deserves).toBe('not-repeat-safe');
    expect(conclude(instead('repeat', [500], 2)).deserves).toBe('not-repeat-safe');
  });

  it('does not count other bytes, nor a single request, against it', () => {
    for (const part of ['other-body', 'stale', 'forged'] as const) {
      expect(conclude([...safe(), seen(part, [200, 200], { effects: 2 })]).deserves).toBe('repeat-safe');
    }
  });

  it.each([
    ['nobody has counted', instead('repeat', [200, 200]), 'unproven'],
    ['one was not tried', safe().slice(1), 'not tried'],
    ['no effect was counted', instead('late', [200, 200], 0), 'no effect was counted'],
    ['nothing was accepted', instead('twins', [500, 500], 1), 'no request was accepted'],
    ['the repeat was asked to wait', instead('repeat', [200, 429], 1), 'not dealt with'],
    ['the repeat failed', instead('repeat', [200, 500], 1), 'not dealt with'],
    ['the repeat was not answered', instead('twins', [200, undefined], 1), 'not dealt with'],
    ['there is nothing at all', [], 'not tried'],
  ])('is not shown where %s', (_why, parts, says) => {
    const { deserves, because } = conclude(parts);
    expect(deserves).toBe('not-shown');
    expect(because.join(' ')).toContain(says);
  });

  const status = fc.constantFrom(200, 204, 302, 401, 409, 422, 429, 500, undefined);
  const anyPart = fc.record({
    part: fc.constantFrom(...DRILL_PARTS),
    exchanges: fc.array(
      status.map((one) => exchange(one)),
      { maxLength: 3 },
    ),
    effects: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  });

  it('is never safe without exactly one counted effect of each of the three, whatever was answered', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyPart, { selector: ({ part }) => part }), (parts) => {
        const { deserves, because } = conclude(parts);
        expect(DESERVES).toContain(deserves);
        expect(because).not.toEqual([]);
        const counts = KEY_PARTS.map((name) => parts.find(({ part }) => part === name)?.effects);
        if (deserves === 'repeat-safe') expect(counts).toEqual([1, 1, 1]);
        if (parts.every(({ effects }) => effects === undefined)) expect(deserves).toBe('not-shown');
        if (counts.some((count) => (count ?? 0) > 1)) expect(deserves).toBe('not-repeat-safe');
      }),
    );
  });

  it('comes out as safe for some that the property draws, so that it can fail', () => {
    expect(conclude(safe().map((part) => ({ ...part, effects: 1 }))).deserves).toBe('repeat-safe');
  });
});

describe('advice', () => {
  const onSetting = (repeatSafe: boolean, parts: readonly PartSeen[]) =>
    adviceOn(parts, conclude(parts).deserves, repeatSafe).join(' ');

  it('says where the setting and what was seen differ, and nothing where they agree', () => {
    expect(onSetting(true, safe(2))).toContain('Set repeatSafe to false now');
    expect(onSetting(false, safe(2))).toBe('');
    expect(onSetting(true, safe())).toBe('');
    expect(onSetting(false, safe())).toContain('may be set to true');
    expect(onSetting(true, [])).toContain('was not shown');
    expect(onSetting(false, [])).toBe('');
  });

  it.each([
    ['repeat', [200, 409], 'answer it with 2xx'],
    ['repeat', [200, 500], 'answer it with 2xx'],
    ['twins', [200, 500], 'one transaction'],
    ['stale', [200], 'an old signature is taken'],
    ['forged', [200], 'anybody can send to it'],
    ['burst', [200, 429], 'without Retry-After'],
  ] as const)('tells what is worth mending: %s answered %j', (part, statuses, says) => {
    expect(onSetting(false, [seen(part, statuses)])).toContain(says);
  });

  it('knows what was not accepted and acted, and what acted on other bytes', () => {
    expect(onSetting(false, [seen('forged', [401], { effects: 1 })])).toContain('acted all the same');
    expect(onSetting(false, [seen('other-body', [200, 200], { effects: 2 })])).toContain('an effect of their own');
    expect(onSetting(false, [seen('forged', [401]), seen('stale', [401]), seen('repeat', [200, 200])])).toBe('');
    expect(onSetting(false, [seen('late', [200, 401])])).toBe('');
    const polite = { exchanges: [exchange(429, { retryAfterMs: 1_000 })] };
    expect(onSetting(false, [{ part: 'burst', ...polite }])).toBe('');
  });
});
