import { describe, expect, it } from 'vitest';
import type { Patch } from '../support/patched-code.ts';
import { BROKEN_MACHINES, FIRST_MISTAKES } from './broken-machines.ts';
import { expectCaught } from './caught.ts';
import { CALM } from './scenes.ts';
import { exploreBroken } from './threads.ts';

describe('a mistake in the real code is found by the run over all orders', () => {
  const first = BROKEN_MACHINES.filter(({ name }) => FIRST_MISTAKES.includes(name));
  for (const machine of first) {
    it(`${machine.name} (${machine.caughtBy})`, () => expectCaught(machine));
  }

  it('and the six of the quick tier are all there', () => {
    expect(first.length).toBe(FIRST_MISTAKES.length);
  });
});

describe('a patch', () => {
  const scene = { ...CALM, name: 'patched', repeatSafe: true, answer: '200' } as const;
  const explore = (patch: Patch) => exploreBroken([patch], scene, 'no-bug', 1);

  it('that changes nothing of importance leaves the machine whole', async () => {
    const harmless = { file: 'core/machine.ts', find: 'const busy = ', put: 'const busy: () => Decision = ' };
    expect((await explore(harmless)).failure).toBeUndefined();
  });

  it('whose text is not in the code any more is an error, not a mistake that survives', async () => {
    const stale = { file: 'core/machine.ts', find: 'no such text', put: '' };
    await expect(explore(stale)).rejects.toThrow('holds this text 0 times instead of once');
  });

  it('whose file no import meets is an error as well', async () => {
    const elsewhere = { file: 'intake/app.ts', find: 'x', put: 'y' };
    await expect(explore(elsewhere)).rejects.toThrow('no import has met intake/app.ts');
  });
});
