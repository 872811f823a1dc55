import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DeleteTableCommand, DescribeTimeToLiveCommand, UpdateTimeToLiveCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type EmbeddedDynamo, openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { openLevel } from '../../infra/local/dynamodb/level.ts';
import { itemPrefix } from '../../infra/local/dynamodb/store.ts';
import { type Bench, benchOn, createTable, key, makeBench, refusalOf } from '../contract/dynamodb-engine-bench.ts';

let home: string;
let path: string;

beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'embedded-dynamodb-'));
  path = join(home, 'data', 'ledger');
});
afterEach(() => rm(home, { recursive: true, force: true }));

/** Opens the data directory, and closes it whatever happens. */
async function withEngine<Result>(work: (engine: EmbeddedDynamo) => Promise<Result>): Promise<Result> {
  const engine = await openEmbeddedDynamo({ path });
  try {
    return await work(engine);
  } finally {
    await engine.close();
  }
}

/** A request as it stands on the wire, without the SDK and its retries. */
async function wire(engine: EmbeddedDynamo, target: string, body: string) {
  const { response } = await engine.requestHandler.handle({ headers: { 'x-amz-target': target }, body });
  return { status: response.statusCode, ...JSON.parse(Buffer.from(response.body).toString()) };
}

const row = (pk: string) => ({ ...key(pk), gp: { S: 'p' }, gs: { N: '1' } });

describe('the data directory', () => {
  it('is made when it is missing, and gives back tables, items, index rows and settings when opened again', async () => {
    const ttl = { AttributeName: 'expiresAtSec', Enabled: true };
    const table = await withEngine(async (engine) => {
      const bench = await makeBench(engine.client());
      await bench.put(row('kept'));
      const TimeToLiveSpecification = ttl;
      await bench.client.send(new UpdateTimeToLiveCommand({ TableName: bench.table, TimeToLiveSpecification }));
      return bench.table;
    });
    await withEngine(async (engine) => {
      const bench = benchOn(engine.client(), table);
      expect(await bench.get(key('kept'))).toEqual(row('kept'));
      expect(await bench.due('p')).toEqual([row('kept')]);
      const set = await bench.client.send(new DescribeTimeToLiveCommand({ TableName: table }));
      expect(set.TimeToLiveDescription).toEqual({ TimeToLiveStatus: 'ENABLED', AttributeName: 'expiresAtSec' });
    });
  });

  it('is refused while this process has it open, and is free again after close', async () => {
    await withEngine(async () => {
      await expect(openEmbeddedDynamo({ path })).rejects.toThrow(`data directory ${path} is in use by another process`);
    });
    await withEngine(async () => {});
  });

  it('is refused when it is a file', async () => {
    await mkdir(join(home, 'data'));
    await writeFile(path, 'not a directory');
    await expect(openEmbeddedDynamo({ path })).rejects.toThrow(`data directory ${path} is not a directory`);
  });

  it('is refused when it is damaged', async () => {
    await withEngine(async (engine) => makeBench(engine.client()));
    const manifest = (await readdir(path)).find((name) => name.startsWith('MANIFEST'));
    await writeFile(join(path, manifest ?? ''), 'x'.repeat(100));
    await expect(openEmbeddedDynamo({ path })).rejects.toThrow(`data directory ${path} is damaged`);
  });

  it.each([
    ['without a format', 'item-x~y', { pk: { S: 'x' } }],
    ['of a later format', 'meta~format', 2],
  ])('is refused, and left as it is, when it holds data %s', async (_name, at, value) => {
    const stranger = await openLevel(path);
    await stranger.batch([{ type: 'put', key: at, value }], { sync: true });
    await stranger.close();
    await expect(openEmbeddedDynamo({ path })).rejects.toThrow(`data directory ${path} holds data of another format`);
    const again = await openLevel(path);
    expect(await again.get(at)).toEqual(value);
    await again.close();
  });
});

describe('the life of an engine', () => {
  it('finishes the writes under way before it closes, and refuses what comes later', async () => {
    const engine = await openEmbeddedDynamo({ path });
    const bench = await makeBench(engine.client());
    const writes = Promise.all(Array.from({ length: 50 }, (_, at) => bench.put(key(`${at}`))));
    const first = bench.put(key('first'));
    await first;
    await Promise.all([engine.close(), engine.close()]);
    await expect(bench.get(key('0'))).rejects.toThrow(`the embedded DynamoDB (${path}) is closed`);
    const written = await writes.then(
      () => 50,
      () => 'some were refused',
    );
    await withEngine(async (again) => {
      const found = await benchOn(again.client(), bench.table).get(key('first'));
      expect(found).toEqual(key('first'));
    });
    expect(written).toBe(50);
  });

  it('outlives its clients', async () => {
    const engine = await openEmbeddedDynamo();
    const first = await makeBench(engine.client());
    await first.put(key('x'));
    first.client.destroy();
    expect(await benchOn(engine.client(), first.table).get(key('x'))).toEqual(key('x'));
    await engine.close();
  });

  it('keeps nothing of one engine in memory for the next', async () => {
    const engines = await Promise.all([openEmbeddedDynamo(), openEmbeddedDynamo()]);
    const [one, other] = engines.map((engine) => benchOn(engine.client(), 'same-name'));
    await Promise.all(engines.map((engine) => createTable(engine.client(), 'same-name', { pk: 'S', sk: 'S' })));
    await one?.put(key('x'));
    expect(await other?.get(key('x'))).toBeUndefined();
    await Promise.all(engines.map((engine) => engine.close()));
  });
});

