/** The mistakes that are planted: each still fits the code, and the first of them is seen. */
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { type Patch, patchedText } from '../../support/patched-code.ts';
import { hunt, isKilled, killerOf, medianOf } from './hunt.ts';
import { FASTEST, MISTAKES } from './mistakes.ts';

const textOf = (file: string): string => readFileSync(new URL(`../../../functions/${file}`, import.meta.url), 'utf8');

const misfits = (patches: readonly Patch[]): readonly string[] => {
  const texts = new Map<string, string>();
  return patches.flatMap((patch) => {
    try {
      texts.set(patch.file, patchedText(texts.get(patch.file) ?? textOf(patch.file), patch));
      return [];
    } catch (error) {
      return [String(error)];
    }
  });
};

describe('the planted mistakes', () => {
  it('are many, each of its own name, and each still fits the code', () => {
    expect(MISTAKES.length).toBeGreaterThanOrEqual(40);
    expect(new Set(MISTAKES.map(({ name }) => name)).size).toBe(MISTAKES.length);
    expect(MISTAKES.flatMap(({ patches }) => misfits(patches))).toEqual([]);
    expect(MISTAKES.every(({ patches }) => patches.length > 0)).toBe(true);
  });

  it('do not pass for planted where the code has changed', () => {
    expect(misfits([{ file: 'core/machine.ts', find: 'no such text', put: '' }])).toEqual([
      expect.stringContaining('holds this text 0 times instead of once'),
    ]);
  });

  it('of the slow tier are twelve, and none of them is argued away', () => {
    expect(new Set(FASTEST.map(({ name }) => name)).size).toBe(12);
    expect(FASTEST.every(({ survives }) => survives === undefined)).toBe(true);
  });

  it('are seen by the histories, and a change of nothing is not', async () => {
    const options = { seeds: 1, historiesMax: 40, seed: 'quick tier' };
    const [first] = FASTEST;
    if (first === undefined) throw new Error('no mistake');
    const seen = await hunt(first, options);
    expect([isKilled(seen), medianOf(seen), killerOf(seen)]).toEqual([
      true,
      expect.any(Number),
      expect.stringMatching(/^I\d+ /),
    ]);
    const harmless = { file: 'core/machine.ts', find: 'const busy = ', put: 'const busy: () => Decision = ' };
    const unseen = await hunt({ name: 'no mistake', patches: [harmless] }, options);
    expect([isKilled(unseen), medianOf(unseen), killerOf(unseen)]).toEqual([false, undefined, '-']);
  });
});
