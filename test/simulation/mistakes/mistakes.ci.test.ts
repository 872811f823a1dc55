/** The twelve mistakes that are seen soonest, each over three seeds. `npm run mistakes` plants all of them. */
import { describe, expect, it } from 'vitest';
import { hunt, killerOf, medianOf } from './hunt.ts';
import { FASTEST } from './mistakes.ts';

describe('a mistake in the real code is seen within 500 histories of every seed', () => {
  it.each(FASTEST)('$name', async (mistake) => {
    const hunted = await hunt(mistake, { seeds: 3, historiesMax: 500, seed: 'slow tier' });
    expect(hunted.histories).not.toContain(undefined);
    console.info(`${mistake.name}: ${killerOf(hunted)}, ${medianOf(hunted)} histories`);
  });
});
