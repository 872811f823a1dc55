/**
 * What a team would pick from a shelf: a handler made idempotent by Powertools over a DynamoDB table. It is JavaScript, and
 * measured from a folder that has its packages, for they are none of this project.
 */
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';

const persistenceStore = new DynamoDBPersistenceLayer({ tableName: 'seen' });
const config = new IdempotencyConfig({ eventKeyJmesPath: 'id' });

export const handler = makeIdempotent(async ({ id }) => ({ ok: true, id }), { persistenceStore, config });
