import { describe, expect, it } from 'vitest';
import { percentile } from '../bench/stage/open-loop.ts';

describe('a percentile', () => {
  const hundred = Array.from({ length: 100 }, (_, n) => 100 - n);

  it.each([
    [0.5, 50],
    [0.99, 99],
    [0.999, 100],
    [0, 1],
    [1, 100],
  ])('is the smallest value that the share %d of all does not exceed: %d', (share, value) => {
    expect(percentile(hundred, share)).toBe(value);
  });

  it('is no number where there is no value', () => {
    expect(percentile([], 0.5)).toBeNaN();
  });
});
