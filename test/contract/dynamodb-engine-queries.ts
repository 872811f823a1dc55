import { randomUUID } from 'node:crypto';
import { BatchGetItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Bench, benchOn, createTable, key, refusalOf } from './dynamodb-engine-bench.ts';

export function queryFacts(bench: () => Bench): void {
  const inPartition = (pk: string) => ({
    KeyConditionExpression: 'pk = :p',
    ExpressionAttributeValues: { ':p': { S: pk } },
  });
  const sortKeys = (items: readonly Record<string, { S?: string | undefined }>[] | undefined) =>
    (items ?? []).map((item) => item['sk']?.S);

  describe('queries and reads', () => {
    it('reads its own write at once when asked for consistency', async () => {
      for (let round = 0; round < 20; round += 1) {
        await bench().put({ ...key('fresh'), v: { N: `${round}` } });
        expect((await bench().get(key('fresh')))?.['v']).toEqual({ N: `${round}` });
        const found = await bench().query({ ...inPartition('fresh'), ConsistentRead: true });
        expect(found.Items?.[0]?.['v']).toEqual({ N: `${round}` });
      }
    });

    it('orders text by its bytes, in both directions, and pages through it', async () => {
      const texts = ['', '!', '#', 'A', 'Z', 'a', 'aa', 'ab', 'b', 'é', 'ｚ', '😀', '~'].map((text) => `k${text}`);
      await Promise.all(texts.map((text) => bench().put(key('order', text))));
      const byBytes = texts.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
      expect(sortKeys((await bench().query(inPartition('order'))).Items)).toEqual(byBytes);
      for (const ScanIndexForward of [true, false]) {
        const { items, sizes } = await bench().pages({ ...inPartition('order'), ScanIndexForward, Limit: 4 });
        expect(sortKeys(items)).toEqual(ScanIndexForward ? byBytes : byBytes.toReversed());
        expect(sizes.slice(0, 4)).toEqual([4, 4, 4, 1]);
      }
    });

    it.each([
      ['sk = :a', ['b#1']],
      ['sk < :a', ['a#1', 'a#2']],
      ['sk <= :a', ['a#1', 'a#2', 'b#1']],
      ['sk > :a', ['b#10', 'b#2', 'c']],
      ['sk >= :a', ['b#1', 'b#10', 'b#2', 'c']],
      ['begins_with(sk, :p2)', ['b#1', 'b#10', 'b#2']],
      ['sk BETWEEN :low AND :a', ['a#2', 'b#1']],
    ])('selects by sort key: %s', async (condition, expected) => {
      const all = ['a#1', 'a#2', 'b#1', 'b#10', 'b#2', 'c'];
      await Promise.all(all.map((sk) => bench().put(key('select', sk))));
      const values = { ':a': { S: 'b#1' }, ':p2': { S: 'b#' }, ':low': { S: 'a#2' } };
      const query = {
        KeyConditionExpression: `pk = :p AND ${condition}`,
        ExpressionAttributeValues: {
          ':p': { S: 'select' },
          ...Object.fromEntries(Object.entries(values).filter(([name]) => new RegExp(`${name}\\b`).test(condition))),
        },
      };
      expect(sortKeys((await bench().query(query)).Items)).toEqual(expected);
      const { items } = await bench().pages({ ...query, ScanIndexForward: false, Limit: 1 });
      expect(sortKeys(items)).toEqual(expected.toReversed());
    });

    it('orders numbers as numbers, whatever their sign and size', async () => {
      const table = `contract-${randomUUID()}`;
      await createTable(bench().client, table, { pk: 'S', sk: 'N' });
      const numbers = benchOn(bench().client, table);
      const number = fc.oneof(
        fc.integer({ min: -1000, max: 1000 }).map(String),
        fc.maxSafeInteger().map(String),
        fc
          .tuple(fc.maxSafeInteger(), fc.integer({ min: -60, max: 60 }))
          .map(([digits, exponent]) => `${digits}e${exponent}`),
      );
      await fc.assert(
        fc.asyncProperty(fc.uuid(), fc.uniqueArray(number, { selector: Number, maxLength: 12 }), async (pk, list) => {
          await Promise.all(list.map((N) => numbers.put({ pk: { S: pk }, sk: { N } })));
          const found = (await numbers.query(inPartition(pk))).Items?.map((item) => Number(item['sk']?.N));
          expect(found).toEqual(list.map(Number).toSorted((a, b) => a - b));
        }),
        { numRuns: 25, seed: 7 },
      );
    });

    it('keeps a number of 38 digits exactly', async () => {
      const digits = '12345678901234567890123456789012345678';
      await bench().put({ ...key('digits'), n: { N: digits }, m: { N: '1.50' } });
      expect(await bench().get(key('digits'))).toMatchObject({ n: { N: digits }, m: { N: '1.5' } });
    });

    it('gives only the attributes of a projection, and counts without giving items', async () => {
      await bench().put({ ...key('project'), state: { M: { at: { N: '1' }, by: { S: 'x' } } }, other: { S: 'y' } });
      const projected = await bench().query({
        ...inPartition('project'),
        ProjectionExpression: 'sk, #s.#at',
        ExpressionAttributeNames: { '#s': 'state', '#at': 'at' },
      });
      expect(projected.Items).toEqual([{ sk: { S: 'row' }, state: { M: { at: { N: '1' } } } }]);
      const counted = await bench().query({ ...inPartition('project'), Select: 'COUNT' });
      expect([counted.Count, counted.Items]).toEqual([1, undefined]);
    });

    it('filters after the limit has been applied', async () => {
      const rows = [1, 2, 3, 4].map((at) => ({ ...key('filter', `${at}`), even: { BOOL: at % 2 === 0 } }));
      await Promise.all(rows.map((row) => bench().put(row)));
      const page = await bench().query({
        KeyConditionExpression: 'pk = :p',
        FilterExpression: 'even = :yes',
        ExpressionAttributeValues: { ':p': { S: 'filter' }, ':yes': { BOOL: true } },
        Limit: 3,
      });
      expect([sortKeys(page.Items), page.ScannedCount]).toEqual([['2'], 3]);
      expect(page.LastEvaluatedKey).toEqual(key('filter', '3'));
    });

    it('ends a page at 1 MB and goes on from there', async () => {
      const chunk = { B: new Uint8Array(300_000) };
      await Promise.all([1, 2, 3, 4, 5].map((at) => bench().put({ ...key('large', `${at}`), chunk })));
      const { items, sizes } = await bench().pages(inPartition('large'));
      expect(sortKeys(items)).toEqual(['1', '2', '3', '4', '5']);
      expect(sizes.length).toBeGreaterThan(1);
    });

    it('reads up to a hundred items by key, in any order, without the absent ones', async () => {
      const present = Array.from({ length: 40 }, (_, at) => key('batch-get', `${at}`));
      await Promise.all(present.map((one) => bench().put(one)));
      const Keys = [...present, ...Array.from({ length: 60 }, (_, at) => key('batch-get', `absent-${at}`))];
      const request = { RequestItems: { [bench().table]: { Keys, ConsistentRead: true } } };
      const found = (await bench().client.send(new BatchGetItemCommand(request))).Responses?.[bench().table] ?? [];
      expect(sortKeys(found).toSorted()).toEqual(sortKeys(present).toSorted());
      const tooMany = { RequestItems: { [bench().table]: { Keys: [...Keys, key('batch-get', 'one more')] } } };
      expect((await refusalOf(bench().client.send(new BatchGetItemCommand(tooMany)))).name).toBe('ValidationException');
    });

    it('scans a table and an index page by page', async () => {
      const table = `contract-${randomUUID()}`;
      await createTable(bench().client, table, { pk: 'S', sk: 'S' }, { due: { gp: 'S', gs: 'N' } });
      const scanned = benchOn(bench().client, table);
      const rows = Array.from({ length: 17 }, (_, at) => ({
        ...key(`scan-${at}`),
        gp: { S: `${at % 3}` },
        gs: { N: '1' },
      }));
      await Promise.all(rows.map((row) => scanned.put(row)));
      for (const rest of [{}, { IndexName: 'due' }]) {
        const seen: unknown[] = [];
        let from: Record<string, never> | object | undefined;
        do {
          const input = { TableName: table, Limit: 4, ...rest, ...(from && { ExclusiveStartKey: { ...from } }) };
          const page = await bench().client.send(new ScanCommand(input));
          seen.push(...(page.Items ?? []).map((item) => item['pk']?.S));
          from = page.LastEvaluatedKey;
        } while (from);
        expect(seen.toSorted()).toEqual(rows.map((row) => row.pk.S).toSorted());
      }
    });

    it.each([
      ['a reserved word', { KeyConditionExpression: 'pk = :p', ProjectionExpression: 'status' }],
      ['a value that is not used', { KeyConditionExpression: 'pk = :p', more: { ':unused': { S: 'x' } } }],
      ['a value that is not given', { KeyConditionExpression: 'pk = :p AND sk = :missing' }],
      ['a broken expression', { KeyConditionExpression: 'pk = = :p' }],
      ['no condition on the partition', { KeyConditionExpression: 'sk = :p' }],
      ['an operator that no key allows', { KeyConditionExpression: 'pk = :p AND sk <> :p' }],
    ])('refuses a query with %s', async (_name, { more, ...rest }: Record<string, unknown>) => {
      const query = { ...rest, ExpressionAttributeValues: { ':p': { S: 'x' }, ...(more ?? {}) } };
      expect((await refusalOf(bench().query(query))).name).toBe('ValidationException');
    });
  });
}
