/** Twenty kills of the local world, its data on disk: I1 to I9 hold. About a minute. `npm run kills` plays many more. */
import { expect, it } from 'vitest';
import { judgeKills } from './judge.ts';
import { playKills } from './played.ts';

it('I1 to I9 hold after 20 kills at random points', async () => {
  const evidence = await playKills(20, 20);
  expect(judgeKills(evidence)).toEqual([]);
  expect(evidence.kills).toBe(20);
  // The kills have hit: work was under way that had to be found again.
  const outcomes = evidence.rows.flatMap((row) => row.journal.lines.map(({ entry }) => entry.class));
  expect(outcomes.filter((one) => one === 'in-doubt').length).toBeGreaterThan(0);
  expect(evidence.promised.length).toBeGreaterThan(30);
  console.info(`${evidence.rows.length} deliveries, ${evidence.received.length} requests`);
});
