/**
 * A handler made idempotent by AWS Powertools, on the same embedded engine as ours: one write before the request, one
 * behind it. A second event of the same id gets the first answer.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { CreateTableCommand } from '@aws-sdk/client-dynamodb';
import { createLedgerClient } from '../../../functions/adapters/ledger/client.ts';
import { openEmbeddedDynamo } from '../../../infra/local/dynamodb/embedded-dynamodb.ts';
import { serve } from '../stage/child.ts';
import { eventFront, peerArgs, sendOnce } from '../stage/front.ts';

type Event = { readonly id: string; readonly payload: unknown };
type Handler = (event: Event, context: object) => Promise<unknown>;
interface Idempotency {
  readonly makeIdempotent: (handler: Handler, options: object) => Handler;
  readonly IdempotencyConfig: new (options: object) => object;
}
interface Persistence {
  readonly DynamoDBPersistenceLayer: new (options: object) => object;
}
interface Aws {
  readonly DynamoDBClient: new (options: object) => object;
}

const TABLE = 'seen';

await serve(async () => {
  const load = createRequire(join(peerArgs().folder, 'package.json'));
  const { makeIdempotent, IdempotencyConfig }: Idempotency = load('@aws-lambda-powertools/idempotency');
  const { DynamoDBPersistenceLayer }: Persistence = load('@aws-lambda-powertools/idempotency/dynamodb');
  const { DynamoDBClient }: Aws = load('@aws-sdk/client-dynamodb');
  const path = await mkdtemp(join(tmpdir(), 'onceward-bench-'));
  const dynamo = await openEmbeddedDynamo({ path, sync: false });
  const own = createLedgerClient({ requestHandler: dynamo.requestHandler });
  await own.send(
    new CreateTableCommand({
      TableName: TABLE,
      BillingMode: 'PAY_PER_REQUEST',
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    }),
  );
  const awsSdkV3Client = new DynamoDBClient({
    region: 'eu-central-1',
    credentials: { accessKeyId: 'none', secretAccessKey: 'none' },
    requestHandler: dynamo.requestHandler,
  });
  let destination = '';
  const handler = makeIdempotent(
    async ({ id, payload }) => {
      await sendOnce(destination, id, payload);
      return { ok: true };
    },
    {
      persistenceStore: new DynamoDBPersistenceLayer({ tableName: TABLE, awsSdkV3Client }),
      config: new IdempotencyConfig({ eventKeyJmesPath: 'id' }),
    },
  );
  const context = { getRemainingTimeInMillis: () => 30_000 };
  const front = await eventFront(async (event) => void (await handler(event, context)));
  return {
    url: front.url,
    prepare: async ({ destinationUrl }) => {
      destination = destinationUrl;
    },
    close: async () => {
      await front.close();
      own.destroy();
      await dynamo.close();
      await rm(path, { recursive: true, force: true });
    },
  };
});
