import { describe, expect, it } from 'vitest';
import { CONCURRENCY_ASSUMED, estimateMs, isTooSlow } from '../../functions/core/estimate.ts';

const config = (over: object = {}) => ({ timeoutMs: 20_000, ...over });

describe('how long a redrive may take', () => {
  it('is nothing where nothing would be sent', () => {
    expect(estimateMs([])).toBe(0);
    expect(estimateMs([{ sends: 0, config: config() }])).toBe(0);
  });

  it('is messages x time-out / concurrency, a last round counted as a whole one', () => {
    expect(estimateMs([{ sends: 1_000, config: config({ concurrency: 5 }) }])).toBe(4_000_000);
    expect(estimateMs([{ sends: 6, config: config({ concurrency: 5 }) }])).toBe(40_000);
    expect(estimateMs([{ sends: 1, config: config({ concurrency: 50 }) }])).toBe(20_000);
  });

  it('counts on ten at once where the destination has no number of its own', () => {
    expect(CONCURRENCY_ASSUMED).toBe(10);
    expect(estimateMs([{ sends: 100, config: config() }])).toBe(200_000);
  });

  it('is never shorter than the rate allows', () => {
    const slow = config({ timeoutMs: 1_000, ratePerSecond: 0.5 });
    expect(estimateMs([{ sends: 100, config: slow }])).toBe(200_000);
    expect(estimateMs([{ sends: 100, config: { ...slow, ratePerSecond: 1_000 } }])).toBe(10_000);
  });

  it('adds up over destinations: a batch may hold those of a single one', () => {
    const shares = [
      { sends: 10, config: config() },
      { sends: 20, config: config({ timeoutMs: 1_000 }) },
    ];
    expect(estimateMs(shares)).toBe(22_000);
  });

  it('is too long only above the stated recovery time', () => {
    expect(isTooSlow({ estimateMs: 60_000, recoveryMinutes: 1 })).toBe(false);
    expect(isTooSlow({ estimateMs: 60_001, recoveryMinutes: 1 })).toBe(true);
  });
});
