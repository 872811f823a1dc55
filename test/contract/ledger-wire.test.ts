/** How the ledger meets the wire to DynamoDB: tries, ends, and what each kind of failure becomes. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLedgerClient } from '../../functions/adapters/ledger/client.ts';
import { toItem } from '../../functions/adapters/ledger/codec/codec.ts';
import { createDynamoLedger } from '../../functions/adapters/ledger/dynamodb.ts';
import { createDynamoPages } from '../../functions/adapters/ledger/pages.ts';
import { LEDGER_REQUEST_MS, LEDGER_TRIES_MAX } from '../../functions/core/limits.ts';
import type { Ledger } from '../../functions/ports.ts';
import { openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { ensureTable } from '../../infra/local/ledger-table.ts';
import { type DynamoAnswer, type DynamoStub, refusedWith, startDynamoStub } from '../support/dynamo-stub.ts';
import { claimedRow, operationMessageItem, pendingRow, T0_MS } from '../support/rows.ts';

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };
const ROW = pendingRow();
const REF = { item: 'delivery', event: ROW.event, destination: ROW.destination } as const;
const NEXT = claimedRow({ version: 2 });
const UNAVAILABLE = { name: 'PortUnavailable', port: 'ledger' };

let stub: DynamoStub;
let ledger: Ledger;
const wire = ({ endpoint }: Pick<DynamoStub, 'endpoint'>) => ({
  client: createLedgerClient({ region: 'local', endpoint, credentials: CREDENTIALS }),
  table: 'onceward',
});

beforeEach(async () => {
  stub = await startDynamoStub();
  ledger = createDynamoLedger(wire(stub));
});
afterEach(async () => {
  vi.useRealTimers();
  await stub.close();
});

/** Virtual time goes on only when the request has arrived: first the wait for the answer, then the one between tries. */
const untilGivenUp = async (): Promise<void> => {
  for (let count = 1; count <= LEDGER_TRIES_MAX; count += 1) {
    await stub.reached(count);
    await vi.advanceTimersByTimeAsync(LEDGER_REQUEST_MS);
    await vi.advanceTimersByTimeAsync(1_000);
  }
};

describe('a store that accepts and never answers', () => {
  it.each([
    ['a read', () => ledger.load(REF)],
    ['a create', () => ledger.create(ROW)],
    ['a replace', () => ledger.replace(ROW, NEXT)],
    ['a query', () => ledger.loadEvent(ROW.event)],
  ])('ends %s as out of reach after its tries, and the next call is well (C068)', async (_name, call) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    stub.answer = () => 'hang';
    const outcome = expect(call()).rejects.toMatchObject(UNAVAILABLE);
    await untilGivenUp();
    await outcome;
    expect(stub.requests).toHaveLength(LEDGER_TRIES_MAX);
    stub.answer = () => ({ status: 200, body: {} });
    expect(await ledger.load(REF)).toStrictEqual({ kind: 'absent' });
  });

  it('is waited for as long as a request may take: an answer just before the end counts', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    stub.answer = () => 'hang';
    let settled = false;
    const call = ledger.load(REF).finally(() => {
      settled = true;
    });
    call.catch(() => {});
    await stub.reached(1);
    await vi.advanceTimersByTimeAsync(LEDGER_REQUEST_MS - 1);
    expect(settled).toBe(false);
    expect(stub.requests).toHaveLength(1);
  });
});

