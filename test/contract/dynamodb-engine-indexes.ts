import { describe, expect, it } from 'vitest';
import { type Bench, key, refusalOf } from './dynamodb-engine-bench.ts';

export function indexFacts(bench: () => Bench): void {
  const row = (pk: string, gp: string, gs: number, sk?: string) => ({
    ...key(pk, sk),
    gp: { S: gp },
    gs: { N: `${gs}` },
  });

  describe('secondary indexes', () => {
    it('shows the keys of an item, and nothing else of it', async () => {
      await bench().put({ ...row('keys', 'keys', 7), payload: { S: 'not here' } });
      expect(await bench().due('keys')).toEqual([row('keys', 'keys', 7)]);
    });

    it('holds only items that have all its key attributes', async () => {
      await bench().put({ ...key('half'), gp: { S: 'sparse' } });
      expect(await bench().due('sparse')).toEqual([]);
      const set = { UpdateExpression: 'SET gs = :s', ExpressionAttributeValues: { ':s': { N: '1' } } };
      await bench().update(key('half'), set);
      expect(await bench().due('sparse')).toEqual([row('half', 'sparse', 1)]);
    });

    it('lets a row go when an update removes one of its key attributes', async () => {
      await bench().put(row('leaves', 'leaves', 1));
      await bench().update(key('leaves'), { UpdateExpression: 'REMOVE gs' });
      expect(await bench().due('leaves')).toEqual([]);
      expect(await bench().get(key('leaves'))).toEqual({ ...key('leaves'), gp: { S: 'leaves' } });
    });

    it('lets a row go when a put leaves its key attributes out, and when the item is deleted', async () => {
      await bench().put(row('put-out', 'out', 1));
      await bench().put(row('deleted', 'out', 2));
      expect(await bench().due('out')).toHaveLength(2);
      await bench().put(key('put-out'));
      await bench().remove(key('deleted'));
      expect(await bench().due('out')).toEqual([]);
    });

    it('moves the row when a key attribute changes: by sort key, and to another partition', async () => {
      await bench().put(row('moves', 'from', 1));
      await bench().put(row('moves', 'from', 2));
      expect(await bench().due('from')).toEqual([row('moves', 'from', 2)]);
      const set = { UpdateExpression: 'SET gp = :p', ExpressionAttributeValues: { ':p': { S: 'to' } } };
      await bench().update(key('moves'), set);
      expect(await bench().due('from')).toEqual([]);
      expect(await bench().due('to')).toEqual([row('moves', 'to', 2)]);
    });

    it('leaves the row alone when a write is refused', async () => {
      await bench().put(row('refused', 'refused', 1));
      const never = { ConditionExpression: 'attribute_not_exists(pk)' };
      await refusalOf(bench().put(row('refused', 'refused', 2), never));
      await refusalOf(bench().remove(key('refused'), never));
      expect(await bench().due('refused')).toEqual([row('refused', 'refused', 1)]);
    });

    it('keeps items with equal index keys apart, even where their own keys read alike when joined', async () => {
      const twins = [row('a', 'twins', 1, 'bc'), row('ab', 'twins', 1, 'c'), row('abc', 'twins', 1, 'abc')];
      await Promise.all(twins.map((twin) => bench().put(twin)));
      const found = await bench().due('twins');
      expect(found).toHaveLength(3);
      expect(found).toEqual(expect.arrayContaining(twins));
      await bench().remove(key('a', 'bc'));
      expect(await bench().due('twins')).toHaveLength(2);
    });

    it('pages through items with equal index keys without losing or repeating one, in both directions', async () => {
      const rows = Array.from({ length: 23 }, (_, at) => row(`equal-${at}`, 'equal', at % 2));
      await Promise.all(rows.map((one) => bench().put(one)));
      for (const ScanIndexForward of [true, false]) {
        const { items, sizes } = await bench().pages({
          IndexName: 'due',
          KeyConditionExpression: 'gp = :p',
          ExpressionAttributeValues: { ':p': { S: 'equal' } },
          Limit: 5,
          ScanIndexForward,
        });
        expect(sizes.slice(0, 5)).toEqual([5, 5, 5, 5, 3]);
        expect(new Set(items.map((item) => item['pk']?.S)).size).toBe(23);
        const order = items.map((item) => Number(item['gs']?.N));
        expect(order).toEqual(order.toSorted((a, b) => (ScanIndexForward ? a - b : b - a)));
      }
    });

    it('goes on from an item that has left the index since', async () => {
      const rows = [1, 2, 3, 4].map((at) => row(`page-${at}`, 'page', at));
      await Promise.all(rows.map((one) => bench().put(one)));
      const query = {
        IndexName: 'due',
        KeyConditionExpression: 'gp = :p',
        ExpressionAttributeValues: { ':p': { S: 'page' } },
        Limit: 2,
      };
      const first = await bench().query(query);
      await bench().update(key('page-2'), { UpdateExpression: 'REMOVE gp, gs' });
      const second = await bench().query({ ...query, ExclusiveStartKey: first.LastEvaluatedKey });
      expect(second.Items).toEqual(rows.slice(2));
    });

    it('refuses strong consistency on an index, an unknown index, and a key of the wrong type', async () => {
      const query = { KeyConditionExpression: 'gp = :p', ExpressionAttributeValues: { ':p': { S: 'x' } } };
      const refusals = await Promise.all([
        refusalOf(bench().query({ ...query, IndexName: 'due', ConsistentRead: true })),
        refusalOf(bench().query({ ...query, IndexName: 'none' })),
        refusalOf(bench().put({ ...key('typed'), gp: { N: '1' } })),
      ]);
      expect(refusals.map(({ name }) => name)).toEqual([
        'ValidationException',
        'ValidationException',
        'ValidationException',
      ]);
    });
  });
}
