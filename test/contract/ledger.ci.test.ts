/**
 * The contract on the official engine, with many rounds of the races; what a delivery costs there; and the ends of a
 * request in true time.
 */
import type { ConsumedCapacity } from '@aws-sdk/client-dynamodb';
import { afterAll, describe, expect, it } from 'vitest';
import { createLedgerClient, LEDGER_CALL_MS } from '../../functions/adapters/ledger/client.ts';
import { refOf } from '../../functions/adapters/ledger/codec/item-keys.ts';
import { createDynamoLedger } from '../../functions/adapters/ledger/dynamodb.ts';
import { deliveryOf, eventOf } from '../../functions/core/acceptance.ts';
import { LEDGER_REQUEST_MS } from '../../functions/core/limits.ts';
import { ensureTable } from '../../infra/local/ledger-table.ts';
import { startDynamoStub } from '../support/dynamo-stub.ts';
import { startDynamoDbLocal } from '../support/dynamodb-local.ts';
import { claimInput, moved, settleInput } from '../support/moves.ts';
import {
  claimIdOf,
  decisionItem,
  destinationIdOf,
  destinationItem,
  eventIdOf,
  pendingRow,
  sha256Of,
  slotItem,
  T0_MS,
  writeIdOf,
} from '../support/rows.ts';
import { ledgerContract } from './ledger.ts';
import { dynamoHarness } from './ledger-harness.ts';

const CREDENTIALS = { accessKeyId: 'local', secretAccessKey: 'local' };
const local = await startDynamoDbLocal();
afterAll(() => local.stop());
const clientOf = (endpoint = local.endpoint) =>
  createLedgerClient({ region: 'local', endpoint, credentials: CREDENTIALS });

ledgerContract('the official engine', dynamoHarness(clientOf), 200);

/** Ids as long as the cost is stated for, and the other texts as long as they get in practice. */
const EVENT = eventOf(
  {
    event: eventIdOf('e'.repeat(40)),
    payload: new Uint8Array(512).fill(1),
    contentType: 'application/json',
    fingerprint: sha256Of('content'),
    destinations: [destinationIdOf('d'.repeat(16))],
  },
  'api',
  T0_MS,
  undefined,
);
const CONFIG = destinationItem({ destination: destinationIdOf('d'.repeat(16)) });
const ACCEPTED = deliveryOf(EVENT, CONFIG, writeIdOf('w'.repeat(11)), `i:${'r'.repeat(36)}`, T0_MS);
const RECORDED = { cause: `p:${'m'.repeat(36)}`, claimId: claimIdOf('c'.repeat(11)) };
const CLAIM = claimInput({ ...RECORDED, writeId: writeIdOf('x'.repeat(11)), holder: 'h'.repeat(36) });
const SETTLE = settleInput({ ...RECORDED, writeId: writeIdOf('y'.repeat(11)) });

/** A ledger on a new table that notes the units of each write: on the table and on each index. */
const measured = async (table: string) => {
  const client = clientOf();
  await ensureTable(client, table);
  const costs: Record<string, number>[] = [];
  const reads: number[] = [];
  const unitsOf = ({ CapacityUnits = 0 }: { CapacityUnits?: number | undefined } = {}): number => CapacityUnits;
  const onCapacity = (request: 'get' | 'put' | 'query', capacity: ConsumedCapacity): void => {
    if (request !== 'put') reads.push(unitsOf(capacity));
    else {
      const indexes = Object.entries(capacity.GlobalSecondaryIndexes ?? {}).map(([name, used]) => [
        name,
        unitsOf(used),
      ]);
      costs.push({ table: unitsOf(capacity.Table), ...Object.fromEntries(indexes) });
    }
  };
  return { ledger: createDynamoLedger({ client, table, onCapacity }), costs, reads };
};

const sum = (costs: readonly Record<string, number>[]): number =>
  costs.flatMap((cost) => Object.values(cost)).reduce((total, units) => total + units, 0);

describe('the cost of a delivery at its first attempt, on the official engine', () => {
  it('is 7 write units: event 1, delivery 3, claim 1, settle 2', async () => {
    const { ledger, costs } = await measured('cost-first-attempt');
    await ledger.create(EVENT);
    await ledger.create(ACCEPTED);
    const claimed = moved(ACCEPTED, CLAIM, T0_MS + 1_500);
    await ledger.replace(ACCEPTED, claimed);
    await ledger.replace(claimed, moved(claimed, SETTLE, T0_MS + 2_000));
    expect(costs).toStrictEqual([{ table: 1 }, { table: 1, due: 1, recent: 1 }, { table: 1 }, { table: 1, due: 1 }]);
    expect(sum(costs)).toBe(7);
  });

  it('is two units more when the look-after time is pulled back by a claim after a long wait', async () => {
    const { ledger, costs } = await measured('cost-pulled-back');
    const waiting = { ...ACCEPTED, lookAfterMs: T0_MS + 3_600_000 };
    await ledger.create(waiting);
    await ledger.replace(waiting, moved(waiting, CLAIM, T0_MS + 1_500));
    expect(costs[1]).toStrictEqual({ table: 1, due: 2 });
  });

  it('is one read and no write for a duplicate push', async () => {
    const { ledger, costs, reads } = await measured('cost-duplicate');
    await ledger.create(ACCEPTED);
    costs.length = 0;
    await ledger.load(refOf(ACCEPTED));
    expect(costs).toStrictEqual([]);
    expect(reads).toStrictEqual([1]);
  });
});

describe('the cost of what stands beside deliveries, on the official engine', () => {
  it('is one unit for a decision and for its place in the list, and one for its result', async () => {
    const { ledger, costs } = await measured('cost-decision');
    const decision = decisionItem();
    await ledger.create(decision);
    await ledger.replace(decision, { ...decision, version: 2, result: 'done' });
    expect(costs).toStrictEqual([{ table: 1, recent: 1 }, { table: 1 }]);
  });

  it('is one unit for a slot that is taken, and one for a look at all of them', async () => {
    const { ledger, costs, reads } = await measured('cost-slots');
    const slots = [0, 1, 2, 3, 4].map((n) => slotItem({ n }));
    for (const slot of slots) await ledger.create(slot);
    expect(costs).toStrictEqual(slots.map(() => ({ table: 1 })));
    await ledger.loadSlots(slotItem().destination);
    expect(reads).toStrictEqual([1]);
  });
});

describe('the end of a request in true time', () => {
  it.each(['hang', 'stall'] as const)(
    'comes within the stated time where the store lets an answer %s (C068)',
    async (answer) => {
      const stub = await startDynamoStub();
      stub.answer = () => answer;
      const ledger = createDynamoLedger({ client: clientOf(stub.endpoint), table: 'onceward' });
      const beganMs = performance.now();
      await expect(ledger.load(refOf(pendingRow()))).rejects.toMatchObject({ name: 'PortUnavailable' });
      const tookMs = performance.now() - beganMs;
      expect(tookMs).toBeGreaterThan(LEDGER_REQUEST_MS - 100);
      expect(tookMs).toBeLessThan(LEDGER_CALL_MS + 1_000);
      await stub.close();
    },
    LEDGER_CALL_MS + 10_000,
  );
});
