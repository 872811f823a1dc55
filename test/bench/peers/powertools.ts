/** A function made idempotent by AWS Powertools, as its documentation shows it: its record on DynamoDB, key `id`. */
import {
  CreateTableCommand,
  type DynamoDBClient,
  ResourceInUseException,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import type { PeerPackages } from './packages.ts';

export interface Work {
  /** By which it is known. */
  readonly id: string;
}

export interface PowertoolsOptions {
  readonly client: DynamoDBClient;
  /** Made if it is not there. */
  readonly table: string;
  /** Until when the platform would let an invocation live: afterwards its record may be taken over. */
  readonly remainingMs: number;
  /** The effect. Where it throws, Powertools deletes the record, so that the next message tries again. */
  readonly work: (work: Work) => Promise<unknown>;
}

/** Rejects where the effect threw, and where another invocation has the same id in progress. */
export type Idempotent = (work: Work) => Promise<unknown>;

interface Library {
  readonly IdempotencyConfig: new (options: {
    readonly eventKeyJmesPath: string;
  }) => { registerLambdaContext(context: { getRemainingTimeInMillis(): number }): void };
  readonly makeIdempotent: (work: PowertoolsOptions['work'], options: object) => Idempotent;
}
interface Persistence {
  readonly DynamoDBPersistenceLayer: new (options: {
    readonly tableName: string;
    readonly awsSdkV3Client: DynamoDBClient;
  }) => object;
}

export const powertools = async (
  packages: PeerPackages,
  { client, table, remainingMs, work }: PowertoolsOptions,
): Promise<Idempotent> => {
  await ensureTable(client, table);
  const { IdempotencyConfig, makeIdempotent } = packages.load<Library>('@aws-lambda-powertools/idempotency');
  const { DynamoDBPersistenceLayer } = packages.load<Persistence>('@aws-lambda-powertools/idempotency/dynamodb');
  const persistenceStore = new DynamoDBPersistenceLayer({ tableName: table, awsSdkV3Client: client });
  return (one) => {
    // A configuration for each invocation, for it holds the invocation's own time.
    const config = new IdempotencyConfig({ eventKeyJmesPath: 'id' });
    config.registerLambdaContext({ getRemainingTimeInMillis: () => remainingMs });
    return makeIdempotent(work, { persistenceStore, config })(one);
  };
};

const ensureTable = async (client: DynamoDBClient, table: string): Promise<void> => {
  try {
    await client.send(
      new CreateTableCommand({
        TableName: table,
        BillingMode: 'PAY_PER_REQUEST',
        AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
        KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      }),
    );
  } catch (cause) {
    if (!(cause instanceof ResourceInUseException)) throw cause;
  }
  await waitUntilTableExists({ client, maxWaitTime: 20, minDelay: 1 }, { TableName: table });
};
