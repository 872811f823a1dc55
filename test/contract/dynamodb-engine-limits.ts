import { BatchWriteItemCommand, type WriteRequest } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { type Bench, type Item, key, refusalOf } from './dynamodb-engine-bench.ts';

const KB = 1024;
const NO_BYTES = new Uint8Array();

export function limitFacts(bench: () => Bench): void {
  const refused = async (request: Promise<unknown>) => (await refusalOf(request)).name;
  const writeBatch = (requests: WriteRequest[]) =>
    bench().client.send(new BatchWriteItemCommand({ RequestItems: { [bench().table]: requests } }));

  describe('limits', () => {
    it('refuses an item above 400 KB, counted in bytes, and keeps one just below', async () => {
      const almost = { ...key('size'), blob: { B: new Uint8Array(399 * KB) } };
      await bench().put(almost);
      expect(await refused(bench().put({ ...key('size'), blob: { B: new Uint8Array(401 * KB) } }))).toBe(
        'ValidationException',
      );
      expect(await refused(bench().put({ ...key('size'), text: { S: 'é'.repeat(201 * KB) } }))).toBe(
        'ValidationException',
      );
      const grow = {
        UpdateExpression: 'SET more = :m',
        ExpressionAttributeValues: { ':m': { S: 'x'.repeat(2 * KB) } },
      };
      expect(await refused(bench().update(key('size'), grow))).toBe('ValidationException');
      expect(await bench().get(key('size'))).toEqual(almost);
    });

    it.each<[string, Item]>([
      ['the partition key', { pk: { S: '' }, sk: { S: 'row' } }],
      ['the sort key', { pk: { S: 'empty' }, sk: { S: '' } }],
      ['a text key of an index', { ...key('empty'), gp: { S: '' }, gs: { N: '1' } }],
      ['a text key of an index it would not enter', { ...key('empty'), gp: { S: '' } }],
      ['a binary key of an index', { ...key('empty'), bp: { B: NO_BYTES }, bs: { B: new Uint8Array([1]) } }],
      ['a binary sort key of an index', { ...key('empty'), bp: { B: new Uint8Array([1]) }, bs: { B: NO_BYTES } }],
    ])('refuses an empty value in %s', async (_name, item) => {
      expect(await refused(bench().put(item))).toBe('ValidationException');
      expect(await refused(writeBatch([{ PutRequest: { Item: item } }]))).toBe('ValidationException');
      const { pk, sk, ...rest } = item;
      if (pk?.S && sk?.S) {
        const names = Object.keys(rest);
        const update = {
          UpdateExpression: `SET ${names.map((name) => `${name} = :${name}`).join(', ')}`,
          ExpressionAttributeValues: Object.fromEntries(
            Object.entries(rest).map(([name, value]) => [`:${name}`, value]),
          ),
        };
        expect(await refused(bench().update({ pk, sk }, update))).toBe('ValidationException');
      }
      expect(await bench().get(key('empty'))).toBeUndefined();
    });

    it('keeps empty text and empty bytes in attributes that are no key', async () => {
      const item = { ...key('hollow'), text: { S: '' }, bytes: { B: NO_BYTES } };
      await bench().put(item);
      expect(await bench().get(key('hollow'))).toEqual(item);
    });

    it.each<[string, number, (text: string) => Item]>([
      ['a partition key', 2048, (text) => ({ pk: { S: text }, sk: { S: 'row' } })],
      ['a sort key', 1024, (text) => ({ pk: { S: 'long' }, sk: { S: text } })],
      ['a partition key of an index', 2048, (text) => ({ ...key('long'), gp: { S: text }, gs: { N: '1' } })],
    ])('limits %s to %i bytes of UTF-8', async (_name, limit, itemWith) => {
      await bench().put(itemWith('k'.repeat(limit)));
      await bench().put(itemWith('é'.repeat(limit / 2)));
      expect(await refused(bench().put(itemWith('k'.repeat(limit + 1))))).toBe('ValidationException');
      expect(await refused(bench().put(itemWith(`k${'é'.repeat(limit / 2)}`)))).toBe('ValidationException');
    });

    it.each<[string, (on: Bench) => Promise<unknown>]>([
      ['a key attribute is missing', (on) => on.put({ pk: { S: 'x' } })],
      ['a key has the wrong type', (on) => on.put({ pk: { N: '1' }, sk: { S: 'x' } })],
      ['a key is asked for by half', (on) => on.get({ pk: { S: 'x' } })],
      ['a key has one attribute too many', (on) => on.remove({ ...key('x'), gp: { S: 'x' } })],
      ['a key attribute would be changed', (on) => on.update(key('x'), { UpdateExpression: 'REMOVE sk' })],
      ['a reserved word stands bare', (on) => on.update(key('x'), { UpdateExpression: 'REMOVE status' })],
      ['an expression is empty', (on) => on.put(key('x'), { ConditionExpression: '' })],
      ['a number is none', (on) => on.put({ ...key('x'), n: { N: 'one' } })],
      ['a number has 39 digits', (on) => on.put({ ...key('x'), n: { N: '1'.repeat(39) } })],
      ['a set is empty', (on) => on.put({ ...key('x'), s: { SS: [] } })],
    ])('refuses a request when %s', async (_name, request) => {
      expect(await refused(request(bench()))).toBe('ValidationException');
    });

    it('writes up to 25 items at once and refuses 26, and the same key twice', async () => {
      const puts = Array.from({ length: 26 }, (_, at) => ({ PutRequest: { Item: key('batch', `${at}`) } }));
      expect(await refused(writeBatch(puts))).toBe('ValidationException');
      expect(await refused(writeBatch([...puts.slice(0, 2), { DeleteRequest: { Key: key('batch', '0') } }]))).toBe(
        'ValidationException',
      );
      expect(await bench().get(key('batch', '0'))).toBeUndefined();
      await writeBatch(puts.slice(0, 25));
      await writeBatch([{ DeleteRequest: { Key: key('batch', '0') } }, { PutRequest: { Item: key('batch', 'new') } }]);
      const found = await bench().query({
        KeyConditionExpression: 'pk = :p',
        ExpressionAttributeValues: { ':p': { S: 'batch' } },
      });
      expect(found.Count).toBe(25);
    });
  });
}
