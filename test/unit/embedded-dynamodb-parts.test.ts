import { describe, expect, it } from 'vitest';
import { engine, functionOf } from '../../infra/local/dynamodb/engine-parts.ts';
import { GroupCommit } from '../../infra/local/dynamodb/group-commit.ts';
import { indexMoves, indexWriteUnits, unchanged } from '../../infra/local/dynamodb/index-rows.ts';
import { itemBytes } from '../../infra/local/dynamodb/item-rules.ts';
import { KeyLocks } from '../../infra/local/dynamodb/key-locks.ts';
import type { Change } from '../../infra/local/dynamodb/level.ts';
import type { Item, Table } from '../../infra/local/dynamodb/shapes.ts';

/** A LevelDB whose batches end when the test says so. */
function heldLevel() {
  const batches: { keys: string[]; sync: boolean; end: PromiseWithResolvers<void> }[] = [];
  return {
    batches,
    batch: (changes: readonly Change[], { sync }: { readonly sync: boolean }) => {
      const end = Promise.withResolvers<void>();
      batches.push({ keys: changes.map(({ key }) => key), sync, end });
      return end.promise;
    },
  };
}

/** Lets everything that is ready to run have run. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
const puts = (...keys: string[]): Change[] => keys.map((key) => ({ type: 'put', key, value: 0 }));

describe('GroupCommit', () => {
  it('writes the first at once and gathers, whole, what comes while it is under way', async () => {
    const level = heldLevel();
    const commits = new GroupCommit(level, true);
    const ended: string[] = [];
    const commit = (name: string, ...keys: string[]) => commits.commit(puts(...keys)).then(() => ended.push(name));
    const all = [commit('one', 'a', 'b'), commit('two', 'c'), commit('three', 'd', 'e')];
    await settled();
    expect(level.batches.map(({ keys }) => keys)).toEqual([['a', 'b']]);
    expect(ended).toEqual([]);
    level.batches[0]?.end.resolve();
    await settled();
    expect(ended).toEqual(['one']);
    expect(level.batches[1]?.keys).toEqual(['c', 'd', 'e']);
    level.batches[1]?.end.resolve();
    await Promise.all(all);
    expect(ended).toEqual(['one', 'two', 'three']);
  });

  it.each([true, false])('passes on whether to wait for the disk (%s)', async (sync) => {
    const level = heldLevel();
    const commit = new GroupCommit(level, sync).commit(puts('a'));
    level.batches[0]?.end.resolve();
    await commit;
    expect(level.batches[0]?.sync).toBe(sync);
  });

  it('fails those whose batch failed, and goes on with the next', async () => {
    const level = heldLevel();
    const commits = new GroupCommit(level, true);
    const first = commits.commit(puts('a'));
    const second = commits.commit(puts('b'));
    level.batches[0]?.end.reject(new Error('disk full'));
    await expect(first).rejects.toThrow('disk full');
    await settled();
    level.batches[1]?.end.resolve();
    await second;
    const third = commits.commit(puts('c'));
    level.batches[2]?.end.resolve();
    await third;
  });

  it('writes nothing when there is nothing to write', async () => {
    const level = heldLevel();
    await new GroupCommit(level, true).commit([]);
    expect(level.batches).toEqual([]);
  });
});

describe('KeyLocks', () => {
  it('runs the work on one key in the order of asking, and other keys meanwhile', async () => {
    const locks = new KeyLocks();
    const gate = Promise.withResolvers<void>();
    const order: string[] = [];
    const all = [
      locks.hold('a', async () => {
        await gate.promise;
        order.push('a1');
      }),
      locks.hold('a', async () => order.push('a2')),
      locks.hold('a', async () => order.push('a3')),
      locks.hold('b', async () => order.push('b')),
    ];
    await settled();
    expect(order).toEqual(['b']);
    gate.resolve();
    await Promise.all(all);
    expect(order).toEqual(['b', 'a1', 'a2', 'a3']);
  });

  it('frees a key when the work on it throws', async () => {
    const locks = new KeyLocks();
    const failed = locks.hold('a', () => Promise.reject(new Error('no')));
    const next = locks.hold('a', async () => 'done');
    await expect(failed).rejects.toThrow('no');
    expect(await next).toBe('done');
  });
});

const index = (IndexName: string, ProjectionType: string, NonKeyAttributes?: string[]) => ({
  IndexName,
  KeySchema: [
    { AttributeName: 'gp', KeyType: 'HASH' },
    { AttributeName: 'gs', KeyType: 'RANGE' },
  ],
  Projection: { ProjectionType, ...(NonKeyAttributes && { NonKeyAttributes }) },
});

const table: Table = {
  TableName: 'table',
  TableStatus: 'ACTIVE',
  AttributeDefinitions: ['pk', 'gp', 'gs'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
  GlobalSecondaryIndexes: [index('keys', 'KEYS_ONLY'), index('some', 'INCLUDE', ['x', 'none']), index('all', 'ALL')],
};

describe('index rows', () => {
  const item: Item = { pk: { S: 'a' }, gp: { S: 'g' }, gs: { S: 's' }, x: { S: '1' }, y: { S: '2' } };
  const units = (before: Item | undefined, after: Item | undefined) =>
    indexMoves(table, before, after).map(indexWriteUnits);

  it('show what each projection promises', () => {
    const rows = indexMoves(table, undefined, item).map(({ after }) => Object.keys(after?.row ?? {}));
    expect(rows).toEqual([
      ['gp', 'gs', 'pk'],
      ['gp', 'gs', 'pk', 'x'],
      ['gp', 'gs', 'pk', 'x', 'y'],
    ]);
  });

  it('stay as they are when nothing that they show has changed', () => {
    const touched = (after: Item) => indexMoves(table, item, after).map((move) => !unchanged(move));
    expect(touched({ y: item['y'] ?? {}, ...item })).toEqual([false, false, false]);
    expect(touched({ ...item, y: { S: 'new' } })).toEqual([false, false, true]);
    expect(touched({ ...item, x: { S: 'new' } })).toEqual([false, true, true]);
    expect(touched({ ...item, gs: { S: 'new' } })).toEqual([true, true, true]);
    expect(units(item, { ...item, x: { S: 'x'.repeat(2000) } })).toEqual([0, 2, 2]);
    expect(units(item, { ...item, gs: { S: 'new' } })).toEqual([2, 2, 2]);
  });

  it('have no place for an item that lacks one of the keys', () => {
    const { gs: _gs, ...half } = item;
    expect(indexMoves(table, undefined, half).map(({ after }) => after)).toEqual([undefined, undefined, undefined]);
    expect(units(item, half)).toEqual([1, 1, 1]);
    expect(units(half, undefined)).toEqual([0, 0, 0]);
  });

  it('stand under a key of their own for every item', () => {
    const place = (pk: string) => indexMoves(table, undefined, { ...item, pk: { S: pk } })[0]?.after?.key;
    const places = Array.from({ length: 20_000 }, (_, at) => place(`item-${at}`));
    expect(new Set(places).size).toBe(20_000);
  });
});

describe('the size of an item', () => {
  it('is counted in bytes of UTF-8, in names and in values, however deep', () => {
    expect(itemBytes({ ab: { S: 'cd' } })).toBe(4);
    expect(itemBytes({ é: { S: 'é' } })).toBe(4);
    expect(itemBytes({ a: { SS: ['é', '😀'] } })).toBe(1 + 2 + 4);
    const plain = itemBytes({ a: { M: { b: { L: [{ S: 'x' }] } } } });
    expect(itemBytes({ a: { M: { é: { L: [{ S: '😀' }] } } } })).toBe(plain + 1 + 3);
  });
});

describe('the parts taken from dynalite', () => {
  it('are missed with a message that names the version and the remedy', () => {
    expect(() => functionOf({ other: () => {} }, 'createKey')).toThrow(
      /^dynalite 4\.0\.0 does not have the function createKey\. .* npm ci/,
    );
  });

  it('report a throw inside a callback as a failure of that request', async () => {
    const request = { TableName: 'table', Key: { pk: { S: 'x' } } };
    const view = (crash: (error: unknown) => void) => ({
      getTable: (_name: string, done: (error: null, table: Table) => void) => done(null, table),
      getItemDb: () => ({
        get: (_key: string, done: (error: null, item: unknown) => void) => {
          Promise.resolve()
            .then(() => done(null, { pk: null }))
            .catch(crash);
        },
      }),
    });
    const asked = { ...request, ReturnConsumedCapacity: 'TOTAL' };
    await expect(engine.play('getItem', view, asked)).rejects.toThrow();
  });
});
