/** Some hours of the virtual day: `npm run virtual-day` runs all of it. */
import { describe, expect, it } from 'vitest';
import { runDay } from './day.ts';

describe('three hours of five thousand events, ten of fifty destinations bad', () => {
  it('lose nothing, and the healthy destinations do not notice', async () => {
    const day = await runDay(5_000, 3, () => undefined);
    expect(day.bugs).toEqual([]);
    expect(day.accepted).toBe(5_000);
    // The bad ones were bad: nothing of theirs had been delivered by then, and all of it waited in sight.
    expect(day.atDusk).toMatchObject({ delivered: 4_000 });
    expect(day.atDusk['pending parked']).toBeGreaterThan(500);
    expect(day.overdueAtDusk).toBe(0);
    expect(day.lost).toBe(0);
    expect(day.atTheEnd).toEqual({ delivered: 5_000 });
    expect([day.secondSuccesses, day.secondEffects]).toEqual([0, 0]);
    expect(day.latenciesMs).toHaveLength(4_000);
    expect(day.latenciesMs.at(-1)).toBeLessThan(5_000);
  });
});