describe('the wire', () => {
  let engine: EmbeddedDynamo;
  let bench: Bench;
  beforeEach(async () => {
    engine = await openEmbeddedDynamo();
    bench = await makeBench(engine.client());
  });
  afterEach(() => engine.close());

  it.each([
    ['DynamoDB_20120810.DeleteTable', '{}', 'com.amazon.coral.service#UnknownOperationException'],
    ['DynamoDB_20120810.TransactWriteItems', '{}', 'com.amazon.coral.service#UnknownOperationException'],
    ['DynamoDB_20120810.toString', '{}', 'com.amazon.coral.service#UnknownOperationException'],
    ['', '{}', 'com.amazon.coral.service#UnknownOperationException'],
    ['DynamoDB_20120810.GetItem', '{', 'com.amazon.coral.service#SerializationException'],
    ['DynamoDB_20120810.GetItem', '[]', 'com.amazon.coral.service#SerializationException'],
    ['DynamoDB_20120810.GetItem', '{"TableName": 5}', 'com.amazon.coral.service#SerializationException'],
    ['DynamoDB_20120810.GetItem', '{}', 'com.amazon.coral.validate#ValidationException'],
  ])('answers %s with the body %s as the real service does', async (target, body, type) => {
    expect(await wire(engine, target, body)).toMatchObject({ status: 400, __type: type });
  });

  it('says it as an error of the SDK', async () => {
    const refused = await refusalOf(bench.client.send(new DeleteTableCommand({ TableName: bench.table })));
    expect(refused.name).toBe('UnknownOperationException');
  });

  it('puts the old item as it is stored into the body of a refused write', async () => {
    await bench.put({ ...key('x'), b: { B: new Uint8Array([1, 2]) } });
    const request = {
      TableName: bench.table,
      Item: key('x'),
      ConditionExpression: 'attribute_not_exists(pk)',
      ReturnValuesOnConditionCheckFailure: 'ALL_OLD',
    };
    expect(await wire(engine, 'DynamoDB_20120810.PutItem', JSON.stringify(request))).toEqual({
      status: 400,
      __type: 'com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException',
      message: 'The conditional request failed',
      Item: { ...key('x'), b: { B: 'AQI=' } },
    });
    const misspelt = JSON.stringify({ ...request, ReturnValuesOnConditionCheckFailure: 'ALL_NEW' });
    expect(await wire(engine, 'DynamoDB_20120810.PutItem', misspelt)).toMatchObject({
      __type: 'com.amazon.coral.validate#ValidationException',
    });
  });

  it('refuses to set a time to live that is set already', async () => {
    const TimeToLiveSpecification = { AttributeName: 'expiresAtSec', Enabled: true };
    const set = () =>
      bench.client.send(new UpdateTimeToLiveCommand({ TableName: bench.table, TimeToLiveSpecification }));
    await set();
    expect((await refusalOf(set())).name).toBe('ValidationException');
  });

  it('does nothing for a caller that has given up before', async () => {
    const given = { abortSignal: AbortSignal.abort() };
    const body = JSON.stringify({ TableName: bench.table, Item: key('aborted') });
    const request = { headers: { 'x-amz-target': 'DynamoDB_20120810.PutItem' }, body };
    await expect(engine.requestHandler.handle(request, given)).rejects.toMatchObject({ name: 'AbortError' });
    expect(await bench.get(key('aborted'))).toBeUndefined();
  });

  it('lets a caller go that gives up, and the write happen all the same', async () => {
    const abort = new AbortController();
    const body = JSON.stringify({ TableName: bench.table, Item: key('lost answer') });
    const request = { headers: { 'x-amz-target': 'DynamoDB_20120810.PutItem' }, body };
    const written = engine.requestHandler.handle(request, { abortSignal: abort.signal });
    abort.abort();
    await expect(written).rejects.toMatchObject({ name: 'AbortError' });
    await bench.put(key('lost answer'), { ConditionExpression: 'attribute_exists(pk)' });
  });
});

describe('data that are not what they should be', () => {
  it('are an internal error of that one request, and the engine goes on', async () => {
    const table = await withEngine(async (engine) => {
      const bench = await makeBench(engine.client());
      await Promise.all([bench.put(row('good')), bench.put(row('bad'))]);
      return bench.table;
    });
    const level = await openLevel(path);
    const prefix = itemPrefix(table);
    const iterator = level.iterator({ gt: prefix, lt: `${prefix}~` });
    const items = await iterator.nextv(10);
    await iterator.close();
    const bad = items.find(([, item]) => JSON.stringify(item).includes('"bad"'))?.[0] ?? '';
    await level.batch([{ type: 'put', key: bad, value: { pk: null } }], { sync: true });
    await level.close();

    await withEngine(async (engine) => {
      const get = JSON.stringify({ TableName: table, Key: key('bad') });
      const scan = JSON.stringify({ TableName: table });
      const broken = { status: 500, __type: 'com.amazonaws.dynamodb.v20120810#InternalServerError' };
      expect(await wire(engine, 'DynamoDB_20120810.GetItem', get)).toMatchObject(broken);
      expect(await wire(engine, 'DynamoDB_20120810.Scan', scan)).toMatchObject(broken);
      expect(await benchOn(engine.client(), table).get(key('good'))).toEqual(row('good'));
    });
  });
});
