import { describe, expect, it } from 'vitest';
import type { Answer, AnswerRules, OutcomeClass } from '../../functions/core/outcome.ts';
import { classify as classifyAt, closesDestination, mayHaveArrived } from '../../functions/core/outcome.ts';

const NOW_MS = Date.UTC(2026, 10, 29, 12);
const classify = (answer: Answer, rules: AnswerRules) => classifyAt(answer, rules, NOW_MS);

const SAFE: AnswerRules = { repeatSafe: true, rejectOn: [] };
const UNSAFE: AnswerRules = { repeatSafe: false, rejectOn: [] };

const answered = (status: number, ...retryAfter: string[]): Answer => ({
  kind: 'answered',
  status,
  retryAfter,
  excerpt: '',
  durationMs: 1,
});

const rejecting = (...rejectOn: number[]): AnswerRules => ({ repeatSafe: true, rejectOn });

const STATUSES = Array.from({ length: 400 }, (_, index) => index + 200);

/** The table once more, as ranges with exceptions: what a person would publish. */
const published = (status: number): OutcomeClass => {
  const alone: Readonly<Record<number, OutcomeClass>> = {
    408: 'throttled',
    410: 'gone',
    422: 'rejected',
    423: 'throttled',
    425: 'throttled',
    429: 'throttled',
  };
  return alone[status] ?? (status < 300 ? 'delivered' : 'failed');
};

describe('the class of a status', () => {
  it('is the published one for every status of HTTP, where a repeat is safe', () => {
    for (const status of STATUSES) expect(classify(answered(status), SAFE).class, `${status}`).toBe(published(status));
  });

  it('differs at an unsafe destination for the answers of a gateway only', () => {
    const differing = STATUSES.filter(
      (status) => classify(answered(status), SAFE).class !== classify(answered(status), UNSAFE).class,
    );
    expect(differing).toEqual([502, 504, 520, 524, 527, 598, 599]);
    for (const status of differing) {
      expect(classify(answered(status), UNSAFE)).toMatchObject({ class: 'in-doubt', detail: `status-${status}` });
    }
  });

  it.each([0, 99, 100, 101, 199, 600, 999, -200, Number.NaN, Number.POSITIVE_INFINITY])(
    'is in doubt outside of what HTTP knows: %d',
    (status) => {
      for (const rules of [SAFE, UNSAFE, rejecting(status)]) {
        expect(classify(answered(status), rules)).toEqual({
          class: 'in-doubt',
          detail: 'protocol',
          mayHaveArrived: true,
        });
      }
    },
  );

  it('is delivered as soon as a 2xx status line was seen, whatever became of the body', () => {
    for (const bodyNote of ['reset', 'deadline', 'too-large'] as const) {
      const answer: Answer = { kind: 'answered', status: 200, retryAfter: [], excerpt: '', durationMs: 1, bodyNote };
      expect(classify(answer, UNSAFE).class).toBe('delivered');
    }
  });

  it('of 503 is throttled where it asks for time, and failed where it does not', () => {
    for (const asking of ['30', 'Sun, 29 Nov 2026 12:00:30 GMT']) {
      expect(classify(answered(503, asking), SAFE).class, asking).toBe('throttled');
    }
    for (const none of [' ', '0', '-1', 'soon', '5 seconds', 'Sun, 29 Nov 2026 11:59:59 GMT']) {
      expect(classify(answered(503, none), SAFE).class, none).toBe('failed');
    }
    expect(classify(answered(503), SAFE).class).toBe('failed');
    expect(classify(answered(500, '30'), SAFE).class).toBe('failed');
  });

  it.each([301, 302, 303, 304, 307, 308])('of %d is a failure called redirect', (status) => {
    expect(classify(answered(status), SAFE)).toMatchObject({ class: 'failed', detail: 'redirect' });
  });

  it('of 409 is a failure called busy-there, never a success', () => {
    expect(classify(answered(409), SAFE)).toMatchObject({ class: 'failed', detail: 'busy-there' });
    expect(classify(answered(409), UNSAFE)).toMatchObject({ class: 'failed', detail: 'busy-there' });
  });
});

