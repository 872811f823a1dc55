/** How the pace meets the wire to DynamoDB: how many requests a slot takes, and what each kind of failure becomes. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createLedgerClient } from '../../functions/adapters/ledger/client.ts';
import { createDynamoPace, PACE_ROUNDS_MAX } from '../../functions/adapters/ledger/pace.ts';
import { LEDGER_REQUEST_MS, LEDGER_TRIES_MAX } from '../../functions/core/limits.ts';
import type { Pace, PaceLine } from '../../functions/ports.ts';
import { type EmbeddedDynamo, openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { ensureTable } from '../../infra/local/ledger-table.ts';
import { type DynamoAnswer, type DynamoStub, refusedWith, startDynamoStub } from '../support/dynamo-stub.ts';
import { destinationIdOf, T0_MS } from '../support/rows.ts';

const PARTNER = destinationIdOf('partner');
const LINE: PaceLine = { kind: 'rate', number: 3 };
const UNAVAILABLE = { name: 'PortUnavailable', port: 'ledger' };
const REFUSED = refusedWith('ConditionalCheckFailedException');
const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };

let stub: DynamoStub;
let pace: Pace;

beforeEach(async () => {
  stub = await startDynamoStub();
  const client = createLedgerClient({ region: 'local', endpoint: stub.endpoint, credentials: CREDENTIALS });
  pace = createDynamoPace({ client, table: 'onceward' });
});
afterEach(async () => {
  vi.useRealTimers();
  await stub.close();
});

const stood = (nextMs: string): DynamoAnswer => ({ status: 200, body: { Attributes: { nextMs: { N: nextMs } } } });
const asked = () => stub.requests.map(({ operation, body }) => [operation, body['UpdateExpression']]);
const MOVE = ['UpdateItem', 'SET #next = #next + :step'];
const START = ['UpdateItem', 'SET #next = :behind, #line = :line, #f = :format'];

describe('a slot', () => {
  it('of a busy destination is one request: the number is moved on, and told as it stood', async () => {
    stub.answer = () => stood(String(T0_MS + 700));
    expect(await pace.take(PARTNER, LINE, T0_MS, 200)).toBe(T0_MS + 700);
    expect(stub.requests).toHaveLength(1);
    expect(stub.requests[0]?.body).toMatchObject({
      TableName: 'onceward',
      Key: { pk: { S: 'destination#partner' }, sk: { S: 'pace#rate' } },
      UpdateExpression: MOVE[1],
      ConditionExpression: '#next > :from AND #line >= :line AND #f <= :format',
      ExpressionAttributeNames: { '#next': 'nextMs', '#line': 'line', '#f': 'f' },
      ExpressionAttributeValues: {
        ':from': { N: String(T0_MS) },
        ':line': { N: '3' },
        ':step': { N: '200' },
        ':format': { N: '1' },
      },
      ReturnValues: 'UPDATED_OLD',
    });
  });

  it('of an idle destination is two, and begins at the present', async () => {
    stub.answer = (_request, count) => (count === 1 ? REFUSED : { status: 200, body: {} });
    expect(await pace.take(PARTNER, LINE, T0_MS, 200)).toBe(T0_MS);
    expect(asked()).toStrictEqual([MOVE, START]);
    expect(stub.requests[1]?.body).toMatchObject({
      ConditionExpression: 'attribute_not_exists(#next) OR ((#next <= :from OR #line < :line) AND #f <= :format)',
      ExpressionAttributeValues: { ':from': { N: String(T0_MS) }, ':behind': { N: String(T0_MS + 200) } },
    });
  });

  it('that a rival has started meanwhile is asked for again, and is the next one', async () => {
    stub.answer = (_request, count) => (count <= 2 ? REFUSED : stood(String(T0_MS + 200)));
    expect(await pace.take(PARTNER, LINE, T0_MS, 200)).toBe(T0_MS + 200);
    expect(asked()).toStrictEqual([MOVE, START, MOVE]);
  });

  it('that is refused for ever ends as out of reach, and names the item', async () => {
    stub.answer = () => REFUSED;
    const call = pace.take(PARTNER, LINE, T0_MS, 200);
    await expect(call).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: expect.stringContaining('"destination#partner" / "pace#rate"'),
    });
    expect(stub.requests).toHaveLength(2 * PACE_ROUNDS_MAX);
  });

  it('in fractions is sent with six digits, and handed out as the whole millisecond behind it', async () => {
    stub.answer = () => stood('1795953600333.333333');
    expect(await pace.take(PARTNER, LINE, T0_MS, 1_000 / 3)).toBe(1_795_953_600_334);
    expect(stub.requests[0]?.body).toMatchObject({ ExpressionAttributeValues: { ':step': { N: '333.333333' } } });
  });
});

describe('a store that does not give a slot', () => {
  it('because it never answers ends as out of reach after its tries', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    stub.answer = () => 'hang';
    const outcome = expect(pace.take(PARTNER, LINE, T0_MS, 200)).rejects.toMatchObject(UNAVAILABLE);
    for (let count = 1; count <= LEDGER_TRIES_MAX; count += 1) {
      await stub.reached(count);
      await vi.advanceTimersByTimeAsync(LEDGER_REQUEST_MS);
      await vi.advanceTimersByTimeAsync(1_000);
    }
    await outcome;
    expect(stub.requests).toHaveLength(LEDGER_TRIES_MAX);
  });

  it.each([
    ['ThrottlingException', LEDGER_TRIES_MAX],
    ['AccessDeniedException', 1],
    ['ResourceNotFoundException', 1],
  ])('because of %s is out of reach, and never "somebody was faster"', async (name, tries) => {
    stub.answer = () => refusedWith(name);
    await expect(pace.take(PARTNER, LINE, T0_MS, 200)).rejects.toMatchObject({
      ...UNAVAILABLE,
      message: expect.stringContaining(name),
    });
    expect(stub.requests).toHaveLength(tries);
  });

  it('because the request is malformed has found a bug, which is thrown as it is', async () => {
    stub.answer = () => refusedWith('ValidationException');
    await expect(pace.take(PARTNER, LINE, T0_MS, 200)).rejects.toMatchObject({ name: 'ValidationException' });
    expect(stub.requests).toHaveLength(1);
  });
});

/** A pace whose n-th answer is lost on the wire, so that the client itself asks again. */
const losing = async (engine: EmbeddedDynamo, lost: number): Promise<Pace> => {
  await ensureTable(engine.client(), 'onceward');
  let answers = 0;
  const requestHandler = {
    ...engine.requestHandler,
    handle: async (...args: Parameters<typeof engine.requestHandler.handle>) => {
      const answer = await engine.requestHandler.handle(...args);
      answers += 1;
      if (answers === lost) throw Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });
      return answer;
    },
    updateHttpClientConfig: () => {},
    httpHandlerConfigs: () => ({}),
    destroy: () => {},
  };
  return createDynamoPace({ client: createLedgerClient({ requestHandler }), table: 'onceward' });
};

describe('an answer that is lost on the wire', () => {
  it.each([
    ['of the first slot', 2],
    ['of a later one', 4],
  ])('%s costs a slot that nobody uses, and never gives one to two', async (_name, lost) => {
    const engine = await openEmbeddedDynamo();
    const lossy = await losing(engine, lost);
    const slots: number[] = [];
    for (let n = 0; n < 4; n += 1) slots.push(((await lossy.take(PARTNER, LINE, T0_MS, 200)) - T0_MS) / 200);
    await engine.close();
    expect(slots).toStrictEqual([0, 1, 2, 3, 4].filter((slot) => slot !== lost - 2));
  });
});
