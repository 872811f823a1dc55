/**
 * What the ledger relies on in DynamoDB, as facts about an engine. Run it on every engine that stands in for the real
 * service; it looks at names and data only, for the texts of messages differ.
 */
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe } from 'vitest';
import { type Bench, type MakeClient, makeBench } from './dynamodb-engine-bench.ts';
import { conditionFacts } from './dynamodb-engine-conditions.ts';
import { indexFacts } from './dynamodb-engine-indexes.ts';
import { limitFacts } from './dynamodb-engine-limits.ts';
import { queryFacts } from './dynamodb-engine-queries.ts';
import { raceFacts } from './dynamodb-engine-races.ts';
import { tableFacts } from './dynamodb-engine-tables.ts';
import { unitFacts } from './dynamodb-engine-units.ts';

/** `makeClient` gives a client of a running engine. The client is destroyed at the end; the engine is the caller's. */
export function dynamodbEngineContract(name: string, makeClient: MakeClient): void {
  describe(`the DynamoDB engine ${name}`, () => {
    let client: DynamoDBClient;
    let bench: Bench;
    beforeAll(async () => {
      client = await makeClient();
      bench = await makeBench(client);
    });
    afterAll(() => client?.destroy());
    for (const facts of [conditionFacts, indexFacts, queryFacts, limitFacts, raceFacts, tableFacts, unitFacts]) {
      facts(() => bench);
    }
  });
}
