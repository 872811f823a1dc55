import { describe, expect, it } from 'vitest';
import { systemDice } from '../../functions/adapters/system.ts';
import { parseClaimId } from '../../functions/core/ids.ts';

describe('ids of the system', () => {
  it('are all different and of the form of an id, over many blocks of random bytes', () => {
    const ids = Array.from({ length: 20_000 }, () => systemDice.id());
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => parseClaimId(id).kind === 'ok' && /^[\w-]{11}$/.test(id))).toBe(true);
  });

  it('use every one of their bits: no character stands more often than chance lets it', () => {
    const ids = Array.from({ length: 20_000 }, () => systemDice.id());
    for (let at = 0; at < 11; at += 1) {
      const counts = new Map<string, number>();
      for (const id of ids) counts.set(id[at] ?? '', (counts.get(id[at] ?? '') ?? 0) + 1);
      expect(counts.size).toBe(64);
      // 312 expected each; ten standard deviations away is no chance.
      expect(Math.max(...counts.values())).toBeLessThan(312 + 180);
    }
  });
});
