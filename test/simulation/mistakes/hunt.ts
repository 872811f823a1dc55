/** How many histories it takes until a mistake is seen, over several seeds, and by which invariant. */
import { ORACLES, type OracleName } from '../oracles.ts';
import { simulate } from '../threads.ts';
import type { Mistake } from './mistake.ts';

export interface Hunted {
  readonly mistake: Mistake;
  /** Of each seed: after how many histories; undefined where none showed it. */
  readonly histories: readonly (number | undefined)[];
  /** The judges that saw it, the one that saw it most often first. */
  readonly seenBy: readonly OracleName[];
}

export interface HuntOptions {
  readonly seeds: number;
  readonly historiesMax: number;
  readonly seed: string;
}

/** One seed after another, each until the first history that breaks an invariant. */
export const hunt = async (mistake: Mistake, { seeds, historiesMax, seed }: HuntOptions): Promise<Hunted> => {
  const histories: (number | undefined)[] = [];
  const seen = new Map<OracleName, number>();
  for (let nth = 1; nth <= seeds; nth += 1) {
    const done = await simulate({
      threads: 1,
      patches: mistake.patches,
      seed: `${seed}-${nth}`,
      histories: historiesMax,
      until: 'any',
    });
    const [failed] = done.violations;
    histories.push(failed === undefined ? undefined : done.histories);
    for (const { oracle } of failed?.violations ?? []) seen.set(oracle, (seen.get(oracle) ?? 0) + 1);
    // What one seed does not find in all its histories, the others need not be asked for.
    if (failed === undefined) break;
  }
  const seenBy = [...seen].toSorted((a, b) => b[1] - a[1]).map(([oracle]) => oracle);
  return { mistake, histories, seenBy };
};

export const isKilled = ({ histories }: Hunted): boolean => histories.every((count) => count !== undefined);

export const medianOf = ({ histories }: Hunted): number | undefined => {
  const counts = histories.filter((count) => count !== undefined).toSorted((a, b) => a - b);
  return isKilled({ histories } as Hunted) ? counts[Math.floor(counts.length / 2)] : undefined;
};

/** `I5 record-before-ack`. */
export const killerOf = ({ seenBy: [oracle] }: Hunted): string => (oracle ? `${ORACLES[oracle][0]} ${oracle}` : '-');
