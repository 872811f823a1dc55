/** Many workers, one delivery: the promise of the claim, met with the real receiver. */

import { describe, expect, it } from 'vitest';
import { expectOneSend, racePushes } from '../support/rival-pushes.ts';

describe('a hundred pushes of one delivery at once', () => {
  it.each(Array.from({ length: 20 }, (_, round) => round))('send exactly one request: round %d', async (round) => {
    await expectOneSend(await racePushes(round, 100));
  });

  it('would send more over a ledger that forgets to compare: the race is a real one', async () => {
    const { world } = await racePushes(1, 100, (store) => {
      store.put = async (record) => {
        store.poke(record);
        return { kind: 'written' };
      };
    });
    expect(world.sender.sends.length).toBeGreaterThan(1);
  });

  it('meet each other in the ledger: some find the claim of another, some lose the race for it', async () => {
    const notes = new Set<string>();
    for (let round = 0; round < 5; round += 1) {
      for (const { text } of (await racePushes(round, 100)).answers) notes.add(text);
    }
    expect([...notes].sort()).toEqual(
      ['busy', 'done', 'settled'].map((note) => JSON.stringify({ verdict: 'ack', note })).sort(),
    );
  });
});