describe('a store that refuses', () => {
  const NAMES: readonly (readonly [name: string, status: number, tries: number])[] = [
    ['ProvisionedThroughputExceededException', 400, LEDGER_TRIES_MAX],
    ['ThrottlingException', 400, LEDGER_TRIES_MAX],
    ['RequestLimitExceeded', 400, LEDGER_TRIES_MAX],
    ['InternalServerError', 500, LEDGER_TRIES_MAX],
    ['ServiceUnavailable', 503, LEDGER_TRIES_MAX],
    ['TransactionConflictException', 400, 1],
    ['AccessDeniedException', 400, 1],
    ['ResourceNotFoundException', 400, 1],
    ['UnrecognizedClientException', 400, 1],
  ];
  it('is out of reach, whatever it says: never a success, never "somebody was faster" (C057)', async () => {
    await Promise.all(
      NAMES.map(async ([name, status, tries]) => {
        const refusing = await startDynamoStub();
        refusing.answer = () => refusedWith(name, status);
        const call = createDynamoLedger(wire(refusing)).replace(ROW, NEXT);
        await expect(call).rejects.toMatchObject({ ...UNAVAILABLE, message: expect.stringContaining(name) });
        expect([name, refusing.requests.length]).toStrictEqual([name, tries]);
        await refusing.close();
      }),
    );
  });

  it('for a while is asked again, and answers', async () => {
    stub.answer = (_request, count) =>
      count < LEDGER_TRIES_MAX ? refusedWith('ThrottlingException') : { status: 200, body: {} };
    expect(await ledger.create(ROW)).toStrictEqual({ kind: 'written' });
    expect(stub.requests).toHaveLength(LEDGER_TRIES_MAX);
  });

  it('a request as malformed has found a bug, which is thrown as it is and not repeated', async () => {
    stub.answer = () => refusedWith('ValidationException');
    await expect(ledger.create(ROW)).rejects.toMatchObject({ name: 'ValidationException' });
    expect(stub.requests).toHaveLength(1);
  });

  it('a condition says who stands there, and is not asked again', async () => {
    stub.answer = () => refusedWith('ConditionalCheckFailedException', 400, { Item: wireOf(NEXT) });
    expect(await ledger.replace(ROW, NEXT)).toStrictEqual({ kind: 'refused', present: { kind: 'found', item: NEXT } });
    expect(stub.requests).toHaveLength(1);
  });

  it.each<DynamoAnswer>(['reset'])('to speak at all (%s) is out of reach', async (answer) => {
    stub.answer = () => answer;
    await expect(ledger.create(ROW)).rejects.toMatchObject(UNAVAILABLE);
    expect(stub.requests).toHaveLength(LEDGER_TRIES_MAX);
  });
});

