/**
 * What parent and child of a kill test know without talking to each other: each key goes through versions 1, 2, 3, ...
 * and what stands in the table at each of them follows from seed, key and version. A child may die at any moment; the
 * parent still knows what has to be there.
 */
import { createHash } from 'node:crypto';
import type { AttributeValue } from '@aws-sdk/client-dynamodb';

export type Item = Record<string, AttributeValue>;
/** Key -> version; 0 is a key that was never written. */
export type Versions = Record<string, number>;

export const KILL_TABLE = 'kill';
export const KILL_KEYS = Array.from({ length: 12 }, (_, at) => `key-${at}`);
export const KILL_INDEXES = { due: { gp: 'S', gs: 'N' }, bytes: { bp: 'B', bs: 'B' } } as const;

export function keyOf(pk: string): Item {
  return { pk: { S: pk }, sk: { S: 'row' } };
}

/**
 * The item at a version, `undefined` where it is deleted. Never twice in a row, so that what is found tells the version.
 * From one version to the next an index key changes, disappears, comes back or stays.
 */
export function planned(seed: number, pk: string, version: number): Item | undefined {
  if (version === 0 || version % 7 === 0) return undefined;
  const dice = createHash('sha256').update(`${seed}/${pk}/${version}`).digest();
  const die = (at: number, sides: number) => (dice[at] ?? 0) % sides;
  return {
    ...keyOf(pk),
    v: { N: `${version}` },
    payload: { B: Buffer.alloc(die(0, 20) === 0 ? 40_000 : 50 + die(1, 256) * 4, dice) },
    ...(die(2, 4) > 0 && { gp: { S: `partition-${die(3, 3)}` } }),
    ...(die(4, 4) > 0 && { gs: { N: `${die(5, 40)}` } }),
    ...(die(6, 2) > 0 && { bp: { B: Buffer.from([die(7, 2)]) }, bs: { B: Buffer.from([die(8, 5)]) } }),
  };
}
