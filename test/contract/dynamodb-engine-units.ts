import { describe, expect, it } from 'vitest';
import { type Bench, type Item, key } from './dynamodb-engine-bench.ts';

export function unitFacts(bench: () => Bench): void {
  const ASK = { ReturnConsumedCapacity: 'INDEXES' as const };
  const row = (pk: string, gs: number, more: Item = {}) => ({
    ...key(pk),
    gp: { S: 'units' },
    gs: { N: `${gs}` },
    ...more,
  });
  const KB = 1024;

  /** What a write takes: all in all, in the table, in the index `due`. */
  async function units(write: ReturnType<Bench['put']> | ReturnType<Bench['update']> | ReturnType<Bench['remove']>) {
    const { ConsumedCapacity: used } = await write;
    return [used?.CapacityUnits, used?.Table?.CapacityUnits, used?.GlobalSecondaryIndexes?.['due']?.CapacityUnits ?? 0];
  }

  describe('write units', () => {
    it('counts one for an item up to 1 KB and one more for each further KB, by the larger of old and new', async () => {
      expect(await units(bench().put(key('plain'), ASK))).toEqual([1, 1, 0]);
      expect(await units(bench().put({ ...key('plain'), blob: { B: new Uint8Array(3 * KB) } }, ASK))).toEqual([
        4, 4, 0,
      ]);
      expect(await units(bench().put(key('plain'), ASK))).toEqual([4, 4, 0]);
      expect(await units(bench().remove(key('plain'), ASK))).toEqual([1, 1, 0]);
      expect(await units(bench().remove(key('plain'), ASK))).toEqual([1, 1, 0]);
    });

    it('counts text in bytes of UTF-8', async () => {
      expect(await units(bench().put({ ...key('utf8'), text: { S: 'é'.repeat(KB) } }, ASK))).toEqual([3, 3, 0]);
    });

    it('counts one for a row that enters an index, none while its keys stay, two when it moves, one when it leaves', async () => {
      expect(await units(bench().put(row('index', 1), ASK))).toEqual([2, 1, 1]);
      expect(await units(bench().put(row('index', 1, { more: { S: 'x' } }), ASK))).toEqual([1, 1, 0]);
      expect(await units(bench().put(row('index', 2), ASK))).toEqual([3, 1, 2]);
      const remove = { UpdateExpression: 'REMOVE gs', ...ASK };
      expect(await units(bench().update(key('index'), remove))).toEqual([2, 1, 1]);
      expect(await units(bench().update(key('index'), remove))).toEqual([1, 1, 0]);
      await bench().put(row('index', 3));
      expect(await units(bench().remove(key('index'), ASK))).toEqual([2, 1, 1]);
    });

    it('gives the total alone when that is asked for', async () => {
      const { ConsumedCapacity: used } = await bench().put(row('total', 1), { ReturnConsumedCapacity: 'TOTAL' });
      expect([used?.CapacityUnits, used?.Table, used?.GlobalSecondaryIndexes]).toEqual([2, undefined, undefined]);
    });
  });
}
