import { describe, expect, it } from 'vitest';
import type { OutcomeClass } from '../../functions/core/outcome.ts';
import { classify } from '../../functions/core/outcome.ts';

const classOf = (status: number, excerpt = '', repeatSafe = true): OutcomeClass =>
  classify({ kind: 'answered', status, retryAfter: [], excerpt, durationMs: 1 }, { repeatSafe, rejectOn: [] }, 0).class;

const RETRIED: readonly OutcomeClass[] = ['throttled', 'failed'];

describe('the published table of refusals', () => {
  it.each<[number, OutcomeClass]>([
    [400, 'failed'],
    [401, 'failed'],
    [403, 'failed'],
    [404, 'failed'],
    [405, 'failed'],
    [408, 'throttled'],
    [409, 'failed'],
    [411, 'failed'],
    [413, 'failed'],
    [415, 'failed'],
    [421, 'failed'],
    [422, 'rejected'],
    [423, 'throttled'],
    [425, 'throttled'],
    [429, 'throttled'],
    [431, 'failed'],
    [451, 'failed'],
  ])('reads %d as %s, whether a repeat is safe there or not [C160]', (status, expected) => {
    expect(classOf(status)).toBe(expected);
    expect(classOf(status, '', false)).toBe(expected);
  });

  it('tries 408, 409, 423, 425 and 429 again, and does not try 422 again [C160]', () => {
    for (const status of [408, 409, 423, 425, 429]) expect(RETRIED).toContain(classOf(status));
    expect(RETRIED).not.toContain(classOf(422));
  });
});

describe('the answers of a receiver that has accepted', () => {
  it.each([200, 201, 202, 204, 206, 226])('end the delivery with %d, with and without a body [C174]', (status) => {
    expect(classOf(status)).toBe('delivered');
    expect(classOf(status, 'thank you')).toBe('delivered');
    expect(classOf(status, '', false)).toBe('delivered');
  });
});
