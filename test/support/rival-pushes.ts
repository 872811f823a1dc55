/** Many pushes of one delivery at once, each stopped before every request to the ledger and let go in a random order. */
import { expect } from 'vitest';
import type { MemoryStore } from '../../functions/adapters/ledger/memory-store.ts';
import { type Answered, openTestWorld, type TestWorld } from './world.ts';
import { answered, seededDice, shuffledTurns } from './world-ports.ts';
import { EVENT, opened, PARTNER } from './world-states.ts';

export interface Race {
  readonly world: TestWorld;
  readonly answers: readonly Answered[];
}

/** `damage` makes the store worse than it is, to show that the race is one. */
export const racePushes = async (
  seed: number,
  pushes: number,
  damage?: (store: MemoryStore) => void,
): Promise<Race> => {
  const world = await opened(openTestWorld({ seed }));
  damage?.(world.store);
  const turn = shuffledTurns(seededDice(`race ${seed}`));
  world.ledgerHooks.before = turn;
  world.sender.always(async () => {
    await turn();
    return answered(200);
  });
  const answers = await Promise.all(
    Array.from({ length: pushes }, (_, index) => world.deliver(EVENT, PARTNER, { messageId: `m${index % 7}` })),
  );
  delete world.ledgerHooks.before;
  return { world, answers };
};

export const expectOneSend = async ({ world, answers }: Race): Promise<void> => {
  expect(world.sender.sends).toHaveLength(1);
  expect(answers.filter(({ status }) => status !== 200)).toEqual([]);
  const row = await world.row(EVENT, PARTNER);
  expect(row).toMatchObject({ status: 'delivered', attempts: 1 });
  expect(row.journal.lines.map(({ entry }) => entry.kind)).toEqual(['accepted', 'claimed', 'outcome']);
};
