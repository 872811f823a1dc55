import { describe, expect, it } from 'vitest';
import { type Bench, key, refusalOf } from './dynamodb-engine-bench.ts';

const REFUSED = 'ConditionalCheckFailedException';
const IF_ABSENT = { ConditionExpression: 'attribute_not_exists(pk)' };
const IF_PRESENT = { ConditionExpression: 'attribute_exists(pk)' };
const ASK_OLD = { ReturnValuesOnConditionCheckFailure: 'ALL_OLD' as const };

/** Every kind of value that the ledger stores, as the service gives it back. */
const rich = {
  ...key('rich'),
  text: { S: 'naïve 😀' },
  number: { N: '-12.5' },
  bytes: { B: new Uint8Array([0, 1, 127, 128, 255]) },
  flag: { BOOL: false },
  nothing: { NULL: true as const },
  empty: { S: '' },
  steps: { L: [{ N: '1' }, { M: { inner: { B: new Uint8Array([7]) } } }] },
  words: { SS: ['a', 'b'] },
};

export function conditionFacts(bench: () => Bench): void {
  describe('conditional writes', () => {
    it('creates an item once and refuses the second creation', async () => {
      await bench().put({ ...key('once'), v: { N: '1' } }, IF_ABSENT);
      const refused = await refusalOf(bench().put({ ...key('once'), v: { N: '2' } }, IF_ABSENT));
      expect(refused).toEqual({ name: REFUSED, item: undefined });
      expect(await bench().get(key('once'))).toEqual({ ...key('once'), v: { N: '1' } });
    });

    it('gives the item that stood in the way of a put, with every kind of value', async () => {
      await bench().put(rich);
      const refused = await refusalOf(bench().put(key('rich'), { ...IF_ABSENT, ...ASK_OLD }));
      expect(refused).toEqual({ name: REFUSED, item: rich });
    });

    it('gives the item that stood in the way of an update', async () => {
      await bench().put({ ...key('update'), v: { N: '4' } });
      const refused = await refusalOf(
        bench().update(key('update'), {
          UpdateExpression: 'SET v = :next',
          ConditionExpression: 'v = :read',
          ExpressionAttributeValues: { ':read': { N: '3' }, ':next': { N: '9' } },
          ...ASK_OLD,
        }),
      );
      expect(refused).toEqual({ name: REFUSED, item: { ...key('update'), v: { N: '4' } } });
    });

    it('gives the item that stood in the way of a deletion', async () => {
      await bench().put({ ...key('delete'), v: { N: '4' } });
      const ifThree = { ConditionExpression: 'v = :v', ExpressionAttributeValues: { ':v': { N: '3' } } };
      const refused = await refusalOf(bench().remove(key('delete'), { ...ifThree, ...ASK_OLD }));
      expect(refused).toEqual({ name: REFUSED, item: { ...key('delete'), v: { N: '4' } } });
      expect(await bench().get(key('delete'))).toBeDefined();
    });

    it('gives no item when none was there', async () => {
      const set = { UpdateExpression: 'SET v = :v', ExpressionAttributeValues: { ':v': { N: '1' } } };
      const refusals = await Promise.all([
        refusalOf(bench().put(key('absent'), { ...IF_PRESENT, ...ASK_OLD })),
        refusalOf(bench().update(key('absent'), { ...set, ...IF_PRESENT, ...ASK_OLD })),
        refusalOf(bench().remove(key('absent'), { ...IF_PRESENT, ...ASK_OLD })),
      ]);
      expect(refusals).toEqual(refusals.map(() => ({ name: REFUSED, item: undefined })));
      expect(await bench().get(key('absent'))).toBeUndefined();
    });

    it('gives no item when none was asked for', async () => {
      await bench().put(key('unasked'));
      expect((await refusalOf(bench().put(key('unasked'), IF_ABSENT))).item).toBeUndefined();
      const asked = { ...IF_ABSENT, ReturnValuesOnConditionCheckFailure: 'NONE' as const };
      expect((await refusalOf(bench().put(key('unasked'), asked))).item).toBeUndefined();
    });

    it('replaces the whole item on a put and merges on an update', async () => {
      await bench().put({ ...key('merge'), a: { S: '1' }, b: { S: '2' } });
      await bench().put({ ...key('merge'), a: { S: '3' } });
      expect(await bench().get(key('merge'))).toEqual({ ...key('merge'), a: { S: '3' } });
      const updated = await bench().update(key('merge'), {
        UpdateExpression: 'SET b = :b, n = if_not_exists(n, :zero) + :one REMOVE a',
        ExpressionAttributeValues: { ':b': { S: 'x' }, ':zero': { N: '0' }, ':one': { N: '1' } },
        ReturnValues: 'ALL_NEW',
      });
      expect(updated.Attributes).toEqual({ ...key('merge'), b: { S: 'x' }, n: { N: '1' } });
      expect(await bench().get(key('merge'))).toEqual(updated.Attributes);
    });

    it('updates an absent item into being, and deletes an absent one without complaint', async () => {
      await bench().update(key('born'), {
        UpdateExpression: 'ADD n :n',
        ExpressionAttributeValues: { ':n': { N: '5' } },
      });
      expect(await bench().get(key('born'))).toEqual({ ...key('born'), n: { N: '5' } });
      const gone = await bench().remove(key('born'), { ReturnValues: 'ALL_OLD' });
      expect(gone.Attributes).toEqual({ ...key('born'), n: { N: '5' } });
      expect((await bench().remove(key('born'), { ReturnValues: 'ALL_OLD' })).Attributes).toBeUndefined();
    });

    it.each([
      ['size(words) = :two', true],
      ['attribute_type(bytes, :b)', true],
      ['contains(words, :a) AND NOT contains(words, :z)', true],
      ['begins_with(#t, :na)', true],
      ['#n BETWEEN :low AND :zero', true],
      ['#n IN (:zero, :two)', false],
      ['#n < :zero OR attribute_not_exists(#t)', true],
      ['nowhere = :two', false],
      ['nowhere <> :two', true],
      ['bytes = :raw', true],
      ['flag = :no', true],
      ['steps[1].#i.nothing = :two', false],
    ])('judges the condition %s', async (condition, holds) => {
      await bench().put(rich);
      const values = {
        ':two': { N: '2' },
        ':b': { S: 'B' },
        ':a': { S: 'a' },
        ':z': { S: 'z' },
        ':na': { S: 'naï' },
        ':low': { N: '-12.50' },
        ':zero': { N: '0' },
        ':raw': { B: new Uint8Array([0, 1, 127, 128, 255]) },
        ':no': { BOOL: false },
      };
      const names = { '#t': 'text', '#n': 'number', '#i': 'inner' };
      const written = await bench()
        .put(rich, {
          ConditionExpression: condition,
          ...used(condition, 'ExpressionAttributeValues', values),
          ...used(condition, 'ExpressionAttributeNames', names),
        })
        .then(
          () => true,
          (error: Error) => error.name !== REFUSED && error.name,
        );
      expect(written).toBe(holds);
    });
  });
}

/** The service refuses names and values that an expression does not use. */
function used<Value>(expression: string, member: string, all: Record<string, Value>) {
  const found = Object.entries(all).filter(([name]) => new RegExp(`${name}(?!\\w)`).test(expression));
  return found.length > 0 ? { [member]: Object.fromEntries(found) } : {};
}
