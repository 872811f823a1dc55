/** What a delivery costs, on the embedded engine, whose counts another test holds against the official one's. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLedgerClient } from '../../functions/adapters/ledger/client.ts';
import { createDynamoLedger } from '../../functions/adapters/ledger/dynamodb.ts';
import { SQS_LIMITS } from '../../functions/adapters/queue/transport-facts.ts';
import { type EmbeddedDynamo, openEmbeddedDynamo } from '../../infra/local/dynamodb/embedded-dynamodb.ts';
import { metered, together, writesOf } from '../bench/cost/meter.ts';
import { type CountedWorld, openCountedWorld } from '../bench/cost/ours.ts';
import { duplicatePush, eightFailures, FAILED, firstAttempt } from '../bench/cost/paths.ts';
import { PRICES, usdOfMillion } from '../bench/cost/prices.ts';

let engine: EmbeddedDynamo;
let counted: CountedWorld;
beforeAll(async () => {
  engine = await openEmbeddedDynamo();
  counted = await openCountedWorld(createLedgerClient({ requestHandler: engine.requestHandler }), 'cost');
});
afterAll(() => engine.close());

describe('the units of a delivery', () => {
  it('are 7 writes for one that is accepted and delivered at its first attempt, and none for its duplicate', async () => {
    const { accept, deliver } = await firstAttempt(counted, 'first');
    expect(accept.writes).toStrictEqual({ event: 1, delivery: 1, due: 1, recent: 1 });
    expect(deliver.writes).toStrictEqual({ delivery: 2, due: 1 });
    expect(writesOf(together([accept, deliver]))).toBe(7);
    expect(await duplicatePush(counted, 'first')).toStrictEqual({ writes: {}, reads: 1, refused: 0 });
  });

  it('are at most 70 writes for eight failing attempts, over SQS and with the page of a web server in each answer', async () => {
    const client = createLedgerClient({ requestHandler: engine.requestHandler });
    const overSqs = await openCountedWorld(client, 'cost-sqs', SQS_LIMITS);
    const spent = await eightFailures(overSqs, 'failing', FAILED);
    expect(writesOf(spent)).toBeLessThanOrEqual(70);
    // Each of the four long waits costs a sweep, and each failure a unit of the destination's gate.
    expect(spent.writes).toMatchObject({ event: 1, due: 24, recent: 1, attention: 1, gate: 8 });
  });

  it('are one write more where a repeat is not safe', async () => {
    const { deliver } = await firstAttempt(counted, 'unsafe', { repeatSafe: false });
    expect(deliver).toMatchObject({ writes: { delivery: 3, due: 1 }, refused: 0 });
  });
});

describe('the meter', () => {
  it('counts a refused condition, which the engine does not: a unit for each KB of the larger item', async () => {
    const client = createLedgerClient({ requestHandler: engine.requestHandler });
    const meter = metered(client, () => 'item');
    const row = await counted.row('first', 'first');
    expect((await createDynamoLedger({ client, table: 'cost' }).create(row)).kind).toBe('refused');
    expect(meter.take()).toStrictEqual({ writes: { item: 1 }, reads: 0, refused: 1 });
  });
});

describe('the prices', () => {
  it("are those of README's table of costs, of the same month", () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    expect(readme).toContain(`7 units at ${PRICES.writes} a million`);
    expect(readme).toContain(`at ${PRICES.reads} a million`);
    expect(readme).toContain(PRICES.at);
    expect(usdOfMillion({ writes: 7, reads: 7 })).toBeCloseTo(4.38 + 0.88, 1);
  });
});
