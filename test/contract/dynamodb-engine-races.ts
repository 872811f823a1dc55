import { describe, expect, it } from 'vitest';
import { type Bench, key } from './dynamodb-engine-bench.ts';

export function raceFacts(bench: () => Bench): void {
  describe('races', () => {
    it('lets exactly one of a hundred creations of one key win, twenty times over', async () => {
      for (let round = 0; round < 20; round += 1) {
        const attempts = Array.from({ length: 100 }, async (_, by) => {
          const item = { ...key(`race-${round}`), by: { N: `${by}` } };
          try {
            await bench().put(item, {
              ConditionExpression: 'attribute_not_exists(pk)',
              ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
            });
            return { won: true, item };
          } catch (error) {
            return { won: false, item: error instanceof Error && 'Item' in error ? error.Item : error };
          }
        });
        const results = await Promise.all(attempts);
        const [winner, ...others] = results.filter(({ won }) => won);
        expect(others).toEqual([]);
        expect(winner?.item).toEqual(await bench().get(key(`race-${round}`)));
        // Every loser was shown the winner's item.
        for (const { item } of results) expect(item).toEqual(winner?.item);
      }
    });

    it('loses no increment', async () => {
      const add = { UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': { N: '1' } } };
      await Promise.all(Array.from({ length: 60 }, () => bench().update(key('counter'), add)));
      expect((await bench().get(key('counter')))?.['n']).toEqual({ N: '60' });
    });

    it('lets each version be replaced once when many swap the version they have read', async () => {
      await bench().put({ ...key('swap'), v: { N: '0' } });
      const swaps = Array.from({ length: 8 }, async () => {
        let won = 0;
        for (let turn = 0; turn < 10; turn += 1) {
          const read = Number((await bench().get(key('swap')))?.['v']?.N);
          won += await bench()
            .put(
              { ...key('swap'), v: { N: `${read + 1}` } },
              { ConditionExpression: 'v = :read', ExpressionAttributeValues: { ':read': { N: `${read}` } } },
            )
            .then(
              () => 1,
              () => 0,
            );
        }
        return won;
      });
      const won = (await Promise.all(swaps)).reduce((total, one) => total + one, 0);
      expect((await bench().get(key('swap')))?.['v']).toEqual({ N: `${won}` });
    });

    it('leaves exactly one row in the index, the one of the item, when many writes move it', async () => {
      const places = Array.from({ length: 40 }, (_, at) => at);
      await Promise.all(
        places.map((at) => {
          if (at % 8 === 7) return bench().remove(key('mover'));
          return bench().put({ ...key('mover'), gp: { S: `mover-${at % 3}` }, gs: { N: `${at}` } });
        }),
      );
      const rows = (await Promise.all([0, 1, 2].map((at) => bench().due(`mover-${at}`)))).flat();
      const item = await bench().get(key('mover'));
      expect(rows).toEqual(item ? [item] : []);
    });
  });
}