describe('the list of statuses that a destination rejects with', () => {
  it('turns failures, throttles and redirects into rejections', () => {
    for (const status of [400, 404, 408, 409, 429, 500, 503, 301]) {
      expect(classify(answered(status), rejecting(status)).class, `${status}`).toBe('rejected');
      expect(classify(answered(status), rejecting(418)).class, `${status}`).not.toBe('rejected');
    }
  });

  it('never turns a success into a rejection', () => {
    for (const status of [200, 202, 204, 299]) {
      expect(classify(answered(status), rejecting(status)).class).toBe('delivered');
    }
  });

  it('leaves 410 its own meaning', () => {
    expect(classify(answered(410), rejecting(410)).class).toBe('gone');
  });

  it('does not hide that a request may have had its effect behind a gateway', () => {
    expect(classify(answered(502), { repeatSafe: false, rejectOn: [502] }).class).toBe('in-doubt');
    expect(classify(answered(502), rejecting(502)).class).toBe('rejected');
  });
});

describe('an attempt without an answer', () => {
  it.each(['dns', 'refused', 'tls', 'blocked', 'connect-timeout', 'argument'] as const)(
    'is not-sent for certain on %s, and keeps the cause as its code',
    (cause) => {
      const answer: Answer = { kind: 'not-sent', cause, detail: 'who knows', durationMs: 1 };
      const expected = { class: 'not-sent', detail: cause, mayHaveArrived: false };
      expect(classify(answer, SAFE)).toEqual(expected);
      expect(classify(answer, UNSAFE)).toEqual(expected);
    },
  );

  it.each(['timeout', 'reset', 'protocol', 'header-overflow'] as const)(
    'is in doubt on %s, and keeps the cause as its code',
    (cause) => {
      const answer: Answer = { kind: 'in-doubt', cause, detail: 'who knows', durationMs: 1 };
      const expected = { class: 'in-doubt', detail: cause, mayHaveArrived: true };
      expect(classify(answer, SAFE)).toEqual(expected);
      expect(classify(answer, UNSAFE)).toEqual(expected);
    },
  );
});

describe('Retry-After', () => {
  it('is passed on for every answer that is tried again', () => {
    for (const status of [302, 400, 404, 408, 409, 423, 425, 429, 500, 502, 503, 504]) {
      expect(classify(answered(status, '5', '500'), SAFE).retryAfterMs, `${status}`).toBe(500_000);
    }
  });

  it('is not passed on for an answer that ends the delivery', () => {
    for (const status of [200, 410, 422])
      expect(classify(answered(status, '5'), SAFE)).not.toHaveProperty('retryAfterMs');
  });

  it('of a 429 or 503 is passed on for the sake of the other deliveries, also where this one is rejected', () => {
    for (const status of [429, 503]) {
      expect(classify(answered(status, '5'), rejecting(status))).toMatchObject({
        class: 'rejected',
        retryAfterMs: 5_000,
      });
    }
    expect(classify(answered(500, '5'), rejecting(500))).not.toHaveProperty('retryAfterMs');
  });

  it('closes the destination on 429 and 503 only, and only where it asks for time', () => {
    expect(STATUSES.filter((status) => closesDestination(status, 5_000))).toEqual([429, 503]);
    expect(closesDestination(429, undefined)).toBe(false);
    expect(closesDestination(429, 0)).toBe(false);
    expect(closesDestination(undefined, 5_000)).toBe(false);
  });

  it('is read in a bounded number of lines, and nowhere where none of them can be read', () => {
    const many = Array.from({ length: 100 }, (_, index) => String(index));
    expect(classify(answered(429, ...many), SAFE).retryAfterMs).toBe(7_000);
    expect(classify(answered(429, 'soon', ''), SAFE)).not.toHaveProperty('retryAfterMs');
  });
});

describe('whether an attempt may have arrived', () => {
  it.each<[OutcomeClass, boolean]>([
    ['delivered', true],
    ['throttled', true],
    ['failed', true],
    ['rejected', true],
    ['gone', true],
    ['in-doubt', true],
    ['not-sent', false],
    ['withheld', false],
    ['abandoned', false],
  ])('is for %s: %s', (outcome, expected) => {
    expect(mayHaveArrived(outcome)).toBe(expected);
  });

  it('is told with every answered status: something there has read the request', () => {
    for (const status of STATUSES) expect(classify(answered(status), SAFE).mayHaveArrived).toBe(true);
  });
});