/** A record as it stands in a JSON answer: binary is base64 there. */
const wireOf = (row: Parameters<typeof toItem>[0]): unknown =>
  JSON.parse(
    JSON.stringify(toItem(row), (_name, value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('base64') : value,
    ),
  );

describe('what is asked of DynamoDB', () => {
  it('is strongly consistent wherever something is decided by it (C060)', async () => {
    await ledger.load(REF);
    await ledger.loadDestination(ROW.destination);
    await ledger.loadEvent(ROW.event);
    await ledger.loadSlots(ROW.destination);
    await ledger.loadOperationMessages('op-1', 0, 10);
    expect(stub.requests.map(({ operation, body }) => [operation, body['ConsistentRead']])).toStrictEqual([
      ['GetItem', true],
      ['Query', true],
      ['Query', true],
      ['Query', true],
      ['Query', true],
    ]);
  });

  it('is one condition and the standing item with every write, and no expression that computes', async () => {
    await ledger.create(ROW);
    await ledger.replace(ROW, NEXT);
    const asked = stub.requests.map(({ operation, body }) => [operation, body['ConditionExpression']]);
    expect(asked).toStrictEqual([
      ['PutItem', 'attribute_not_exists(#pk)'],
      ['PutItem', '#v = :read AND #f <= :format'],
    ]);
    for (const { body } of stub.requests) {
      expect(body['ReturnValuesOnConditionCheckFailure']).toBe('ALL_OLD');
      expect(body).not.toHaveProperty('UpdateExpression');
    }
  });

  it('is one query for a page of due rows, and one a shard for a page of a list', async () => {
    const pages = createDynamoPages(wire(stub), { nowMs: () => T0_MS });
    await pages.due(0, T0_MS, 10);
    expect(stub.requests).toHaveLength(1);
    await pages.list({ list: 'open', limit: 10 });
    expect(stub.requests).toHaveLength(5);
  });
});

describe('a count', () => {
  const REF_KEY = { pk: { S: 'event#e' }, sk: { S: 'delivery#d' } };
  const limitsOf = () => stub.requests.map(({ body }) => body['Limit']);
  const counting = (perPage: number, rows: number) => {
    const left = new Map<string, number>();
    stub.answer = ({ body }) => {
      const shard = JSON.stringify(body['ExpressionAttributeValues']);
      const there = left.get(shard) ?? rows;
      const Count = Math.min(there, perPage, Number(body['Limit']));
      left.set(shard, there - Count);
      return { status: 200, body: { Count, ...(there > Count ? { LastEvaluatedKey: REF_KEY } : {}) } };
    };
    return createDynamoPages(wire(stub), { nowMs: () => T0_MS });
  };

  it('asks for numbers alone, shard after shard, and over all pages of each', async () => {
    const pages = counting(40, 100);
    expect(await pages.count({ list: 'open' }, 10_000)).toBe(400);
    expect(stub.requests.map(({ body }) => body['Select'])).toStrictEqual(Array.from({ length: 12 }, () => 'COUNT'));
    expect(stub.requests.filter(({ body }) => 'ExclusiveStartKey' in body)).toHaveLength(8);
  });

  it('stops at the cap: it reads no more rows than that in all, and asks for no more', async () => {
    const pages = counting(40, 100);
    expect(await pages.count({ list: 'open' }, 150)).toBe(150);
    // 100 of the first shard in three pages, 50 of the second in two; the third and fourth are not asked.
    expect(limitsOf()).toStrictEqual([150, 110, 70, 50, 10]);
  });

  it('asks for nothing where nothing is to be counted', async () => {
    expect(await counting(40, 100).count({ list: 'open' }, 0)).toBe(0);
    expect(stub.requests).toStrictEqual([]);
  });

  it('is out of reach like any other read', async () => {
    const pages = createDynamoPages(wire(stub), { nowMs: () => T0_MS });
    stub.answer = () => refusedWith('AccessDeniedException');
    await expect(pages.count({ list: 'open' }, 10)).rejects.toMatchObject(UNAVAILABLE);
  });
});

describe('the first messages of an operation', () => {
  it('are asked for in no larger number than wanted, over pages that are shorter', async () => {
    stub.answer = (_request, count) => {
      const Items = Array.from({ length: count === 1 ? 3 : 2 }, (_, n) =>
        wireOf(operationMessageItem({ position: 3 * (count - 1) + n })),
      );
      return { status: 200, body: { Items, LastEvaluatedKey: { pk: { S: 'operation#op-1' }, sk: { S: 'message#' } } } };
    };
    const read = await ledger.loadOperationMessages('op-1', 0, 5);
    expect(read.map(({ position }) => position)).toStrictEqual([0, 1, 2, 3, 4]);
    expect(stub.requests.map(({ body }) => body['Limit'])).toStrictEqual([5, 2]);
  });
});

describe('an answer that is lost on the wire', () => {
  it('is repeated by the client itself, is refused by its own first try, and shows the row that it wrote', async () => {
    const engine = await openEmbeddedDynamo();
    await ensureTable(engine.client(), 'onceward');
    let answers = 0;
    const losing = {
      ...engine.requestHandler,
      handle: async (...args: Parameters<typeof engine.requestHandler.handle>) => {
        const answer = await engine.requestHandler.handle(...args);
        answers += 1;
        if (answers === 1) throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
        return answer;
      },
      updateHttpClientConfig: () => {},
      httpHandlerConfigs: () => ({}),
      destroy: () => {},
    };
    const lossy = createDynamoLedger({ client: createLedgerClient({ requestHandler: losing }), table: 'onceward' });
    expect(await lossy.create(ROW)).toStrictEqual({ kind: 'refused', present: { kind: 'found', item: ROW } });
    expect(answers).toBe(2);
    await engine.close();
  });
});
