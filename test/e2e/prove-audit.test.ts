/** A drill that `onceward prove` runs part by part, because of its count, as the audit page shows it: as one. */
import { describe, expect, it } from 'vitest';
import type { Decided } from '../../functions/core/operations.ts';
import { decisionTable } from '../../functions/operator/console/decision-table.ts';
import { ran } from '../support/cli.ts';
import { signedIn, wordsIn } from '../support/console.ts';
import { decisionItem, requestIdOf } from '../support/rows.ts';
import { openTestWorld, type TestWorld } from '../support/world.ts';
import { PARTNER } from '../support/world-states.ts';

const withPartner = async (): Promise<TestWorld> => {
  const world = openTestWorld();
  await world.destination(PARTNER);
  return world;
};

const proved = (world: TestWorld) => {
  const count = ['--count-url', 'https://count.test/all', '--settle-sec', '0'];
  const line = ['prove', PARTNER, '--reason', 'to be sure', '--yes', '--parts', 'repeat,twins,late', ...count];
  const answer = {
    kind: 'answer',
    status: 200,
    text: '0',
    contentType: 'text/plain',
    header: () => undefined,
  } as const;
  return ran(world, line, { shell: { callOnce: async () => answer } });
};

describe('a drill that ran part by part, for its count', () => {
  const audit = async (world: TestWorld): Promise<string> =>
    wordsIn((await (await signedIn(world, world.token('view'))).get('/console/audit')).text);

  it('is one row of the audit page, with its parts', async () => {
    const world = await withPartner();
    await proved(world);
    expect(world.store.writes.filter(({ ref }) => ref?.item === 'decision').length).toBeGreaterThanOrEqual(6);
    const words = await audit(world);
    expect(words.match(/prove/g)?.length).toBe(words.match(/prove (late|twins|repeat)/g)?.length);
    expect(words.match(/to be sure/g)).toHaveLength(1);
    for (const part of ['repeat', 'twins', 'late']) expect(words).toContain(part);
  });

  it('is not one with another drill for the same reason', async () => {
    const world = await withPartner();
    for (const _time of [1, 2]) {
      await proved(world);
      await world.clock.advance(60_000);
    }
    expect((await audit(world)).match(/to be sure/g)).toHaveLength(2);
  });

  it('does not end well on the page where one of its parts did not', () => {
    const decision = (part: string, result?: string): Decided => ({
      ...decisionItem({ command: 'prove', request: requestIdOf(`drill-${part}`) }),
      ...(result === undefined ? {} : { result }),
    });
    const shown = (...decisions: readonly Decided[]): string => wordsIn(String(decisionTable(decisions, 0)));
    expect(shown(decision('late', 'done'), decision('repeat', 'done'))).toMatch(/repeat, late .* done/);
    expect(shown(decision('late', 'done'), decision('repeat'))).toMatch(/repeat, late .* not concluded/);
  });
});
